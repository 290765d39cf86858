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
from functools import reduce
from typing import Any

import numpy as np
from numba import njit
from numpy.typing import NDArray

Ints = NDArray[np.int64]

_GOLDEN = np.uint64(0x9E3779B97F4A7C15)


def mix(values: NDArray[np.uint64]) -> NDArray[np.uint64]:
    """Scramble 64-bit words (splitmix64's finaliser), elementwise; keys of preview noise."""
    with np.errstate(over="ignore"):
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
        # Column by column: numpy's product along rows of two is several times slower.
        number: Ints = reduce(np.multiply, self.shape.T)
        return number

    @property
    def spent(self) -> Ints:
        """Budget spent on each region's path so far, (n,), in units of 10^-12 epsilon."""
        return self.book.spent[self.ids]

    @property
    def parent(self) -> Ints:
        """Ids of the parents, (n,); -1 for the whole domain."""
        return self.book.parent[self.ids]

    @property
    def keys(self) -> NDArray[np.uint64]:
        """Names that depend only on the way from the root, (n,); they key preview noise."""
        return self.book.keys[self.ids]

    def select(self, chosen: NDArray[Any]) -> Regions:
        """The regions where a mask is true (or at increasing positions)."""
        if chosen.dtype == bool and chosen.all():
            return self
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
        lower, upper = np.repeat(self.lower, 2, axis=0), np.repeat(self.upper, 2, axis=0)
        upper[2 * rows, axes] = position
        lower[2 * rows + 1, axes] = position
        return self.book.children(self, np.full(len(self), 2, dtype=np.int64), lower, upper)

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
        wanted = np.broadcast_to(np.asarray(parts, dtype=np.int64), self.lower.shape)
        number = np.clip(wanted, 1, self.shape)
        fan_out = reduce(np.multiply, number.T)
        lower, upper = np.empty((2, int(fan_out.sum()), self.lower.shape[1]), dtype=np.int64)
        _tile(self.lower, self.upper, number, lower, upper)
        return self.book.children(self, fan_out, lower, upper)


@njit(cache=True, nogil=True)
def _tile(lower, upper, number, lows, highs):  # type: ignore[no-untyped-def]
    """Fill `lows`, `highs` with the boxes of the grids of all regions."""
    dimensions = lower.shape[1]
    row = 0
    for i in range(len(lower)):
        boxes = 1
        for axis in range(dimensions):
            boxes *= number[i, axis]
        for rank in range(boxes):
            left = rank
            for axis in range(dimensions - 1, -1, -1):
                pieces = number[i, axis]
                index = left % pieces
                left //= pieces
                cells = upper[i, axis] - lower[i, axis]
                lows[row, axis] = lower[i, axis] + index * cells // pieces
                highs[row, axis] = lower[i, axis] + (index + 1) * cells // pieces
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
        self.depth = np.zeros(1, dtype=np.int64)
        self.spent = np.zeros(1, dtype=np.int64)
        self.is_split = np.zeros(1, dtype=bool)
        self.keys = mix(np.array([name + 1], dtype=np.uint64) * _GOLDEN)

    def __len__(self) -> int:
        return len(self.parent)

    def root(self) -> Regions:
        """The whole domain as one region."""
        return Regions(self.lower[:1], self.upper[:1], np.zeros(1, dtype=np.int64), self)

    def children(self, parents: Regions, fan_out: Ints, lower: Ints, upper: Ints) -> Regions:
        """Enter the children of `parents`, `fan_out` (n,) of them each, in their order."""
        self.require_whole(parents)
        self.is_split[parents.ids] = True
        parent = np.repeat(parents.ids, fan_out)
        order = np.arange(len(parent)) - np.repeat(np.cumsum(fan_out) - fan_out, fan_out)
        ids = np.arange(len(self), len(self) + len(parent))
        with np.errstate(over="ignore"):
            keys = mix(self.keys[parent] + (order.astype(np.uint64) + np.uint64(1)) * _GOLDEN)
        self.lower = np.concatenate([self.lower, lower])
        self.upper = np.concatenate([self.upper, upper])
        self.depth = np.concatenate([self.depth, self.depth[parent] + 1])
        self.spent = np.concatenate([self.spent, self.spent[parent]])
        self.is_split = np.concatenate([self.is_split, np.zeros(len(parent), dtype=bool)])
        self.keys = np.concatenate([self.keys, keys])
        self.parent = np.concatenate([self.parent, parent])
        return Regions(lower, upper, ids, self)

    def require_whole(self, regions: Regions) -> None:
        """Refuse regions that were split before or that are named twice."""
        if np.any(self.is_split[regions.ids]):
            raise ValueError("a region that was split can neither be measured nor split again")
        if len(regions) > 1 and np.any(np.diff(regions.ids) <= 0):
            raise ValueError("every region may be named only once, in the order of the book")
