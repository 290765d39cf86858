"""The files that say what is needed agree: pyproject.toml, environment.yml, lock, versions."""

from __future__ import annotations

import subprocess
import sys
import tarfile
import tomllib
import zipfile
from importlib import metadata
from pathlib import Path

import yaml
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name
from packaging.version import Version

ROOT = Path(__file__).resolve().parent.parent
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]


def bounds(lines: list[str]) -> dict[str, str]:
    """Return specifiers by canonical name, such as {"numpy": ">=2.0"}."""
    parsed = map(Requirement, lines)
    return {canonicalize_name(line.name): str(line.specifier) for line in parsed}


def test_conda_environment_equals_the_core_dependencies() -> None:
    listed = yaml.safe_load((ROOT / "environment.yml").read_text())["dependencies"]
    conda = [line for line in listed if isinstance(line, str) and line != "pip"]
    (pip,) = [line["pip"] for line in listed if isinstance(line, dict)]
    assert "-e ." in pip, "the environment installs the checkout itself"

    wanted = bounds([*PROJECT["dependencies"], f"python{PROJECT['requires-python']}"])
    assert bounds(conda + [line for line in pip if line != "-e ."]) == wanted


def lock() -> dict[str, str]:
    lines = (ROOT / "tests" / "requirements.lock").read_text().splitlines()
    return bounds([line for line in lines if line and not line.startswith("#")])


#: Newest minor release of each framework with which `tests/run` has opened and used every page.
NEWEST_TESTED = {
    "bokeh": "3.10",
    "holoviews": "1.23",
    "panel": "1.10",
    "panel-material-ui": "0.16",
    "param": "2.4",
    "pyviz-comms": "3.0",
    "tornado": "6.6",
}


def test_no_minor_release_of_a_framework_is_allowed_that_was_not_tested() -> None:
    core = {
        canonicalize_name(line.name): line for line in map(Requirement, PROJECT["dependencies"])
    }
    for name, newest_tested in NEWEST_TESTED.items():
        tested = Version(newest_tested)
        assert core[name].specifier.contains(f"{tested}.9999"), core[name]
        assert not core[name].specifier.contains(f"{tested.major}.{tested.minor + 1}.0"), core[name]
        assert not core[name].specifier.contains(f"{tested.major + 1}.0"), core[name]


def test_the_lock_satisfies_every_bound() -> None:
    locked = lock()
    assert all(pin.startswith("==") for pin in locked.values())

    needed = PROJECT["dependencies"] + PROJECT["optional-dependencies"]["test"]
    for requirement in map(Requirement, needed):
        pin = locked.get(canonicalize_name(requirement.name))
        assert pin, f"{requirement.name} is not in the lock"
        assert requirement.specifier.contains(pin.removeprefix("==")), f"{requirement}: {pin}"


_LOADS_ALL = """
import importlib, importlib.abc, pkgutil, sys

class Missing(importlib.abc.MetaPathFinder):
    def find_spec(self, name, path, target=None):
        if name.partition(".")[0] in BLOCKED:
            raise ModuleNotFoundError(f"No module named {name!r}", name=name)

sys.meta_path.insert(0, Missing())
import explorer
for module in pkgutil.walk_packages(explorer.__path__, "explorer."):
    if not module.name.endswith("__main__"):
        importlib.import_module(module.name)
        print(module.name)
"""


def core() -> set[str]:
    """Every distribution that comes with the core dependencies, theirs too."""
    found: set[str] = set()
    waiting = [Requirement(line) for line in PROJECT["dependencies"]]
    while waiting:
        asked = waiting.pop()
        name = canonicalize_name(asked.name)
        if name in found:
            continue
        found.add(name)
        wanted = [Requirement(line) for line in metadata.requires(name) or []]
        extras = asked.extras or {""}
        waiting += [
            each
            for each in wanted
            if not each.marker or any(each.marker.evaluate({"extra": extra}) for extra in extras)
        ]
    return found


def test_every_module_loads_with_the_core_dependencies_alone() -> None:
    # A page whose library is an extra would keep the whole app from starting.
    here, known = metadata.packages_distributions(), core() | {"dp-explorer"}
    blocked = {
        package
        for package, owners in here.items()
        if not {canonicalize_name(owner) for owner in owners} & known
    }
    assert {"dask", "matplotlib", "pytest"} <= blocked
    assert not {"numpy", "panel"} & blocked
    code = _LOADS_ALL.replace("BLOCKED", repr(blocked))
    run = subprocess.run(
        [sys.executable, "-c", code], cwd=ROOT, capture_output=True, text=True, check=False
    )
    assert run.returncode == 0, run.stderr[-2000:]
    assert "explorer.app.federated.page" in run.stdout.split()


def test_one_version_everywhere() -> None:
    import explorer

    citation = yaml.safe_load((ROOT / "CITATION.cff").read_text())
    assert str(citation["version"]) == explorer.__version__
    assert f"## {explorer.__version__}" in (ROOT / "CHANGELOG.md").read_text()
    assert Version(explorer.__version__) >= Version("0.1.0")


def test_the_wheel_holds_the_whole_package(tmp_path: Path) -> None:
    build = [sys.executable, "-m", "hatchling", "build", "-t", "wheel", "-d", str(tmp_path)]
    run = subprocess.run(build, cwd=ROOT, capture_output=True, text=True, check=False)
    assert run.returncode == 0, run.stderr

    (wheel,) = tmp_path.glob("*.whl")
    packed = {name for name in zipfile.ZipFile(wheel).namelist() if name.startswith("explorer/")}
    files = (ROOT / "explorer").rglob("*")
    # Compiled files stay at home.
    there = {f for f in files if f.is_file() and "__pycache__" not in f.parts}
    assert packed == {f.relative_to(ROOT).as_posix() for f in there}


def test_the_source_archive_holds_what_is_tracked(tmp_path: Path) -> None:
    """Whoever has it can do all that CONTRIBUTING says."""
    build = [sys.executable, "-m", "hatchling", "build", "-t", "sdist", "-d", str(tmp_path)]
    run = subprocess.run(build, cwd=ROOT, capture_output=True, text=True, check=False)
    assert run.returncode == 0, run.stderr
    listing = ["git", "ls-files"]
    tracked = subprocess.run(listing, cwd=ROOT, capture_output=True, text=True, check=True).stdout
    (archive,) = tmp_path.glob("*.tar.gz")
    with tarfile.open(archive) as opened:
        packed = {name.partition("/")[2] for name in opened.getnames()}
    # What tells editors and git how to treat a checkout is of no use elsewhere.
    there = {name for name in tracked.splitlines() if (ROOT / name).is_file()}
    assert there - packed == {".editorconfig", ".gitattributes"}
