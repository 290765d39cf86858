"""Environments with the newest and with the oldest versions that pyproject.toml allows.

`tests/requirements.lock` holds the tests to one set of versions; users have others.
``python -m tests.environments newest`` makes `.venv-newest`: README's first command, not locked,
with the newest Python of this computer. With ``oldest`` it makes `.venv-oldest`: the lower bound of
each core dependency, with the oldest Python. It prints the folder, for
`tests/browser/test_every_page.py`, and keeps it until pyproject.toml, the Python or the place of
the checkout changes: remove the folder to install again.
"""

from __future__ import annotations

import hashlib
import os
import re
import shutil
import subprocess
import sys
import tomllib
from collections.abc import Iterator
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text("utf8"))["project"]
#: Version of the Python that runs the tests.
OWN = sys.version_info[:3]
# Fails without what makes an environment, before a final release, and without a lock of its own
# interpreter, for which numba has no wheels.
_VERSION = """
import ensurepip, sys, sysconfig, venv
if sys.version_info.releaselevel == "final" and not sysconfig.get_config_var("Py_GIL_DISABLED"):
    print("%d.%d.%d" % sys.version_info[:3])
"""


def supported() -> list[tuple[int, int]]:
    """Versions of Python that pyproject.toml names, the newest first."""
    lines = [re.fullmatch(r".*:: Python :: (\d+)\.(\d+)", line) for line in PROJECT["classifiers"]]
    return sorted(((int(line[1]), int(line[2])) for line in lines if line), reverse=True)


def programs(name: str) -> Iterator[Path]:
    """Every file of this name on PATH, and among the Pythons that pyenv and uv keep."""
    folders = [Path(folder) for folder in os.get_exec_path()]
    home = Path.home()
    pyenv = Path(os.environ.get("PYENV_ROOT", home / ".pyenv"))
    for kept in (pyenv / "versions", home / ".local" / "share" / "uv" / "python"):
        folders += sorted(kept.glob("*/bin"), reverse=True)
    return (folder / name for folder in folders if (folder / name).is_file())


def version_of(program: Path | str) -> str:
    """Its version, such as "3.13.0", or "" where it cannot make an environment for the app."""
    # The name alone says little: it may be a launcher of pyenv for a version that is not active.
    try:
        run = subprocess.run(
            [program, "-c", _VERSION], capture_output=True, text=True, check=False, timeout=60
        )
    except (OSError, subprocess.TimeoutExpired):
        return ""
    return run.stdout.strip() if run.returncode == 0 else ""


def newest() -> tuple[str, str]:
    """The newest Python, a program and its version; this one where no newer is there."""
    newer = [f"{major}.{minor}" for major, minor in supported() if (major, minor) > OWN[:2]]
    for wanted in newer:
        for program in programs(f"python{wanted}"):
            version = version_of(program)
            if version.startswith(f"{wanted}."):
                return str(program), version
    own = ".".join(map(str, OWN))
    looked = ", ".join(f"python{version}" for version in newer) or "none is supported"
    _tell(
        f"No Python newer than {own} was found (looked for: {looked}): the app is opened with that."
    )
    return sys.executable, own


def oldest() -> tuple[str, str]:
    """The oldest supported Python, a program and its version."""
    wanted = ".".join(map(str, supported()[-1]))
    for program in (sys.executable, *programs(f"python{wanted}")):
        version = version_of(program)
        if version.startswith(f"{wanted}."):
            return str(program), version
    raise SystemExit(
        f"tests.environments: the oldest versions need python{wanted}; none was found."
    )


def lower_bounds() -> list[str]:
    """The oldest allowed version of each core dependency, as constraints of pip."""
    found = (re.match(r"([\w.-]+)>=([\w.]+)", line) for line in PROJECT["dependencies"])
    return [f"{bound[1]}=={bound[2]}" for bound in found if bound]


def environment(kind: str) -> Path:
    """Make the environment "newest" or "oldest", or find it as it was made; returns its folder."""
    program, version = newest() if kind == "newest" else oldest()
    folder = ROOT / f".venv-{kind}"
    stamp, constraints = folder / "tests-environment.stamp", folder / "constraints.txt"
    project = hashlib.sha256((ROOT / "pyproject.toml").read_bytes()).hexdigest()
    made_from = f"{version} {project} {ROOT}\n"
    if stamp.is_file() and stamp.read_text("utf8") == made_from:
        _tell(f"{folder.name} is there, with Python {version}.")
        return folder
    _tell(f"Installing the app into {folder.name} with Python {version}, its {kind} versions ...")
    shutil.rmtree(folder, ignore_errors=True)
    _run(kind, version, program, "-m", "venv", folder)
    constraints.write_text("\n".join(lower_bounds() if kind == "oldest" else []), "utf8")
    pip = ["-m", "pip", "install", "-qq", "--disable-pip-version-check", "--no-input"]
    _run(kind, version, folder / "bin" / "python", *pip, "-c", constraints, "-e", ROOT)
    stamp.write_text(made_from, "utf8")
    return folder


def _run(kind: str, version: str, *command: Path | str) -> None:
    if subprocess.run(command, stdout=sys.stderr, check=False).returncode:
        raise SystemExit(
            f"tests.environments: {kind} versions do not install with Python {version}: see above."
        )


def _tell(sentence: str) -> None:
    print(sentence, file=sys.stderr)


if __name__ == "__main__":
    print(environment(sys.argv[1]))
