"""Mosaic, our own: an adaptive quadtree measured breadth first (notebooks/design, mosaic)."""

from __future__ import annotations

from typing import ClassVar

import numpy as np

from explorer.mechanisms.base import Mechanism
from explorer.mechanisms.decisions import CELL, Decision, public
from explorer.mechanisms.figures import Figures, amount
from explorer.mechanisms.options import inference_option, inside_option
from explorer.privacy.curator import Curator
from explorer.privacy.regions import Regions
from explorer.releases import inference
from explorer.releases.inference import Estimate
from explorer.releases.nodes import Ints
from explorer.releases.transcript import Floats
from explorer.releases.units import UNITS_PER_EPSILON, share

FIRST_SHARE = 0.01  # of the budget, for the noisy total
ENOUGH = 8.0  # a node is worth cutting while its count times its budget exceeds this
LEVELS_PER_DOUBLING = 0.5  # expected further levels per doubling of that quantity
RATIO = 1.4  # of the shares of successive levels
BASE = 3  # levels from the root to a grid of 8 x 8 that is always there
DENSE = 12.0  # above this, levels are skipped
DOUBT = 3.0  # below this, the decision to go on was in doubt


class Mosaic(Mechanism):
    """Quarters where people are, most of the budget where the tree ends."""

    key: ClassVar[str] = "mosaic"
    title: ClassVar[str] = "Mosaic"
    summary: ClassVar[str] = "An adaptive quadtree that keeps most of its budget for the leaves."
    paper: ClassVar[str] = "this project, notebooks/design"
    colour: ClassVar[str] = "red"
    compared_first: ClassVar[bool] = True

    inference = inference_option("split")
    inside = inside_option("interpolated")

    def plan(self, curator: Curator) -> Estimate:
        """Count a node, stop or quarter it by what its count and budget are worth."""
        root = curator.open()
        first = curator.count(root, share(curator.units, FIRST_SHARE), "levels")
        deepest = int(np.ceil(np.log2(max(curator.shape))))
        pending: dict[int, list[tuple[Regions, Ints]]] = {0: [(root, first)]}
        for level in range(deepest + 1):
            for nodes, noisy in pending.pop(level, []):
                rest = curator.remaining(nodes)
                worth = noisy * (rest / UNITS_PER_EPSILON) / ENOUGH
                ends = (nodes.cells == 1) | ((worth < 1) & (level >= BASE))
                leaves = nodes.select(ends)
                if len(leaves):
                    curator.count(leaves, rest[ends], "leaves")
                self._quarter(
                    curator, nodes.select(~ends), worth[~ends], rest[~ends], level, pending
                )
        transcript = curator.transcript()
        noisy_counts, precision = transcript.counts(["levels"])
        path = np.zeros(len(transcript), dtype=np.int64)
        inference.add_down(transcript.parent, transcript.spent.sum(axis=1), path)
        worth = noisy_counts * (curator.units - path) / (ENOUGH * UNITS_PER_EPSILON)
        near = (precision > 0) & (worth < DOUBT) & (transcript.depth >= BASE)
        shares = inference.balanced_shares(transcript, curator.units, "levels", "", near)
        return self.infer(transcript, ["leaves"], None, shares)

    def decision(self, node: Figures) -> Decision:
        """Count times remaining budget against `ENOUGH`."""
        if node.is_leaf and node.cells == 1:
            return CELL
        if not node.drawn("levels"):
            if node.is_leaf:
                reason = "Its share took all that was left on the path: one draw, no decision."
                return Decision("budget", "the budget ends here", reason)
            return public("passed over", "A node above it was divided several times at once.")
        counted = node.draw("levels")
        # What the leaf's second draw cost was still there when the first one decided.
        rest = node.release.epsilon - node.path_epsilon + node.own_epsilon("leaves")
        worth = counted * rest / ENOUGH
        figures = f"{amount(counted)} × {rest:.3g} / {ENOUGH:g} = {amount(worth)}"
        if node.is_leaf:
            reason = "Count times remaining budget was not enough to share among four quarters."
            return Decision("stopped", f"stopped: {figures} < 1", reason)
        if worth >= 1 or node.depth >= BASE:
            reason = "Count times remaining budget is enough to share among parts."
            return Decision("on", f"went on: {figures} ≥ 1", reason)
        verdict = f"divided: level {node.depth} of {BASE}"
        return public(verdict, f"The first {BASE} levels always are.")

    @staticmethod
    def _quarter(
        curator: Curator,
        nodes: Regions,
        worth: Floats,
        rest: Ints,
        level: int,
        pending: dict[int, list[tuple[Regions, Ints]]],
    ) -> None:
        """Quarter the nodes once or, where they are dense, several times; count the last level."""
        if len(nodes) == 0:
            return
        below = np.ceil(np.log2(nodes.shape.max(axis=1))).astype(np.int64)
        levels = np.minimum(1 + LEVELS_PER_DOUBLING * np.log2(np.maximum(worth, 1)), below)
        jump = np.ones(len(nodes), dtype=np.int64)
        if level < BASE:
            levels = np.maximum(levels, np.minimum(BASE - level, below))
            jump = np.minimum(BASE - level, below)
        else:
            dense = (worth > DENSE) & (below >= 2)
            far = 2 + np.floor(np.log2(np.maximum(worth, 1) / DENSE) / 4)
            jump[dense] = np.minimum(np.minimum(3, below), far)[dense]
        terms = np.maximum(1, levels / jump)
        ratio = RATIO**jump
        part = (ratio - 1) / (ratio**terms - 1)
        units = np.where(part > 0.97, rest, np.floor(part * rest).astype(np.int64))
        for step in np.unique(jump):
            chosen = jump == step
            group, paid = nodes.select(chosen), units[chosen]
            owner = np.arange(len(group))
            for _ in range(step):
                parents = group
                group = group.grid(np.array([2, 2]))
                owner = owner[np.searchsorted(parents.ids, group.parent)]
            # Children that take all that is left are leaves already: one draw, no decision.
            final = (paid == rest[chosen])[owner]
            if final.any():
                curator.count(group.select(final), paid[owner][final], "leaves")
            going = group.select(~final)
            if len(going):
                later = going, curator.count(going, paid[owner][~final], "levels")
                pending.setdefault(level + int(step), []).append(later)
