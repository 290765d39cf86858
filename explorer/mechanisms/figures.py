"""The released figures about one node, by name: what a mechanism explains a decision with."""

from __future__ import annotations

import numpy as np

from explorer.releases.release import Release
from explorer.releases.tree import Tree
from explorer.releases.units import UNITS_PER_EPSILON


class Figures:
    """One node of a release.

    Raises
    ------
    InputError, ValueError
        From any of its members, where the release does not hold the figure.
    """

    def __init__(self, release: Release, number: int) -> None:
        self.release, self.number = release, number
        self.tree: Tree = release.tree
        self.is_leaf = bool(self.tree.fan_out[number] == 0)
        self.fan_out = int(self.tree.fan_out[number])
        self.depth = int(self.tree.depth[number])
        self.cells = int(np.prod(self.tree.upper[number] - self.tree.lower[number]))

    @property
    def deepest(self) -> int:
        """Most cuts on any path."""
        return int(self.tree.depth.max())

    @property
    def above(self) -> Figures:
        """The parent."""
        return Figures(self.release, int(self.tree.parent[self.number]))

    def drawn(self, stage: str) -> bool:
        """Whether the node has a noisy count of its own from ``stage``."""
        return not np.isnan(self._draw(self.number, stage))

    def draw(self, stage: str) -> float:
        """The node's noisy count from ``stage``."""
        return _there(self._draw(self.number, stage))

    def root_draw(self, stage: str) -> float:
        """The whole map's noisy count from ``stage``."""
        return _there(self._draw(0, stage))

    def tested(self) -> float:
        """The released figure that decided, where it is none of the node's draws."""
        if self.tree.tested is None:
            raise ValueError("the release holds no such figure")
        return _there(float(self.tree.tested[self.number]))

    @property
    def path_epsilon(self) -> float:
        """What was spent on the way to the node, its own draws included."""
        total, node = 0, self.number
        while node >= 0:
            total += int(self.tree.spent[node].sum())
            node = int(self.tree.parent[node])
        return total / UNITS_PER_EPSILON

    def own_epsilon(self, stage: str) -> float:
        """What the node itself paid for ``stage``."""
        return self._paid(self.number, stage) / UNITS_PER_EPSILON

    def root_paid(self, stage: str) -> int:
        """What the whole map paid for ``stage``, in units of 10^-12 epsilon."""
        return self._paid(0, stage)

    def root_epsilon(self, stage: str) -> float:
        """What the whole map paid for ``stage``; above 0."""
        paid = self._paid(0, stage)
        if paid <= 0:
            raise ValueError("nothing was paid")
        return paid / UNITS_PER_EPSILON

    def cut(self) -> str:
        """Where the node was cut in two, such as "row 312"."""
        axis, position = cut_of(self.tree, self.number)
        return f"{self.release.domain.axis_names[axis]} {position:,}"

    def _draw(self, node: int, stage: str) -> float:
        if stage not in self.tree.stages:
            return float("nan")
        return float(self.tree.draws[node, self.tree.stages.index(stage)])

    def _paid(self, node: int, stage: str) -> int:
        if stage not in self.tree.stages:
            return 0
        return int(self.tree.spent[node, self.tree.stages.index(stage)])


def cut_of(tree: Tree, node: int) -> tuple[int, int]:
    """Axis and first cell of the upper half of a node cut in two; of a map axis 0 are rows."""
    if tree.fan_out[node] != 2:
        raise ValueError("this node was not cut in two")
    first = int(tree.first_child[node])
    axis = int(np.argmax(tree.upper[first] < tree.upper[node]))
    return axis, int(tree.upper[first, axis])


def amount(value: float) -> str:
    """A count as people write it, with at most two decimals.

    >>> [amount(v) for v in (37.0, 61.614, 12_345.5, -3.0)]
    ['37', '61.61', '12,345.5', '−3']
    """
    text = f"{value:,.2f}".rstrip("0").rstrip(".")
    return text.replace("-", "−")


def _there(value: float) -> float:
    if np.isnan(value):
        raise ValueError("this was not drawn")
    return value
