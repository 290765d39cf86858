"""Polygons in degrees that run on past 180, or jump there, cut into parts from -180 to 180."""

from __future__ import annotations

from functools import partial
from typing import Any

import numpy as np
import shapely
from numpy.typing import NDArray

Floats = NDArray[np.float64]

_WORLD = shapely.box(-180.0, -90.0, 180.0, 90.0)


def in_one_world(geometry: NDArray[Any]) -> tuple[NDArray[Any], int]:
    """Polygons with longitudes of -180 to 180, and how many crossed the antimeridian.

    An edge of more than half a turn takes the short way round, as in `queries.shapes`; an edge
    along a pole or of a whole turn stays as it is.

    Parameters
    ----------
    geometry : (m,) multipolygons in degrees, or None
    """
    west, _, east, _ = shapely.bounds(geometry).T
    wide = np.flatnonzero((west < -180.0) | (east > 180.0) | (east - west > 180.0))
    moved, crossed = geometry.copy(), 0
    for number in wide:
        shape = geometry[number]
        unrolled = shapely.multipolygons([_unrolled(part) for part in shapely.get_parts(shape)])
        bounds = unrolled.bounds
        if bounds[0] >= -180.0 and bounds[2] <= 180.0:
            continue
        crossed += 1
        # A polygon that jumps is not valid before it is unrolled, and may not be after.
        whole = shapely.make_valid(unrolled, method="structure", keep_collapsed=False)
        parts = []
        for turn in (-360.0, 0.0, 360.0):
            turned = shapely.transform(whole, partial(np.add, [turn, 0.0]))
            parts += list(shapely.get_parts(shapely.intersection(turned, _WORLD)))
        flat = [part for part in parts if part.geom_type == "Polygon" and part.area > 0]
        moved[number] = shapely.union_all(flat)
    return moved, crossed


def _unrolled(polygon: shapely.Polygon) -> shapely.Polygon:
    """A polygon without jumps: all its rings go on from where the first one begins."""
    outer = _ring(shapely.get_coordinates(polygon.exterior))
    middle = (outer[:, 0].min() + outer[:, 0].max()) / 2
    holes = []
    for inner in polygon.interiors:
        ring = _ring(shapely.get_coordinates(inner))
        # A hole is within its shell, on the same turn.
        ring_middle = (ring[:, 0].min() + ring[:, 0].max()) / 2
        ring[:, 0] += 360.0 * np.round((middle - ring_middle) / 360.0)
        holes.append(ring)
    return shapely.Polygon(outer, holes)


def _ring(places: Floats) -> Floats:
    step = np.diff(places[:, 0])
    on_pole = (np.abs(places[1:, 1]) == 90.0) & (np.abs(places[:-1, 1]) == 90.0)
    jumps = (np.abs(step) > 180.0) & (np.abs(step) < 360.0) & ~on_pole
    turns = -360.0 * np.sign(step) * jumps
    if turns.sum() != 0.0:
        # Once round a pole without touching it: nothing says on which side the inside is.
        return places.copy()
    unrolled = places.copy()
    unrolled[1:, 0] += np.cumsum(turns)
    return unrolled
