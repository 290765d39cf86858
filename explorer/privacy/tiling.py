"""Whether boxes tile a box, exactly and in any number of dimensions.

Let 1_B be 1 on the cells of a box B and 0 elsewhere. Taking differences along every axis in turn
turns it into a sum over B's 2^d corners, +1 or -1 by the parity of upper edges in the corner, and
loses nothing: adding up again gives 1_B back. So boxes tile P, that is the sum of their 1_B equals
1_P, if and only if their signed corners cancel out to those of P. No cell is looked at.
"""

from __future__ import annotations

import itertools

import numpy as np
from numpy.typing import NDArray

from explorer.releases.nodes import Ints


def tile(lower: Ints, upper: Ints, owner: Ints, parent_lower: Ints, parent_upper: Ints) -> bool:
    """Whether every parent is tiled by the boxes that it owns.

    Parameters
    ----------
    lower, upper : (n, d) half-open boxes
    owner : (n,) rows of `parent_lower`, `parent_upper` (m, d)
    """
    if np.any(lower >= upper):
        return False  # a box without a cell, or inside out
    boxes = np.concatenate([np.stack([lower, upper]), np.stack([parent_lower, parent_upper])], 1)
    owners = np.concatenate([owner, np.arange(len(parent_lower))])
    weight = np.repeat([1, -1], [len(lower), len(parent_lower)])
    corners, signs = [], []
    for ends in itertools.product((0, 1), repeat=lower.shape[1]):
        at = [boxes[end, :, axis] for axis, end in enumerate(ends)]
        corners.append(np.column_stack([owners, *at]))
        signs.append(weight * (-1) ** sum(ends))
    return _cancel(np.concatenate(corners), np.concatenate(signs))


def _cancel(places: Ints, weights: NDArray[np.int64]) -> bool:
    """Whether the weights of each distinct row of `places` add up to 0."""
    order = np.lexsort(places.T)
    ordered = places[order]
    begins = np.concatenate([[True], np.any(ordered[1:] != ordered[:-1], axis=1)])
    return not np.add.reduceat(weights[order], np.flatnonzero(begins)).any()
