"""Complete quadtrees (Cormode et al., ICDE 2012; compared in htf-2022 section 7.4)."""

from __future__ import annotations

import math
from collections.abc import Collection, Mapping
from typing import Any, ClassVar

import numpy as np
import param

from explorer.mechanisms.base import Mechanism
from explorer.mechanisms.decisions import CELL, Decision, public, reached
from explorer.mechanisms.figures import Figures
from explorer.mechanisms.limits import require_parts
from explorer.mechanisms.options import ANY, inference_option, inside_option, level_budget_option
from explorer.privacy import allocation
from explorer.privacy.curator import Curator
from explorer.releases.inference import Estimate


class QuadTree(Mechanism):
    """Quarters of quarters, down to a fixed height, every node counted.

    In d dimensions a node has 2^d parts.

    The shape is public, so all of the budget goes to counts: the same share for every level, or
    shares that grow by 2^(1/3) from the root to the leaves. Sides need not be powers of two; a
    side of one cell is not cut any more, and a single cell gets all that is left on its path.

    Examples
    --------
    >>> import numpy as np
    >>> from explorer import QuadTree
    >>> town = np.kron([[40, 0], [2, 9]], np.ones((4, 4), dtype=int))
    >>> preview = QuadTree(epsilon=1, height=2).release(town, rng=7)
    >>> preview.n_leaves, preview.preview
    (16, True)
    """

    key: ClassVar[str] = "quadtree"
    title: ClassVar[str] = "QuadTree"
    summary: ClassVar[str] = "The map quartered again and again, whatever lies in it."
    paper: ClassVar[str] = "Cormode et al., ICDE 2012"
    group: ClassVar[str] = "Trees"
    dimensions: ClassVar[Collection[int]] = ANY
    colour: ClassVar[str] = "plum"
    marker: ClassVar[str] = "inverted_triangle"
    compared_first: ClassVar[bool] = True
    lesson_settings: ClassVar[Mapping[str, Any]] = {
        "height": 5,
        "budget": "uniform",
        "inference": "leaves",
    }

    height = param.Integer(
        default=None,
        bounds=(0, 11),
        allow_None=True,
        doc="How often the map is quartered. Automatic: down to single cells.",
    )
    budget = level_budget_option()
    inference = inference_option("least squares")
    inside = inside_option()

    def _check_size(self, shape: tuple[int, ...], preview: bool) -> None:
        halvings = max(shape).bit_length() if self.height is None else self.height
        parts = math.prod(min(side, 2**halvings) for side in shape)
        require_parts(self.title, parts, len(shape), preview)

    def plan(self, curator: Curator) -> Estimate:
        """Count a level, quarter it, go on; the last level takes what is left."""
        nodes = curator.open()
        halves = np.full(len(curator.shape), 2)
        deepest = int(np.ceil(np.log2(max(curator.shape))))
        height = deepest if self.height is None else min(self.height, deepest)
        split = allocation.geometric if self.budget == "geometric" else allocation.uniform
        shares = split(curator.units, height)
        for level in range(height, 0, -1):
            single = nodes.cells == 1
            leaves, nodes = nodes.separate(single)
            if len(leaves):
                curator.count(leaves, curator.remaining(leaves), "leaves")
            # Of the longest side there is more than one cell up to the last level.
            curator.count(nodes, shares[level], "inner nodes")
            nodes = nodes.grid(halves)
        curator.count(nodes, curator.remaining(nodes), "leaves")
        return self.infer(curator.transcript(), ["leaves"])

    @property
    def shape_is_public(self) -> bool:
        """Always."""
        return True

    def decision(self, node: Figures) -> Decision:
        """Public: down to the height, or to single cells."""
        if node.is_leaf:
            return CELL if node.cells == 1 else reached(node.depth, node.deepest, "quarterings")
        return public("quartered", "Every node above the lowest level is, whatever lies in it.")
