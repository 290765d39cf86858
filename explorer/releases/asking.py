"""Questions to a release: boxes along the axes, or polygons, each asked as itself.

A polygon's answer is a weighted sum of the leaves' counts, by the part of every cell that is in
it, and its noise is that of the same sum.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from functools import reduce
from typing import Any

import numpy as np
from numba import njit
from numpy.typing import NDArray

from explorer.errors import InputError
from explorer.grid.domain import Domain
from explorer.grid.grid import MAX_CELLS, Grid
from explorer.grid.pieces import Shapes, flat_pieces
from explorer.grid.range_queries import RangeQueries
from explorer.grid.sums import rectangle_sums
from explorer.releases import haar
from explorer.releases.forms import climb
from explorer.releases.nodes import Ints
from explorer.releases.place_maps import PlaceMaps
from explorer.releases.tree import Tree

Floats = NDArray[np.float64]


def asked(release: Any, question: Any) -> tuple[Floats, Floats, Ints]:
    """Counts in m boxes or polygons, the variance of their noise, and the leaves each touches.

    Errors are those of `Release.answer`.
    """
    if isinstance(question, RangeQueries):
        value, variance, touched = question.each(lambda part: asked(release, part))
        return value, variance, touched
    shapes = Shapes.of(question)
    if shapes is not None:
        return _of_shapes(release, shapes)
    boxes = release.domain.to_cells(question)
    value, variance, touched = release.tree.integrate(boxes, release.chances)
    if release.inside == "interpolated":
        value = rectangle_sums(release.sums, boxes)
    if release.haar_variance is not None:
        variance = release.haar_variance * haar.noise(boxes, one_grid(release.domain).shape)
    return value, variance, touched


def _of_shapes(release: Any, shapes: Shapes) -> tuple[Floats, Floats, Ints]:
    grid = one_grid(release.domain)
    tree = release.tree
    leaves = tree.leaves
    lower, upper = tree.leaf_edges
    size = np.prod(upper - lower, axis=1)
    owner = release.owners
    values, variances = np.zeros((2, len(shapes)))
    touched = np.zeros(len(shapes), dtype=np.int64)
    for number, shape in enumerate(shapes.on(grid)):
        cells, parts = flat_pieces(grid, shape)
        here, weights = _leaves_of(owner, size, cells, parts)
        touched[number] = len(here)
        if release.inside == "uniform":
            values[number] = weights @ tree.value[leaves[here]]
        else:
            values[number] = parts @ release.density().ravel()[cells]
        if release.haar_variance is not None:
            whole = np.zeros(np.prod(grid.shape))
            whole[cells] = parts
            variances[number] = release.haar_variance * haar.noise_of(whole.reshape(grid.shape))
        else:
            variances[number] = variance_of(tree, leaves[here], weights)
    return values, variances, touched


def leaf_weights(release: Any, shapes: Shapes) -> Iterator[tuple[Ints, Floats]]:
    """The leaves that each polygon touches, (k,) increasing, and the part of each in it."""
    grid, tree = one_grid(release.domain), release.tree
    leaves = tree.leaves
    lower, upper = tree.leaf_edges
    size = np.prod(upper - lower, axis=1)
    for shape in shapes.on(grid):
        here, weights = _leaves_of(release.owners, size, *flat_pieces(grid, shape))
        yield leaves[here], weights


def _leaves_of(owner: NDArray[Any], size: Ints, cells: Ints, parts: Floats) -> tuple[Ints, Floats]:
    """Numbers of the leaves that own cells, and the part of each that the cells' parts are."""
    of = owner.ravel()[cells]
    if 8 * len(of) < len(size):
        here, place = np.unique(of, return_inverse=True)
        return here, np.bincount(place, parts, len(here)) / size[here]
    # Of many cells, counting costs less than sorting.
    here = np.flatnonzero(np.bincount(of, minlength=len(size)))
    return here, np.bincount(of, parts, len(size))[here] / size[here]


def one_grid(domain: Any) -> Grid:
    """The grid of a domain that is one map; InputError for others, as polygons have two axes."""
    grids = getattr(domain, "grids", [domain])
    if len(grids) == 1 and isinstance(grids[0], Grid):
        return grids[0]
    raise InputError(
        f"A polygon is a question to one map, and this has {len(domain.shape)} axes; give boxes of "
        "its places."
    )


def variance_of(tree: Tree, nodes: Ints, weights: Floats) -> float:
    """Variance of the noise in counts of leaves (k,), increasing, times weights (k,)."""
    if not len(nodes):
        return 0.0
    alone, below, _ = tree.variances
    form, shared = np.zeros((2, len(tree)))
    form[nodes], shared[nodes] = weights**2 * alone[nodes], weights * alone[nodes]
    return float(climb(tree.parent, tree.fan_out, tree.precision, below, form, shared, nodes[-1]))


# A release summed onto some of its axes: where trips begin, whatever way they go on.


def chosen_axes(domain: Domain, axes: Sequence[int]) -> list[int]:
    """Some axes of a domain, in the order that was asked for.

    InputError for axes that are not there or named twice, and for more cells than a grid may have.
    """
    shape, chosen = domain.shape, [int(axis) for axis in axes]
    all_exist = set(chosen) <= set(range(len(shape)))
    if not chosen or len(set(chosen)) < len(chosen) or not all_exist:
        raise InputError(
            f"The axes are {chosen}; give some of 0 to {len(shape) - 1}, each once: "
            f"{', '.join(domain.axis_names)}."
        )
    if math.prod(shape[axis] for axis in chosen) > MAX_CELLS:
        raise InputError(
            f"These axes have more than {MAX_CELLS:,} cells together; choose fewer of them."
        )
    return chosen


def marginal_density(
    tree: Tree, shape: Sequence[int], axes: Sequence[int], maps: PlaceMaps | None = None
) -> Floats:
    """Count per cell of the chosen axes, all others summed, (shape[axes[0]], shape[axes[1]], ..).

    Counts are inside leaves as the maps of all places say; evenly without maps.
    """
    if maps is not None:
        return _by_maps(tree, maps, shape, axes)
    lower, upper, counts = _shadows(tree, axes)
    sides = np.array([shape[axis] for axis in axes], dtype=np.int64)
    image = np.zeros(sides)
    density = counts / np.prod((upper - lower).astype(np.float64), axis=1)
    _add(np.ascontiguousarray(lower), np.ascontiguousarray(upper), density, sides, image.ravel())
    return image


def _by_maps(tree: Tree, maps: PlaceMaps, shape: Sequence[int], axes: Sequence[int]) -> Floats:
    chosen = np.asarray(axes, dtype=np.int64)
    order = np.sort(chosen)
    # A place of which an axis is wanted takes part with both: its map ties them together.
    needed_axes = [2 * number + side for number in sorted(set(order // 2)) for side in (0, 1)]
    image = np.zeros([shape[axis] for axis in order])
    for low, high, count in zip(*_shadows(tree, needed_axes), strict=True):
        parts, where = [], []
        for place in range(0, len(needed_axes), 2):
            rows, cols = slice(low[place], high[place]), slice(low[place + 1], high[place + 1])
            chances = maps.places[needed_axes[place] // 2].chances[rows, cols]
            sides = [side for side in (0, 1) if needed_axes[place] + side in order]
            where += [(rows, cols)[side] for side in sides]
            others = tuple(side for side in (0, 1) if side not in sides)
            parts.append(chances.sum(axis=others) / chances.sum())
        image[tuple(where)] += count * reduce(np.multiply.outer, parts)
    return np.transpose(image, np.argsort(np.argsort(chosen)))


def _shadows(tree: Tree, axes: Sequence[int]) -> tuple[Ints, Ints, Floats]:
    """The different boxes of all leaves on k axes, (n, k), with counts added up, (n,)."""
    leaves = tree.leaves
    corners = np.hstack([tree.lower[leaves][:, axes], tree.upper[leaves][:, axes]])
    shadows, owner = np.unique(corners, axis=0, return_inverse=True)
    counts: Floats = np.bincount(owner.ravel(), tree.value[leaves], len(shadows)).astype(np.float64)
    lower, upper = np.split(shadows, 2, axis=1)
    return lower, upper, counts


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
