"""Boundaries on a plane in metres, and in degrees cut at the antimeridian."""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np
import pyproj
import shapely
from numpy.typing import NDArray

from explorer.errors import InputError
from explorer.grid.projection import LONLAT, equal_area_crs, middle_of, transform, transformer

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


Floats = NDArray[np.float64]

# A straight edge of one CRS is a curve in another: pieces this long leave it by 0.1 m at most.
_STEP_DEGREES, _STEP_METRES = 0.02, 2_000.0


def with_curved_edges(geometry: NDArray[Any], edges: str) -> NDArray[Any]:
    """Polygons in degrees whose edges are the shortest lines on the Earth, with straight edges.

    An edge of 60 km leaves the straight line in degrees by 90 m at 52 degrees north. Corners are
    added so that no edge is longer than 2 km, which leaves 0.1 m.

    Parameters
    ----------
    geometry : (n,) shapely or None
    edges : "spherical" for great circles of a sphere; what else GeoParquet knows ("vincenty",
        "thomas", "andoyer", "karney") is a geodesic of the ellipsoid WGS 84
    """
    geod = pyproj.Geod(ellps="sphere" if edges == "spherical" else "WGS84")
    kinds = shapely.get_type_id(geometry)
    of_shape = np.flatnonzero(np.isin(kinds, (3, 6)) & ~shapely.is_empty(geometry))
    parts, of_part = shapely.get_parts(geometry[of_shape], return_index=True)
    rings, of_ring = shapely.get_rings(parts, return_index=True)
    corners, ring = shapely.get_coordinates(rings, return_index=True)
    # The last corner of a ring begins no edge and stays.
    inner = np.append(ring[1:] == ring[:-1], False)
    following = np.where(inner[:, None], np.roll(corners, -1, axis=0), corners)
    ahead, _, length = geod.inv(*corners.T, *following.T)
    pieces = np.where(inner, np.maximum(np.ceil(length / _STEP_METRES), 1), 1).astype(int)
    edge = np.repeat(np.arange(len(pieces)), pieces)
    part = np.arange(len(edge)) - np.repeat(np.cumsum(pieces) - pieces, pieces)
    places, added = corners[edge], part > 0
    at = edge[added]
    along = part[added] / pieces[at] * length[at]
    lon, lat, _ = geod.fwd(corners[at, 0], corners[at, 1], ahead[at], along)
    # Longitudes go on where an edge passes 180 degrees.
    lon += 360.0 * np.round((corners[at, 0] - lon) / 360.0)
    places[added] = np.stack([lon, lat], axis=1)
    flat = shapely.polygons(shapely.linearrings(places, indices=ring[edge]), indices=of_ring)
    curved = geometry.copy()
    curved[of_shape] = shapely.multipolygons(flat, indices=of_part)
    return curved


def plane_of(geometry: NDArray[Any], crs: pyproj.CRS) -> pyproj.CRS:
    """Lambert's azimuthal equal-area projection on the middle of polygons."""
    lonlat = transform(crs, LONLAT, *shapely.get_coordinates(geometry).T)
    return equal_area_crs(*middle_of(*lonlat))


def on_plane(geometry: NDArray[Any], crs: pyproj.CRS, plane: pyproj.CRS) -> NDArray[Any]:
    """Valid polygons of one CRS in another; edges become curves of many corners.

    Where projecting makes edges of one polygon cross, it is repaired by its structure.

    Raises
    ------
    InputError
        For polygons that reach where the projection has no place.
    """
    if crs == plane:
        return geometry
    step = (
        _STEP_DEGREES
        if crs.is_geographic
        else _STEP_METRES / crs.axis_info[0].unit_conversion_factor
    )
    shapes = shapely.segmentize(geometry, step)
    move = transformer(crs, plane)
    moved: NDArray[Any] = shapely.transform(
        shapes, lambda places: np.stack(move.transform(*places.T), axis=1)
    )
    if not np.isfinite(shapely.bounds(moved)).all():
        raise InputError(
            f"An area reaches to where {plane.name} has no place; leave it out, or give another "
            "CRS."
        )
    broken = ~shapely.is_valid(moved)
    moved[broken] = shapely.make_valid(moved[broken], method="structure", keep_collapsed=False)
    return moved


def edges_of(geometry: NDArray[Any]) -> tuple[Floats, NDArray[np.int32]]:
    """All edges of polygons, (k, 4) x, y, x, y, and (k,) which polygon's; in their order."""
    parts, part_owner = shapely.get_parts(geometry, return_index=True)
    rings, ring_part = shapely.get_rings(parts, return_index=True)
    places, ring = shapely.get_coordinates(rings, return_index=True)
    joined = ring[1:] == ring[:-1]
    edges = np.hstack([places[:-1], places[1:]])[joined]
    return edges, part_owner[ring_part][ring[1:][joined]].astype(np.int32)


@dataclass(frozen=True, eq=False)
class NearestEdge:
    """Which area is the nearest to places that lie in none.

    Attributes
    ----------
    crs, plane : of the places that are asked for, and where distances are measured
    tree : of every edge on the plane
    owner : the area of each
    """

    crs: pyproj.CRS
    plane: pyproj.CRS
    tree: shapely.STRtree
    owner: NDArray[np.int32]

    @classmethod
    def of(cls, flat: NDArray[Any], crs: pyproj.CRS, plane: pyproj.CRS) -> NearestEdge:
        """The edges of polygons on the plane."""
        edges, owner = edges_of(flat)
        lines = shapely.linestrings(edges.reshape(-1, 2, 2))
        return cls(crs, plane, shapely.STRtree(lines), owner)

    def find(self, x: Floats, y: Floats, within: float) -> NDArray[np.int32]:
        """The nearest area to each place in `crs` within so many metres, or -1.

        Where several are equally far, it is the first in file order.
        """
        unset = np.iinfo(np.int32).max
        nearest = np.full(len(x), unset, dtype=np.int32)
        x, y = transform(self.crs, self.plane, x, y)
        there = np.flatnonzero(np.isfinite(x) & np.isfinite(y))
        place, line = self.tree.query_nearest(
            shapely.points(x[there], y[there]), max_distance=within, all_matches=True
        )
        np.minimum.at(nearest, there[place], self.owner[line])
        nearest[nearest == unset] = -1
        return nearest
