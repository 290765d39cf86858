"""PrivTree (Zhang, Xiao, Xie, SIGMOD 2016)."""

from __future__ import annotations

import math
from collections.abc import Collection
from typing import ClassVar

import numpy as np
import param

from explorer.mechanisms.base import Mechanism
from explorer.mechanisms.decisions import CELL, Decision
from explorer.mechanisms.figures import Figures
from explorer.mechanisms.limits import require_parts
from explorer.mechanisms.options import ANY, inference_option, inside_option
from explorer.privacy.curator import Curator
from explorer.releases.inference import Estimate
from explorer.releases.units import share


class PrivTree(Mechanism):
    """A quadtree of any depth for one price, its leaves counted with the rest.

    The structure comes from biased noisy scores, see `Curator.privtree`; they are not published.
    Leaf counts have a share of their own and are not clipped at zero, which would make large areas
    far too full.

    Examples
    --------
    >>> import numpy as np
    >>> from explorer import PrivTree
    >>> town = np.zeros((16, 16), dtype=int)
    >>> town[:4, :4] = 100
    >>> preview = PrivTree(epsilon=1).release(town, rng=7)
    >>> sides = preview.upper[:, 0] - preview.lower[:, 0]
    >>> int(sides.max()) > int(sides.min())  # leaves are small where people are
    True
    """

    key: ClassVar[str] = "privtree"
    title: ClassVar[str] = "PrivTree"
    summary: ClassVar[str] = "A quadtree that goes as deep as the data for one price."
    paper: ClassVar[str] = "Zhang, Xiao, Xie, SIGMOD 2016"
    group: ClassVar[str] = "Trees"
    dimensions: ClassVar[Collection[int]] = ANY
    colour: ClassVar[str] = "orange"
    marker: ClassVar[str] = "triangle"
    compared_first: ClassVar[bool] = True

    structure_share = param.Number(
        default=0.5,
        bounds=(0.05, 0.95),
        step=0.05,
        label="Share for the structure",
        doc="Part of the budget that decides where to quarter; the rest counts the leaves.",
    )

    inference = inference_option("leaves")
    inside = inside_option()

    def _check_size(self, shape: tuple[int, ...], preview: bool) -> None:
        # What the root is cut into.
        parts = math.prod(min(side, 2) for side in shape)
        require_parts(self.title, parts, len(shape), preview)

    def plan(self, curator: Curator) -> Estimate:
        """Structure, then one count a leaf."""
        root = curator.open()
        leaves = curator.privtree(root, share(curator.units, self.structure_share))
        curator.count(leaves, curator.remaining(leaves), "leaves")
        return self.infer(curator.transcript(), ["leaves"])

    def decision(self, node: Figures) -> Decision:
        """The outcome of the test; its score is not released."""
        if node.is_leaf and node.cells == 1:
            return CELL
        parts = 2 ** node.tree.lower.shape[1]
        factor = (2 * parts - 1) / (parts - 1)  # see `Curator.privtree`
        scale = factor * node.release.contribution_bound / node.root_epsilon("structure")
        bias = scale * np.log(parts)
        score = (
            f"count − {node.depth} × {bias:.1f}, at least −{bias:.1f}, and noise of scale "
            f"{scale:.1f}"
        )
        if node.is_leaf:
            reason = f"The score ({score}) was not above 0. Only this outcome is released."
            return Decision("stopped", "stopped by PrivTree's test: score ≤ 0", reason)
        reason = f"The score ({score}) was above 0. Only this outcome is released."
        return Decision("on", "went on by PrivTree's test: score > 0", reason)
