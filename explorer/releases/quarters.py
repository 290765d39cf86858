"""A tree of quarters as sorted whole numbers: which node owns which part of the map.

A node of level l is the key (1 << 2 l) | code; its code interleaves the bits of column and row,
the column's first, so that cell (12, 5) at depth 4 is 10/11/00/01. The root is 1, a parent is
key >> 2, its children are 4 key + 0..3. Any set of keys that holds the root is legal: a node may
have one to three children (part-split) or descendants whose own parents are missing (orphans). What
a node owns is what no deeper node covers; a node is *open* if it owns anything. That is not "has
fewer than four children" (erratum 39 of heatmaps-2022): with orphans, a node of three children may
own nothing.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numba import njit
from numpy.typing import ArrayLike, NDArray

from explorer.errors import InputError

Ints = NDArray[np.int64]
Floats = NDArray[np.float64]

MAX_DEPTH = 31
"""Deepest level whose keys fit into 64 bits with their sign."""
_TABLE_DEPTH = 11


def interleave(column: ArrayLike, row: ArrayLike) -> Ints:
    """Codes of cells (n,): bits of columns and rows in turn, the column's first.

    >>> bin(int(interleave(12, 5)))  # 1100 and 0101
    '0b10110001'
    """
    return _spread(np.asarray(column)) << 1 | _spread(np.asarray(row))


def separate(code: ArrayLike) -> tuple[Ints, Ints]:
    """Columns and rows of codes, (n,) each.

    >>> [int(each) for each in separate(0b10110001)]
    [12, 5]
    """
    code = np.asarray(code, dtype=np.int64)
    return _gather(code >> 1), _gather(code)


_MASKS = (
    (1, 0x5555555555555555),
    (2, 0x3333333333333333),
    (4, 0x0F0F0F0F0F0F0F0F),
    (8, 0x00FF00FF00FF00FF),
    (16, 0x0000FFFF0000FFFF),
)


def _spread(x: NDArray[np.int64]) -> Ints:
    x = x.astype(np.int64)
    for shift, mask in reversed(_MASKS):
        x = (x | x << shift) & mask
    return x


def _gather(x: Ints) -> Ints:
    x = x & _MASKS[0][1]
    for shift, mask in (*_MASKS[1:], (32, 0x00000000FFFFFFFF)):
        x = (x | x >> shift // 2) & mask
    return x


def key_of(level: int, code: ArrayLike) -> Ints:
    """Keys of nodes of one level from their codes, (n,)."""
    return np.asarray(code, dtype=np.int64) | np.int64(1 << 2 * level)


def level_of(keys: ArrayLike) -> Ints:
    """Levels of keys, (n,), 0 for the root."""
    # frexp of a whole number below 2^53 is exact; above, its rounding cannot reach a next power
    # of four, because keys begin with the bits 01 or 1.
    keys = np.asarray(keys, dtype=np.int64)
    high = keys >> 32
    top = np.where(high > 0, high, keys).astype(np.float64)
    return ((np.frexp(top)[1] - 1 + np.where(high > 0, 32, 0)) >> 1).astype(np.int64)


@dataclass(frozen=True, eq=False)
class KeyTree:
    """A tree over 4^depth finest cells.

    Attributes
    ----------
    depth : 0 to 31
    keys : (n,) int64, increasing, the first is the root's, 1

    Raises
    ------
    InputError
        For a depth outside 0 to 31.
    """

    depth: int
    keys: Ints

    @classmethod
    def of(cls, depth: int, keys: ArrayLike) -> KeyTree:
        """The tree of some keys in any order; the root is added."""
        if not 0 <= depth <= MAX_DEPTH:
            raise InputError(f"The depth is {depth}; give a whole number, 0 to {MAX_DEPTH}.")
        unique_keys = _apart(np.append(np.asarray(keys, dtype=np.int64), 1))
        if unique_keys[0] < 1 or level_of(unique_keys).max() > depth:
            raise InputError(f"A key is no node of a tree of depth {depth}.")
        return cls(depth, unique_keys)

    @classmethod
    def even(cls, depth: int, level: int) -> KeyTree:
        """All nodes down to a level (at most the depth)."""
        level = min(level, depth)
        return cls.of(depth, np.concatenate([key_of(k, np.arange(4**k)) for k in range(level + 1)]))

    def __len__(self) -> int:
        return len(self.keys)

    @cached_property
    def level(self) -> Ints:
        """Level of every key, (n,)."""
        return level_of(self.keys)

    @cached_property
    def first(self) -> Ints:
        """The first finest cell under every key, as a code, (n,)."""
        code = self.keys - (np.int64(1) << 2 * self.level)
        return code << 2 * (self.depth - self.level)

    @cached_property
    def runs(self) -> tuple[Ints, Ints]:
        """Where runs of finest cells begin, (r,), and which key owns each, (r,), in code order."""
        order = np.lexsort((self.level, self.first))
        size = np.int64(1) << 2 * (self.depth - self.level)
        starts, owners = np.empty((2, 2 * len(self)), dtype=np.int64)
        count = _runs(order, self.first, size, starts, owners)
        return starts[:count].copy(), owners[:count].copy()

    @cached_property
    def lengths(self) -> Ints:
        """Finest cells in every run, (r,)."""
        return np.diff(self.runs[0], append=np.int64(1) << 2 * self.depth)

    @cached_property
    def open(self) -> Ints:
        """Positions in `keys` of the nodes that own area, increasing, (v,)."""
        return _apart(self.runs[1])

    @property
    def v(self) -> int:
        """Number of open nodes: the length of the vector that a person sends."""
        return len(self.open)

    @cached_property
    def run_index(self) -> Ints:
        """For every run the position of its owner in `open`, (r,)."""
        return np.searchsorted(self.open, self.runs[1])

    @cached_property
    def area(self) -> Ints:
        """Finest cells that each open node owns, (v,)."""
        total = np.zeros(self.v, dtype=np.int64)
        np.add.at(total, self.run_index, self.lengths)
        return total

    @cached_property
    def table(self) -> NDArray[np.int32]:
        """Index into `open` of every finest cell by its code, (4^depth,); depth at most 11."""
        if self.depth > _TABLE_DEPTH:
            raise InputError(f"A table of cells has a depth of at most {_TABLE_DEPTH}.")
        return np.repeat(self.run_index.astype(np.int32), self.lengths)

    def index(self, codes: ArrayLike) -> NDArray[np.int32]:
        """Which open node each finest cell is in, (n,)."""
        codes = np.asarray(codes, dtype=np.int64)
        if self.depth <= _TABLE_DEPTH:
            return self.table[codes]
        at = np.searchsorted(self.runs[0], codes, side="right") - 1
        return self.run_index[at].astype(np.int32)

    def spread(self, values: ArrayLike) -> Floats:
        """Values of open nodes spread evenly over what they own, by code, (4^depth,)."""
        return (np.asarray(values, dtype=np.float64) / self.area)[self.table]

    def split(self, nodes: ArrayLike, levels: ArrayLike = 1) -> KeyTree:
        """The tree with all missing descendants of some open nodes, down by 1 to 3 levels.

        Parameters
        ----------
        nodes : (k,) indices into `open`
        levels : by how many levels each, never beyond the depth
        """
        keys = self.keys[self.open[np.asarray(nodes, dtype=np.int64)]]
        down = np.minimum(levels, self.depth - level_of(keys))
        results = [self.keys]
        for j in range(1, int(down.max(initial=0)) + 1):
            results.append(descendants(keys[down >= j], j))
        return KeyTree.of(self.depth, np.concatenate(results))

    def collapse(self, nodes: ArrayLike) -> KeyTree:
        """The tree without some open nodes: what they own falls to their nearest ancestors.

        The root stays; descendants stay, too.
        """
        gone = self.keys[self.open[np.asarray(nodes, dtype=np.int64)]]
        return self.without(gone)

    def without(self, keys: ArrayLike) -> KeyTree:
        """The tree without some keys; the root stays."""
        gone = np.isin(self.keys, np.asarray(keys, dtype=np.int64), kind="sort")
        return KeyTree.of(self.depth, self.keys[~gone])

    @cached_property
    def complete(self) -> KeyTree:
        """The smallest tree around this one in which every node has four children or none."""
        ancestor_keys = [self.keys]
        above = self.keys
        while above[-1] > 1:
            above = _apart(above[above > 1] >> 2)
            ancestor_keys.append(above)
        inner = _apart(np.concatenate(ancestor_keys)[1:] >> 2)
        inner = inner[inner > 0]
        return KeyTree.of(self.depth, np.concatenate([self.keys, descendants(inner, 1)]))

    def owners(self, other: KeyTree) -> Ints:
        """Which open node of this tree owns each open node of a finer one, (other.v,).

        Meaningful where no node of `other` is in two of this tree's.
        """
        return self.index(other.first[other.open]).astype(np.int64)


def descendants(keys: ArrayLike, levels: int) -> Ints:
    """All 4^levels descendants of every key, (4^levels n,)."""
    keys = np.asarray(keys, dtype=np.int64)
    return (keys[:, np.newaxis] << 2 * levels | np.arange(4**levels)).ravel()


def _apart(values: Ints) -> Ints:
    """Different values, rising: by sorting, thirty times as fast here as by numpy's hashes."""
    ordered = np.sort(values)
    return ordered[np.append(True, ordered[1:] != ordered[:-1])[: len(ordered)]]


@njit(cache=True, nogil=True)
def _runs(order, first, size, starts, owners):  # type: ignore[no-untyped-def]
    """Write runs and their owners; nodes wait on a stack until they end."""
    stack = np.empty(40, dtype=np.int64)
    depth, count, at = 0, 0, np.int64(0)
    for number in range(len(order) + 1):
        # Behind the last node all that wait end.
        last = number == len(order)
        begin = np.int64(2**63 - 1) if last else first[order[number]]
        while depth > 0 and first[stack[depth - 1]] + size[stack[depth - 1]] <= begin:
            top = stack[depth - 1]
            end = first[top] + size[top]
            if at < end:
                starts[count], owners[count] = at, top
                count += 1
                at = end
            depth -= 1
        if last:
            break
        if depth > 0 and at < begin:
            starts[count], owners[count] = at, stack[depth - 1]
            count += 1
            at = begin
        stack[depth] = order[number]
        depth += 1
    return count
