"""Numbers that are degrees where metres are asked: they would be answered, and wrongly."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Any, Protocol

import numpy as np
import pyproj
from numpy.typing import NDArray

from explorer.errors import InputError
from explorer.grid.projection import LONLAT, transform

# As in the locations that Google exports: "latitudeE7".
_SCALED = re.compile(r"((?<![A-Za-z])[eE]|(?<=[a-z])E|(?<=itude)e)[67]$")
#: No longitude is larger: what is, needs no second look.
_MOST_DEGREES = 360.0
#: Metres, and of a cell's sides: no one asks about less of a map, and as degrees it is a place.
_SPECK, _SPECK_OF_CELL = 1.0, 0.05


class Metric(Protocol):
    """What of a grid is needed here."""

    @property
    def bounds(self) -> tuple[float, float, float, float]:
        """West, south, east, north."""

    @property
    def crs(self) -> pyproj.CRS | None:
        """None for plain cells."""

    @property
    def cell_width(self) -> float:
        """From west to east."""

    @property
    def cell_height(self) -> float:
        """From south to north."""


def scaled(
    names: Sequence[str], x: NDArray[np.float64], y: NDArray[np.float64]
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Coordinates in degrees of columns whose names say that they hold degrees times 10^7 or 10^6.

    Parameters
    ----------
    names : of the columns of x and y; none for a geometry
    x, y : (n,), returned as they are under other names

    Examples
    --------
    >>> x, y = scaled(("longitudeE7", "latitudeE7"), np.array([134e6]), np.array([525e6]))
    >>> x.round(6).tolist(), y.round(6).tolist()
    ([13.4], [52.5])
    """
    # Divided: 10^-7 is no binary number, and its products end in many digits.
    matches = [_SCALED.search(name) for name in names]
    powers = [10.0 ** int(match[0][-1]) for match in matches if match]
    return (x / powers[0], y / powers[1]) if len(powers) == 2 else (x, y)


def refuse_degrees(grid: Metric, boxes: NDArray[np.float64]) -> None:
    """Refuse boxes (n, 4) that are a speck of the grid as metres and on it as degrees.

    Read as metres such boxes hold the part of a cell that a few square centimetres are, so their
    answers are 0 but for noise. Boxes without area, and larger ones, are left alone.

    Raises
    ------
    InputError
        If every box is smaller than a cell, and one of them is on the grid once its numbers are
        read as longitude and latitude, in either order; or if the sides of all are below a metre
        and a twentieth of a cell's, and they could be degrees of another place.
    """
    if grid.crs is None or not len(boxes) or np.abs(boxes).max() > _MOST_DEGREES:
        return
    sides = boxes[:, 2:] - boxes[:, :2]
    steps = np.array([grid.cell_width, grid.cell_height])
    if not (sides > 0).all() or not (sides < steps).all():
        return
    middle = (boxes[:, :2] + boxes[:, 2:]) / 2
    if _on(grid, grid.crs, middle) or _on(grid, grid.crs, middle[:, ::-1]):
        raise InputError(
            "These places look like degrees, and are read as metres: give crs=4326 with them, or "
            "save them with the CRS that they are in."
        )
    if (sides < np.minimum(_SPECK, _SPECK_OF_CELL * steps)).all() and _on_earth(middle):
        raise InputError(
            "These places look like degrees of another place than the map's, since as metres they "
            "are specks: give crs=4326 with them, or larger boxes."
        )


def _on_earth(places: NDArray[Any]) -> bool:
    """Whether numbers can be longitude and latitude, in either order."""
    return bool((np.abs(places).min(axis=1) <= 90.0).all())


def _on(grid: Metric, crs: pyproj.CRS, places: NDArray[Any]) -> bool:
    possible = places[np.abs(places[:, 1]) <= 90.0]
    x, y = transform(LONLAT, crs, *possible.T)
    x0, y0, x1, y1 = grid.bounds
    return bool(np.any((x >= x0) & (x <= x1) & (y >= y0) & (y <= y1)))
