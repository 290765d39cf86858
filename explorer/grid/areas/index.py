"""Which area covers a place: a lattice of two levels, with an exact test in border cells only.

A fine cell that no edge touches is in the same areas everywhere, so that its label answers for
all places in it. In the other cells the candidates are tested in the order of the file, by
counting the edges that a ray towards the east crosses. Where rounding could decide such a
comparison (Shewchuk 1997, section 4.1: an error of at most 3.4e-16 of the two products), the
place is doubtful and left to GEOS.
"""

from __future__ import annotations

from dataclasses import dataclass, fields
from typing import Any

import numpy as np
import shapely
from numba import njit
from numpy.typing import NDArray

from explorer.grid.areas import marking
from explorer.grid.areas.marking import BLOCKS, BORDER, FIRST_ASKED, NONE, SUB, UNKNOWN
from explorer.grid.kept import kept
from explorer.grid.plane import edges_of

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]

#: What `AreaIndex.find` says of a place that GEOS must decide.
DOUBTFUL = -2
# Bins of y over an area, at most: they shorten the test, and take space.
_MOST_BINS = 8192
_MOST_LONGITUDE = 1_000.0
_COARSE_SIDES = (32, 1024)


@dataclass(frozen=True, eq=False)
class AreaIndex:
    """The index of m areas; arrays alone, so that it can be kept and sent.

    Attributes
    ----------
    frame : (4,) west, south, and fine cells per unit of x and of y
    coarse : (rows, cols) int32: an area, -1 for none, or BLOCKS + a block
    blocks : (k, SUB, SUB) labels of fine cells: an area, -1 for none, -2 for a border
    first, candidates : areas of block b, increasing, at first[b] to first[b + 1]
    edges : (e, 4) x, y, x, y
    bands : (m, 3) south and north edge of an area, and bins per unit of y
    bins : (m + 1,) where an area's bins begin
    starts, listed : edges of bin b at starts[b] to starts[b + 1] of `listed`
    """

    frame: Floats
    coarse: NDArray[np.int32]
    blocks: NDArray[Any]
    first: Ints
    candidates: NDArray[np.int32]
    edges: Floats
    bands: Floats
    bins: Ints
    starts: Ints
    listed: NDArray[np.int32]

    @classmethod
    def of(cls, geometry: NDArray[Any], key: str) -> AreaIndex:
        """The index of valid polygons, from its cache file if there is one.

        Parameters
        ----------
        geometry : (m,) polygons and multipolygons
        key : SHA-256 of them
        """
        names = tuple(field.name for field in fields(cls))
        worth = int(shapely.get_num_coordinates(geometry).sum())
        return cls(**kept(f"index1-{SUB}", key, names, lambda: _built(geometry), worth))

    def find(self, x: Floats, y: Floats, in_degrees: bool = False) -> NDArray[np.int32]:
        """The first area that covers each place, -1 for none, `DOUBTFUL` for GEOS to decide.

        Parameters
        ----------
        x, y : (n,)
        in_degrees : whether x is a longitude, which another turn does not change
        """
        covering = np.empty(len(x), dtype=np.int32)
        _find(
            x,
            y,
            self.frame,
            self.coarse,
            self.blocks,
            self.first,
            self.candidates,
            self.edges,
            self.bands,
            self.bins,
            self.starts,
            self.listed,
            in_degrees,
            covering,
        )
        return covering


def first_covering(geometry: NDArray[Any], x: Floats, y: Floats) -> NDArray[np.int32]:
    """What GEOS says: the first polygon that covers each place, closed; -1 for none."""
    covering = np.full(len(x), len(geometry), dtype=np.int32)
    tree = shapely.STRtree(shapely.points(x, y))
    area, place = tree.query(geometry, predicate="intersects")
    np.minimum.at(covering, place, area.astype(np.int32))
    covering[covering == len(geometry)] = NONE
    return covering


def _built(geometry: NDArray[Any]) -> dict[str, NDArray[Any]]:
    edges, owner = edges_of(geometry)
    side = int(2 ** np.clip(np.round(np.log2(1.8 * np.sqrt(len(edges)))), *np.log2(_COARSE_SIDES)))
    low, high = edges[:, :2].min(axis=0), edges[:, :2].max(axis=0)
    # The outermost cells stay free of edges, so that what is beyond is known.
    steps = (side - 3) * SUB / (high - low)
    origin = low - 1.5 * SUB / steps
    frame = np.concatenate([origin, steps])
    scaled = (edges.reshape(-1, 2, 2) - origin) * steps
    coarse, blocks, first, candidates = _lattice(
        scaled.reshape(-1, 4), owner, geometry, frame, side
    )
    bands, bins, starts, listed = _bins(edges, owner, len(geometry))
    small = len(geometry) < np.iinfo(np.int16).max
    return {
        "frame": frame,
        "coarse": coarse,
        "blocks": blocks.astype(np.int16) if small else blocks,
        "first": first,
        "candidates": candidates,
        "edges": edges,
        "bands": bands,
        "bins": bins,
        "starts": starts,
        "listed": listed,
    }


def _lattice(
    edges: Floats, owner: NDArray[np.int32], geometry: NDArray[Any], frame: Floats, side: int
) -> tuple[NDArray[np.int32], NDArray[np.int32], Ints, NDArray[np.int32]]:
    border = np.zeros((side, side), dtype=np.bool_)
    codes = np.empty(0, dtype=np.int64)
    codes = np.empty(marking.mark_coarse(edges, owner, border, codes), dtype=np.int64)
    marking.mark_coarse(edges, owner, border, codes)
    cells = np.flatnonzero(border)
    coarse = np.full((side, side), UNKNOWN, dtype=np.int32)
    coarse.ravel()[cells] = BLOCKS + np.arange(len(cells))
    blocks = np.full((len(cells), SUB, SUB), UNKNOWN, dtype=np.int32)
    marking.mark_fine(edges, coarse, blocks)
    places = marking.label(coarse, blocks) / frame[2:] + frame[:2]
    answers = first_covering(geometry, *places.T)
    for labels in (coarse, blocks):
        open_ones = labels <= FIRST_ASKED
        labels[open_ones] = answers[FIRST_ASKED - labels[open_ones]]
    # An area without an edge in a cell covers all of it or nothing: its centre tells.
    centres = np.stack([cells % side + 0.5, cells // side + 0.5], axis=1) * SUB
    tree = shapely.STRtree(shapely.points(centres / frame[2:] + frame[:2]))
    area, block = tree.query(geometry, predicate="intersects")
    areas = len(geometry)
    near = np.searchsorted(cells, codes // (owner[-1] + 1)) * areas + codes % (owner[-1] + 1)
    pairs = np.union1d(near, block * areas + area)
    first = np.searchsorted(pairs // areas, np.arange(len(cells) + 1))
    return coarse, blocks, first, (pairs % areas).astype(np.int32)


def _bins(
    edges: Floats, owner: NDArray[np.int32], areas: int
) -> tuple[Floats, Ints, Ints, NDArray[np.int32]]:
    """Edges by the bins of y that they reach into, area by area."""
    number = np.bincount(owner, minlength=areas)
    begin = np.concatenate([[0], np.cumsum(number)[:-1]])
    low, high = np.minimum(edges[:, 1], edges[:, 3]), np.maximum(edges[:, 1], edges[:, 3])
    south, north = np.minimum.reduceat(low, begin), np.maximum.reduceat(high, begin)
    count = np.clip(number // 2, 1, _MOST_BINS)
    bands = np.stack([south, north, count / (north - south)], axis=1)
    bins = np.concatenate([[0], np.cumsum(count)])
    # The same sum as in `_covers`: it grows with y, so that no edge is missed.
    lower, upper = (
        bins[owner]
        + np.minimum(((y - south[owner]) * bands[owner, 2]).astype(np.int64), count[owner] - 1)
        for y in (low, high)
    )
    reach = upper - lower + 1
    edge = np.repeat(np.arange(len(edges), dtype=np.int32), reach)
    offset = np.arange(len(edge)) - np.repeat(np.cumsum(reach) - reach, reach)
    of_bin = lower[edge] + offset
    order = np.argsort(of_bin, kind="stable")
    starts = np.searchsorted(of_bin[order], np.arange(bins[-1] + 1))
    return bands, bins, starts, edge[order]


@njit(cache=True, nogil=True)
def in_one_turn(lon):  # type: ignore[no-untyped-def]
    """A longitude as -180 to 180; one that is already keeps every bit."""
    # Further away it is no longitude, and what is left of it after turning is rounding.
    if 180.0 < abs(lon) < _MOST_LONGITUDE:
        return lon - 360.0 * np.floor((lon + 180.0) / 360.0)
    return lon


@njit(cache=True, nogil=True)
def _covers(x, y, area, edges, bands, bins, starts, listed):  # type: ignore[no-untyped-def]
    """1 if a place is in an area or on its edge, 0 if not, DOUBTFUL if rounding could decide."""
    if not bands[area, 0] <= y <= bands[area, 1]:
        return 0
    number = bins[area + 1] - bins[area]
    at = bins[area] + min(int((y - bands[area, 0]) * bands[area, 2]), number - 1)
    inside = 0
    for k in range(starts[at], starts[at + 1]):
        xa, ya, xb, yb = edges[listed[k]]
        if (xa < x and xb < x) or (ya > y and yb > y) or (ya < y and yb < y):
            continue
        if (xa == x and ya == y) or (xb == x and yb == y):
            return 1
        if ya == y and yb == y:
            if min(xa, xb) <= x <= max(xa, xb):
                return 1
            continue
        # An edge counts with its lower end and without its upper one.
        if (ya > y) == (yb > y):
            continue
        left, right = (xa - x) * (yb - y), (ya - y) * (xb - x)
        det = left - right
        if abs(det) <= 4e-16 * (abs(left) + abs(right)):
            return DOUBTFUL
        if (det > 0.0) == (yb > ya):
            inside ^= 1
    return inside


@njit(cache=True, nogil=True)
def _find(  # type: ignore[no-untyped-def]
    x,
    y,
    frame,
    coarse,
    blocks,
    first,
    candidates,
    edges,
    bands,
    bins,
    starts,
    listed,
    in_degrees,
    covering,
):
    rows, cols = coarse.shape
    west, south, across, along = frame
    for i in range(len(x)):
        at = in_one_turn(x[i]) if in_degrees else x[i]
        u, v = (at - west) * across, (y[i] - south) * along
        covering[i] = NONE
        # False for NaN, too.
        if not (0.0 <= u < cols * SUB and 0.0 <= v < rows * SUB):
            continue
        col, row = int(u), int(v)
        label = coarse[row // SUB, col // SUB]
        if label < BLOCKS:
            covering[i] = label
            continue
        block = label - BLOCKS
        label = np.int32(blocks[block, row % SUB, col % SUB])
        if label != BORDER:
            covering[i] = label
            continue
        for k in range(first[block], first[block + 1]):
            answer = _covers(at, y[i], candidates[k], edges, bands, bins, starts, listed)
            if answer != 0:
                covering[i] = candidates[k] if answer == 1 else DOUBTFUL
                break
