"""Helpers on the nodes of a tree, which stand in arrays with parents before their children."""

from __future__ import annotations

import numpy as np
from numba import njit
from numpy.typing import NDArray

Ints = NDArray[np.int64]


def span(ids: Ints) -> slice | Ints:
    """Increasing positions as a slice where they stand side by side: a slice copies nothing."""
    if len(ids) and ids[-1] - ids[0] + 1 == len(ids):
        return slice(int(ids[0]), int(ids[-1]) + 1)
    return ids


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
    """Add up in `below`, zeros at first, how many leaves lie under every node."""
    total, owner = 0.0, -1
    for i in range(len(parent) - 1, -1, -1):
        # Children come after their parents: what none has added to is a leaf.
        below[i] = max(below[i], 1.0)
        if parent[i] != owner:
            owner = parent[i]
            total = below[owner] if owner >= 0 else 0.0
        total += below[i]
        if owner >= 0:
            below[owner] = total
