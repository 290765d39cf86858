"""`-` in place of a file that is read: what comes in on standard input."""

from __future__ import annotations

import argparse
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

from explorer.errors import InputError

#: Arguments that name files to read; what is written never comes from standard input.
READ = ("points", "map", "rectangles", "polygons", "place")
# What a file begins with says what it is; text that is no JSON is CSV.
_ENDINGS = ((b"PAR1", ".parquet"), (b"SQLite format 3\0", ".gpkg"), (b"PK\3\4", ".zip"))


@contextmanager
def standard_input(arguments: argparse.Namespace) -> Iterator[argparse.Namespace]:
    """Keep standard input in a file while a command runs, where one of its files is "-".

    Yields the arguments of the command, with the name of that file in place of "-".

    Readers need a file that they can look at twice. It is in a folder that only this user can
    open, and is gone at the end, also when this process is killed.

    Raises
    ------
    InputError
        For "-" in place of several files, or nothing on standard input.
    """
    uses = sum(_count(getattr(arguments, name, None)) for name in READ)
    if not uses:
        yield arguments
        return
    if uses > 1:
        raise InputError("Standard input can be read once; give a name in place of the second -.")
    with tempfile.TemporaryDirectory(prefix="dp-explorer-") as folder, _outlived(folder):
        copy = str(_kept(Path(folder)))
        values = vars(arguments)
        files = {name: _replaced(values[name], copy) for name in READ if name in values}
        try:
            yield argparse.Namespace(**{**values, **files})
        except InputError as error:
            raise InputError(str(error).replace(copy, "standard input")) from error


@contextmanager
def _outlived(folder: str) -> Iterator[None]:
    """Have a folder removed by a process that is left behind when this one is killed.

    It waits for the end of a pipe that only this process writes to. Where there is no shell (on
    Windows, in bare containers), what was killed leaves its folder.
    """
    try:
        watcher = subprocess.Popen(
            ["/bin/sh", "-c", 'cat > /dev/null; rm -rf -- "$1"', "sh", folder],
            stdin=subprocess.PIPE,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            # An interrupt from the keyboard is for the command alone.
            start_new_session=True,
        )
    except OSError:
        yield
        return
    assert watcher.stdin is not None
    try:
        yield
    finally:
        watcher.stdin.close()
        # A fork of this process may hold the pipe for longer: the folder goes without it as well.
        with suppress(subprocess.TimeoutExpired):
            watcher.wait(5)


def _kept(folder: Path) -> Path:
    source = getattr(sys.stdin, "buffer", None)
    if source is None:
        raise InputError("There is no standard input to read - from; give the name of a file.")
    path = folder / "standard-input"
    with path.open("wb") as file:
        shutil.copyfileobj(source, file)
    with path.open("rb") as file:
        first = file.read(4096)
    if not first.strip():
        raise InputError("Nothing came in on standard input; pipe a file into it, or name one.")
    text = first.removeprefix(b"\xef\xbb\xbf").lstrip()
    other = ".geojson" if text[:1] in (b"{", b"[") else ".csv"
    ending = next((ending for begin, ending in _ENDINGS if first.startswith(begin)), other)
    return path.rename(path.with_suffix(ending))


def _count(value: Any) -> int:
    """How often "-" occurs in an argument: a text, or lists of them."""
    return sum(map(_count, value)) if isinstance(value, list | tuple) else int(value == "-")


def _replaced(value: Any, path: str) -> Any:
    if not isinstance(value, list | tuple):
        return path if value == "-" else value
    return [_replaced(entry, path) for entry in value]
