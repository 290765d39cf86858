"""Which column of a table names its rows: the one that is asked for, or the best that there is."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from typing import Any

from explorer.queries.files import clean_name

#: So many columns of text are offered for names.
MOST_COLUMNS = 20
# Columns that name areas, the best first; in any case of letters.
_NAMES = (
    *("name", "name_en", "nam", "label", "title", "area_name", "namelsad", "lau_name"),
    *("nuts_name", "name_latn", "gen", "nom", "nome", "nombre", "naam", "navn", "nazwa"),
    *(f"name_{level}" for level in (5, 4, 3, 2, 1)),
    *("borough", "district", "ward", "neighborhood", "neighbourhood", "community", "county"),
    *("municipality", "commune", "gemeinde", "kommune", "arrondissement", "region", "state"),
)
#: The columns that are looked for where none is asked for.
USUAL = tuple(
    dict.fromkeys(spelling(word) for word in _NAMES for spelling in (str, str.upper, str.title))
)


def usual(has: Collection[str]) -> str:
    """The column that names rows where no one says which one; "" where none looks like it.

    >>> usual(["POP", "NAME_2", "label"]), usual(["POP"])
    ('label', '')
    """
    return next((column for column in USUAL if column in has), "")


def offered(columns: Mapping[str, Sequence[Any]], used: str) -> dict[str, list[str]]:
    """Names by each column of text, and by the one that is used whatever it holds.

    Parameters
    ----------
    columns : n values each, None for no name
    used : a key of ``columns``, or ""
    """
    texts = [name for name, values in columns.items() if any(isinstance(v, str) for v in values)]
    chosen = dict.fromkeys([*texts[:MOST_COLUMNS], *([used] if used else [])])
    return {name: texts_of(columns[name]) for name in chosen}


def values_of(frame: Any, column: str) -> list[Any]:
    """The values of a column of a frame, None for none."""
    # What a table has for no name is NaN in most formats of polygons.
    return list(frame[column].astype(object).where(frame[column].notna(), None))


def texts_of(names: Sequence[Any]) -> list[str]:
    """Names in one short line each, "" for none."""
    return [
        "" if name is None or not str(name).strip() else clean_name(name, number)
        for number, name in enumerate(names)
    ]
