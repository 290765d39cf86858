"""Questions to a release: boxes along the axes, or polygons, each asked as itself.

A polygon's answer is a weighted sum of the leaves' counts, by the part of every cell that is in
it, and its noise is that of the same sum.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from explorer.errors import InputError
from explorer.grid.domain import Domain
from explorer.grid.grid import Grid
from explorer.grid.pieces import Shapes, flat_pieces
from explorer.grid.range_queries import RangeQueries
from explorer.grid.sums import rectangle_sums
from explorer.releases import haar
from explorer.releases.forms import climb
from explorer.releases.place_maps import Chances
from explorer.releases.tree import Tree

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]


class Asked(Protocol):
    """What of a release is needed to answer, see `Release`."""

    @property
    def tree(self) -> Tree:
        """All nodes."""

    @property
    def domain(self) -> Domain:
        """What it is a map of."""

    @property
    def inside(self) -> str:
        """How counts are spread inside leaves."""

    @property
    def haar_variance(self) -> float | None:
        """Variance of every coefficient, for Privlet."""

    @property
    def chances(self) -> Chances | None:
        """Of the maps inside; None without them."""

    @property
    def owners(self) -> NDArray[np.int32]:
        """Which leaf every cell belongs to."""

    @property
    def sums(self) -> Floats:
        """Summed-area table of the density."""

    def density(self) -> Floats:
        """Count per cell."""


def asked(release: Asked, question: Any) -> tuple[Floats, Floats, Ints]:
    """Counts in m boxes or polygons, the variance of their noise, and the leaves each touches.

    Raises
    ------
    InputError
        See `Release.answer`.
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


def _of_shapes(release: Asked, shapes: Shapes) -> tuple[Floats, Floats, Ints]:
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


def leaf_weights(release: Asked, shapes: Shapes) -> Iterator[tuple[Ints, Floats]]:
    """Of each polygon the leaves that it touches, and which part of every one is in it.

    Yields
    ------
    (k,) leaves, as positions in the tree, increasing, and (k,) parts, 0 to 1
    """
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
    """The grid of a domain that is one map.

    Raises
    ------
    InputError
        For any other: a polygon says nothing of further axes.
    """
    grids = getattr(domain, "grids", [domain])
    if len(grids) == 1 and isinstance(grids[0], Grid):
        return grids[0]
    raise InputError(
        f"A polygon is a question to one map, and this has {len(domain.shape)} axes; give boxes of "
        "its places."
    )


def variance_of(tree: Tree, nodes: Ints, weights: Floats) -> float:
    """Variance of the noise in a weighted sum of leaves' counts.

    Parameters
    ----------
    tree : Tree
    nodes : (k,) leaves, as positions in the tree, increasing
    weights : (k,)
    """
    if not len(nodes):
        return 0.0
    alone, below, _ = tree.variances
    form, shared = np.zeros((2, len(tree)))
    form[nodes], shared[nodes] = weights**2 * alone[nodes], weights * alone[nodes]
    return float(climb(tree.parent, tree.fan_out, tree.precision, below, form, shared, nodes[-1]))
