"""Which files a path, a pattern, an address or a list means, and how to open them."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Iterable
from dataclasses import dataclass
from glob import glob, has_magic
from itertools import pairwise
from pathlib import Path, PurePath
from typing import Any

import pyarrow as pa
import pyarrow.fs as pafs
import pyarrow.parquet as pq

from explorer.errors import InputError
from explorer.grid.parquet import unreadable
from explorer.grid.table_folders import counted_files, refuse_other

_ENDINGS = (".parquet", ".geoparquet", ".parq", ".pq")
# Two letters or more, so that a drive of Windows is not taken for one.
_ADDRESS = re.compile(r"^[a-z][a-z0-9+.-]+://", re.IGNORECASE)
_UNFINISHED = "_temporary"
_NUMBER = re.compile(r"\d+")
_MOST_FOOTER = 2**28
# Servers that answer any address with a page would seem to hold a log everywhere.
_WEB = ("http", "https")


@dataclass(frozen=True)
class Listing:
    """Files in order.

    Attributes
    ----------
    paths : as the file system knows them
    title : what the person gave, for sentences
    protocol : of fsspec, such as "s3"; empty for this computer
    given : all that the person gave
    notes : which files were left out and why
    """

    paths: tuple[str, ...]
    title: str
    protocol: str = ""
    given: tuple[str, ...] = ()
    notes: tuple[str, ...] = ()

    def open(self, path: str) -> pa.NativeFile:
        """A file opened for reading; never by one thread for another."""
        try:
            return _system(self.protocol).open_input_file(path)
        except OSError as error:
            raise InputError(
                f"{PurePath(path).name} cannot be opened ({error.strerror or error})."
            ) from error

    def footer(self, path: str) -> tuple[str, pq.FileMetaData, pa.Schema]:
        """SHA-256 of length and footer of a Parquet file, and what it says.

        Raises
        ------
        InputError
            For what is not Parquet, or damaged.
        """
        title = PurePath(path).name
        with self.open(path) as opened:
            try:
                size = opened.size()
                opened.seek(max(size - 8, 0))
                end = opened.read(8)
                length = int.from_bytes(end[:4], "little")
                if end[4:] != b"PAR1" or length > min(size, _MOST_FOOTER):
                    raise InputError(
                        f"{title} is no Parquet file, or only a part of one; write it again as "
                        "Parquet to count it."
                    )
                opened.seek(size - 8 - length)
                mark = hashlib.sha256(f"{size} ".encode() + opened.read(length)).hexdigest()
                opened.seek(0)
                file = pq.ParquetFile(opened)
                return mark, file.metadata, file.schema_arrow
            except InputError:
                raise
            except (pa.ArrowException, OSError, ValueError) as error:
                raise unreadable(title, error) from error


@dataclass(frozen=True)
class Part:
    """Row groups of one file that follow each other: what one task counts.

    Attributes
    ----------
    key : names the part among all of its source
    file : number of the file
    groups : numbers of its row groups
    first_row : number of its first row over all files
    rows : how many it has
    """

    key: str
    file: int
    groups: tuple[int, ...]
    first_row: int
    rows: int


def list_files(source: Any) -> Listing:
    """The files that a person means.

    Parameters
    ----------
    source : path, address, pattern, folder, or a list of these; see `scan_points`

    Raises
    ------
    InputError
        For nothing, for what is not there, and for a file that is named twice.
    """
    sources = [source] if isinstance(source, str | Path) else source
    if not isinstance(sources, Iterable) or not all(
        isinstance(text, str | Path) for text in sources
    ):
        raise InputError(
            f"Points in files cannot be read from {type(source).__name__}; give a path or a list."
        )
    named = [str(text) for text in sources]
    if not named:
        raise InputError("There is no file in this list; give one at least.")
    protocols = {_protocol(text) for text in named}
    if len(protocols) > 1:
        raise InputError("These files lie in different stores; give those of one at a time.")
    protocol = protocols.pop()
    paths: list[str] = []
    notes: list[str] = []
    for text in named:
        matches, folder = _elsewhere(text, protocol) if protocol else _here(text)
        if protocol not in _WEB:
            matches, new_notes = counted_files(matches, _system(protocol), folder)
            notes += new_notes
        paths += matches
    twice = next((path for i, path in enumerate(paths) if path in paths[:i]), None)
    if twice is not None:
        raise InputError(
            f"{PurePath(twice).name} is there twice, and its records would count twice; give "
            "every file once."
        )
    title = PurePath(named[0].rstrip("/")).name or named[0]
    return Listing(tuple(paths), title, protocol, tuple(named), tuple(notes))


def is_parquet(path: Path) -> bool:
    """Whether a file of this computer begins as Parquet does, whatever it is called."""
    with path.open("rb") as opened:
        return opened.read(4) == b"PAR1"


def refuse_gaps(listing: Listing) -> None:
    """Raise `InputError` where numbered files lack a number between the first and the last."""
    series: dict[tuple[str, str], list[tuple[int, str]]] = {}
    for path in listing.paths:
        name = PurePath(path).name
        match = _NUMBER.search(name)
        if match is not None:
            where = str(PurePath(path).parent / name[: match.start()]), name[match.end() :]
            series.setdefault(where, []).append((int(match[0]), name))
    for named in series.values():
        named.sort()
        for (number, name), (following, other) in pairwise(named):
            if following > number + 1:
                missing = "One file is" if following == number + 2 else "Files are"
                raise InputError(
                    f"{missing} missing between {name} and {other}; bring it back, or say that "
                    "there are gaps (gaps=True, --gaps)."
                )


def refuse_twins(listing: Listing, one: str, other: str) -> None:
    """Raise `InputError` for two files of equal footers if they are the same to the last byte."""
    marks = set()
    for path in (one, other):
        with listing.open(path) as opened:
            marks.add(hashlib.file_digest(opened, "sha256").digest())
    if len(marks) == 1:
        raise InputError(
            f"{PurePath(one).name} and {PurePath(other).name} are the same file, and its records "
            "would count twice; remove one of them."
        )


def _protocol(text: str) -> str:
    match = _ADDRESS.match(text)
    protocol = match[0][:-3].lower() if match else ""
    return "" if protocol == "file" else protocol


def _here(text: str) -> tuple[list[str], str]:
    """Files of this computer, and the folder if one was given."""
    path = Path(text.removeprefix("file://")).expanduser()
    if path.is_dir():
        refuse_other(path)
        folder = path.resolve()
        inside = [str(p) for p in folder.rglob("*") if p.is_file()]
        return _in_folder(inside, str(folder), text), str(folder)
    if path.is_file():
        return [str(path.resolve())], ""
    if not has_magic(text):
        raise InputError(f"There is no file {path.name}; check the path.")
    # Path.glob takes no absolute patterns.
    fitting = (Path(name) for name in glob(str(path), recursive=True))  # noqa: PTH207
    paths = sorted((str(match.resolve()) for match in fitting if match.is_file()), key=_natural)
    if not paths:
        raise InputError(f"No file fits {text}; check the pattern.")
    return paths, ""


def _elsewhere(text: str, protocol: str) -> tuple[list[str], str]:
    """Files of another store, by fsspec, and the folder if one was given."""
    system = _fsspec(protocol)
    path = str(system._strip_protocol(text))
    try:
        if system.isdir(path) and not has_magic(path):
            return _in_folder(list(map(str, system.find(path))), path, text), path
        is_there = has_magic(path) or system.exists(path)
        paths = sorted(map(str, system.glob(path)), key=_natural) if has_magic(path) else [path]
    except OSError as error:
        raise InputError(f"{text} cannot be looked at ({error}).") from error
    if not paths or not is_there:
        raise InputError(f"There is nothing at {text}; check the address.")
    return paths, ""


def _in_folder(paths: list[str], folder: str, text: str) -> list[str]:
    inside = {path: PurePath(path).relative_to(folder).parts for path in paths}
    if any(_UNFINISHED in parts for parts in inside.values()):
        raise InputError(
            f"{PurePath(text).name} holds a folder {_UNFINISHED}: it is still being written, or "
            "its writing was interrupted; finish that first."
        )
    plain = [path for path, parts in inside.items() if not any(p[0] in "_." for p in parts)]
    data = [path for path in plain if path.lower().endswith(_ENDINGS)]
    if not data:
        raise InputError(
            f"There is no Parquet file in {PurePath(text).name}; points in parts are Parquet."
        )
    return sorted(data, key=_natural)


def _natural(path: str) -> list[tuple[int, str]]:
    """Names in order, numbers as numbers: part-9 before part-10."""
    words = re.split(r"(\d+)", path)
    return [(int(word), "") if word.isdigit() else (-1, word) for word in words]


def _system(protocol: str) -> pafs.FileSystem:
    if not protocol:
        return pafs.LocalFileSystem()
    return pafs.PyFileSystem(pafs.FSSpecHandler(_fsspec(protocol)))


def _fsspec(protocol: str) -> Any:
    try:
        import fsspec
    except ImportError as error:
        raise InputError(
            "Addresses need fsspec, which is not installed; run pip install fsspec."
        ) from error
    try:
        return fsspec.filesystem(protocol)
    except (ImportError, ValueError, OSError) as error:
        raise InputError(f"Files at {protocol}:// cannot be reached ({error}).") from error
