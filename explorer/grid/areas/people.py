"""A tree of areas as a curator counts it: without repetition, and its areas in a row.

An area that is the only child of its parent holds the same people: a chain of them is one node
here, measured once. The lowest areas are in a row in which those of any node are side by side,
so that a country is a domain of one axis, and its nodes are the boxes of it.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from explorer.errors import InputError

Ints = NDArray[np.int64]
Floats = NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class People:
    """A tree of areas in which chains of only children are one node.

    Attributes
    ----------
    parent : (t,) parents before children, children of one parent side by side, -1 for the root
    chain : (t,) how many areas of the tree as given each node represents
    level : (t,) the lowest level of those, 0 for the whole
    top, of : (t,) the uppermost area of each node; (n,) the node of each area as given
    """

    parent: Ints
    chain: Ints
    level: Ints
    top: Ints
    of: Ints

    @classmethod
    def of_areas(cls, parent: ArrayLike, level: ArrayLike) -> People:
        """From the parents and levels of n areas, parents before children."""
        area_parents, depth = np.asarray(parent, np.int64), np.asarray(level, np.int64)
        number = np.bincount(area_parents[1:], minlength=len(area_parents))
        # The uppermost area of each chain, its parent's first.
        top_of = np.arange(len(area_parents))
        for node in range(1, len(area_parents)):
            if number[area_parents[node]] == 1:
                top_of[node] = top_of[area_parents[node]]
        tops = np.unique(top_of)
        below: dict[int, list[int]] = {}
        for top in tops[1:]:
            below.setdefault(int(top_of[area_parents[top]]), []).append(int(top))
        order = [0]
        for top in order:
            order += below.get(top, [])
        place = np.full(len(area_parents), -1)
        place[order] = np.arange(len(order))
        of = place[top_of]
        above = np.array([-1, *(of[area_parents[top]] for top in order[1:])], dtype=np.int64)
        lowest = np.zeros(len(order), dtype=np.int64)
        np.maximum.at(lowest, of, depth)
        return cls(above, np.bincount(of), lowest, np.array(order), of)

    def __len__(self) -> int:
        return len(self.parent)

    @cached_property
    def fan_out(self) -> Ints:
        """Number of children of every node, (t,)."""
        return np.bincount(self.parent[1:], minlength=len(self)).astype(np.int64)

    @cached_property
    def is_leaf(self) -> NDArray[np.bool_]:
        """Which nodes have no children, (t,)."""
        return self.fan_out == 0

    @cached_property
    def levels(self) -> int:
        """The number of levels below the whole."""
        return int(self.level.max())

    @cached_property
    def ranges(self) -> tuple[Ints, Ints]:
        """First leaf in the row, and first leaf behind, of every node, (t,) each."""
        size = np.where(self.is_leaf, 1, 0)
        for v in range(len(self) - 1, 0, -1):
            size[self.parent[v]] += size[v]
        first, free = np.zeros((2, len(self)), dtype=np.int64)
        for v in range(1, len(self)):
            p = self.parent[v]
            first[v] = first[p] + free[p]
            free[p] += size[v]
        return first, first + size

    @cached_property
    def row(self) -> Ints:
        """The leaves in the order of the row, (leaves,)."""
        leaves = np.flatnonzero(self.is_leaf)
        return leaves[np.argsort(self.ranges[0][leaves])]


@dataclass(frozen=True)
class Row:
    """The lowest areas of a country in a row: a `Domain` of one axis.

    Attributes
    ----------
    areas : how many there are
    """

    areas: int
    kind = "row"
    axis_names = ("area",)
    unit = "areas"

    @property
    def shape(self) -> tuple[int]:
        """Number of lowest areas, (1,)."""
        return (self.areas,)

    def to_cells(self, boxes: ArrayLike) -> Floats:
        """Ranges (n, 2) of places in the row, first and first behind, as (n, 2, 1).

        Raises
        ------
        InputError
            For ranges of another form, not finite, or inside out.
        """
        ranges = np.asarray(boxes, dtype=np.float64)
        if ranges.ndim != 2 or ranges.shape[1] != 2:
            raise InputError("Give ranges of lowest areas: first and first behind, one a row.")
        if not np.isfinite(ranges).all() or (ranges[:, 0] > ranges[:, 1]).any():
            raise InputError("A range of lowest areas is not finite or ends before it begins.")
        return ranges[:, :, np.newaxis]

    def from_cells(self, cells: ArrayLike) -> Floats:
        """Boxes (n, 2, 1) as ranges of places in the row, (n, 2)."""
        return np.asarray(cells, dtype=np.float64)[:, :, 0]

    def to_dict(self) -> dict[str, Any]:
        """The number of areas."""
        return {"kind": self.kind, "areas": self.areas}
