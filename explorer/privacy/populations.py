"""Names of populations: under one name all grids, extents and bounds of the same people add up."""

from __future__ import annotations

import re
import unicodedata
from pathlib import PurePath

from explorer.errors import InputError

_LONGEST = 200
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
