"""A release summed onto some of its axes: where trips begin, whatever way they go on."""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np
from numba import njit
from numpy.typing import NDArray

from explorer.errors import InputError
from explorer.grid.domain import Domain
from explorer.grid.grid import MAX_CELLS
from explorer.releases.tree import Tree

Floats = NDArray[np.float64]


def chosen_axes(domain: Domain, axes: Sequence[int]) -> list[int]:
    """Some axes of a domain, in the order that was asked for.

    Raises
    ------
    InputError
        For axes that are not there or named twice, and for more cells than a grid may have.
    """
    shape, chosen = domain.shape, [int(axis) for axis in axes]
    known = set(chosen) <= set(range(len(shape)))
    if not chosen or len(set(chosen)) < len(chosen) or not known:
        raise InputError(
            f"The axes are {chosen}; give some of 0 to {len(shape) - 1}, each once: "
            f"{', '.join(domain.axis_names)}."
        )
    if math.prod(shape[axis] for axis in chosen) > MAX_CELLS:
        raise InputError(
            f"These axes have more than {MAX_CELLS:,} cells together; choose fewer of them."
        )
    return chosen


def marginal_density(tree: Tree, shape: Sequence[int], axes: Sequence[int]) -> Floats:
    """Count per cell of the chosen axes, all others summed.

    Parameters
    ----------
    tree : Tree
        Counts of leaves lie evenly inside them.
    shape : (d,) cells along every axis
    axes : k different axes, each 0 to d - 1

    Returns
    -------
    (shape[axes[0]], shape[axes[1]], ...)
    """
    chosen = np.asarray(axes, dtype=np.int64)
    leaves = tree.leaves
    lower, upper = tree.lower[leaves][:, chosen], tree.upper[leaves][:, chosen]
    # Leaves that lie behind each other are added up first: many share one shadow.
    shadows, owner = np.unique(np.hstack([lower, upper]), axis=0, return_inverse=True)
    counts = np.bincount(owner.ravel(), tree.value[leaves], len(shadows))
    lower, upper = np.split(shadows, 2, axis=1)
    sides = np.array([shape[axis] for axis in axes], dtype=np.int64)
    image = np.zeros(sides)
    density = counts / np.prod((upper - lower).astype(np.float64), axis=1)
    _add(np.ascontiguousarray(lower), np.ascontiguousarray(upper), density, sides, image.ravel())
    return image


@njit(cache=True, nogil=True)
def _add(lower, upper, density, sides, flat):  # type: ignore[no-untyped-def]
    """Add a density to the cells of every box of a flattened image of the given sides."""
    axes = len(sides)
    steps = np.ones(axes, dtype=np.int64)
    for axis in range(axes - 2, -1, -1):
        steps[axis] = steps[axis + 1] * sides[axis + 1]
    at = np.empty(axes, dtype=np.int64)
    for k in range(len(density)):
        place = 0
        for axis in range(axes):
            at[axis] = lower[k, axis]
            place += at[axis] * steps[axis]
        while True:
            for i in range(upper[k, axes - 1] - lower[k, axes - 1]):
                flat[place + i] += density[k]
            # On to the next row of the box, as an odometer turns.
            axis = axes - 2
            while axis >= 0:
                at[axis] += 1
                place += steps[axis]
                if at[axis] < upper[k, axis]:
                    break
                place -= (at[axis] - lower[k, axis]) * steps[axis]
                at[axis] = lower[k, axis]
                axis -= 1
            if axis < 0:
                break
