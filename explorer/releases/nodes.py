"""Helpers on the nodes of a tree, which are in arrays with parents before their children."""

from __future__ import annotations

from typing import Any

import numpy as np
from numba import njit
from numpy.typing import NDArray

Ints = NDArray[np.int64]
MANY = 1000
"""From this number of values on it pays to hold one, broadcast, where all are the same."""


def span(ids: Ints) -> slice | Ints:
    """Increasing positions as a slice where they are side by side: a slice copies nothing."""
    if len(ids) and ids[-1] - ids[0] + 1 == len(ids):
        return slice(int(ids[0]), int(ids[-1]) + 1)
    return ids


def one_or_each(values: NDArray[Any]) -> NDArray[Any]:
    """Values for a kernel, (n,), or (1,) where one number was broadcast to all of them."""
    # One kind of array, so one kernel.
    return values[:1].copy() if values.strides == (0,) else np.ascontiguousarray(values)


def inner_end(parent: Ints) -> int:
    """The position behind the last node that has children, 1 or more: all after it are leaves."""
    return max(int(parent.max()) + 1, 1)


def depths(parent: Ints) -> Ints:
    """Cuts between the root and every node, (n,), for trees with parents before children."""
    depth = np.zeros(len(parent), dtype=np.int64)
    _descend(parent, depth)
    return depth


@njit(cache=True, nogil=True)
def _descend(parent, depth):  # type: ignore[no-untyped-def]
    for i in range(1, len(parent)):
        depth[i] = depth[parent[i]] + 1


@njit(cache=True, nogil=True)
def count_leaves(parent, below):  # type: ignore[no-untyped-def]
    """Add up in `below`, zeros at first, how many leaves are under every node.

    It may end behind the last node that has children: all after that are leaves.
    """
    total, owner = 0, -1
    for i in range(len(parent) - 1, -1, -1):
        leaves = 1
        if i < len(below):
            # Children come after their parents: what none has added to is a leaf.
            leaves = max(int(below[i]), 1)
            below[i] = leaves
        if parent[i] != owner:
            owner = parent[i]
            total = int(below[owner]) if owner >= 0 else 0
        total += leaves
        if owner >= 0:
            below[owner] = total


# Boxes of cells painted on a map, each with a number of its own.


@njit(cache=True, nogil=True)
def paint(lower, upper, values, image):  # type: ignore[no-untyped-def]
    """Write `values` (n,) into the cells of n boxes, (n, 2) half open, of `image` (rows, cols).

    What of a box is behind the last row or column is left out.
    """
    for k in range(len(values)):
        for i in range(lower[k, 0], min(upper[k, 0], len(image))):
            image[i, lower[k, 1] : upper[k, 1]] = values[k]
