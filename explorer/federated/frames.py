"""People from a table of places: who was where, how often, and what she says to a question."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from explorer.errors import InputError
from explorer.federated.places import Ints, morton
from explorer.grid.cells import CellFinder
from explorer.grid.grid import Grid
from explorer.points.columns import listed
from explorer.points.points import Points, read_points

_YES, _NO = frozenset({"yes", "true", "1", "1.0"}), frozenset({"no", "false", "0", "0.0"})


@dataclass(frozen=True)
class Gathered:
    """What `People` is made of: cells, where each person's begin, visits, answers."""

    cells: Ints
    offsets: Ints | None
    visits: Ints | None
    answer: NDArray[np.bool_] | None


def gathered(
    frame: Any,
    grid: Grid,
    user: str | None = None,
    lon: str | None = None,
    lat: str | None = None,
    attribute: str | None = None,
    visits: str | None = None,
    crs: Any = None,
) -> Gathered:
    """Read a table of visits; see `People.from_frame`."""
    # Any values may be in the column of times, and go along with their rows.
    points = read_points(frame, lon=lon, lat=lat, crs=crs, user=user, weight=visits, time=attribute)
    if points.crs is None and grid.crs is not None:
        raise InputError("These places have no CRS: name it with crs=... to find their cells.")
    if points.crs is not None and grid.crs is None:
        raise InputError("This grid has no CRS: make it with Grid.around to find places in it.")
    number = np.ones(len(points), dtype=np.int64) if points.weight is None else points.weight
    if np.any(number < 1):
        raise InputError("A place with no visit at all says nothing: leave such rows out.")
    answers = None if points.time is None else yes_or_no(points.time, str(attribute))
    code = codes_of(points, grid)
    if points.user is None:
        return Gathered(code, None, None, answers)
    _refuse_nameless(frame, user, lon, lat, crs)
    person = np.unique(points.user, return_inverse=True)[1]
    answer = None if answers is None else one_each(person, answers, str(attribute))
    return Gathered(*grouped(person, code, number), answer)


def _refuse_nameless(frame: Any, user: Any, lon: str | None, lat: str | None, crs: Any) -> None:
    """Refuse ids that are empty texts: all rows without one would be a single person.

    Rows whose id is missing altogether are left out by `read_points`.
    """
    there = ""
    if isinstance(frame, str | Path):
        # The column as it is in the file; of rows without a place no one is made.
        ids = read_points(frame, lon=lon, lat=lat, crs=crs, time=user).time
        there = " of those with a place"
    else:
        ids = frame[user] if isinstance(user, str) else user
    values = np.asarray(ids)
    if values.dtype.kind not in "OUS":
        return
    blank = np.fromiter((isinstance(value, str) and not value.strip() for value in values), bool)
    if blank.any():
        name = f" in {user!r}" if isinstance(user, str) else ""
        raise InputError(
            f"Row {int(blank.argmax()) + 1:,}{there} has an empty id{name}, and all such rows "
            f"({np.count_nonzero(blank):,}) would be one person: give each person an id, or leave "
            "them out."
        )


def codes_of(points: Points, grid: Grid) -> Ints:
    """Finest cells of places, (n,), as `Grid.count` counts them; -1 outside the grid."""
    cells = CellFinder(grid, points.crs, len(points)).find(points.x, points.y)
    code = np.full(len(points), -1, dtype=np.int64)
    inside = ~np.isnan(cells.column)
    rows, cols = grid.shape
    # The last edge belongs to the last cell.
    column = np.minimum(cells.column[inside].astype(np.int64), cols - 1)
    row = np.minimum(cells.row[inside].astype(np.int64), rows - 1)
    code[cells.which[inside]] = morton(column, row)
    return code


def grouped(person: Ints, code: Ints, visits: Ints) -> tuple[Ints, Ints, Ints]:
    """Rows of persons 0, 1, .. as one place for each cell, with all visits to it.

    Places outside count nowhere; who has no other takes part all the same, with a vector of zeros.

    Returns
    -------
    cells (p,), (n + 1,) where each person's begin, visits (p,)
    """
    number = int(person.max(initial=-1)) + 1
    inside = code >= 0
    order = np.lexsort((code[inside], person[inside]))
    person, code, visits = (column[inside][order] for column in (person, code, visits))
    new = np.ones(len(code), dtype=bool)
    new[1:] = (np.diff(person) > 0) | (np.diff(code) > 0)
    first = np.flatnonzero(new)
    total = np.add.reduceat(visits, first) if len(first) else visits[:0]
    return code[first], np.searchsorted(person[first], np.arange(number + 1)), total


def yes_or_no(values: NDArray[Any], name: str) -> NDArray[np.bool_]:
    """Answers as truth values: true and false, 1 and 0, yes and no.

    Raises
    ------
    InputError
        For anything else, gaps included.
    """
    kinds, which = np.unique(np.asarray(values).astype(str), return_inverse=True)
    words = [str(kind).strip().lower() for kind in kinds]
    strange = [kind for kind, word in zip(kinds, words, strict=True) if word not in _YES | _NO]
    if strange:
        raise InputError(
            f"The column {name!r} holds {listed(strange)}: a proportion needs yes or no, 1 or 0."
        )
    return np.array([word in _YES for word in words])[which]


def one_each(person: Ints, answers: NDArray[np.bool_], name: str) -> NDArray[np.bool_]:
    """The answer of each person from those of her rows; raises an InputError if they differ."""
    number = int(person.max(initial=-1)) + 1
    yes = np.bincount(person, weights=answers, minlength=number)
    rows = np.bincount(person, minlength=number)
    both = np.count_nonzero((yes > 0) & (yes < rows))
    if both:
        raise InputError(
            f"{both} people say both yes and no in {name!r}: two people may share one id; give "
            "each her own, or one answer."
        )
    return yes > 0
