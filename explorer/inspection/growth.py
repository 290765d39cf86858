"""How a released tree grew: the partition after every split, and what had been spent by then.

Everything here is read from the released tree alone, so it costs no privacy. The splits are taken
level by level and, inside a level, in the order of the release. That is the order in which the
mechanisms measure, Mosaic apart, which counts some levels together.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import ArrayLike, NDArray

from explorer.errors import InputError
from explorer.grid.grid import Grid
from explorer.grid.sums import rectangle_sums, summed
from explorer.releases.interpolation import interpolate
from explorer.releases.release import Release
from explorer.releases.tree import Tree
from explorer.releases.units import UNITS_PER_EPSILON

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]


@dataclass(frozen=True, eq=False)
class Cut:
    """The pieces of one moment: disjoint nodes of a released tree that tile the grid.

    Attributes
    ----------
    tree : a tree of two levels, the whole map and the pieces with their released counts
    nodes : (p,) positions of the pieces in the released tree, increasing
    depth : (p,) cuts between the whole map and each piece
    new : (p,) whether the last split made the piece
    grid, inside : as in the `Release`
    """

    tree: Tree
    nodes: Ints
    depth: Ints
    new: NDArray[np.bool_]
    grid: Grid
    inside: str

    def __len__(self) -> int:
        return len(self.nodes)

    @cached_property
    def lower(self) -> Ints:
        """First row and column of every piece, (p, 2)."""
        return self.tree.lower[self.tree.leaves]

    @cached_property
    def upper(self) -> Ints:
        """Row and column behind the last of every piece, (p, 2)."""
        return self.tree.upper[self.tree.leaves]

    @cached_property
    def counts(self) -> Floats:
        """Private count of every piece, (p,)."""
        return self.tree.value[self.tree.leaves]

    def boxes(self) -> Floats:
        """Pieces as x0, y0, x1, y1 in the grid's unit, (p, 4)."""
        return self.grid.from_cells(np.stack([self.lower, self.upper], axis=1))

    def density(self) -> Floats:
        """Private count per cell, (rows, cols), by the release's own rule inside pieces."""
        return self._density

    @cached_property
    def _density(self) -> Floats:
        even = self.tree.paint(self.grid.shape)
        if self.inside == "uniform":
            return even
        return interpolate(even, self.tree.owners(self.grid.shape))

    @cached_property
    def _sums(self) -> Floats:
        return summed(self._density)

    def answer(self, rectangles: ArrayLike) -> Floats:
        """Private counts of rectangles, had the mechanism stopped here, (n,).

        Parameters
        ----------
        rectangles : (n, 4) x0, y0, x1, y1, as in `Release.answer`
        """
        return rectangle_sums(self._sums, self.grid.to_cells(rectangles))


class Growth:
    """The splits of a release in their order.

    With n_splits nodes that were split, step k is the partition after the first k of them: step 0
    is the whole map, step n_splits the leaves of the release.

    Parameters
    ----------
    release : Release

    Attributes
    ----------
    level_ends : (levels + 1,) the step at which all nodes of so few cuts have been split: the cut
        of the tree at height i, pieces of at most i cuts, is step ``level_ends[i]``
    """

    def __init__(self, release: Release) -> None:
        self.release = release
        tree = release.tree
        inner = np.flatnonzero(tree.fan_out)
        depth = tree.depth[inner]
        if np.any(depth[1:] < depth[:-1]):
            order = np.argsort(depth, kind="stable")
            inner, depth = inner[order], depth[order]
        self._split = inner
        # When a node is split, and when it came to be; a leaf is split after the end.
        self._dies = np.full(len(tree), len(inner), dtype=np.int64)
        self._dies[inner] = np.arange(len(inner))
        self._born = np.zeros(len(tree), dtype=np.int64)
        self._born[1:] = self._dies[tree.parent[1:]] + 1
        levels = int(tree.depth.max())
        at_depth = np.bincount(depth, minlength=levels)[:levels]
        self.level_ends: Ints = np.concatenate([[0], np.cumsum(at_depth)]).astype(np.int64)

    @property
    def n_splits(self) -> int:
        """Number of nodes that were split."""
        return len(self._split)

    @property
    def levels(self) -> int:
        """Cuts between the whole map and the deepest leaf."""
        return len(self.level_ends) - 1

    def level(self, step: int) -> int:
        """The height that the cut has reached: all nodes of fewer cuts have been split."""
        return int(np.searchsorted(self.level_ends, step, side="right")) - 1

    def pieces(self, step: int) -> int:
        """Number of pieces at a step."""
        return int(self._pieces[step])

    def ended(self, step: int) -> int:
        """Number of pieces at a step that are never split."""
        return int(self._ended[step])

    def split_node(self, step: int) -> int:
        """Position in the tree of the node that the ``step``-th split (from 1) divides."""
        return int(self._split[self._checked(step) - 1])

    def cut(self, step: int, since: int | None = None) -> Cut:
        """The partition after ``step`` splits.

        Parameters
        ----------
        step : 0 to `n_splits`
        since : pieces that came to be after this step are `Cut.new`; by default the step before

        Raises
        ------
        InputError
            For a step that does not exist.
        """
        step = self._checked(step)
        tree, grid = self.release.tree, self.release.grid
        nodes = np.flatnonzero((self._born <= step) & (self._dies >= step))
        if len(nodes) == 1:
            flat = _flat(tree, nodes)
        else:
            flat = _flat(tree, np.concatenate([[0], nodes]))
        before = step - 1 if since is None else since
        new = self._born[nodes] > before
        return Cut(flat, nodes, tree.depth[nodes], new, grid, self.release.inside)

    def cut_at_height(self, height: int) -> Cut:
        """The tree cut at a height: pieces of at most so many cuts.

        Raises
        ------
        InputError
            For a height below 0 or above `levels`.
        """
        if not 0 <= height <= self.levels:
            raise InputError(f"The height is {height}: give a whole number, 0 to {self.levels}.")
        return self.cut(int(self.level_ends[height]))

    def spent(self, step: int) -> list[tuple[str, float]]:
        """What had been spent on each stage, as (stage, epsilon), like `Release.stages`.

        A node's share counts once the node is there; the mean is over the paths to all leaves, so
        it never falls from step to step, and ends at the release's epsilon.
        """
        spent = self._spent[self._checked(step)]
        here = [(stage, float(e)) for stage, e in zip(self.release.tree.stages, spent, strict=True)]
        return [*self.release.elsewhere, *here]

    @cached_property
    def _pieces(self) -> Ints:
        more = self.release.tree.fan_out[self._split] - 1
        return 1 + np.concatenate([[0], np.cumsum(more)])

    @cached_property
    def _ended(self) -> Ints:
        leaves = self.release.tree.leaves
        return np.bincount(self._born[leaves], minlength=self.n_splits + 1).cumsum()

    @cached_property
    def _spent(self) -> Floats:
        """Epsilon by step and stage, (n_splits + 1, stages)."""
        tree = self.release.tree
        weight = tree.variances[2] / (len(tree.leaves) * UNITS_PER_EPSILON)
        steps = self.n_splits + 1
        by_step = np.empty((steps, len(tree.stages)))
        for stage in range(len(tree.stages)):
            paid = np.bincount(self._born, weight * tree.spent[:, stage], minlength=steps)
            by_step[:, stage] = paid.cumsum()
        return by_step

    def _checked(self, step: int) -> int:
        if not 0 <= step <= self.n_splits:
            raise InputError(f"The step is {step}: give a whole number, 0 to {self.n_splits}.")
        return step


def _flat(tree: Tree, nodes: Ints) -> Tree:
    """A tree of the first of ``nodes`` and the others below it, with their released counts."""
    n = len(nodes)
    parent = np.zeros(n, dtype=np.int64)
    parent[0] = -1
    nothing = np.zeros((n, 0))
    return Tree(
        tree.lower[nodes],
        tree.upper[nodes],
        parent,
        tree.value[nodes],
        np.ones(n),
        (),
        nothing.astype(np.int64),
        nothing,
    )
