"""Trips as a space: one place or several that belong together, each on a grid of its own."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Protocol, TypeVar

import numpy as np
from numpy.typing import ArrayLike, NDArray

from explorer.errors import InputError
from explorer.grid.countable import check_unit
from explorer.grid.frames import by_place
from explorer.grid.grid import Grid, Progress

Floats = NDArray[np.float64]
Counted_co = TypeVar("Counted_co", covariant=True)

#: 1024 x 1024 cells for each of three places, 64 x 64 for each of five. Whatever is a product of
#: sides stays an int64.
MOST_CELLS = 2**60
#: As many places of 2 x 2 cells each have that many combinations.
MOST_PLACES = 30
#: Trips of each user that a bound is best begun with: how many there are decides, this hardly.
CONTRIBUTION_BOUND = 10
_NAMES = {1: ("place",), 2: ("from", "to"), 3: ("from", "via", "to")}


class Countable(Protocol[Counted_co]):
    """What a domain of trips can count: trips that put themselves into its cells."""

    def count_on(
        self,
        domain: TripDomain,
        contribution_bound: int | None,
        progress: Progress | None,
        weights: bool,
    ) -> Counted_co:
        """Return the counts on ``domain``."""


@dataclass(frozen=True)
class TripDomain:
    """The domain of trips with k places each: every place has a grid of its own.

    The axes are row and column of the first place, then of the second, and so on. Places may lie
    on different grids, in different CRS, with different numbers of cells. A domain of an odd
    number of axes is one whose last place has a single row.

    Parameters
    ----------
    grids : sequence of k Grid, 1 or more
        Declared by a person, like every `Grid`; all in metres or all in cells. The more places,
        the fewer cells each may have: 1024 x 1024 of three, 64 x 64 of five.
    names : sequence of k str, optional
        What the places are called; "place", "from" and "to", "from", "via" and "to", else numbers.

    Raises
    ------
    InputError
        For no grid, names that are not k different ones, units that are mixed, more than 2^60
        combinations of cells, or more than 30 places.

    Examples
    --------
    >>> trips = TripDomain([Grid.cells(8), Grid.cells((4, 5))])
    >>> trips.shape, trips.axis_names[2:]
    ((8, 8, 4, 5), ('to row', 'to column'))
    >>> trips.to_cells([[[0, 0, 8, 8], [1, 2, 3, 4]]]).tolist()
    [[[0.0, 0.0, 2.0, 1.0], [8.0, 8.0, 4.0, 3.0]]]
    """

    grids: Sequence[Grid]
    names: Sequence[str] = ()

    def __post_init__(self) -> None:
        grids = () if isinstance(self.grids, Grid) else tuple(self.grids)
        if not grids or not all(isinstance(grid, Grid) for grid in grids):
            raise InputError("Give a grid for every place: TripDomain([grid_from, grid_to]).")
        numbered = tuple(f"place {number + 1}" for number in range(len(grids)))
        names = tuple(self.names) or _NAMES.get(len(grids), numbered)
        if len(set(names)) != len(grids) or not all(isinstance(name, str) for name in names):
            raise InputError(f"The places are called {names!r}; give one name to each.")
        if len({grid.unit for grid in grids}) > 1:
            raise InputError("One place is measured in metres, another in cells; use one unit.")
        _refuse_cells([grid.shape for grid in grids])
        object.__setattr__(self, "grids", grids)
        object.__setattr__(self, "names", names)

    @property
    def kind(self) -> str:
        """The tag of trips among domains: "trips"."""
        return "trips"

    @property
    def shape(self) -> tuple[int, ...]:
        """Rows and columns of every place in turn, (2k,)."""
        return tuple(side for grid in self.grids for side in grid.shape)

    @property
    def axis_names(self) -> tuple[str, ...]:
        """Such as "from row", "from column", "to row", "to column", (2k,)."""
        return tuple(
            f"{name} {axis}"
            for name, grid in zip(self.names, self.grids, strict=True)
            for axis in grid.axis_names
        )

    @property
    def unit(self) -> str:
        """What coordinates are measured in: "m" or "cells"."""
        return self.grids[0].unit

    def count(
        self,
        trips: Countable[Counted_co],
        contribution_bound: int | None = None,
        progress: Progress | None = None,
        weights: bool = True,
        *,
        per: str | None = None,
    ) -> Counted_co:
        """Count trips into combinations of cells.

        A trip counts if each of its places is inside that place's grid, edges included; all
        others are counted nowhere, and how many they were is not kept. A trip that ends where it
        began is one like any other. Adding a stop leaves out the trips whose stop is outside, so
        counts, and what is released of them, belong to their list of places.

        Parameters
        ----------
        trips : Trips
            With as many places as this domain, in its order, see `read_trips`.
        contribution_bound : int, 1 or more, optional
            At most this many trips of each user, such as `CONTRIBUTION_BOUND`. Needs
            ``trips.user``; the matrix then protects users, not single trips.
        progress : callable, optional
            Called with the fraction done, 0 to 1.
        weights : bool
            How the bound k is kept. True: all trips of a user who has n count, each with a weight
            of min(1, k / n), see `points.weights`. False: k of those inside, chosen as for
            `Grid.count`. Either way what is kept of one user depends on that user alone.
        per : "record" (a trip) or "user", optional
            Whom to protect. Trips with users need a bound, or "record" to insist on single ones.

        Returns
        -------
        TripMatrix
            What `Trips` make of themselves on this domain: the domain knows no trip.

        Raises
        ------
        InputError
            For what is no trips, another number of places, a bound without users, or a CRS on one
            side only.

        Examples
        --------
        >>> from explorer import Grid, TripDomain, read_trips
        >>> ends = {
        ...     "from_x": [2.30, 2.31],
        ...     "from_y": [48.8, 48.8],
        ...     "to_x": [2.4, 9.0],
        ...     "to_y": [49, 49],
        ... }
        >>> grid = Grid.around(2.35, 48.9, "40km", shape=8)
        >>> TripDomain([grid, grid]).count(read_trips(ends)).total  # one of them ends elsewhere
        1
        """
        if not hasattr(trips, "places"):
            raise InputError("These are no trips; read them with read_trips to count them here.")
        check_unit(trips, contribution_bound, per)
        return trips.count_on(self, contribution_bound, progress, weights)

    def to_cells(self, boxes: ArrayLike | Mapping[str, Any]) -> Floats:
        """Return boxes in cells, (n, 2, 2k): lower and upper, axes in order.

        Parameters
        ----------
        boxes : (n, k, 4) or (n, 4k), or a mapping from places to boxes
            x0, y0, x1, y1 of every place in turn, each in the unit and CRS of its grid. Four NaN
            mean anywhere: the whole grid of that place. A mapping names places and has frames of
            polygons or (n, 4) for each, rows matched by position, see `grid.frames`.

        Returns
        -------
        (n, 2, 2k) float64

        Raises
        ------
        InputError
            For boxes of another shape, not finite, or inside out.
        """
        wide = 4 * len(self.grids)
        if isinstance(boxes, Mapping):
            boxes = by_place(boxes, self.names, self.grids)
        try:
            array = np.asarray(boxes, dtype=np.float64)
        except (TypeError, ValueError) as error:
            raise InputError("Boxes are numbers: x0, y0, x1, y1 of every place.") from error
        if array.size == 0:
            array = np.zeros((0, wide))
        if array.ndim == 3 and array.shape[1:] == (len(self.grids), 4):
            array = array.reshape(-1, wide)
        array = np.atleast_2d(array)
        if array.ndim != 2 or array.shape[1] != wide:
            raise InputError(
                f"Boxes have shape {array.shape}; give x0, y0, x1, y1 of {' and '.join(self.names)}"
                f" in each row, (n, {len(self.grids)}, 4) or (n, {wide})."
            )
        parts = np.split(array, len(self.grids), axis=1)
        cells = [_in_cells(grid, part) for grid, part in zip(self.grids, parts, strict=True)]
        return np.concatenate(cells, axis=2)

    def from_cells(self, cells: ArrayLike) -> Floats:
        """Return (n, 4k) of (n, 2, 2k) boxes in cells: the inverse of `to_cells`."""
        boxes = np.asarray(cells, dtype=np.float64)
        axes = 2 * len(self.grids)
        if boxes.size and (boxes.ndim != 3 or boxes.shape[1:] != (2, axes)):
            raise InputError(f"Boxes in cells have shape {boxes.shape}; give (n, 2, {axes}).")
        parts = np.split(boxes.reshape(-1, 2, axes), len(self.grids), axis=2)
        rows = [grid.from_cells(part) for grid, part in zip(self.grids, parts, strict=True)]
        return np.concatenate(rows, axis=1)

    def to_dict(self) -> dict[str, Any]:
        """Return the names and the grids of the places, ready for JSON."""
        return {"names": list(self.names), "places": [grid.to_dict() for grid in self.grids]}

    @classmethod
    def from_dict(cls, saved: Any) -> TripDomain:
        """Return what ``to_dict`` described; raise `InputError` if it did not."""
        places = saved.get("places") if isinstance(saved, Mapping) else None
        names = saved.get("names", ()) if isinstance(saved, Mapping) else ()
        if not isinstance(places, Sequence) or not isinstance(names, Sequence):
            raise InputError("The description of several places needs 'places' and 'names'.")
        return cls(tuple(Grid.from_dict(place) for place in places), tuple(names))


def _refuse_cells(shapes: Sequence[tuple[int, int]]) -> None:
    """Raise `InputError` for more combinations of cells than have numbers, or too many places."""
    k = len(shapes)
    # In Python's integers, so that no product is too large to be compared.
    combinations = math.prod(rows * cols for rows, cols in shapes)
    if combinations <= MOST_CELLS and k <= MOST_PLACES:
        return
    if k > MOST_PLACES:
        raise InputError(f"These are {k} places; name up to {MOST_PLACES}.")
    sides = " and ".join(f"{rows} x {cols}" for rows, cols in dict.fromkeys(shapes))
    # A root of 2^60 that is whole may come out just below.
    side = int(MOST_CELLS ** (1 / (2 * k)) + 1e-6)
    raise InputError(
        f"{k} places of {sides} cells have {combinations:.3g} combinations of cells, more than "
        f"2^60 = {MOST_CELLS:.3g}; take at most {side} x {side} cells for each place, or fewer "
        "places."
    )


def _in_cells(grid: Grid, boxes: Floats) -> Floats:
    """Boxes (n, 4) of one place in cells, (n, 2, 2); four NaN are the whole grid."""
    anywhere = np.isnan(boxes).all(axis=1)
    cells = np.empty((len(boxes), 2, 2))
    cells[anywhere] = np.array([(0, 0), grid.shape])
    cells[~anywhere] = grid.to_cells(boxes[~anywhere])
    return cells
