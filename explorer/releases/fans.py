"""Nodes with many children that form a grid: which of them a box touches, without asking all.

A first jump straight to the zones of all places has up to 65,536 children, and a question about
one flow touches one of them.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numba import njit

from explorer.releases.nodes import Ints

#: Fewer children than this are looked at one by one: that is as fast.
FEWEST = 64


class Fans(NamedTuple):
    """Grids of children, row-major, for kernels.

    Attributes
    ----------
    of : (n,) which grid the children of a node form, or -1
    start : (f, d + 1) where the edges of each axis of a grid begin in ``edges``
    edges : first cell of every slab, and at the end of each axis the first cell behind it
    """

    of: Ints
    start: Ints
    edges: Ints


def fans(lower: Ints, upper: Ints, first_child: Ints, fan_out: Ints) -> Fans | None:
    """The grids that children of nodes form, None where no node has one; see `Fans`.

    Parameters
    ----------
    lower, upper : (n, d) boxes of all nodes, half open, in cells
    first_child, fan_out : (n,) the first of each node's children, which are side by side, and
        how many there are
    """
    of, used = np.full(len(lower), -1, dtype=np.int64), 0
    starts: list[Ints] = []
    edges: list[Ints] = []
    for node in np.flatnonzero(fan_out >= FEWEST):
        children = slice(first_child[node], first_child[node] + fan_out[node])
        grid = _grid_of(lower[children], upper[children])
        if grid is None:
            continue
        of[node] = len(starts)
        ends = used + np.cumsum([0, *map(len, grid)])
        starts.append(ends)
        edges += grid
        used = int(ends[-1])
    if not starts:
        return None
    return Fans(of, np.array(starts, dtype=np.int64), np.concatenate(edges))


def _grid_of(lower: Ints, upper: Ints) -> list[Ints] | None:
    """Edges along every axis of boxes (n, d) that are a full grid in row-major order, or None."""
    slabs = [np.unique(lower[:, axis]) for axis in range(lower.shape[1])]
    shape = [len(slab) for slab in slabs]
    if int(np.prod(shape)) != len(lower):
        return None
    edges = [
        np.append(first, upper[:, axis].max()).astype(np.int64) for axis, first in enumerate(slabs)
    ]
    place = np.unravel_index(np.arange(len(lower)), shape)
    for axis, (edge, at) in enumerate(zip(edges, place, strict=True)):
        if np.any(lower[:, axis] != edge[at]) or np.any(upper[:, axis] != edge[at + 1]):
            return None
    return edges


@njit(cache=True, nogil=True)
def touched(boxes, m, fan, fans, low, high):  # type: ignore[no-untyped-def]
    """Fill `low` and `high` (d,) with the slabs that box m touches; returns how many children."""
    number = 1
    for axis in range(len(low)):
        begin, stop = fans.start[fan, axis], fans.start[fan, axis + 1]
        edges = fans.edges[begin:stop]
        slabs = len(edges) - 1
        low[axis] = max(np.searchsorted(edges, boxes[m, 0, axis], side="right") - 1, 0)
        high[axis] = min(np.searchsorted(edges, boxes[m, 1, axis], side="left"), slabs)
        number *= max(high[axis] - low[axis], 0)
    return number


@njit(cache=True, nogil=True)
def child_of(fan, fans, low, high, step):  # type: ignore[no-untyped-def]
    """Which child of a grid the step-th touched one is, in increasing order."""
    child, stride = 0, 1
    for axis in range(len(low) - 1, -1, -1):
        across = high[axis] - low[axis]
        child += (low[axis] + step % across) * stride
        step //= across
        stride *= fans.start[fan, axis + 1] - fans.start[fan, axis] - 1
    return child
