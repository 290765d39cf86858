"""An environment as README's first command makes it, with the newest Python of this computer.

`tests/requirements.lock` holds the tests to one set of versions. What a user installs is the newest
release of each dependency that pyproject.toml allows, and which one that is depends on the Python.
``python -m tests.newest`` makes `.venv-newest` with the checkout and its core dependencies, not
locked, and prints the folder; ``tests/run`` hands it to `tests/browser/test_every_page.py`. It is
kept until pyproject.toml, the Python or the place of the checkout changes: remove the folder to
install again.
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
FOLDER = ROOT / ".venv-newest"
STAMP = FOLDER / "tests-newest.stamp"
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
    project = tomllib.loads((ROOT / "pyproject.toml").read_text("utf8"))["project"]
    lines = [re.fullmatch(r".*:: Python :: (\d+)\.(\d+)", line) for line in project["classifiers"]]
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


def environment() -> Path:
    """Make the environment, or find it as it was made; returns its folder."""
    program, version = newest()
    project = hashlib.sha256((ROOT / "pyproject.toml").read_bytes()).hexdigest()
    stamp = f"{version} {project} {ROOT}\n"
    if STAMP.is_file() and STAMP.read_text("utf8") == stamp:
        _tell(f"{FOLDER.name} is there, with Python {version}.")
        return FOLDER
    _tell(f"Installing the app into {FOLDER.name} with Python {version}, versions not locked ...")
    shutil.rmtree(FOLDER, ignore_errors=True)
    quietly = ["-qq", "--disable-pip-version-check", "--no-input"]
    for command in (
        [program, "-m", "venv", FOLDER],
        [FOLDER / "bin" / "python", "-m", "pip", "install", *quietly, "-e", ROOT],
    ):
        run = subprocess.run(command, stdout=sys.stderr, check=False)
        if run.returncode:
            raise SystemExit(
                f"tests.newest: README's command does not install with Python {version}: see above."
            )
    STAMP.write_text(stamp, "utf8")
    return FOLDER


def _tell(sentence: str) -> None:
    print(sentence, file=sys.stderr)


if __name__ == "__main__":
    print(environment())
