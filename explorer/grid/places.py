"""Several places that belong together, such as the two ends of a trip: four axes or more."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from explorer.errors import InputError
from explorer.grid.grid import Grid

Floats = NDArray[np.float64]

#: Above this many cells a float no longer tells all of them apart.
_MOST_CELLS = 2**53
_NAMES = {2: ("from", "to"), 3: ("from", "via", "to")}


@dataclass(frozen=True)
class Places:
    """The domain of records with k places each: every place has a grid of its own.

    The axes are row and column of the first place, then of the second, and so on.

    Parameters
    ----------
    grids : k grids, 2 or more
        Declared by a person, like every `Grid`; all in metres or all in cells.
    names : k texts, optional
        What the places are called; "from" and "to", "from", "via" and "to", else numbers.

    Raises
    ------
    InputError
        For fewer than two grids, names that are not k different ones, units that are mixed, or
        more than 2^53 cells.

    Examples
    --------
    >>> trips = Places((Grid.cells(8), Grid.cells((4, 5))))
    >>> trips.shape, trips.axis_names[2:]
    ((8, 8, 4, 5), ('to row', 'to column'))
    >>> trips.to_cells([[0, 0, 8, 8, 1, 2, 3, 4]]).tolist()
    [[[0.0, 0.0, 2.0, 1.0], [8.0, 8.0, 4.0, 3.0]]]
    """

    grids: tuple[Grid, ...]
    names: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        grids = tuple(self.grids)
        if len(grids) < 2 or not all(isinstance(grid, Grid) for grid in grids):
            raise InputError("Places are two grids or more; one place alone is a Grid.")
        numbered = tuple(f"place {number + 1}" for number in range(len(grids)))
        names = tuple(self.names) or _NAMES.get(len(grids), numbered)
        if len(set(names)) != len(grids) or not all(isinstance(name, str) for name in names):
            raise InputError(f"The places are called {names!r}; give one name to each.")
        if len({grid.unit for grid in grids}) > 1:
            raise InputError("One place is measured in metres, another in cells; use one unit.")
        if math.prod(side for grid in grids for side in grid.shape) > _MOST_CELLS:
            raise InputError(
                "These places have more than 2^53 combinations of cells; declare coarser grids."
            )
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

    def to_cells(self, boxes: ArrayLike) -> Floats:
        """Return boxes in cells, (n, 2, 2k): lower and upper, axes in order.

        Parameters
        ----------
        boxes : (n, 4k)
            x0, y0, x1, y1 of every place in turn, each in the unit and CRS of its grid.

        Raises
        ------
        InputError
            For boxes that are not (n, 4k), not finite, or inside out.
        """
        wide = 4 * len(self.grids)
        try:
            array = np.atleast_2d(np.asarray(boxes, dtype=np.float64))
        except (TypeError, ValueError) as error:
            raise InputError("Boxes are numbers: x0, y0, x1, y1 of every place.") from error
        if array.size == 0:
            array = np.zeros((0, wide))
        if array.ndim != 2 or array.shape[1] != wide:
            raise InputError(
                f"Boxes have shape {array.shape}; give x0, y0, x1, y1 of {' and '.join(self.names)}"
                f" in each row, (n, {wide})."
            )
        parts = np.split(array, len(self.grids), axis=1)
        cells = [grid.to_cells(part) for grid, part in zip(self.grids, parts, strict=True)]
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
    def from_dict(cls, saved: Any) -> Places:
        """Return what ``to_dict`` described; raise `InputError` if it did not."""
        places = saved.get("places") if isinstance(saved, Mapping) else None
        names = saved.get("names", ()) if isinstance(saved, Mapping) else ()
        if not isinstance(places, Sequence) or not isinstance(names, Sequence):
            raise InputError("The description of several places needs 'places' and 'names'.")
        return cls(tuple(Grid.from_dict(place) for place in places), tuple(names))
