"""Boundaries for drawing: a clean coverage, simplified so that neighbours keep one border.

Never used to decide where a place is: `Areas.assign` asks the boundaries as they are.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import shapely
from numpy.typing import NDArray

Ints = NDArray[np.int64]
Floats = NDArray[np.float64]

#: Metres of tolerance, at most.
MOST_TOLERANCE = 100_000.0
# Parts and holes of less are not drawn: m2, and the part of a middling area.
_SMALL, _SMALL_PART = 1e6, 0.01


def clean_coverage(shapes: NDArray[Any]) -> dict[str, NDArray[Any]]:
    """Polygons without overlaps and with the same corners on shared borders, written as below.

    Overlaps go to the first area, as in `Areas.assign`. One that would lose all stays as it is.
    """
    clean = shapely.coverage_clean(shapes, merge_strategy="min_index")
    lost = shapely.is_empty(clean)
    clean[lost] = shapes[lost]
    return _written(clean)


def outlines_of(
    clean: NDArray[Any], shapes: NDArray[Any], parent: Ints, lowest: Ints, tolerance: float
) -> dict[str, NDArray[Any]]:
    """Outlines of every node of a tree, borders of all levels the same lines.

    Each area alone simplified would overlap
    its neighbours (Great Britain at 1 km: 803 pairs, 1,185 km2; here none).

    Parameters
    ----------
    clean : (m,) polygons on a plane in metres, see `clean_coverage`
    shapes : (m,) as they were
    parent : (n,) of the nodes, parents first
    lowest : (m,) node of each polygon
    tolerance : metres; square root of the areas of triangles that may go (Visvalingam-Whyatt)

    Returns
    -------
    "written", "starts" : WKB of node v at starts[v] to starts[v + 1] of bytes, see `read_outlines`
    """
    if tolerance > 0:
        clean = shapely.coverage_simplify(clean, tolerance)
    usual = _SMALL_PART * float(np.median(shapely.area(shapes)))
    clean = without_small(clean, max((2 * tolerance) ** 2, min(_SMALL, usual)))
    outlines = np.full(len(parent), None)
    outlines[lowest] = clean
    below: list[list[int]] = [[] for _ in parent]
    for area, node in enumerate(lowest.tolist()):
        while node >= 0:
            below[node].append(area)
            node = int(parent[node])
    for node, members in enumerate(below):
        if outlines[node] is None:
            outlines[node] = shapely.coverage_union_all(clean[members])
    return _written(outlines)


def _written(shapes: NDArray[Any]) -> dict[str, NDArray[Any]]:
    written = shapely.to_wkb(shapes)
    starts = np.concatenate([[0], np.cumsum([len(wkb) for wkb in written])])
    return {"written": np.frombuffer(b"".join(written), np.uint8), "starts": starts}


def read_outlines(written: NDArray[np.uint8], starts: Ints) -> NDArray[Any]:
    """Polygons that `outlines_of` wrote, (n,)."""
    content = written.tobytes()
    spans = zip(starts[:-1].tolist(), starts[1:].tolist(), strict=True)
    polygons: NDArray[Any] = shapely.from_wkb([content[begin:end] for begin, end in spans])
    return polygons


def without_small(shapes: NDArray[Any], least: float) -> NDArray[Any]:
    """Polygons without parts and holes of less than so many m2; each keeps its largest part.

    A hole that contains another polygon stays: filled, it would hide that polygon.
    """
    parts, owner = shapely.get_parts(shapes, return_index=True)
    size = shapely.area(parts)
    largest = np.zeros(len(shapes))
    np.maximum.at(largest, owner, size)
    keep = (size >= least) | (size == largest[owner])
    parts, owner = parts[keep], owner[keep]
    rings, part = shapely.get_rings(parts, return_index=True)
    is_hole = np.diff(part, prepend=-1) == 0
    small = np.flatnonzero(is_hole)
    holes = shapely.polygons(rings[small]) if len(small) else np.empty(0, object)
    small_ones = shapely.area(holes) < least
    small, holes = small[small_ones], holes[small_ones]
    tree = shapely.STRtree(shapely.point_on_surface(parts))
    occupied = np.zeros(len(holes), dtype=np.bool_)
    occupied[tree.query(holes, predicate="contains")[0]] = True
    keep_ring = np.ones(len(rings), dtype=np.bool_)
    keep_ring[small[~occupied]] = False
    flat = _polygons(rings[keep_ring], part[keep_ring])
    whole: NDArray[Any] = shapely.multipolygons(flat, indices=owner)
    return whole


def _polygons(rings: Sequence[Any], part: Ints) -> NDArray[Any]:
    """Polygons of rings, (k,), the outer one of each first."""
    outer = np.diff(part, prepend=-1) != 0
    shells, holes = np.asarray(rings)[outer], np.asarray(rings)[~outer]
    built = shapely.polygons(shells)
    if len(holes):
        number = np.cumsum(outer) - 1
        with_holes, first = np.unique(number[~outer], return_index=True)
        for which, ring_holes in zip(with_holes, np.split(holes, first[1:]), strict=True):
            built[which] = shapely.Polygon(shells[which], ring_holes)
    polygons: NDArray[Any] = built
    return polygons
