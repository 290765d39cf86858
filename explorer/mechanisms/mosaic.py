"""Mosaic, our own: an adaptive quadtree measured breadth first (notebooks/design, mosaic)."""

from __future__ import annotations

import math
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import ClassVar

import numpy as np
import param
from numpy.typing import NDArray

from explorer.mechanisms import steering
from explorer.mechanisms.base import Mechanism
from explorer.mechanisms.decisions import CELL, UNKNOWN, Decision, public
from explorer.mechanisms.figures import Figures, amount
from explorer.mechanisms.limits import require_parts
from explorer.mechanisms.options import ANY, EMPTY_OR_NOT, inference_option, inside_option
from explorer.mechanisms.steering import Appetite
from explorer.privacy.curator import Curator
from explorer.privacy.regions import Regions
from explorer.releases import inference
from explorer.releases.inference import Estimate
from explorer.releases.nodes import Ints
from explorer.releases.transcript import Floats, Transcript
from explorer.releases.units import laplace_variance, share, to_units

SLOPE = 0.8
"""How much of neighbours' differences is believed inside leaves, see `releases.interpolation`."""


class Mosaic(Mechanism):
    """Quarters where people are, most of the budget where the tree ends.

    The map is counted in 8 x 8 parts. A part goes on while its count is worth its budget (count
    times what is left above 10 on a map), over as many levels at once as an even part would need
    half of; nearly empty ones end with a second draw of all that is left, full ones go straight to
    their cells. What draws cost that others follow depends on ``focus`` and on how full a part is.
    In d dimensions a node has 2^d parts and the figures follow from that.

    Inference: a leaf is seen in its neighbourhood (`releases.surroundings`), then how likely each
    part is to be empty is weighed along the tree (`releases.empty_or_not`).

    Privacy: every draw is a count of disjoint regions; where to go on and what to pay are functions
    of earlier draws, of accounts and of public figures. So draws compose adaptively along a path,
    each path pays exactly epsilon, and the rest is post-processing.

    The paper is this project's own (notebooks/design, mosaic for every size), after the adaptive
    grids of Qardaji et al. 2013 and PrivTree (Zhang, Xiao, Xie 2016); consistency is that of Hay
    et al. 2010.

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

    named: ClassVar[Mapping[str, Mapping[str, float]]] = {
        "focus": {"regions": 0.0, "neighbourhoods": 0.2, "blocks": 0.5, "single cells": 1.0}
    }
    focus = param.Number(
        default=0.2,
        bounds=(0, 1),
        step=0.05,
        label="Made for",
        doc="The boxes that it is best at, from 0 (regions) over 0.2 (neighbourhoods) and 0.5 "
        "(blocks) to 1 (single cells). From 0.2 to 1 boxes of a few cells gain an eighth, half the "
        "map is twice as far off. It is public: choose by what will be asked, never by the data.",
    )
    inference = inference_option(EMPTY_OR_NOT)
    inside = inside_option("interpolated")

    def _check_size(self, shape: tuple[int, ...], preview: bool) -> None:
        # What the whole is cut into, whatever is in it.
        parts = math.prod(min(side, 2) for side in shape)
        require_parts(self.title, parts, len(shape), preview)

    def plan(self, curator: Curator) -> Estimate:
        """Count a node, stop or quarter it by what its count and budget are worth."""
        root, axes = curator.open(), range(len(curator.shape))
        measurement = measured(curator, root, axes, self.focus)
        if self.inference == EMPTY_OR_NOT:
            estimate = inference.empty_or_not(measurement.transcript, None, measurement.near, axes)
        else:
            record, near = measurement.transcript, measurement.near
            shares = inference.balanced_shares(record, curator.units, "levels", "", near)
            estimate = self.infer(record, ["leaves"], None, shares)
        return replace(estimate, tested=measurement.believed, facts={"slope": SLOPE})

    def decision(self, node: Figures) -> Decision:
        """What a node's count and the rest of its budget were worth, see `steering`."""
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
        if node.tree.tested is None:
            # An earlier version drew it, by another rule.
            return UNKNOWN
        if node.depth == 0:
            return public("always cut", "The first parts are chosen in public.")
        # What the leaf's second draw cost was still there when the first one decided.
        rest = node.release.epsilon - node.path_epsilon + node.own_epsilon("leaves")
        bound = node.release.contribution_bound
        paid = np.array([to_units(node.own_epsilon("levels"))])
        doubt = steering.DOUBT * math.sqrt(laplace_variance(paid, bound)[0])
        sides = node.tree.upper[node.number] - node.tree.lower[node.number]
        needed = steering.enough(int((sides > 1).sum())) * bound
        counted = node.tested()
        worth = (counted + doubt) * rest / needed
        figures = (
            f"({amount(counted)} + {amount(doubt)}) × {rest:.3g} / {needed:g} = {amount(worth)}"
        )
        if node.is_leaf:
            reason = "Too few points for the budget left: a split would only add noise."
            return Decision("stopped", f"stopped: {figures} < 1", reason)
        reason = "Count times remaining budget is enough to share among parts."
        return Decision("on", f"went on: {figures} ≥ 1", reason)


@dataclass(frozen=True)
class Measured:
    """What Mosaic learnt in a pass.

    Attributes
    ----------
    transcript : Transcript
    near : (n,) nodes whose leaves came next although their count was hardly enough
    believed : (n,) the counts that decided, NaN where none did
    """

    transcript: Transcript
    near: NDArray[np.bool_]
    believed: Floats


def measured(
    curator: Curator, root: Regions, axes: Sequence[int], focus: float, name: str = ""
) -> Measured:
    """Mosaic's measurements in a pass of their own, cut along some axes, the others whole.

    Parameters
    ----------
    curator : Curator
    root : the whole domain as the pass was opened; all of the pass's budget is spent
    axes : the axes that are cut; all of them are Mosaic
    focus : 0 to 1
    name : begins the names of the two stages, so that passes are distinguished
    """
    limit, bound = int(curator.remaining(root)[0]), curator.contribution_bound
    stages = f"{name}levels", f"{name}leaves"
    cut, appetite = list(axes), Appetite.of(focus)
    first = np.array([max(1, share(limit, appetite.first))])
    nodes, variances = root, laplace_variance(first, bound)
    drawn = curator.count(root, first, stages[0]).astype(np.float64)
    believed, own_counts, deciding, near, ends = drawn, drawn, [(root.ids, drawn)], [], []
    while True:
        rest = curator.remaining(nodes)
        plan = steering.steps(
            appetite,
            nodes.shape.take(cut, axis=1),
            believed,
            np.sqrt(variances),
            rest,
            bound,
            nodes is root,
        )
        near.append(nodes.ids[plan.near])
        reached, owner = _below(nodes, plan.jump, cut)
        last = plan.last[owner]
        ended, parts = reached.separate(last)
        ends += [nodes.select(plan.jump == 0), ended]
        owner = owner[~last]
        if len(parts) == 0:
            break
        noisy = curator.count(parts, plan.units[owner], stages[0])
        noise = laplace_variance(np.maximum(plan.units, 1), bound)
        believed = steering.shared(noisy, owner, noise, own_counts, variances)
        nodes, own_counts, variances = parts, noisy.astype(np.float64), noise[owner]
        deciding.append((parts.ids, believed))
    ended = Regions.join(ends)
    curator.count(ended, curator.remaining(ended), stages[1])
    transcript = curator.transcript(root)
    doubtful, figures = np.zeros(len(transcript), np.bool_), np.full(len(transcript), np.nan)
    doubtful[np.concatenate(near)] = True
    for ids, counts in deciding:
        figures[ids] = counts
    return Measured(transcript, doubtful, figures)


def _below(nodes: Regions, jump: Ints, cut: list[int]) -> tuple[Regions, Ints]:
    """Halve nodes along the axes that are cut, each so many times; a jump of 0 leaves one out.

    Returns
    -------
    What is reached, and which of the nodes each is in. Single cells are not divided.
    """
    halves = np.ones(nodes.lower.shape[1], dtype=np.int64)
    halves[cut] = 2
    owner = np.flatnonzero(jump)
    parts, steps = nodes.select(owner), 0
    reached, owners = [parts.select(owner[:0])], [owner[:0]]
    while len(parts):
        above, parts, steps = parts, parts.grid(halves), steps + 1
        came_out = parts.parent, parts.lower, parts.upper
        owner, ends = steering.one_step_down(owner, above.ids, came_out, cut, jump, steps)
        ended, parts = parts.separate(ends)
        reached.append(ended)
        owners.append(owner[ends])
        owner = owner[~ends]
    # In the order in which they were entered, which is the book's.
    return Regions.join(reached), np.concatenate(owners)
