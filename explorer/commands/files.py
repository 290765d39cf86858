"""Files to read must be there, or come on standard input; output files are refused early."""

from __future__ import annotations

import argparse
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

from explorer.errors import InputError

#: Arguments that name files to read; what is written never comes from standard input.
READ = ("points", "map", "rectangles", "polygons", "place")
# What a file begins with says what it is; text that is no JSON is CSV.
_ENDINGS = ((b"PAR1", ".parquet"), (b"SQLite format 3\0", ".gpkg"), (b"PK\3\4", ".zip"))


def add_output(
    parser: argparse.ArgumentParser, text: str, overwrite: str = "", metavar: str = "FILE"
) -> None:
    """Declare the file to write, and that one that is there may be replaced."""
    parser.add_argument("-o", "--output", metavar=metavar, help=text)
    overwrite = overwrite or "replace FILE if it exists"
    parser.add_argument("--overwrite", action="store_true", help=overwrite)


def require_file(text: str) -> None:
    """Raise `InputError` for a file to read that is not there."""
    if not _file_of(text).exists():
        raise InputError(f"There is no file {text}; check its name.")


def output_path(text: str, overwrite: bool, reads: Iterable[str | None] = ()) -> Path:
    """The path of a file to write, checked before the work begins.

    `reads` are the files that the command reads: none of them is ever replaced.
    """
    if text == "-":
        raise InputError("A file that is written needs a name, and - is none; give one.")
    path = Path(text).expanduser()
    if path.is_dir():
        raise InputError(f"{text} is a folder; give the name of a file in it.")
    for read in (_file_of(name) for name in reads if name is not None):
        if path.exists() and read.exists() and path.samefile(read):
            raise InputError(f"{text} is what is read; give the output another name.")
    if path.exists() and not overwrite:
        raise InputError(f"{text} exists already; give another name, or --overwrite.")
    if not path.parent.is_dir():
        raise InputError(f"There is no folder {path.parent} for {path.name}; make it first.")
    try:
        with tempfile.TemporaryFile(dir=path.parent):
            pass
    except OSError as error:
        raise InputError(
            f"The folder {path.parent} cannot be written to ({error.strerror}); choose another."
        ) from error
    return path


def _file_of(text: str) -> Path:
    """The file of a path behind which a layer may be named."""
    # Imported here, since it loads numpy, which help needs not.
    from explorer.grid.containers import split_layer

    return split_layer(text)[0]


@contextmanager
def standard_input(arguments: argparse.Namespace) -> Iterator[argparse.Namespace]:
    """Keep standard input in a file while a command runs, where one of its files is "-".

    Yields the arguments of the command, with the name of that file in place of "-".

    Readers need a file that they can look at twice. It is in a folder that only this user can
    open, and is gone at the end, also when this process is killed.
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
