"""Data of one's own: points with the extent that was declared for them, from a form or a cell."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass, field
from glob import has_magic
from os import PathLike
from pathlib import Path
from typing import Any, Generic, TypeVar

import numpy as np

from explorer.app.boxes.released import is_release
from explorer.errors import InputError
from explorer.grid.grid import Grid
from explorer.grid.values import shown
from explorer.points.matrix import FrequencyMatrix
from explorer.points.populations import (
    population_name,
    population_of_file,
    population_of_records,
)

Read = TypeVar("Read")
# What `read_points` advises about a column that says how many each row represents.
_WEIGHT = re.compile(r"name it with weight=(['\"]).*?\1(?= to )")


@dataclass(frozen=True, eq=False)
class OwnPoints(Generic[Read]):
    """Points (or trips) of a visitor with the extent that was declared for them.

    Parameters
    ----------
    points : as read
    title : what to call them; safe to show
    extent : said by a person, never taken from points; None where other boundaries represent it
    file : what the file was called that they came in; "" where they came in none
    named : whose records they are, where someone has said it
    bound : how many records of each person count, 0 for single records; None where no one said it
    """

    points: Read
    title: str
    extent: Grid | None = None
    file: str = field(default="", kw_only=True)
    named: str = field(default="", kw_only=True)
    bound: int | None = field(default=None, kw_only=True)

    @property
    def population(self) -> str:
        """Whose records the ledger takes them to be: as named, or by the file, or by themselves.

        Raises
        ------
        InputError
            For a name that is none.
        """
        if self.named.strip():
            return population_name(self.named)
        return population_of_file(self.file) if self.file else population_of_records(self.points)

    @property
    def notes(self) -> tuple[str, ...]:
        """Sentences about how they were read, as the form of a file says it; not safe to show."""
        notes: tuple[str, ...] = tuple(self.points.notes)  # type: ignore[attr-defined]
        if not self.file:
            return notes
        return tuple(_WEIGHT.sub("name it as the weight column", note) for note in notes)

    def grid(self, side: int) -> Grid:
        """The declared extent with ``side`` x ``side`` cells."""
        if self.extent is None:
            raise InputError("Nobody has said which extent these points are to be counted on.")
        return Grid(self.extent.bounds, (side, side), self.extent.crs, self.title)


def is_key(source: Any) -> bool:
    """Whether what a page was given names data of the catalogue, and is no file.

    >>> is_key("madeup"), is_key("my.csv"), is_key("folder/points"), is_key([[1, 2]])
    (True, False, False, False)
    """
    if not isinstance(source, str):
        return False
    return not (Path(source).suffix or "/" in source or "\\" in source or has_magic(source))


def is_counts(source: Any) -> bool:
    """Whether something is a plain matrix of counts: numbers in rows of equal length.

    >>> is_counts(np.ones((4, 4))), is_counts([[1, 2], [3, 4]]), is_counts({"lon": [1.0]})
    (True, True, False)

    A pair of columns is points:

    >>> is_counts((np.array([1, 2]), np.array([3, 4])))
    False
    """
    rows = isinstance(source, list) and all(isinstance(row, list | tuple) for row in source)
    if not (rows or isinstance(source, np.ndarray)):
        return False
    try:
        array = np.asarray(source)
    except ValueError:
        return False
    return array.ndim == 2 and array.dtype.kind in "biuf"


def matrix_of(counts: Any, extent: Any = None) -> FrequencyMatrix:
    """A plain matrix of counts, row 0 in the south, on an extent of `Grid.of` or on cells."""
    grid = None if extent is None else Grid.of(extent, shape=np.shape(counts))
    return FrequencyMatrix.from_array(counts, grid)


def as_read(source: Any, kind: type[Read], user: str | None, read: Callable[..., Read]) -> Read:
    """Points or trips, read with a column of users unless they are read already.

    Raises
    ------
    InputError
        For a column of users of what is read already, and all that ``read`` refuses.
    """
    if not isinstance(source, kind):
        return read(source, user=user)
    if user is not None:
        raise InputError("These are read already: name their users where they are read.")
    return source


def refuse_unused(extent: Any, user: str | None, whose: str) -> None:
    """Nothing that someone says is let go in silence."""
    for what, value in (("An extent", extent), ("A column of users", user)):
        if value is not None:
            raise InputError(f"{what} is for points of your own, not for {whose}: leave it out.")


def own_points(source: Any, extent: Any, read: Callable[[Any], Read], what: str) -> OwnPoints[Read]:
    """Points or trips that a cell brought along, on an extent of `Grid.of`.

    Raises
    ------
    InputError
        Without an extent, for one that cannot be, and all that ``read`` refuses.
    """
    named = isinstance(source, str | PathLike)
    if extent is None and not named and not hasattr(source, "__len__"):
        # Advice on an extent would be about something else.
        raise InputError(
            f"{shown(source)} is nothing that this page shows: give {what} (a file, a frame, or "
            "read), counts, or a key of the catalogue."
        )
    if extent is None:
        raise InputError(
            f"The {what} need an extent, which is public: extent=(west, south, east, north) in "
            "degrees, or a boundary."
        )
    laid = extent if isinstance(extent, Grid) else Grid.of(extent, shape=2)
    if named and not Path(source).expanduser().exists():
        raise InputError(
            f"There is no file {str(source)[:200]!r}: check its name, or give a key of the "
            "catalogue (dp-explorer cities lists them)."
        )
    return OwnPoints(read(source), f"Your {what}", laid)


def refuse_release(source: Any) -> None:
    """A release has nothing exact to be next to it."""
    if is_release(source):
        raise InputError(
            "A release has no truth that this page could show beside it: see it with "
            "Explore(release)."
        )
