"""Arithmetic on released trees: answers, the noise of answers, leaves painted on cells.

A tree is a struct of arrays with parents before children and the children of one node side by
side. Everything here is a function of released numbers.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple

import numpy as np
from numba import njit
from numpy.typing import NDArray

from explorer.errors import InputError
from explorer.releases.forms import gather, smooth
from explorer.releases.inference import Estimate, add_down
from explorer.releases.nodes import Ints, count_leaves, depths, inner_end, paint, span
from explorer.releases.place_maps import Chances, parts_by_maps
from explorer.releases.transcript import Booked, Transcript

Floats = NDArray[np.float64]


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
        if len(leaves) < FEWEST_LEAVES or np.count_nonzero(self.precision) > len(leaves):
            return None
        return GridTable.of(*self.leaf_edges, self.value[leaves], self.precision[leaves])

    def paint(self, shape: tuple[int, int]) -> Floats:
        """Density per cell of two axes, (rows, cols): counts of leaves spread evenly."""
        self._check_map()
        image = np.empty(shape)
        lower, upper = self.leaf_edges
        size = upper - lower
        paint(lower, upper, self.value[self.leaves] / (size[:, 0] * size[:, 1]), image)
        return image

    def owners(self, shape: tuple[int, int]) -> NDArray[np.int32]:
        """Which leaf every cell belongs to, (rows, cols), as a position in `leaves`; else -1."""
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


# Nodes with many children that form a grid: which of them a box touches, without asking all.
#
# A first jump straight to the zones of all places has up to 65,536 children, and a question about
# one flow touches one of them.


#: Fewer children than this are looked at one by one: that is as fast.
FEWEST_CHILDREN = 64


class Fans(NamedTuple):
    """Grids of children, row-major, for kernels.

    Attributes
    ----------
    of : (n,) which grid the children of a node form, or -1
    start : (f, d + 1) where the edges of each axis of a grid begin in ``edges``
    edges : first cell of every slab, and at the end of each axis the first cell behind it
    """

    of: Ints
    start: Ints
    edges: Ints


def fans(lower: Ints, upper: Ints, first_child: Ints, fan_out: Ints) -> Fans | None:
    """The grids that children of nodes form, None where no node has one; see `Fans`."""
    of, used = np.full(len(lower), -1, dtype=np.int64), 0
    starts: list[Ints] = []
    edges: list[Ints] = []
    for node in np.flatnonzero(fan_out >= FEWEST_CHILDREN):
        children = slice(first_child[node], first_child[node] + fan_out[node])
        grid = _grid_of(lower[children], upper[children])
        if grid is None:
            continue
        of[node] = len(starts)
        ends = used + np.cumsum([0, *map(len, grid)])
        starts.append(ends)
        edges += grid
        used = int(ends[-1])
    if not starts:
        return None
    return Fans(of, np.array(starts, dtype=np.int64), np.concatenate(edges))


def _grid_of(lower: Ints, upper: Ints) -> list[Ints] | None:
    """Edges along every axis of boxes (n, d) that are a full grid in row-major order, or None."""
    slabs = [np.unique(lower[:, axis]) for axis in range(lower.shape[1])]
    shape = [len(slab) for slab in slabs]
    if int(np.prod(shape)) != len(lower):
        return None
    edges = [
        np.append(first, upper[:, axis].max()).astype(np.int64) for axis, first in enumerate(slabs)
    ]
    place = np.unravel_index(np.arange(len(lower)), shape)
    for axis, (edge, at) in enumerate(zip(edges, place, strict=True)):
        if np.any(lower[:, axis] != edge[at]) or np.any(upper[:, axis] != edge[at + 1]):
            return None
    return edges


@njit(cache=True, nogil=True)
def touched(boxes, m, fan, fans, low, high):  # type: ignore[no-untyped-def]
    """Fill `low` and `high` (d,) with the slabs that box m touches; returns how many children."""
    number = 1
    for axis in range(len(low)):
        begin, stop = fans.start[fan, axis], fans.start[fan, axis + 1]
        edges = fans.edges[begin:stop]
        slabs = len(edges) - 1
        low[axis] = max(np.searchsorted(edges, boxes[m, 0, axis], side="right") - 1, 0)
        high[axis] = min(np.searchsorted(edges, boxes[m, 1, axis], side="left"), slabs)
        number *= max(high[axis] - low[axis], 0)
    return number


@njit(cache=True, nogil=True)
def child_of(fan, fans, low, high, step):  # type: ignore[no-untyped-def]
    """Which child of a grid the step-th touched one is, in increasing order."""
    child, stride = 0, 1
    for axis in range(len(low) - 1, -1, -1):
        across = high[axis] - low[axis]
        child += (low[axis] + step % across) * stride
        step //= across
        stride *= fans.start[fan, axis + 1] - fans.start[fan, axis] - 1
    return child


# Answers of even grids of many parts, from one cumulative table.
#
# A grid of m parts along each of d axes has m^d leaves, and walking past those that a box cuts
# takes seconds for thousands of boxes. With T the sums of all parts before a corner, a box is the
# signed sum of T over its 2^d corners, each interpolated between 2^d neighbours: at most 4^d
# look-ups. Where counts are whole numbers, sums of them are exact.
#
# All parts have one noise variance v, so that of an answer is v times the product over axes of the
# sum of squared shares, and the parts touched are a product, too.


FEWEST_LEAVES = 2**16
"""Leaves of a grid that gets a table: below, a walk is as fast."""
MANY_BOXES = 100
"""Boxes asked at once for which a table is made: fewer are walked to sooner."""


@dataclass(frozen=True, eq=False)
class GridTable:
    """A grid of parts.

    Attributes
    ----------
    edges : d arrays of cells, each from 0 to the end of its axis
    sums : (m_1 + 1, .., m_d + 1) counts of all parts before a corner
    variance : of the noise of each part
    """

    edges: tuple[Ints, ...]
    sums: Floats
    variance: float

    @classmethod
    def of(cls, lower: Ints, upper: Ints, value: Floats, precision: Floats) -> GridTable | None:
        """The table of n leaves (n, d), or None if they are no large grid of equal noise."""
        n, d = lower.shape
        # A look-up has up to 4^d terms, a walk no more than all leaves.
        if d < 3 or n < max(FEWEST_LEAVES, 4**d) or precision.min() != precision.max():
            return None
        ends = upper.max(axis=0)
        first = np.cumsum([0, *ends]).astype(np.int64)  # where the cells of an axis begin in marks
        marks = np.zeros(int(ends.sum()), dtype=np.bool_)
        _mark(lower, first, marks)
        edges = tuple(
            np.append(np.flatnonzero(marks[first[axis] : first[axis + 1]]), ends[axis])
            for axis in range(d)
        )
        shape = tuple(len(edge) - 1 for edge in edges)
        if math.prod(shape) != n:
            return None
        counts = np.full(n, np.nan)
        rank = np.cumsum(marks) - 1  # parts that begin before a cell, on all axes so far
        behind = np.concatenate([axis_edges[1:] for axis_edges in edges])
        if not _put(lower, upper, first, rank, behind, np.array(shape), value, counts):
            return None
        sums = np.zeros([side + 1 for side in shape])
        sums[(slice(1, None),) * d] = counts.reshape(shape)
        for axis in range(d):
            np.cumsum(sums, axis=axis, out=sums)
        return cls(edges, sums, 1.0 / float(precision[0]))

    def integrate(self, boxes: Floats) -> tuple[Floats, Floats, Ints]:
        """As `Tree.integrate`, for boxes (m, 2, d) in cells."""
        d = len(self.edges)
        begin = np.cumsum([0, *map(len, self.edges)]).astype(np.int64)
        strides = np.array(self.sums.strides, dtype=np.int64) // self.sums.itemsize
        values, variances = np.zeros((2, len(boxes)))
        touched = np.zeros(len(boxes), dtype=np.int64)
        _integrate_grid(
            np.array(boxes, dtype=np.float64, order="C"),
            np.concatenate(self.edges),
            begin,
            strides,
            self.sums.reshape(-1),
            np.zeros((2, d, 2)),
            np.zeros((2, d), dtype=np.int64),
            values,
            variances,
            touched,
        )
        return values, self.variance * variances, touched


@njit(cache=True, nogil=True)
def _mark(lower, first, marks):  # type: ignore[no-untyped-def]
    """Say on which cells of every axis boxes begin."""
    for i in range(len(lower)):
        for axis in range(lower.shape[1]):
            marks[first[axis] + lower[i, axis]] = True


@njit(cache=True, nogil=True)
def _put(lower, upper, first, rank, behind, shape, value, counts):  # type: ignore[no-untyped-def]
    """Put values into `counts`, NaN at first, in row-major order of parts; whether they are."""
    for i in range(len(lower)):
        place, before = 0, 0
        for axis in range(lower.shape[1]):
            part = rank[first[axis] + lower[i, axis]]
            if behind[part] != upper[i, axis]:
                return False
            place = place * shape[axis] + part - before
            before += shape[axis]
        # As many boxes as parts, and none twice: then each is one.
        if not np.isnan(counts[place]):
            return False
        counts[place] = value[i]
    return True


@njit(cache=True, nogil=True)
def _integrate_grid(  # type: ignore[no-untyped-def]
    boxes, edges, begin, strides, sums, weights, parts, values, variances, touched
):
    d = boxes.shape[2]
    for m in range(len(boxes)):
        squares, number = 1.0, 1
        for axis in range(d):
            axis_edges = edges[begin[axis] : begin[axis + 1]]
            low = min(max(boxes[m, 0, axis], float(axis_edges[0])), float(axis_edges[-1]))
            high = min(max(boxes[m, 1, axis], low), float(axis_edges[-1]))
            if high <= low:
                number = 0
                break
            for side, at in ((0, low), (1, high)):
                part = min(np.searchsorted(axis_edges, at, side="right") - 1, len(axis_edges) - 2)
                share = (at - axis_edges[part]) / (axis_edges[part + 1] - axis_edges[part])
                parts[side, axis] = part
                weights[side, axis, 0], weights[side, axis, 1] = 1.0 - share, share
            first, last = parts[0, axis], parts[1, axis]
            if weights[1, axis, 1] == 0.0:
                last -= 1  # it ends where a part begins
            inside = 0.0
            for part in (first, last):
                length = float(axis_edges[part + 1] - axis_edges[part])
                share = (
                    min(high, float(axis_edges[part + 1])) - max(low, float(axis_edges[part]))
                ) / length
                inside += share * share
                if first == last:
                    break
            squares *= inside + max(last - first - 1, 0)
            number *= last - first + 1
        touched[m] = number
        if number == 0:
            continue
        variances[m] = squares
        # Every corner of the box, and every neighbour of the corner, by the bits of two numbers.
        answer = 0.0
        for corner in range(1 << d):
            sign, base = 1.0, 0
            for axis in range(d):
                side = (corner >> axis) & 1
                sign = sign if side else -sign
                base += parts[side, axis] * strides[axis]
            for near in range(1 << d):
                weight, place = sign, base
                for axis in range(d):
                    step = (near >> axis) & 1
                    weight *= weights[(corner >> axis) & 1, axis, step]
                    if weight == 0.0:
                        break
                    place += step * strides[axis]
                if weight != 0.0:
                    answer += weight * sums[place]
        values[m] = answer
