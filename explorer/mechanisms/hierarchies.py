"""Hierarchies of grids: H_(b,d) (grids-2013) and HB (Qardaji, Yang, Li, PVLDB 2013)."""

from __future__ import annotations

import math
from typing import ClassVar

import numpy as np
import param

from explorer.mechanisms.base import Mechanism
from explorer.mechanisms.decisions import CELL, Decision, public, reached, size_of_a_grid
from explorer.mechanisms.figures import Figures
from explorer.mechanisms.grids import guideline_1
from explorer.mechanisms.options import (
    grid_size_option,
    inference_option,
    inside_option,
    total_share_option,
)
from explorer.privacy.curator import Curator
from explorer.releases.inference import Estimate
from explorer.releases.units import share, to_epsilon


class Hierarchy(Mechanism):
    """H_(b,d): a uniform grid with d - 1 coarser ones above it, each b times coarser a side.

    The finest grid has m x m cells, m by Guideline 1 on a noisy total or fixed, rounded up to a
    multiple of b^(d - 1). All d levels are counted with equal shares and made consistent by least
    squares (grids-2013, section IV-C).

    Examples
    --------
    >>> import numpy as np
    >>> from explorer import Hierarchy
    >>> town = np.kron([[40, 0], [2, 9]], np.ones((4, 4), dtype=int))
    >>> preview = Hierarchy(epsilon=1, grid_size=8).release(town, rng=7)
    >>> preview.n_leaves, [stage for stage, part in preview.stages() if part > 0.3]
    (64, ['grid 1', 'grid 2', 'grid 3'])
    """

    key: ClassVar[str] = "hierarchy"
    title: ClassVar[str] = "Hierarchy"
    summary: ClassVar[str] = "A uniform grid with coarser grids above it, made consistent."
    paper: ClassVar[str] = "Qardaji, Yang, Li, ICDE 2013"
    group: ClassVar[str] = "Hierarchies"
    colour: ClassVar[str] = "sky"
    marker: ClassVar[str] = "diamond"
    dash: ClassVar[str] = "dashed"

    branching = param.Integer(
        default=2,
        bounds=(2, 32),
        softbounds=(2, 8),
        doc="How many times coarser a side of the next level up is (b).",
    )
    levels = param.Integer(
        default=3, bounds=(1, 12), softbounds=(1, 8), label="Levels", doc="Number of grids (d)."
    )
    grid_size = grid_size_option(
        "Cells along each side of the finest grid. Automatic: Guideline 1."
    )
    total_share = total_share_option()

    inference = inference_option("least squares")
    inside = inside_option()

    def relevant(self) -> set[str]:
        """A fixed grid size needs no total."""
        return set(self.tunables()) - ({"total_share"} if self.grid_size else set())

    def plan(self, curator: Curator) -> Estimate:
        """Noisy N; the coarsest grid; every next one inside it; least squares."""
        nodes = curator.open()
        size = self.grid_size
        if size is None:
            paid = share(curator.units, self.total_share)
            total = int(curator.count(nodes, paid, "total")[0])
            size = max(1, round(guideline_1(total, to_epsilon(curator.units), 10)))
        levels = 1
        # In whole numbers: a logarithm of an exact power may fall short of it.
        while levels < self.levels and self.branching**levels <= size:
            levels += 1
        parts = math.ceil(size / self.branching ** (levels - 1))
        stages = [f"grid {level + 1}" for level in range(levels)]
        per_level = int(curator.remaining(nodes)[0]) // levels
        for level, stage in enumerate(stages):
            nodes = nodes.grid(np.full(2, parts if level == 0 else self.branching))
            last = level == levels - 1
            curator.count(nodes, curator.remaining(nodes) if last else per_level, stage)
        return self.infer(curator.transcript(), stages[-1:], stages)

    @property
    def shape_is_public(self) -> bool:
        """With a fixed grid size."""
        return self.grid_size is not None

    def decision(self, node: Figures) -> Decision:
        """Public, given the noisy total."""
        levels = len([stage for stage in node.tree.stages if stage.startswith("grid ")])
        if node.is_leaf:
            return reached(node.depth, levels, "grids")
        why = size_of_a_grid(node, "total", 10.0)
        return public("divided into a finer grid", f"The shape is public. {why}")


class HB(Mechanism):
    """HB: a complete tree over the cells whose fan-out minimises the error of range queries.

    A node is cut into b x b, where b minimises b (n - 1) h^2 and h = ceil(log_b n) levels reach
    single cells of a side of n (section 5, two dimensions): a box is made up of about (b - 1) b^l
    nodes of level l along its border, b (n - 1) in all, each with a noise variance of h^2 scales.
    Equal shares for the levels below the root, least squares. Sides need not be powers of b: the
    first level has fewer parts then, where the paper pads with empty cells.

    Examples
    --------
    >>> import numpy as np
    >>> from explorer import HB
    >>> town = np.kron([[40, 0], [2, 9]], np.ones((4, 4), dtype=int))
    >>> preview = HB(epsilon=1).release(town, rng=7)
    >>> preview.n_leaves, preview.sd_exact
    (64, True)
    """

    key: ClassVar[str] = "hb"
    title: ClassVar[str] = "HB"
    summary: ClassVar[str] = "A complete tree over all cells with the best fan-out for ranges."
    paper: ClassVar[str] = "Qardaji, Yang, Li, PVLDB 2013"
    group: ClassVar[str] = "Hierarchies"
    colour: ClassVar[str] = "orange"
    marker: ClassVar[str] = "triangle"
    dash: ClassVar[str] = "dashed"

    branching = param.Integer(
        default=None,
        bounds=(2, 2048),
        softbounds=(2, 64),
        allow_None=True,
        doc="Parts along each side (b). Automatic: by the rule for range queries.",
    )

    inference = inference_option("least squares")
    inside = inside_option()

    def plan(self, curator: Curator) -> Estimate:
        """Cut into b x b, count, go on to single cells; least squares."""
        nodes = curator.open()
        side = max(curator.shape)
        b = self.branching or best_branching(curator.shape)
        levels = levels_of(side, b)
        per_level = curator.units // max(levels, 1)
        for level in range(levels):
            # The upper levels take the remainder, so that the last one ends at single cells.
            parts = -(-side // b ** (levels - 1)) if level == 0 else b
            nodes = nodes.grid(np.full(2, parts))
            last = level == levels - 1
            paid = curator.remaining(nodes) if last else per_level
            curator.count(nodes, paid, "leaves" if last else "inner nodes")
        if levels == 0:
            curator.count(nodes, curator.units, "leaves")
        estimate = self.infer(curator.transcript(), ["leaves"])
        estimate.facts["branching"] = b
        return estimate

    @property
    def shape_is_public(self) -> bool:
        """Always."""
        return True

    def decision(self, node: Figures) -> Decision:
        """Public: down to single cells."""
        if node.is_leaf:
            return CELL
        why = f"HB goes down to single cells with a fan-out of {node.fan_out}."
        return public("divided further", why)


def levels_of(side: int, b: int) -> int:
    """Levels that a fan-out of b a side needs to reach single cells."""
    levels, cells = 0, 1
    while cells < side:
        levels, cells = levels + 1, cells * b
    return levels


def best_branching(shape: tuple[int, ...]) -> int:
    """Parts along each side with the least error of boxes, see `HB`; the fewest of equally good."""
    side = max(shape)
    best, least = 2, 2 * levels_of(side, 2) ** 2
    for b in range(3, side + 1):
        # With one level alone it would be b already.
        if b >= least:
            break
        error = b * levels_of(side, b) ** 2
        if error < least:
            best, least = b, error
    return best
