"""Sums of a tree over several places onto some axes, where maps say how counts lie in leaves."""

from __future__ import annotations

from collections.abc import Sequence
from functools import reduce

import numpy as np
from numpy.typing import NDArray

from explorer.releases.place_maps import PlaceMaps
from explorer.releases.tree import Tree

Floats = NDArray[np.float64]


def marginal(tree: Tree, maps: PlaceMaps, shape: Sequence[int], axes: Sequence[int]) -> Floats:
    """Count per cell of the chosen axes, all others summed; as `marginal.marginal_density`."""
    leaves, chosen = tree.leaves, np.asarray(axes, dtype=np.int64)
    order = np.sort(chosen)
    # A place of which an axis is wanted takes part with both: its map ties them together.
    wanted = [2 * number + side for number in sorted(set(order // 2)) for side in (0, 1)]
    corners = np.hstack([tree.lower[leaves][:, wanted], tree.upper[leaves][:, wanted]])
    # Leaves that lie behind each other are added up first: many share one shadow.
    shadows, owner = np.unique(corners, axis=0, return_inverse=True)
    counts = np.bincount(owner.ravel(), tree.value[leaves], len(shadows))
    image = np.zeros([shape[axis] for axis in order])
    for shadow, count in zip(shadows, counts, strict=True):
        low, high = np.split(shadow, 2)
        parts, where = [], []
        for place in range(0, len(wanted), 2):
            rows, cols = slice(low[place], high[place]), slice(low[place + 1], high[place + 1])
            chances = maps.places[wanted[place] // 2].chances[rows, cols]
            kept = [side for side in (0, 1) if wanted[place] + side in order]
            where += [(rows, cols)[side] for side in kept]
            others = tuple(side for side in (0, 1) if side not in kept)
            parts.append(chances.sum(axis=others) / chances.sum())
        image[tuple(where)] += count * reduce(np.multiply.outer, parts)
    return np.transpose(image, np.argsort(np.argsort(chosen)))
