"""How a released tree grew: the partition after every split, and what had been spent by then.

Everything here is read from the released tree alone, so it costs no privacy. The splits are taken
level by level and, inside a level, in the order of the release. That is the order in which the
mechanisms measure, except Mosaic, which counts some levels together.
"""

from __future__ import annotations

from dataclasses import replace
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from explorer.errors import InputError
from explorer.releases.file import by_stage
from explorer.releases.release import Release
from explorer.releases.tree import Tree
from explorer.releases.units import UNITS_PER_EPSILON

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]


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

    def nodes(self, step: int) -> Ints:
        """Positions in the released tree of the pieces at a step, increasing."""
        step = self._checked(step)
        return np.flatnonzero((self._born <= step) & (self._dies >= step))

    def new(self, step: int, since: int | None = None) -> NDArray[np.bool_]:
        """Which pieces at a step came to be after ``since``, by default in the last split."""
        before = step - 1 if since is None else since
        return self._born[self.nodes(step)] > before

    def at(self, step: int) -> Release:
        """The release as if its tree had stopped growing after ``step`` splits.

        Its leaves are the pieces, in the order of `nodes`, with the counts that they have in the
        end: those hold what was learned below them as well. The noise of answers follows: a piece
        counts as one draw with the variance of the best estimate from all draws below it.

        Parameters
        ----------
        step : 0 to `n_splits`

        Raises
        ------
        InputError
            For a step that does not exist.
        """
        release, step = self.release, self._checked(step)
        if step == self.n_splits:
            return release
        tree = release.tree
        grown_nodes = np.flatnonzero(self._born <= step)
        pieces = np.searchsorted(grown_nodes, self.nodes(step))
        parent = np.searchsorted(grown_nodes, tree.parent[grown_nodes])
        parent[0] = -1
        precision = tree.precision[grown_nodes]
        if release.haar_variance is None:
            variance = tree.variances[0][grown_nodes[pieces]]
        else:
            # Wavelets tie all cells together: only an answer knows the noise of several.
            boxes = np.stack(
                [tree.lower[grown_nodes[pieces]], tree.upper[grown_nodes[pieces]]], axis=1
            )
            variance = release.answer(release.domain.from_cells(boxes)).sd ** 2
        precision[pieces] = 1.0 / np.maximum(variance, np.finfo(np.float64).tiny)
        grown = replace(
            release,
            tree=Tree(
                tree.lower[grown_nodes],
                tree.upper[grown_nodes],
                parent,
                tree.value[grown_nodes],
                precision,
                tree.stages,
                tree.spent[grown_nodes],
                tree.draws[grown_nodes],
                None if tree.tested is None else tree.tested[grown_nodes],
            ),
            # Heights stay those above the lowest level that the whole tree could have had.
            facts={"height": float(self.levels), **release.facts},
            linear=release.linear and release.haar_variance is None,
            haar_variance=None,
            candidates=(),
        )
        return replace(grown, ledger=by_stage(grown.stages(), release.ledger))

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
