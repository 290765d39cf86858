"""Public arrays that take a second to compute, kept in files of the user's cache."""

from __future__ import annotations

import os
import zipfile
from collections.abc import Callable, Mapping
from contextlib import suppress
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from explorer.errors import InputError
from explorer.grid.whole_file import write_whole

Arrays = dict[str, NDArray[Any]]

#: Files of one kind that are kept; the ones unused for longest go first.
MOST_FILES = 16
WORTH_A_FILE = 20_000


def cache_folder() -> Path:
    """Return the folder of what can be had again: ``EXPLORER_CACHE``, else the user's cache."""
    named = os.environ.get("EXPLORER_CACHE")
    if named:
        return Path(named).expanduser()
    base = os.environ.get("XDG_CACHE_HOME") or os.environ.get("LOCALAPPDATA") or "~/.cache"
    return Path(base).expanduser() / "dp-explorer"


def kept(
    kind: str,
    key: str,
    names: tuple[str, ...],
    build: Callable[[], Mapping[str, Any]],
    worth: int = WORTH_A_FILE,
) -> Arrays:
    """Arrays from their file, or built and kept for the next time.

    A file that is damaged is built anew, and one that cannot be written is done without. Only
    what is public may be kept here: the folder knows no privacy.

    Parameters
    ----------
    kind : a name for what is kept, with its version: another one never reads the same file
    key : of what the arrays are computed from, such as a SHA-256
    names : of the arrays
    build : called where there is no file; returns the arrays by name
    worth : of how many places they are computed; below `WORTH_A_FILE` that is faster than reading

    Returns
    -------
    dict of arrays, without Python objects in them
    """
    if worth < WORTH_A_FILE:
        return dict(build())
    path = cache_folder() / "areas" / f"{kind}-{key[:40]}.npz"
    with suppress(OSError, ValueError, KeyError, EOFError, zipfile.BadZipFile):
        # Each array has a checksum in the file, compared when it has been read.
        with np.load(path, allow_pickle=False) as file:
            arrays = {name: file[name] for name in names}
        os.utime(path)
        return arrays
    built = {name: np.ascontiguousarray(values) for name, values in build().items()}
    with suppress(OSError, InputError):
        _write(path, built)
        same = sorted(
            path.parent.glob(f"{kind}-*.npz"), key=lambda cached_file: cached_file.stat().st_mtime
        )
        for old in same[:-MOST_FILES]:
            old.unlink(missing_ok=True)
    return built


def _write(path: Path, arrays: Arrays) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    write_whole(path, lambda part: np.savez(part, allow_pickle=False, **arrays))
