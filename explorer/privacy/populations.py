"""Names of populations: under one name all grids, extents and bounds of the same people add up."""

from __future__ import annotations

import hashlib
import re
import unicodedata
from pathlib import PurePath
from typing import Any

import numpy as np

from explorer.errors import InputError

_LONGEST = 200
# What readers call records whose file they do not know.
_UNNAMED = ("", "points", "trips", "upload")
_PATTERN = re.compile(r"[*?\[]")


def population_name(text: str) -> str:
    """A name as the ledger compares it: case and spaces do not make another population.

    Raises
    ------
    InputError
        For a name without a letter, or one that is too long.

    Examples
    --------
    >>> population_name("  Port  Amber ")
    'port amber'
    """
    name = " ".join(unicodedata.normalize("NFKC", str(text)).split()).casefold()
    if not name or len(name) > _LONGEST:
        raise InputError(
            f"A population has a name of 1 to {_LONGEST} letters, such as 'riders 2024'."
        )
    return name


def population_of_file(name: str) -> str:
    """The population that a file of records is taken to be, wherever it lies and in what format.

    Files of one name are one population, so that a copy in another folder brings no new budget.

    Parameters
    ----------
    name : path, pattern, folder or address

    Examples
    --------
    >>> population_of_file("/data/Riders.csv"), population_of_file("riders/part-*.parquet")
    ('riders', 'riders')
    """
    if "://" in name:
        name = re.split(r"[?#]", name.partition("://")[2])[0]
    parts = [part for part in re.split(r"[/\\]", name) if part and not _PATTERN.search(part)]
    last = PurePath(parts[-1]).stem if parts else name
    return population_name(last.removesuffix(".exact"))


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
        return population_name(name)
    digest = hashlib.sha256()
    for axis in (records.x, records.y):
        for places in axis if isinstance(axis, tuple) else (axis,):
            digest.update(np.ascontiguousarray(places, dtype=np.float64).tobytes())
    return f"records {digest.hexdigest()[:12]}"
