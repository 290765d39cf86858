"""Arithmetic on released trees: answers, the noise of answers, leaves painted on cells.

A tree is a struct of arrays with parents before children and the children of one node side by
side. Everything here is a function of released numbers.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numba import njit
from numpy.typing import NDArray

from explorer.errors import InputError
from explorer.releases.fans import Fans, child_of, fans, touched
from explorer.releases.forms import gather, smooth
from explorer.releases.grid_table import FEWEST, MANY_BOXES, GridTable
from explorer.releases.inference import Estimate, add_down
from explorer.releases.nodes import count_leaves, depths, inner_end, span
from explorer.releases.painting import paint
from explorer.releases.place_maps import Chances, parts_by_maps
from explorer.releases.transcript import Booked, Transcript

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]


@dataclass(frozen=True, eq=False)
class Tree:
    """n nodes; node 0 is the whole domain.

    Attributes
    ----------
    lower, upper : (n, d) int64, half open, in cells, axes in the domain's order
    parent : (n,) int64, -1 for the root
    value : (n,) released count after inference
    precision : (n,) 1 / noise variance of the node's own draw as the inference used it, else 0
    stages : what the budget went to
    spent : (n, stages) int64, budget the node paid itself, in units of 10^-12 epsilon
    draws : (n, stages) the noisy count of each stage, NaN where none was drawn
    tested : (n,) the released figure that decided about a node where that is none of its draws
        (KD-cell looks at a noisy grid), NaN where there is none; None for most mechanisms
    """

    lower: Ints
    upper: Ints
    parent: Ints
    value: Floats
    precision: Floats
    stages: tuple[str, ...]
    spent: Ints
    draws: Floats
    tested: Floats | None = None

    @classmethod
    def of(cls, estimate: Estimate) -> Tree:
        """The tree of what a plan inferred; its tables are made when they are asked for."""
        record = estimate.transcript
        result = _Inferred.__new__(_Inferred)
        vars(result).update(
            lower=record.lower,
            upper=record.upper,
            parent=record.parent,
            value=estimate.value,
            precision=estimate.precision,
            stages=record.stages,
            tested=estimate.tested,
            record=record,
        )
        return result

    def __len__(self) -> int:
        return len(self.parent)

    @cached_property
    def fan_out(self) -> Ints:
        """Number of children of every node, (n,)."""
        number = np.bincount(self.parent[1:], minlength=len(self))
        return number.astype(np.int64, copy=False)

    @cached_property
    def first_child(self) -> Ints:
        """Position of the first child, (n,); meaningless for leaves."""
        first = np.zeros(len(self), dtype=np.int64)
        # Written last to first, so that the lowest position stays.
        first[self.parent[:0:-1]] = np.arange(len(self) - 1, 0, -1)
        return first

    @cached_property
    def leaves(self) -> Ints:
        """Positions of the leaves, increasing."""
        return np.flatnonzero(self.fan_out == 0)

    @cached_property
    def leaf_edges(self) -> tuple[Ints, Ints]:
        """Lower and upper edge of every leaf in cells, half open, (leaves, d) each."""
        # `take` is several times as fast as indexing where rows are short.
        return self.lower.take(self.leaves, axis=0), self.upper.take(self.leaves, axis=0)

    @cached_property
    def depth(self) -> Ints:
        """Cuts between the root and the node, (n,)."""
        return depths(self.parent)

    @cached_property
    def path_spent(self) -> Ints:
        """Budget spent on the way from the root to each node, by stage, (n, stages)."""
        total = np.zeros_like(self.spent)
        for stage in range(self.spent.shape[1]):
            add_down(self.parent, self.spent[:, stage], total[:, stage])
        return total

    @cached_property
    def mean_path_spent(self) -> Floats:
        """Mean over leaves of what their paths spent, by stage, (stages,): sums without paths."""
        below = np.zeros(inner_end(self.parent))
        count_leaves(self.parent, below)
        return self._weighed(below) / below[0]

    def _weighed(self, weights: Floats) -> Floats:
        """Sums by stage of what nodes paid, times the weights of the first; all others weigh 1."""
        total = np.zeros(len(self.stages))
        _weigh(weights, self.spent, total)
        return total

    @cached_property
    def variances(self) -> tuple[Floats, Floats, Ints]:
        """Per node: variance of its best estimate from its own subtree, the sum of that over its
        children, and the number of leaves below.
        """
        alone, below = np.zeros((2, len(self)))
        count = np.zeros(len(self), dtype=np.int64)
        gather(self.parent, self.fan_out, self.precision, alone, below, count)
        return alone, below, count

    @cached_property
    def sd(self) -> Floats:
        """Standard deviation of the noise in every node's released count, (n,)."""
        alone, below, _ = self.variances
        final = np.empty(len(self))
        smooth(self.parent, alone, below, final)
        return np.sqrt(np.maximum(final, 0.0))

    def integrate(self, boxes: Floats, maps: Chances | None = None) -> tuple[Floats, Floats, Ints]:
        """Counts in m boxes, the variance of their noise, and the leaves each touches.

        Parameters
        ----------
        boxes : (m, 2, d) lower and upper in cells, fractions allowed
        maps : of all nodes, where counts are inside leaves; evenly without

        Notes
        -----
        A leaf that a box cuts gives its count times the part of its cells, or the product over
        places of A(box and leaf) / A(leaf), see `place_maps`. The variance of a weighted sum of
        least-squares estimates follows the tree upwards: with q, c and B the variance of the
        sought part, its covariance with the node's total and that total's variance, all from the
        children alone, a draw of variance s of the node itself turns them into
        q - c^2/(B + s), c s/(B + s) and B s/(B + s).
        """
        many = len(boxes) >= MANY_BOXES and maps is None
        if many and self._grid_table is not None:
            return self._grid_table.integrate(boxes)
        values, variances = np.zeros((2, len(boxes)))
        leaves = np.zeros(len(boxes), dtype=np.int64)
        alone, below, count = self.variances
        queue, above = np.empty((2, len(self.parent)), dtype=np.int64)
        part, shared = np.empty((2, len(self.parent)))
        _integrate(
            np.ascontiguousarray(boxes),
            self.lower,
            self.upper,
            self.parent,
            self.first_child,
            self.fan_out,
            self.value,
            self.precision,
            alone,
            below,
            count,
            maps,
            self._fans,
            queue,
            above,
            part,
            shared,
            values,
            variances,
            leaves,
        )
        return values, variances, leaves

    @cached_property
    def _fans(self) -> Fans | None:
        return fans(self.lower, self.upper, self.first_child, self.fan_out)

    @cached_property
    def _grid_table(self) -> GridTable | None:
        """For leaves that are a large even grid, measured alone."""
        leaves = self.leaves
        if len(leaves) < FEWEST or np.count_nonzero(self.precision) > len(leaves):
            return None
        return GridTable.of(*self.leaf_edges, self.value[leaves], self.precision[leaves])

    def paint(self, shape: tuple[int, int]) -> Floats:
        """Density per cell, (rows, cols): every leaf's count spread over its cells.

        Raises
        ------
        InputError
            For a tree of other than two dimensions.
        """
        self._check_map()
        image = np.empty(shape)
        lower, upper = self.leaf_edges
        size = upper - lower
        paint(lower, upper, self.value[self.leaves] / (size[:, 0] * size[:, 1]), image)
        return image

    def owners(self, shape: tuple[int, int]) -> NDArray[np.int32]:
        """Which leaf every cell belongs to, (rows, cols), as a position in `leaves`; else -1.

        Raises
        ------
        InputError
            For a tree of other than two dimensions.
        """
        self._check_map()
        image = np.full(shape, -1, dtype=np.int32)
        paint(*self.leaf_edges, np.arange(len(self.leaves), dtype=np.int32), image)
        return image

    def _check_map(self) -> None:
        if self.lower.shape[1] != 2:
            raise no_map(self.lower.shape[1])


class _Inferred(Tree):
    """A tree right after the inference: what it has by node and stage is made of the transcript."""

    record: Transcript | None = None
    """None of one that was made from another, with tables."""

    @cached_property
    def spent(self) -> Ints:
        """See `Tree`."""
        assert self.record is not None
        return self.record.spent

    @cached_property
    def draws(self) -> Floats:
        """See `Tree`."""
        assert self.record is not None
        draws = np.full((len(self), len(self.stages)), np.nan)
        for measured in self.record.measurements:
            draws[span(measured.ids), self.stages.index(measured.stage)] = measured.values
        return draws

    def _weighed(self, weights: Floats) -> Floats:
        record = self.record
        result = record.weighed(weights) if isinstance(record, Booked) else None
        return super()._weighed(weights) if result is None else result


def no_map(axes: int) -> InputError:
    """The error for drawing what has not two axes."""
    return InputError(
        f"This release has {axes} {'axis' if axes == 1 else 'axes'} and cannot be drawn as one "
        "map; sum it onto two of them with marginal, such as release.marginal((0, 1))."
    )


@njit(cache=True, nogil=True)
def _weigh(weights, columns, total):  # type: ignore[no-untyped-def]
    """Weighted sums of columns (n, m) into `total` (m,); rows behind the weights weigh 1."""
    if columns.shape[1] == 1:
        alone = 0.0
        for i in range(columns.shape[0]):
            weight = weights[i] if i < len(weights) else 1.0
            alone += weight * columns[i, 0]
        total[0] = alone
        return
    for i in range(columns.shape[0]):
        weight = weights[i] if i < len(weights) else 1.0
        for j in range(columns.shape[1]):
            total[j] += weight * columns[i, j]


@njit(cache=True, nogil=True, inline="always")
def share_inside(boxes, m, lower, upper, i):  # type: ignore[no-untyped-def]
    """The part of node i that is in box m, 0 to 1, and whether it is the whole node."""
    if lower.shape[1] == 2:
        # The same, written out: maps are asked while a slider moves, and the loop costs a fifth.
        height = min(boxes[m, 1, 0], upper[i, 0]) - max(boxes[m, 0, 0], lower[i, 0])
        width = min(boxes[m, 1, 1], upper[i, 1]) - max(boxes[m, 0, 1], lower[i, 1])
        if height <= 0.0 or width <= 0.0:
            return 0.0, False
        rows, cols = upper[i, 0] - lower[i, 0], upper[i, 1] - lower[i, 1]
        if height >= rows and width >= cols:
            return 1.0, True
        return height * width / (rows * cols), False
    inside, cells, whole = 1.0, 1.0, True
    for axis in range(lower.shape[1]):
        low, high = lower[i, axis], upper[i, axis]
        side = min(boxes[m, 1, axis], high) - max(boxes[m, 0, axis], low)
        if side <= 0.0:
            return 0.0, False
        whole = whole and side >= high - low
        inside *= side
        cells *= high - low
    if whole:
        return 1.0, True
    return inside / cells, False


@njit(cache=True, nogil=True, inline="always")
def _take(weight, alone, owner, part, shared):  # type: ignore[no-untyped-def]
    """Add a node's q and c to its parent's; returns the q of a node that has none: of the root."""
    if owner < 0:
        return weight * weight * alone
    part[owner] += weight * weight * alone
    shared[owner] += weight * alone
    return 0.0


@njit(cache=True, nogil=True)
def _integrate(  # type: ignore[no-untyped-def]
    boxes,
    lower,
    upper,
    parent,
    first_child,
    fan_out,
    value,
    precision,
    alone,
    below,
    count,
    maps,
    grids,
    queue,
    above,
    part,
    shared,
    values,
    variances,
    n_leaves,
):
    # Nodes that a box cuts through wait in `queue`, parents first; `part` and `shared` collect
    # the q and c of their children.
    # What is not there is None: numba then leaves the branches out, and compiles half as much.
    if maps is not None:
        # Leaves that a box cuts through: the maps say which part of them is inside.
        cut, of = np.empty((2, len(parent)), dtype=np.int64)
    if grids is not None:
        low, high = np.empty((2, lower.shape[1]), dtype=np.int64)
    for m in range(len(boxes)):
        ends = 0
        if maps is not None:
            cuts = 0
        answer = 0.0
        leaves = 0
        root_part = 0.0
        begin, steps, owner, done, fan = 0, np.int64(1), -1, 0, np.int64(-1)
        while True:
            for step in range(steps):
                i = begin + step
                if grids is not None and fan >= 0:
                    i = begin + child_of(fan, grids, low, high, step)
                weight, whole = share_inside(boxes, m, lower, upper, i)
                if weight == 0.0:
                    continue
                if not whole and fan_out[i] > 0:
                    queue[ends], above[ends], part[ends], shared[ends] = i, owner, 0.0, 0.0
                    ends += 1
                    continue
                leaves += count[i]
                if maps is not None and not whole:
                    cut[cuts], of[cuts] = i, owner
                    cuts += 1
                    continue
                answer += weight * value[i]
                root_part += _take(weight, alone[i], owner, part, shared)
            if done == ends:
                break
            owner = done
            begin, steps = first_child[queue[done]], fan_out[queue[done]]
            if grids is not None:
                fan = grids.of[queue[done]]
                if fan >= 0:
                    steps = touched(boxes, m, fan, grids, low, high)
            done += 1
        if maps is not None:
            weights = parts_by_maps(boxes, m, lower, upper, cut[:cuts], maps)
            for k in range(cuts):
                i, owner, weight = cut[k], of[k], weights[k]
                answer += weight * value[i]
                root_part += _take(weight, alone[i], owner, part, shared)
        for k in range(ends - 1, -1, -1):
            i = queue[k]
            q, c = part[k], shared[k]
            if precision[i] > 0.0:
                s = 1.0 / precision[i]
                q -= c * c / (below[i] + s)
                c *= s / (below[i] + s)
            if above[k] >= 0:
                part[above[k]] += q
                shared[above[k]] += c
            else:
                root_part = q
        values[m] = answer
        variances[m] = root_part
        n_leaves[m] = leaves
