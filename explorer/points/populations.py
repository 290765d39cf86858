"""Names of populations: under one name all grids, extents and bounds of the same people add up."""

from __future__ import annotations

import hashlib
import os.path
import re
import unicodedata
from collections.abc import Iterable, Sequence
from contextlib import suppress
from pathlib import Path, PurePath
from typing import Any, TypeVar

import numpy as np

from explorer.errors import InputError

Counts = TypeVar("Counts")

_LONGEST = 200
# What readers call records whose file they do not know.
_UNNAMED = ("", "points", "trips", "upload")
_HASH = re.compile(r"(counts|records) [0-9a-f]{8,}")
_PATTERN = re.compile(r"[*?\[]")
# Format characters (Cf), and others that are drawn as nothing (Default_Ignorable_Code_Point).
_IGNORED = re.compile(
    "[\u034f\u115f\u1160\u17b4\u17b5\u180b-\u180d\u180f\u2065\u3164\ufe00-\ufe0f\uffa0\ufff0-\ufff8"
    "\U0001bca0-\U0001bca3\U0001d173-\U0001d17a\U000e0000-\U000e0fff]"
)


def population_name(text: str) -> str:
    """A name as the ledger compares it.

    Case, spaces, invisible characters, full-width and other compatible forms of letters, and dots
    or spaces at the end do not make another population. Letters of different alphabets that look
    alike do.

    Raises
    ------
    InputError
        For a name without a visible character, or one that is too long.

    Examples
    --------
    >>> population_name("  Port  Am\u200bber. ")
    'port amber'
    """
    name = unicodedata.normalize("NFKC", _visible(str(text))).casefold()
    # Case folding and composing may each undo what the other has done.
    name = " ".join(_visible(unicodedata.normalize("NFKC", name)).split()).rstrip(" .")
    if not name or len(name) > _LONGEST:
        raise InputError(
            f"A population has a name of 1 to {_LONGEST} letters, such as 'riders 2024'."
        )
    return name


def _visible(text: str) -> str:
    """A text without what is drawn as nothing; spaces of all kinds stay."""
    visible = (c for c in text if c.isspace() or unicodedata.category(c) not in ("Cf", "Cc"))
    return _IGNORED.sub("", "".join(visible))


def is_hash(population: str) -> bool:
    """Whether a population has no name but a hash of its counts or records."""
    return _HASH.fullmatch(population) is not None


def population_of_file(name: str) -> str:
    """The population that a file of records is taken to be, in any folder and format.

    Files of one name are one population, so that a copy in another folder brings no new budget. A
    folder is its name; a pattern is the folder that it looks in.

    Parameters
    ----------
    name : path, pattern, folder or address

    Examples
    --------
    >>> population_of_file("/data/Riders.csv"), population_of_file("riders/part-*.parquet")
    ('riders', 'riders')
    >>> population_of_file("riders.csv.gz"), population_of_file("riders.gpkg::2024")
    ('riders', 'riders')
    """
    if "://" in name and not name.startswith("file://"):
        path = re.split(r"[?#]", name.partition("://")[2])[0]
        parts = [part for part in path.split("/") if part]
    else:
        # A backslash divides folders, too: a name may come from another system.
        path = os.path.expanduser(name.removeprefix("file://")).replace("\\", "/")  # noqa: PTH111
        parts = [part for part in PurePath(os.path.abspath(path)).parts if part]  # noqa: PTH100
    at = next((at for at, part in enumerate(parts) if _PATTERN.search(part)), len(parts))
    # A pattern that begins at the root of a disk or store has no folder.
    last = parts[at - 1] if at else name
    path, last = path.partition("::")[0], last.partition("::")[0]
    is_folder = at < len(parts) or ("://" not in name and Path(path).is_dir())
    is_folder = is_folder and not last.lower().endswith(".gdb")
    last = re.sub(r"\.(gz|bz2|xz|zst|zip)$", "", last, flags=re.IGNORECASE)
    stem = last if is_folder else PurePath(last).stem
    return population_name(stem.removesuffix(".exact"))


def populations_of_files(sources: Iterable[str], files: Iterable[str] = ()) -> tuple[str, ...]:
    """The populations of all that was given, and of the files in it.

    What is spent on a folder is spent on each of its files, and the other way round.

    Parameters
    ----------
    sources : paths, patterns, folders or addresses, in any order
    files : all files that these mean

    Examples
    --------
    >>> populations_of_files(["b.csv", "a.csv"])
    ('a', 'b')
    >>> populations_of_files(["riders/*.parquet"], ["/data/riders/2024.parquet"])
    ('riders', '2024')
    """
    sources = list(sources)
    named = sorted({population_of_file(name) for name in sources})
    # What a link leads to is the same records.
    real = [str(Path(name).resolve()) for name in sources if Path(name).is_symlink()]
    inside = sorted({population_of_file(name) for name in (*real, *files)} - set(named))
    return (*named, *inside)


def population_of_records(records: Any) -> str:
    """The population that records in memory are taken to be: by their name, else by their places.

    Parameters
    ----------
    records : Points or Trips

    Examples
    --------
    >>> from explorer import Points
    >>> places = np.array([1.0, 2.0]), np.array([3.0, 4.0])
    >>> population_of_records(Points(*places, name="Riders"))
    'riders'
    >>> population_of_records(Points(*places))[:8]
    'records '
    """
    name = str(records.name)
    if name.casefold() not in _UNNAMED:
        with suppress(InputError):  # a title that is no name
            return population_name(name)
    digest = hashlib.sha256()
    for axis in (records.x, records.y):
        for places in axis if isinstance(axis, tuple) else (axis,):
            digest.update(np.ascontiguousarray(places, dtype=np.float64).tobytes())
    return f"records {digest.hexdigest()[:12]}"


def of_people(counts: Counts, populations: Sequence[str]) -> Counts:
    """The same counts, which know from now on whose records they are; it is no part of their key.

    Parameters
    ----------
    counts : FrequencyMatrix, AreaCounts, TripMatrix or People
    populations : names, the first of which is named in sentences
    """
    counted: Any = counts
    counted.populations = tuple(populations)
    if getattr(counted, "unclipped", None) is not None:
        of_people(counted.unclipped, populations)
    return counts
