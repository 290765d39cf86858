"""Files that are written whole or not at all: what stood there before is never half replaced."""

from __future__ import annotations

import os
import secrets
import sqlite3
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path

from explorer.errors import InputError

# Names of files have an end, and with it the ending by which formats are told.
_LONGEST = 200


def write_whole(path: str | Path, write: Callable[[Path], object]) -> None:
    """Write a file next to its place, bring it to the disk, and only then give it its name.

    Whatever fails, a full disk or a process that is ended, an older file of that name stays as it
    was and no half of the new one is left under it.

    Parameters
    ----------
    path : path
        The file to write; one that is there is replaced, with its permissions.
    write : callable
        Writes the file whose path it is given, which is not there yet and ends as `path` does.

    Raises
    ------
    InputError
        When the file cannot be written: no space, a folder that is missing or read-only.

    Examples
    --------
    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     file = Path(folder) / "notes.txt"
    ...     write_whole(file, lambda part: part.write_text("all of it"))
    ...     file.read_text()
    'all of it'
    """
    # A link is followed to the file that is meant.
    target = Path(path).resolve()
    part = target.with_name(f".part.{secrets.token_hex(4)}.{target.name[-_LONGEST:]}")
    try:
        if target.exists() and not target.is_file() and not target.is_dir():
            write(target)  # a device or a pipe has no older content and must not be replaced
            return
        if target.exists() and not os.access(target, os.W_OK):
            raise PermissionError(None, "it is protected against writing")
        write(part)
        if target.exists():
            part.chmod(target.stat().st_mode & 0o7777)
        _to_the_disk(part)
        part.replace(target)
        with suppress(OSError):  # not every system lets a folder be opened
            _to_the_disk(target.parent)
    except InputError:
        raise
    # GDAL says what the disk said as an error of its own, a RuntimeError.
    except (OSError, sqlite3.Error, RuntimeError) as error:
        why = getattr(error, "strerror", None) or error
        raise InputError(
            f"{path} could not be written ({why}); what stood there is as it was. Make room, or "
            "choose another folder."
        ) from error
    finally:
        with suppress(OSError):
            part.unlink(missing_ok=True)


def _to_the_disk(path: Path) -> None:
    number = os.open(path, os.O_RDONLY)
    try:
        os.fsync(number)
    finally:
        os.close(number)
