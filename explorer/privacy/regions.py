"""Regions: disjoint boxes of cells, each with an account of the budget spent on it.

`Boxes` are the accounts of one pass over a domain of cells: they start with the whole domain, and a
box leaves them only by being split into children that tile it. `Regions` name some of them; what
they are is written in the book alone, so that nothing a plan does to its regions changes what is
measured. Any number of dimensions works.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numba import njit
from numpy.typing import ArrayLike, NDArray

from explorer.errors import InputError
from explorer.privacy.accounts import Accounts, Keys, longer, shown
from explorer.releases.nodes import Ints, span

MOST_NODES = 2**25
"""Nodes of one pass: about 4 gigabytes of accounts on a map."""
_NO_SUCH = "there is no such region in this book"
_SOON = 16
"""Cells of a child at most when space is reserved for all that may come below."""


@dataclass(frozen=True, eq=False)
class Regions:
    """n disjoint boxes of one book.

    Attributes
    ----------
    ids : (n,) int64
        Positions in the book, increasing.
    book : Boxes
        Holds boxes, parents, accounts and keys.
    """

    ids: Ints
    book: Boxes

    def __len__(self) -> int:
        return len(self.ids)

    @classmethod
    def join(cls, parts: Sequence[Regions]) -> Regions:
        """Regions of one book put together, in the book's order."""
        # Parts are in order each: merging them is quicker than sorting anew.
        ids = np.sort(np.concatenate([part.ids for part in parts]), kind="stable")
        return cls(_kept(ids), parts[0].book)

    @property
    def lower(self) -> Ints:
        """First cell along every axis (a grid: rows, then columns), (n, d); read-only."""
        return self._edges[0]

    @property
    def upper(self) -> Ints:
        """First cell behind the region along every axis, (n, d); read-only."""
        return self._edges[1]

    @cached_property
    def _edges(self) -> tuple[Ints, Ints]:
        return self.book.edges(self.ids)

    @property
    def shape(self) -> Ints:
        """Extent in cells along every axis, (n, d)."""
        extent: Ints = self.upper - self.lower
        return extent

    @property
    def cells(self) -> Ints:
        """Number of cells of each region, (n,)."""
        return self.book.cells(self.ids)

    @property
    def spent(self) -> Ints:
        """Budget spent on each region's path so far, (n,), in units of 10^-12 epsilon."""
        return self.book.spent[self.ids]  # a copy: accounts go on

    @property
    def parent(self) -> Ints:
        """Ids of the parents, (n,); -1 for the whole domain."""
        return _kept(self.book.parent[span(self.ids)])

    @cached_property
    def keys(self) -> Keys:
        """Names that depend only on the way from the root, (n,); they key preview noise."""
        return _kept(self.book.keys[span(self.ids)])

    def select(self, chosen: NDArray[Any]) -> Regions:
        """The regions where a mask is true (or at increasing positions)."""
        if chosen.dtype == bool:
            if len(chosen) == len(self) and chosen.all():
                return self
            chosen = np.flatnonzero(chosen)
        if len(chosen) == len(self):
            return self
        return Regions(_kept(self.ids[chosen]), self.book)

    def separate(self, chosen: NDArray[np.bool_]) -> tuple[Regions, Regions]:
        """The regions where a mask (n,) is true, and the others; ValueError for any other mask."""
        if len(chosen) != len(self):
            raise ValueError("a mask has one value for each region")
        number = np.count_nonzero(chosen)
        if number in (0, len(self)):
            none = Regions(self.ids[:0], self.book)
            return (self, none) if number else (none, self)
        return self.select(chosen), self.select(~chosen)

    def split(self, axis: ArrayLike, position: Ints) -> Regions:
        """Cut every region in two; returns 2n children, the lower one of each pair first.

        `axis` is (n,) or one number, `position` (n,) the first cell of the upper child, strictly
        inside.
        """
        return self.book.split(self.ids, axis, position)

    def grid(self, parts: ArrayLike) -> Regions:
        """Cut every region into a grid of nearly equal boxes.

        Parameters
        ----------
        parts : (n, d), (d,) or one number
            Number of parts along every axis, at least 1, cut down to the cells that there are.
            The edges are at `floor(i * cells / parts)`.

        Returns
        -------
        Regions
            The children, region by region, the last axis running fastest.
        """
        return self.book.grid(self.ids, parts)

    def across(self, axis: int, parts: ArrayLike) -> Regions:
        """Cut every region into nearly equal slabs across one axis, (n,) of each or one number.

        As `grid`, whose edges they have.
        """
        axes = self.book.lower.shape[1]
        number = np.ones((len(self), axes), dtype=np.int64)
        number[:, one_axis(axis, axes)] = parts
        return self.grid(number)

    def slice(self, axis: int, parts: Ints, position: Ints) -> Regions:
        """Cut every region into slabs across one axis.

        Parameters
        ----------
        axis : the axis that all are cut across
        parts : (n,) slabs of each, 1 or more; one slab is the whole region
        position : (sum of parts - 1,) first cells of all slabs but the first, region by region,
            increasing and strictly inside

        Returns
        -------
        Regions
            The slabs, region by region.
        """
        return self.book.slice(self.ids, axis, parts, position)

    def halves(self) -> Regions:
        """Cut every region in the middle of every axis that is longer than a cell.

        Up to 2^d children each: quarters of a map.
        """
        return self.grid(2)

    def divide(self, fan_out: Ints, lower: Ints, upper: Ints) -> Regions:
        """Cut every region into boxes of the caller's own.

        Parameters
        ----------
        fan_out : (n,) number of children of each region
        lower, upper : (sum of fan_out, d) their boxes, half open, region by region

        Raises
        ------
        ValueError
            If they do not tile their regions; nothing has changed then.
        """
        return self.book.divide(self.ids, fan_out, lower, upper)


class Boxes(Accounts):
    """The accounts of one pass over a domain of cells, and the box of every node."""

    __slots__ = ("_lower", "_upper")

    def __init__(
        self, shape: tuple[int, ...], name: int, limit: int, under: np.uint64 | None = None
    ) -> None:
        super().__init__(name, limit, under)
        room = len(self._parent), len(shape)
        self._lower, self._upper = np.zeros(room, np.int64), np.empty(room, np.int64)
        self._upper[0] = shape

    @property
    def lower(self) -> Ints:
        """First cell of every box along every axis, (n, d)."""
        return self._seen("_lower")

    @property
    def upper(self) -> Ints:
        """First cell behind every box, (n, d)."""
        return self._seen("_upper")

    def nodes(self) -> tuple[Ints, Ints, Ints]:
        """Lower and upper edges (n, d) and parents (n,) as they are now; trees keep them."""
        lower, upper, parent = map(self._without_room, ("_lower", "_upper", "_parent"))
        return lower, upper, parent

    def regions(self, ids: Ints) -> Regions:
        """The boxes of these numbers as the book has them."""
        return Regions(self.named(ids), self)

    def root(self) -> Regions:
        """The whole domain as one region."""
        return Regions(self._numbers(slice(0, 1)), self)

    def edges(self, ids: Ints) -> tuple[Ints, Ints]:
        """Lower and upper edges of some boxes, (n, d); read-only."""
        where = span(ids)
        if isinstance(where, slice):
            if not 0 <= where.start < where.stop <= len(self):
                raise IndexError(_NO_SUCH)
            return self.lower[where], self.upper[where]
        edges = np.empty((2, len(ids), self._lower.shape[1]), np.int64)
        if not _pick(ids, self.lower, self.upper, edges):
            raise IndexError(_NO_SUCH)
        return shown(edges[0]), shown(edges[1])

    def cells(self, ids: Ints) -> Ints:
        """Number of cells of some boxes, (n,)."""
        lower, upper = self.edges(ids)
        number = np.empty(len(lower), np.int64)
        _count_cells(lower, upper, number)
        return number

    def split(self, ids: Ints, axis: ArrayLike, position: ArrayLike) -> Regions:
        """Cut boxes in two, see `Regions.split`."""
        nodes = self.named(ids)
        # Copies, one for each region: kernels look at no bounds, and a plan may go on writing.
        axes = each_axis(axis, len(nodes), self._lower.shape[1])
        cuts = each_of(position, len(nodes), "position")
        if not _inside(nodes, axes, cuts, self._lower, self._upper):
            raise ValueError("a cut must lie strictly inside its region")
        begin = self._make_room(2 * len(nodes))
        _halve(nodes, axes, cuts, begin, self._lower, self._upper)
        return self._opened(nodes, np.full(len(nodes), 2, dtype=np.int64))

    def grid(self, ids: Ints, parts: ArrayLike) -> Regions:
        """Cut boxes into grids, see `Regions.grid`."""
        nodes = self.named(ids)
        # One row may represent all.
        rows = len(nodes) if np.ndim(parts) > 1 else 1
        number = np.empty((rows, self._lower.shape[1]), dtype=np.int64)
        number[:] = parts
        fan_out = np.empty(len(nodes), np.int64)
        _require_room(len(self) + plan_grids(nodes, self._lower, self._upper, number, fan_out))
        more = int(fan_out.sum())
        begin = self._make_room(more, self._expected(len(nodes), more))
        lay_grids(nodes, number, begin, self._lower, self._upper)
        return self._opened(nodes, fan_out)

    def slice(self, ids: Ints, axis: int, parts: Ints, position: Ints) -> Regions:
        """Cut boxes into slabs, see `Regions.slice`."""
        nodes = self.named(ids)
        axis = one_axis(axis, self._lower.shape[1])
        fan_out, cuts = np.array(parts, np.int64), np.array(position, np.int64)
        more = _added_up(fan_out)
        if (
            fan_out.shape != nodes.shape
            or np.any(fan_out < 1)
            or cuts.shape != (more - len(nodes),)
        ):
            raise ValueError("every region needs one cut less than it has slabs")
        _require_room(len(self) + more)
        owner = np.repeat(nodes, fan_out)
        low, high = self._lower[owner], self._upper[owner]
        inner = np.diff(owner, prepend=-1) == 0
        low[inner, axis] = cuts
        high[np.roll(inner, -1), axis] = cuts
        if np.any(low[:, axis] >= high[:, axis]):
            raise ValueError("cuts must increase and lie strictly inside their region")
        begin = self._make_room(more)
        self._lower[begin : begin + more], self._upper[begin : begin + more] = low, high
        return self._opened(nodes, fan_out)

    def divide(self, ids: Ints, fan_out: Ints, lower: Ints, upper: Ints) -> Regions:
        """Cut boxes into given ones, see `Regions.divide`."""
        nodes = self.named(ids)
        children, low, high = (np.array(array, np.int64) for array in (fan_out, lower, upper))
        dimensions, more = self._lower.shape[1], _added_up(children)
        fits = children.shape == nodes.shape and low.shape == high.shape == (more, dimensions)
        owner = np.repeat(np.arange(len(nodes)), children) if fits else children
        if not fits or not tile(low, high, owner, self._lower[nodes], self._upper[nodes]):
            raise ValueError("the boxes of children must tile their parents")
        begin = self._make_room(more)
        self._lower[begin : begin + more], self._upper[begin : begin + more] = low, high
        return self._opened(nodes, children)

    def _expected(self, parents: int, children: int) -> int:
        """How many nodes there are in the end if children are cut like their parents, or 0.

        Only where all are cut and it is few steps to single cells: what is in use is copied
        whenever space is made, but space that is never used would be kept with the tree.
        """
        cells = math.prod(self._upper[0].tolist())
        if not children < cells <= min(_SOON * children, MOST_NODES) or children < 2 * parents:
            return 0
        if parents != self._open:
            return 0
        return cells + cells * parents // (children - parents) + 1

    def _opened(self, parents: Ints, fan_out: Ints) -> Regions:
        """Enter children whose boxes are filled in."""
        begin = len(self)
        self._enter(parents, fan_out)
        return Regions(self._numbers(slice(begin, len(self))), self)

    def _lengthen(self, size: int) -> None:
        super()._lengthen(size)
        self._lower = longer(self._lower, len(self), size)
        self._upper = longer(self._upper, len(self), size)


def sides(regions: Regions, axis: ArrayLike) -> tuple[Ints, Ints, Ints]:
    """An axis for each region, and its first cell and its number of cells along it, all (n,)."""
    axes = each_of(axis, len(regions), "axis")
    start, length = np.empty((2, len(regions)), dtype=np.int64)
    if not _measure(regions.lower, regions.upper, axes, start, length):
        raise no_such_axis(regions.lower.shape[1])
    return axes, start, length


def _added_up(fan_out: Ints) -> int:
    """How many children there are in all; in Python's whole numbers, which do not wrap round."""
    limit = int(fan_out.max(initial=0))
    _require_room(limit)
    return sum(fan_out.tolist()) if limit * len(fan_out) > MOST_NODES else int(fan_out.sum())


def _kept(values: NDArray[Any]) -> NDArray[Any]:
    """Values that are not to be written to: what a plan reads is no place to keep its own."""
    return shown(values) if values.flags.writeable else values


def _require_room(nodes: float) -> None:
    if nodes > MOST_NODES:
        raise InputError(
            f"This would make a tree of {nodes:,.0f} nodes, more than the {MOST_NODES:,} that are "
            "possible: choose a coarser grid, or a mechanism that cuts less."
        )


@njit(cache=True, nogil=True)
def _pick(ids, lower, upper, edges):  # type: ignore[no-untyped-def]
    """Fill `edges` (2, n, d) with the boxes of some numbers; whether all exist."""
    for i in range(len(ids)):
        if not 0 <= ids[i] < len(lower):
            return False
        node = np.uint64(ids[i])
        for axis in range(lower.shape[1]):
            edges[0, i, axis], edges[1, i, axis] = lower[node, axis], upper[node, axis]
    return True


@njit(cache=True, nogil=True)
def _count_cells(lower, upper, number):  # type: ignore[no-untyped-def]
    for i in range(len(number)):
        number[i] = 1
        for axis in range(lower.shape[1]):
            number[i] *= upper[i, axis] - lower[i, axis]


@njit(cache=True, nogil=True)
def _measure(lower, upper, axis, start, length):  # type: ignore[no-untyped-def]
    """Fill in first cells and lengths of boxes along an axis each; returns whether all exist."""
    for i in range(len(axis)):
        if not 0 <= axis[i] < lower.shape[1]:
            return False
        start[i] = lower[i, axis[i]]
        length[i] = upper[i, axis[i]] - start[i]
    return True


@njit(cache=True, nogil=True)
def _inside(ids, axis, position, lower, upper):  # type: ignore[no-untyped-def]
    """Whether every position is strictly inside its box."""
    for i in range(len(ids)):
        if position[i] <= lower[ids[i], axis[i]] or position[i] >= upper[ids[i], axis[i]]:
            return False
    return True


@njit(cache=True, nogil=True)
def _halve(ids, axis, position, row, lower, upper):  # type: ignore[no-untyped-def]
    """Fill in the boxes of halves from position `row` on."""
    for i in range(len(ids)):
        for child in (row, row + 1):
            for dimension in range(lower.shape[1]):
                lower[child, dimension], upper[child, dimension] = (
                    lower[ids[i], dimension],
                    upper[ids[i], dimension],
                )
        upper[row, axis[i]] = position[i]
        lower[row + 1, axis[i]] = position[i]
        row += 2


def each_of(values: ArrayLike, number: int, name: str) -> Ints:
    """A whole number for each of some regions, (number,), copied; one number represents all."""
    array = np.asarray(values)
    if array.dtype.kind not in "iu" or array.shape not in ((), (number,)):
        raise ValueError(f"give one whole {name} for each of the {number} regions, or one for all")
    result = np.empty(number, dtype=np.int64)
    result[:] = array
    return result


def each_axis(axis: ArrayLike, number: int, dimensions: int) -> Ints:
    """An axis for each of some regions, (number,), copied; 0 to dimensions - 1."""
    axes = each_of(axis, number, "axis")
    if axes.min(initial=0) < 0 or axes.max(initial=0) >= dimensions:
        raise no_such_axis(dimensions)
    return axes


def no_such_axis(dimensions: int) -> ValueError:
    """What is raised for an axis that a domain does not have."""
    return ValueError(f"the axes are 0 to {dimensions - 1}")


def one_axis(axis: int, dimensions: int) -> int:
    """One axis for all regions; a list of them would cut each region its own way."""
    if np.ndim(axis) != 0:
        raise ValueError("give one axis for all regions")
    return int(each_axis(axis, 1, dimensions)[0])


@njit(cache=True, nogil=True)
def plan_grids(ids, lower, upper, number, boxes):  # type: ignore[no-untyped-def]
    """Fill `boxes` (n,) with products of the wanted parts, (n, d) or (1, d), cut down to the cells.

    Returns their sum, a float: products of many sides leave the whole numbers of 64 bits.
    """
    total = 0.0
    for i in range(len(boxes)):
        boxes[i], product = 1, 1.0
        for axis in range(lower.shape[1]):
            parts = _parts(number, i, lower, upper, ids[i], axis)
            boxes[i] *= parts
            product *= parts
        total += product
    return total


@njit(cache=True, nogil=True, inline="always")
def _parts(number, i, lower, upper, p, axis):  # type: ignore[no-untyped-def]
    """Into how many parts a side of box p is cut: 1 to its cells."""
    return min(max(number[i if len(number) > 1 else 0, axis], 1), upper[p, axis] - lower[p, axis])


@njit(cache=True, nogil=True, inline="always")
def _edge(k, cells, pieces):  # type: ignore[no-untyped-def]
    """The cell that part k of so many of a side begins at: k * cells // pieces."""
    if k == 0:
        return 0
    if k == pieces:
        return cells
    if pieces == cells:
        return k
    # Divisions take most of the time: the usual ones are done without.
    return cells >> 1 if pieces == 2 else k * cells // pieces


@njit(cache=True, nogil=True, inline="always")
def _quartered(number, i, lower, upper, p):  # type: ignore[no-untyped-def]
    """Whether both sides of box p of a map are cut in two."""
    rows, columns = _parts(number, i, lower, upper, p, 0), _parts(number, i, lower, upper, p, 1)
    return rows == 2 and columns == 2


@njit(cache=True, nogil=True)
def lay_grids(ids, number, row, lower, upper):  # type: ignore[no-untyped-def]
    """Fill in the boxes of the grids of all regions from position `row` on."""
    last = lower.shape[1] - 1
    limit = max(number[:, last].max(), 1) if len(number) else 1
    edges = np.empty(min(limit, upper[0, last]) + 1, dtype=np.int64)
    for i in range(len(ids)):
        p = ids[i]
        if last == 1 and _quartered(number, i, lower, upper, p):
            # The usual cut, in a third of the time.
            for axis, far in ((0, 2), (1, 1)):
                begin, end = lower[p, axis], upper[p, axis]
                middle = begin + _edge(1, end - begin, 2)
                for k in range(4):
                    lower[row + k, axis] = middle if k & far else begin
                    upper[row + k, axis] = end if k & far else middle
            row += 4
            continue
        pieces, cells = _parts(number, i, lower, upper, p, last), upper[p, last] - lower[p, last]
        for k in range(pieces + 1):
            edges[k] = lower[p, last] + _edge(k, cells, pieces)
        if last == 1:
            # The same, written out: maps are by far the most.
            first, extent = lower[p, 0], upper[p, 0] - lower[p, 0]
            low, parts = first, _parts(number, i, lower, upper, p, 0)
            for rank in range(1, parts + 1):
                high = first + _edge(rank, extent, parts)
                for k in range(pieces):
                    lower[row, 0], upper[row, 0] = low, high
                    lower[row, 1], upper[row, 1] = edges[k], edges[k + 1]
                    row += 1
                low = high
            continue
        runs = 1
        for axis in range(last):
            runs *= _parts(number, i, lower, upper, p, axis)
        for rank in range(runs):
            # A run of boxes side by side along the last axis; what is left of its rank says where.
            left = rank
            for axis in range(last - 1, -1, -1):
                parts = _parts(number, i, lower, upper, p, axis)
                extent = upper[p, axis] - lower[p, axis]
                index = left % parts
                left //= parts
                low = lower[p, axis] + _edge(index, extent, parts)
                high = lower[p, axis] + _edge(index + 1, extent, parts)
                for box in range(row, row + pieces):
                    lower[box, axis], upper[box, axis] = low, high
            for k in range(pieces):
                lower[row, last], upper[row, last] = edges[k], edges[k + 1]
                row += 1


def tile(lower: Ints, upper: Ints, owner: Ints, parent_lower: Ints, parent_upper: Ints) -> bool:
    """Whether every parent is tiled by the half-open boxes (n, d) whose `owner` (n,) it is."""
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
