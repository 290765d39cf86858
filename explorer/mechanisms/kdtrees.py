"""Kd-trees that cut at noisy medians (Cormode et al. 2012; Xiao, Xiong, Yuan 2010)."""

from __future__ import annotations

from dataclasses import replace
from typing import ClassVar

import numpy as np
import param

from explorer.grid.sums import box_sums, summed
from explorer.mechanisms.base import Mechanism
from explorer.mechanisms.decisions import CELL, Decision, public, reached
from explorer.mechanisms.figures import Figures, amount
from explorer.mechanisms.grids import guideline_1
from explorer.mechanisms.options import (
    inference_option,
    inside_option,
    level_budget_option,
    structure_share_option,
)
from explorer.privacy import allocation
from explorer.privacy.curator import Curator
from explorer.privacy.regions import Regions
from explorer.releases.inference import Estimate
from explorer.releases.nodes import Ints
from explorer.releases.transcript import Transcript
from explorer.releases.units import share, to_epsilon

_QUARTER = np.array([2, 2])


class KDStandard(Mechanism):
    """Kd-tree: cut in turn at private medians of rows and columns, count every node.

    A share of the budget chooses the medians, level by level alike; candidates are all positions
    of the grid (choosing among coordinates that hold data is not private for any epsilon). The
    rest counts the nodes, geometric (Eq. 22 of htf-2022) or uniform, then least squares.
    Departure: permute-and-flip in place of the exponential mechanism, see `Curator.median`.

    Examples
    --------
    >>> import numpy as np
    >>> from explorer import KDStandard
    >>> town = np.kron([[40, 0], [2, 9]], np.ones((4, 4), dtype=int))
    >>> preview = KDStandard(epsilon=1, height=3).release(town, rng=7)
    >>> preview.n_leaves, preview.preview
    (8, True)
    """

    key: ClassVar[str] = "kd-standard"
    title: ClassVar[str] = "KD-standard"
    summary: ClassVar[str] = "A kd-tree cut at noisy medians, every node counted."
    paper: ClassVar[str] = "Cormode et al., ICDE 2012"
    group: ClassVar[str] = "Trees"
    colour: ClassVar[str] = "violet"
    marker: ClassVar[str] = "star"

    height = param.Integer(
        default=14,
        bounds=(0, 20),
        softbounds=(0, 18),
        doc="Cuts between the whole map and a leaf.",
    )
    structure_share = structure_share_option()
    budget = level_budget_option()

    inference = inference_option("least squares")
    inside = inside_option()

    def plan(self, curator: Curator) -> Estimate:
        """Count a level, cut at medians, go on; least squares over all levels."""
        record = _grow(curator, self._kinds(), self.structure_share, self.budget)
        return self.infer(record, ["leaves"])

    def decision(self, node: Figures) -> Decision:
        """A median at every level."""
        return _level_of(node, self._kinds())

    def _kinds(self) -> list[str]:
        return ["median"] * self.height


class KDHybrid(Mechanism):
    """Kd-tree and quadtree, one after the other, in either order.

    Medians adapt where the data is, quarters cost nothing. The papers' text puts the quadtree
    first (erratum 21: either order); kd first is better on sparse cities.

    Examples
    --------
    >>> import numpy as np
    >>> from explorer import KDHybrid
    >>> town = np.kron([[40, 0], [2, 9]], np.ones((4, 4), dtype=int))
    >>> preview = KDHybrid(epsilon=1, kd_levels=2, quad_levels=1).release(town, rng=7)
    >>> preview.n_leaves, preview.preview
    (16, True)
    """

    key: ClassVar[str] = "kd-hybrid"
    title: ClassVar[str] = "KD-hybrid"
    summary: ClassVar[str] = "Some levels cut at noisy medians, the others quartered for free."
    paper: ClassVar[str] = "Cormode et al., ICDE 2012"
    group: ClassVar[str] = "Trees"
    colour: ClassVar[str] = "violet"
    marker: ClassVar[str] = "star"
    dash: ClassVar[str] = "dashed"

    order = param.Selector(
        default="kd first",
        objects=["kd first", "quad first"],
        doc="Which kind of levels stands at the top of the tree.",
    )
    kd_levels = param.Integer(
        default=8,
        bounds=(0, 20),
        softbounds=(0, 14),
        label="Median levels",
        doc="Levels cut in two at noisy medians.",
    )
    quad_levels = param.Integer(
        default=4,
        bounds=(0, 10),
        label="Quarter levels",
        doc="Levels cut in four in the middle.",
    )
    structure_share = structure_share_option()

    inference = inference_option("least squares")
    inside = inside_option()

    def plan(self, curator: Curator) -> Estimate:
        """As a kd-tree, with free quarters above or below the medians."""
        record = _grow(curator, self._kinds(), self.structure_share, "geometric")
        return self.infer(record, ["leaves"])

    def decision(self, node: Figures) -> Decision:
        """A median or quarters, by the level."""
        return _level_of(node, self._kinds())

    def _kinds(self) -> list[str]:
        kinds = ["median"] * self.kd_levels, ["quarter"] * self.quad_levels
        first, second = kinds if self.order == "kd first" else kinds[::-1]
        return first + second


class KDCell(Mechanism):
    """Kd-tree over a noisy grid: the structure comes from a noisy map, the counts from the data.

    A first pass counts the cells of a uniform grid with a share of the budget. The tree is grown on
    that noisy map alone (medians of its counts, none below the stop count), so it costs nothing.
    A second pass counts the leaves of that tree on the data itself, with fresh noise.

    Examples
    --------
    >>> import numpy as np
    >>> from explorer import KDCell
    >>> town = np.kron([[40, 0], [2, 9]], np.ones((4, 4), dtype=int))
    >>> preview = KDCell(epsilon=1, height=3).release(town, rng=7)
    >>> 1 <= preview.n_leaves <= 8, preview.preview  # three cuts, fewer where little was found
    (True, True)
    """

    key: ClassVar[str] = "kd-cell"
    title: ClassVar[str] = "KD-cell"
    summary: ClassVar[str] = "A kd-tree drawn on a noisy grid, its leaves counted afresh."
    paper: ClassVar[str] = "Xiao, Xiong, Yuan, SDM 2010"
    group: ClassVar[str] = "Trees"
    colour: ClassVar[str] = "blue"
    marker: ClassVar[str] = "square"
    dash: ClassVar[str] = "dashed"

    height = param.Integer(
        default=12,
        bounds=(0, 20),
        softbounds=(0, 16),
        doc="Most cuts between the whole map and a leaf.",
    )
    grid_share = param.Number(
        default=0.3,
        bounds=(0.05, 0.95),
        step=0.05,
        label="Share for the grid",
        doc="Part of the budget that counts the grid on which the tree is drawn.",
    )
    stop_count = param.Number(
        default=50,
        bounds=(0, 1e9),
        softbounds=(0, 500),
        step=1,
        doc="A node with this noisy count or less is not cut any more.",
    )

    inference = inference_option("leaves")
    inside = inside_option()

    def plan(self, curator: Curator) -> Estimate:
        """Noisy grid; tree on it; fresh counts of the leaves."""
        domain = curator.open(share(curator.units, self.grid_share))
        paid = share(int(curator.remaining(domain)[0]), 0.05)
        total = int(curator.count(domain, paid, "total")[0])
        size = max(1, round(guideline_1(total, to_epsilon(curator.units), 10)))
        cells = domain.grid(np.full(2, size))
        noisy = curator.count(cells, curator.remaining(cells), "grid")
        table = _noisy_sums(cells, noisy, curator.shape)
        nodes = curator.open()
        leaves, looked_at = [], []
        for level in range(self.height + 1):
            grid_counts = box_sums(table, nodes.lower, nodes.upper)
            looked_at.append(grid_counts)
            ends = (grid_counts <= self.stop_count) | (nodes.cells == 1) | (level == self.height)
            ended, nodes = nodes.separate(ends)
            leaves.append(ended)
            if len(nodes) == 0:
                break
            axis = _turn(nodes, level)
            nodes = nodes.split(axis, _noisy_medians(table, nodes, axis))
        final = Regions.join(leaves)
        curator.count(final, curator.remaining(final), "leaves")
        estimate = self.infer(curator.transcript(final), ["leaves"])
        # Level by level is the order of the book.
        return replace(estimate, tested=np.concatenate(looked_at))

    def decision(self, node: Figures) -> Decision:
        """The count on the noisy grid against the stop count."""
        grid_count, limit = node.tested(), self.stop_count
        if node.is_leaf and grid_count > limit:
            return CELL if node.cells == 1 else reached(node.depth, self.height, "cuts")
        if node.is_leaf:
            reason = "The rule compared the noisy grid's count; a fresh draw then counted the leaf."
            return Decision("stopped", f"stopped: {amount(grid_count)} ≤ {amount(limit)}", reason)
        reason = f"The noisy grid's count was high enough; the cut at {node.cut()} halves it."
        return Decision("on", f"went on: {amount(grid_count)} > {amount(limit)}", reason)


def _level_of(node: Figures, kinds: list[str]) -> Decision:
    """The decision on a node of a tree whose levels are cut as `kinds` says."""
    if node.is_leaf:
        return CELL if node.cells == 1 else reached(node.depth, len(kinds), "levels")
    if kinds[node.depth] == "quarter":
        return public("quartered", "This level is cut in the middle for free.")
    reason = "Permute-and-flip chose among all cuts; only its choice is released."
    return Decision("on", f"cut at a private median, {node.cut()}", reason)


def _grow(curator: Curator, kinds: list[str], part: float, budget: str) -> Transcript:
    """Count and cut level by level; `kinds` says how each level is cut."""
    nodes = curator.open()
    medians = kinds.count("median")
    structure = share(curator.units, part) if medians else 0
    data = curator.units - structure
    height = len(kinds)
    geometric = allocation.geometric(data, height)
    shares = geometric if budget == "geometric" else allocation.uniform(data, height)
    for level, kind in enumerate([*kinds, "end"]):
        ends = (nodes.cells == 1) | (kind == "end")
        leaves, nodes = nodes.separate(ends)
        if len(leaves):
            curator.count(leaves, curator.remaining(leaves), "leaves")
        if len(nodes) == 0:
            break
        curator.count(nodes, shares[height - level], "inner nodes")
        if kind == "quarter":
            nodes = nodes.grid(_QUARTER)
        else:
            axis = _turn(nodes, level)
            nodes = nodes.split(axis, curator.median(nodes, axis, structure // medians))
    return curator.transcript()


def _turn(nodes: Regions, level: int) -> Ints:
    """Rows and columns in turn; a side of one cell gives way to the other."""
    axis = np.full(len(nodes), level % 2)
    return np.where(nodes.shape[np.arange(len(nodes)), axis] == 1, 1 - axis, axis)


def _noisy_sums(cells: Regions, noisy: Ints, shape: tuple[int, ...]) -> np.ndarray:
    """Summed-area table of the noisy map, negative counts taken as 0, even inside its cells."""
    density = np.maximum(noisy, 0) / cells.cells
    edges_r, edges_c = (np.unique(cells.lower[:, axis]) for axis in (0, 1))
    image = density.reshape(len(edges_r), len(edges_c))
    rows = np.diff(np.append(edges_r, shape[0]))
    cols = np.diff(np.append(edges_c, shape[1]))
    return summed(np.repeat(np.repeat(image, rows, axis=0), cols, axis=1))


def _noisy_medians(table: np.ndarray, nodes: Regions, axis: Ints) -> Ints:
    """The cut of each node that halves its noisy count best, by bisection."""
    rows = np.arange(len(nodes))
    half = box_sums(table, nodes.lower, nodes.upper) / 2
    low, high = nodes.lower[rows, axis] + 1, nodes.upper[rows, axis] - 1
    while np.any(low < high):
        middle = (low + high) // 2
        upper = nodes.upper.copy()
        upper[rows, axis] = middle
        enough = box_sums(table, nodes.lower, upper) >= half
        low, high = (
            np.where(enough, low, np.minimum(middle + 1, high)),
            np.where(enough, middle, high),
        )
    return low
