"""Regions: disjoint boxes of cells, each with an account of the budget spent on it.

A `Book` is the family tree of one pass over the domain: it starts with the whole domain, and a
region leaves it only by being split into children that tile it. Children inherit what was spent on
their parent, and a region that was split can neither be measured nor split again. So the boxes
that can be measured are always disjoint, and the largest account is what the pass has cost: the
composition theorems need no trust in the mechanism. Any number of dimensions works.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numba import njit
from numpy.typing import NDArray

from explorer.releases.nodes import Ints, span

_GOLDEN = np.uint64(0x9E3779B97F4A7C15)


@njit(cache=True, nogil=True)
def mix(values):  # type: ignore[no-untyped-def]
    """Scramble 64-bit words (splitmix64's finaliser), one or an array; keys of preview noise."""
    values = (values ^ (values >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    values = (values ^ (values >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return values ^ (values >> np.uint64(31))


@dataclass(frozen=True, eq=False)
class Regions:
    """n disjoint boxes of one book.

    Attributes
    ----------
    lower, upper : (n, d) int64
        Half-open cell ranges: rows first, then columns (any d).
    ids : (n,) int64
        Positions in the book, increasing.
    book : Book
        Holds parents, accounts and keys.
    """

    lower: Ints
    upper: Ints
    ids: Ints
    book: Book

    def __len__(self) -> int:
        return len(self.ids)

    @classmethod
    def join(cls, parts: Sequence[Regions]) -> Regions:
        """Regions of one book put together, in the book's order."""
        ids = np.concatenate([part.ids for part in parts])
        order = np.argsort(ids, kind="stable")
        lower = np.concatenate([part.lower for part in parts])[order]
        upper = np.concatenate([part.upper for part in parts])[order]
        return cls(lower, upper, ids[order], parts[0].book)

    @property
    def shape(self) -> Ints:
        """Extent in cells along every axis, (n, d)."""
        extent: Ints = self.upper - self.lower
        return extent

    @property
    def cells(self) -> Ints:
        """Number of cells of each region, (n,)."""
        number = np.empty(len(self), dtype=np.int64)
        _count_cells(self.lower, self.upper, number)
        return number

    @property
    def spent(self) -> Ints:
        """Budget spent on each region's path so far, (n,), in units of 10^-12 epsilon."""
        return self.book.spent[self.ids]  # a copy: accounts go on

    @property
    def parent(self) -> Ints:
        """Ids of the parents, (n,); -1 for the whole domain."""
        return self.book.parent[span(self.ids)]

    @property
    def keys(self) -> NDArray[np.uint64]:
        """Names that depend only on the way from the root, (n,); they key preview noise."""
        return self.book.keys[span(self.ids)]

    def select(self, chosen: NDArray[Any]) -> Regions:
        """The regions where a mask is true (or at increasing positions)."""
        if chosen.dtype == bool:
            if chosen.all():
                return self
            chosen = np.flatnonzero(chosen)
        return Regions(self.lower[chosen], self.upper[chosen], self.ids[chosen], self.book)

    def split(self, axis: Ints | int, position: Ints) -> Regions:
        """Cut every region in two; returns 2n children, the lower one of each pair first.

        Parameters
        ----------
        axis : (n,) or one number
            The axis that is cut.
        position : (n,)
            First cell of the upper child; strictly inside the region.
        """
        axes = np.broadcast_to(np.asarray(axis, dtype=np.int64), len(self))
        rows = np.arange(len(self))
        first, last = self.lower[rows, axes], self.upper[rows, axes]
        if np.any(position <= first) or np.any(position >= last):
            raise ValueError("a cut must lie strictly inside its region")
        halves = self.book.children(self, np.full(len(self), 2, dtype=np.int64))
        halves.lower[:] = np.repeat(self.lower, 2, axis=0)
        halves.upper[:] = np.repeat(self.upper, 2, axis=0)
        halves.upper[2 * rows, axes] = position
        halves.lower[2 * rows + 1, axes] = position
        return halves

    def grid(self, parts: Ints) -> Regions:
        """Cut every region into a grid of nearly equal boxes.

        Parameters
        ----------
        parts : (n, d) or (d,)
            Number of parts along every axis, at least 1, cut down to the cells that there are.
            The edges lie at `floor(i * cells / parts)`.

        Returns
        -------
        Regions
            The children, region by region, the last axis running fastest.
        """
        number, fan_out = np.empty_like(self.lower), np.empty(len(self), dtype=np.int64)
        number[:] = parts
        _plan(self.lower, self.upper, number, fan_out)
        boxes = self.book.children(self, fan_out)
        _tile(self.lower, self.upper, number, boxes.lower, boxes.upper)
        return boxes


@njit(cache=True, nogil=True)
def _count_cells(lower, upper, number):  # type: ignore[no-untyped-def]
    for i in range(len(number)):
        number[i] = 1
        for axis in range(lower.shape[1]):
            number[i] *= upper[i, axis] - lower[i, axis]


@njit(cache=True, nogil=True)
def _plan(lower, upper, number, boxes):  # type: ignore[no-untyped-def]
    """Cut the wanted parts `number` (n, d) down to the cells; fill `boxes` (n,) with products."""
    for i in range(len(boxes)):
        boxes[i] = 1
        for axis in range(lower.shape[1]):
            number[i, axis] = min(max(number[i, axis], 1), upper[i, axis] - lower[i, axis])
            boxes[i] *= number[i, axis]


@njit(cache=True, nogil=True)
def _tile(lower, upper, number, lows, highs):  # type: ignore[no-untyped-def]
    """Fill `lows`, `highs` with the boxes of the grids of all regions."""
    last = lower.shape[1] - 1
    edges = np.empty(number[:, last].max() + 1 if len(number) else 1, dtype=np.int64)
    row = 0
    for i in range(len(lower)):
        pieces, cells = number[i, last], upper[i, last] - lower[i, last]
        for k in range(pieces + 1):
            edges[k] = lower[i, last] + k * cells // pieces
        runs = 1
        for axis in range(last):
            runs *= number[i, axis]
        for rank in range(runs):
            # A run of boxes side by side along the last axis; what is left of its rank says where.
            left = rank
            for axis in range(last - 1, -1, -1):
                parts, extent = number[i, axis], upper[i, axis] - lower[i, axis]
                index = left % parts
                left //= parts
                low = lower[i, axis] + index * extent // parts
                high = lower[i, axis] + (index + 1) * extent // parts
                for box in range(row, row + pieces):
                    lows[box, axis], highs[box, axis] = low, high
            for k in range(pieces):
                lows[row, last], highs[row, last] = edges[k], edges[k + 1]
                row += 1


class Book:
    """The family tree and the accounts of one pass over the domain.

    Parameters
    ----------
    shape : cells along every axis of the domain
    name : keys the preview noise of this pass apart from that of other passes
    limit : the most that any path may spend, in units of 10^-12 epsilon
    """

    def __init__(self, shape: tuple[int, ...], name: int, limit: int) -> None:
        self.limit = limit
        self.lower = np.zeros((1, len(shape)), dtype=np.int64)
        self.upper = np.array([shape], dtype=np.int64)
        self.parent = np.array([-1], dtype=np.int64)
        self.spent = np.zeros(1, dtype=np.int64)
        self.is_split = np.zeros(1, dtype=bool)
        self.keys = mix(np.array([name + 1], dtype=np.uint64) * _GOLDEN)

    def __len__(self) -> int:
        return len(self.parent)

    def root(self) -> Regions:
        """The whole domain as one region."""
        return Regions(self.lower[:1], self.upper[:1], np.zeros(1, dtype=np.int64), self)

    def children(self, parents: Regions, fan_out: Ints) -> Regions:
        """Enter the children of `parents`, `fan_out` (n,) of them each, in their order.

        Their boxes are the caller's to fill in: they must tile the parents.
        """
        self.require_whole(parents)
        begin, more = len(self), int(fan_out.sum())
        self.lower, self.upper = _longer(self.lower, more), _longer(self.upper, more)
        self.parent, self.spent = _longer(self.parent, more), _longer(self.spent, more)
        self.is_split, self.keys = _longer(self.is_split, more), _longer(self.keys, more)
        _enter(parents.ids, fan_out, begin, self.parent, self.spent, self.is_split, self.keys)
        ids = np.arange(begin, begin + more)
        return Regions(self.lower[begin:], self.upper[begin:], ids, self)

    def require_whole(self, regions: Regions) -> None:
        """Refuse regions that were split before or that are named twice."""
        was_split, in_order = _look(regions.ids, self.is_split)
        if was_split:
            raise ValueError("a region that was split can neither be measured nor split again")
        if not in_order:
            raise ValueError("every region may be named only once, in the order of the book")

    def dearest(self, regions: Regions, paid: Ints) -> int:
        """The largest account that there would be if every region paid (n,) units more."""
        return int(_dearest(regions.ids, paid, self.spent))

    def pay(self, regions: Regions, paid: Ints) -> None:
        """Book (n,) units on the accounts of regions."""
        self.spent[span(regions.ids)] += paid


def _longer(values: NDArray[Any], more: int) -> NDArray[Any]:
    """A copy with room for so many rows more."""
    longer = np.empty((len(values) + more, *values.shape[1:]), dtype=values.dtype)
    longer[: len(values)] = values
    return longer


@njit(cache=True, nogil=True)
def _enter(  # type: ignore[no-untyped-def]
    ids, fan_out, row, parent, spent, is_split, keys
):
    """Fill in what children inherit, from position `row` on, and close their parents."""
    for i in range(len(ids)):
        p = ids[i]
        is_split[p] = True
        key = keys[p]
        for _ in range(fan_out[i]):
            key += _GOLDEN
            parent[row], spent[row] = p, spent[p]
            is_split[row], keys[row] = False, mix(key)
            row += 1


@njit(cache=True, nogil=True)
def _look(ids, is_split):  # type: ignore[no-untyped-def]
    """Whether any region was split, and whether all stand in increasing order."""
    was_split, in_order = False, True
    for i in range(len(ids)):
        was_split |= is_split[ids[i]]
        in_order &= i == 0 or ids[i] > ids[i - 1]
    return was_split, in_order


@njit(cache=True, nogil=True)
def _dearest(ids, paid, spent):  # type: ignore[no-untyped-def]
    most = 0
    for i in range(len(ids)):
        most = max(most, spent[ids[i]] + paid[i])
    return most
