"""Named scenarios to begin with: those of the package and those of a teacher's folder."""

from __future__ import annotations

import os
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import TypeVar

from explorer.errors import InputError
from explorer.scenario.encoding import read_file
from explorer.scenario.model import Scenario

FOLDER = Path(__file__).parent / "presets"
MOST_FILES = 100

Read = TypeVar("Read")


def presets() -> dict[str, Scenario]:
    """The scenarios by the name of their file, those of the package first.

    The environment variable ``EXPLORER_SCENARIOS`` names a folder with more, ``NAME.yaml``; one
    that has the name of a packaged one takes its place. A file that cannot be used is left out
    with a warning that says why.

    Examples
    --------
    >>> presets()["01-first-look"].page
    'explore'
    """
    return readable(FOLDER, "EXPLORER_SCENARIOS", read_scenario)


def readable(packaged: Path, setting: str, read: Callable[[Path], Read]) -> dict[str, Read]:
    """What ``read`` makes of the files ``NAME.yaml`` of folders, by name, 100 of each at most.

    Parameters
    ----------
    packaged : the folder of the package, which comes first
    setting : the environment variable that names another one
    read : raises `InputError` for a file that is left out with a warning that says why
    """
    named = os.environ.get(setting)
    result: dict[str, Read] = {}
    for folder in [packaged, *([Path(named).expanduser()] if named else [])]:
        for path in sorted(folder.glob("*.yaml"))[:MOST_FILES]:
            try:
                result[path.stem] = read(path)
            except InputError as error:
                warnings.warn(f"{path.name} is left out: {error}", stacklevel=3)
    return result


def read_scenario(path: str | Path) -> Scenario:
    """The scenario of a YAML file.

    Raises
    ------
    InputError
        For a file that is not there, too large, or not a scenario.
    """
    return Scenario.from_yaml(read_file(path))
