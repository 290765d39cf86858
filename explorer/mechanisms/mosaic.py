"""Mosaic, our own: an adaptive quadtree measured breadth first (notebooks/design, mosaic)."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from explorer.mechanisms.base import Mechanism
from explorer.mechanisms.decisions import CELL, Decision, public
from explorer.mechanisms.figures import Figures, amount
from explorer.mechanisms.options import ANY, inference_option, inside_option
from explorer.privacy.curator import Curator
from explorer.privacy.regions import Regions
from explorer.releases import inference
from explorer.releases.inference import Estimate
from explorer.releases.nodes import Ints
from explorer.releases.transcript import Floats, Transcript
from explorer.releases.units import UNITS_PER_EPSILON, share

FIRST_SHARE = 0.01  # of the budget, for the noisy total
ENOUGH = 2.0  # a node is worth cutting while each part's count times its budget exceeds this
RATIO = 1.4  # of the shares of successive levels
BASE = 6  # binary cuts from the root to the 64 parts, on a map 8 x 8, that are always there
MOST_CUTS = 6  # binary cuts at once
DENSE = 12.0  # above this, levels are skipped
DOUBT = 3.0  # below this, the decision to go on was in doubt


def enough(d: int) -> float:
    """Count times budget that makes a node of d dimensions worth cutting into 2^d parts."""
    return ENOUGH * 2**d


def base_levels(d: int) -> int:
    """Levels that are always there."""
    return max(1, round(BASE / d))


class Mosaic(Mechanism):
    """Quarters where people are, most of the budget where the tree ends.

    In d dimensions a node has 2^d parts and all figures follow from that; on a map a node is worth
    cutting while its count times its budget exceeds 8, and a grid of 8 x 8 is always there.

    Examples
    --------
    >>> import numpy as np
    >>> from explorer import Mosaic
    >>> town = np.zeros((32, 32), dtype=int)
    >>> town[:8, :8] = 100
    >>> preview = Mosaic(epsilon=1).release(town, rng=7)
    >>> preview.n_leaves >= 64, preview.inside  # a grid of 8 x 8 is always there
    (True, 'interpolated')
    """

    key: ClassVar[str] = "mosaic"
    title: ClassVar[str] = "Mosaic"
    summary: ClassVar[str] = "An adaptive quadtree that keeps most of its budget for the leaves."
    paper: ClassVar[str] = "this project"
    group: ClassVar[str] = "New here"
    dimensions: ClassVar[Collection[int]] = ANY
    colour: ClassVar[str] = "red"
    compared_first: ClassVar[bool] = True

    inference = inference_option("split")
    inside = inside_option("interpolated")

    def plan(self, curator: Curator) -> Estimate:
        """Count a node, stop or quarter it by what its count and budget are worth."""
        transcript, shares = measured(curator, curator.open(), range(len(curator.shape)))
        return self.infer(transcript, ["leaves"], None, shares)

    def decision(self, node: Figures) -> Decision:
        """Count times remaining budget against `ENOUGH`."""
        if node.is_leaf and node.cells == 1:
            return CELL
        if not node.drawn("levels"):
            if node.is_leaf:
                reason = (
                    "The rest of the budget was spent on this count, so no further split was "
                    "possible."
                )
                return Decision("budget", "the budget ends here", reason)
            return public("passed over", "A node above it was divided several times at once.")
        counted = node.draw("levels")
        # What the leaf's second draw cost was still there when the first one decided.
        rest = node.release.epsilon - node.path_epsilon + node.own_epsilon("leaves")
        d = node.tree.lower.shape[1]
        needed, base = enough(d) * node.release.contribution_bound, base_levels(d)
        worth = counted * rest / needed
        figures = f"{amount(counted)} × {rest:.3g} / {needed:g} = {amount(worth)}"
        if node.is_leaf:
            reason = "Too few points for the budget left: a split would only add noise."
            return Decision("stopped", f"stopped: {figures} < 1", reason)
        if worth >= 1 or node.depth >= base:
            reason = "Count times remaining budget is enough to share among parts."
            return Decision("on", f"went on: {figures} ≥ 1", reason)
        verdict = f"divided: level {node.depth} of {base}"
        return public(verdict, f"The first {base} levels always are.")


def measured(
    curator: Curator, root: Regions, axes: Sequence[int], name: str = ""
) -> tuple[Transcript, Floats]:
    """Mosaic's measurements in a pass of their own, cut along some axes, the others whole.

    Parameters
    ----------
    curator : Curator
    root : the whole domain as the pass was opened; all of the pass's budget is spent
    axes : the axes that are cut; all of them are Mosaic
    name : begins the names of the two stages, so that passes are told apart

    Returns
    -------
    What was learnt, and the largest shares that inference may use (`inference.balanced_shares`).
    """
    limit = int(curator.remaining(root)[0])
    levels, leaves = f"{name}levels", f"{name}leaves"
    cut, d = list(axes), len(axes)
    deepest = int(np.ceil(np.log2(max(curator.shape[axis] for axis in cut))))
    base, needed = base_levels(d), enough(d) * curator.contribution_bound
    first = curator.count(root, share(limit, FIRST_SHARE), levels)
    pending: dict[int, list[tuple[Regions, Ints]]] = {0: [(root, first)]}
    for level in range(deepest + 1):
        for nodes, noisy in pending.pop(level, []):
            rest = curator.remaining(nodes)
            worth = noisy * (rest / UNITS_PER_EPSILON) / needed
            ends = _whole(nodes, cut) | ((worth < 1) & (level >= base))
            ending = nodes.select(ends)
            if len(ending):
                curator.count(ending, rest[ends], leaves)
            going = nodes.select(~ends)
            for jump, below, noisy_below in _divided(
                curator, going, cut, worth[~ends], rest[~ends], level, (levels, leaves)
            ):
                pending.setdefault(level + jump, []).append((below, noisy_below))
    transcript = curator.transcript(root)
    noisy_counts, precision = transcript.counts([levels])
    path = np.zeros(len(transcript), dtype=np.int64)
    inference.add_down(transcript.parent, transcript.spent.sum(axis=1), path)
    worth = noisy_counts * (limit - path) / (needed * UNITS_PER_EPSILON)
    near = (precision > 0) & (worth < DOUBT) & (transcript.depth >= base)
    return transcript, inference.balanced_shares(transcript, limit, levels, "", near)


def _whole(nodes: Regions, cut: list[int]) -> NDArray[np.bool_]:
    """Which nodes are one cell long along all axes that are cut."""
    if len(cut) == nodes.lower.shape[1]:
        return nodes.cells == 1
    single: NDArray[np.bool_] = (nodes.shape[:, cut] == 1).all(axis=1)
    return single


def _divided(
    curator: Curator,
    nodes: Regions,
    cut: list[int],
    worth: Floats,
    rest: Ints,
    level: int,
    stages: tuple[str, str],
) -> list[tuple[int, Regions, Ints]]:
    """Halve all sides once or, where nodes are dense, several times; count the last level.

    Returns what goes on: by how many levels deeper, its regions, their noisy counts.
    """
    going_on: list[tuple[int, Regions, Ints]] = []
    if len(nodes) == 0:
        return going_on
    d, (levels_stage, leaves_stage) = len(cut), stages
    base, halves = base_levels(d), np.ones(nodes.lower.shape[1], dtype=np.int64)
    halves[cut] = 2
    below = np.ceil(np.log2(nodes.shape[:, cut].max(axis=1))).astype(np.int64)
    # A level takes d binary cuts: so many doublings of the count for one level more.
    levels = np.minimum(1 + np.log2(np.maximum(worth, 1)) / d, below)
    jump = np.ones(len(nodes), dtype=np.int64)
    if level < base:
        levels = np.maximum(levels, np.minimum(base - level, below))
        jump = np.minimum(base - level, below)
    else:
        dense = (worth > DENSE) & (below >= 2)
        far = 2 + np.floor(np.log2(np.maximum(worth, 1) / DENSE) / (2 * d))
        most = max(1, MOST_CUTS // d)
        jump[dense] = np.minimum(np.minimum(most, below), far)[dense]
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
            group = group.grid(halves)
            owner = owner[np.searchsorted(parents.ids, group.parent)]
        # Children that take all that is left are leaves already: one draw, no decision.
        final = (paid == rest[chosen])[owner]
        if final.any():
            curator.count(group.select(final), paid[owner][final], leaves_stage)
        going = group.select(~final)
        if len(going):
            noisy = curator.count(going, paid[owner][~final], levels_stage)
            going_on.append((int(step), going, noisy))
    return going_on
