"""Mosaic, our own: an adaptive quadtree measured breadth first (notebooks/design, mosaic)."""

from __future__ import annotations

import math
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import ClassVar

import numpy as np
import param
from numba import njit
from numpy.typing import NDArray

from explorer.mechanisms.base import Mechanism
from explorer.mechanisms.decisions import CELL, UNKNOWN, Decision, public
from explorer.mechanisms.figures import Figures, amount
from explorer.mechanisms.limits import require_parts
from explorer.mechanisms.options import ANY, EMPTY_OR_NOT, inference_option, inside_option
from explorer.privacy.curator import Curator
from explorer.privacy.regions import Regions
from explorer.releases import inference
from explorer.releases.inference import Estimate
from explorer.releases.nodes import Ints
from explorer.releases.transcript import Floats, Transcript
from explorer.releases.units import UNITS_PER_EPSILON, laplace_variance, share, to_units

SLOPE = 0.8
"""How much of neighbours' differences is believed inside leaves, see `releases.interpolation`."""


class Mosaic(Mechanism):
    """Quarters where people are, most of the budget where the tree ends.

    The map is counted in 8 x 8 parts. A part goes on while its count is worth its budget (count
    times what is left above 10 on a map), over as many levels at once as an even part would need
    half of; nearly empty ones end with a second draw of all that is left, full ones go straight to
    their cells. What draws cost that others follow depends on ``focus`` and on how full a part is.
    In d dimensions a node has 2^d parts and the figures follow from that.

    Inference: a leaf is seen in its neighbourhood (`releases.empty_or_not`), then how likely each
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
        """What a node's count and the rest of its budget were worth, see `next_steps`."""
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
        doubt = DOUBT * math.sqrt(laplace_variance(paid, bound)[0])
        sides = node.tree.upper[node.number] - node.tree.lower[node.number]
        needed = enough(int((sides > 1).sum())) * bound
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
    """What Mosaic learnt in a pass."""

    transcript: Transcript
    # (n,) nodes whose leaves came next although their count was hardly enough
    near: NDArray[np.bool_]
    believed: Floats  # (n,) the counts that decided, NaN where none did


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
        plan = next_steps(
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
        believed = shared(noisy, owner, noise, own_counts, variances)
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
    """Halve nodes along the axes that are cut, each so many times; a jump of 0 leaves one out."""
    halves = np.ones(nodes.lower.shape[1], dtype=np.int64)
    halves[cut] = 2
    owner = np.flatnonzero(jump)
    parts, steps = nodes.select(owner), 0
    reached, owners = [parts.select(owner[:0])], [owner[:0]]
    while len(parts):
        above, parts, steps = parts, parts.grid(halves), steps + 1
        came_out = parts.parent, parts.lower, parts.upper
        owner, ends = one_step_down(owner, above.ids, came_out, cut, jump, steps)
        ended, parts = parts.separate(ends)
        reached.append(ended)
        owners.append(owner[ends])
        owner = owner[~ends]
    # In the order in which they were entered, which is the book's.
    return Regions.join(reached), np.concatenate(owners)


BASE = 6  # binary cuts from the root to the 64 parts, on a map 8 x 8, that are always there
MOST_CUTS = 6  # binary cuts at once
ENOUGH = 2.5  # a node is worth cutting while q exceeds this for each of its parts
FILLED = 1.5  # leaves are reached where an even part would have a q of this for each of its own
MOST_SHARE = 0.5  # of what is left, for a draw that others follow
MOST_BASE = 0.22  # of what is left, for the base: where count times budget is below 10,000
BASE_FALL = 0.2  # the base costs the less, the fuller the map is: q to this power
LEVELS_EACH = 2.0  # levels still to go for each level that is jumped
DOUBT = 0.25  # standard deviations by which a count may be larger than believed
FEW = 16  # so many values are sorted without a call
NEAR = 2.0  # up to so many times enough, a decision to go on was in doubt


@dataclass(frozen=True)
class Appetite:
    """What `focus` chooses: for smaller boxes, decisions may cost less."""

    first: float  # part of the budget for the noisy total
    base: float  # part of the rest for the parts that are always there, at q = 1
    dense: float  # q of each cell from which cells are counted at once
    # share, fall: a draw that others follow costs the part share q^-fall of the rest
    share: float
    fall: float

    @classmethod
    def of(cls, focus: float) -> Appetite:
        """Of a focus from 0 to 1.

        >>> Appetite.of(0)
        Appetite(first=0.02, base=2.0, dense=12.0, share=0.35, fall=0.15)
        """
        lower = 6.0**-focus
        fall = 0.15 + 0.1 * focus
        return cls(0.02 * 2.0**-focus, 2.0 * lower, 12.0 * lower, 0.35 + 0.15 * focus, fall)


def enough(d: float) -> float:
    """The q that makes a node worth cutting that is longer than a cell along d axes."""
    return ENOUGH * 2**d


def base_levels(d: int) -> int:
    """Levels that are always there, of d axes."""
    return max(1, round(BASE / d))


@dataclass(frozen=True)
class Steps:
    """What n nodes do next."""

    jump: Ints  # (n,) levels to go down; 0 ends here
    last: NDArray[np.bool_]  # (n,) whether what is reached gets all that is left, and ends
    units: Ints  # (n,) what each part that is reached pays where it does not end
    near: NDArray[np.bool_]  # (n,) whether leaves come next though the count was hardly enough


def next_steps(
    appetite: Appetite,
    shape: Ints,
    believed: Floats,
    sd: Floats,
    rest: Ints,
    bound: int,
    begins: bool,
) -> Steps:
    """Decide for n nodes of which the counts are believed, with their errors.

    Parameters
    ----------
    shape : (n, d) cells along the axes that are cut
    believed, sd : (n,)
    rest : (n,) budget that each has left
    bound : of contributions
    begins : whether this is the root, which is cut whatever it holds
    """
    n = len(believed)
    steps = Steps(
        np.zeros(n, np.int64), np.zeros(n, np.bool_), np.zeros(n, np.int64), np.zeros(n, np.bool_)
    )
    base = base_levels(max(1, int((shape[0] > 1).sum()))) if begins else 0
    how = appetite.base, appetite.dense, appetite.share, appetite.fall
    _decide(
        how, shape, believed, sd, rest, bound, base, steps.jump, steps.last, steps.units,
        steps.near,
    )  # fmt: skip
    return steps


@njit(cache=True, nogil=True)
def _decide(  # type: ignore[no-untyped-def]
    how, shape, believed, sd, rest, bound, base, jump, last, units, near
):
    base_share, dense, share, fall = how
    for i in range(len(believed)):
        longest, cells, axes = 1, 1.0, 0
        for axis in range(shape.shape[1]):
            side = shape[i, axis]
            longest = max(longest, side)
            cells *= side
            axes += side > 1
        height, reach = 0, 1
        while reach < longest:
            height += 1
            reach *= 2
        left = rest[i] / (UNITS_PER_EPSILON * bound)
        q, doubt = believed[i] * left, DOUBT * sd[i] * left
        full = max(q, 1.0)
        if height == 0:
            continue
        if base > 0:
            jump[i] = min(base, height)
            part = min(MOST_BASE, base_share * full**-BASE_FALL)
            units[i] = max(1, int(rest[i] * part))
            continue
        needed = ENOUGH * 2.0**axes
        if q + doubt < needed:
            continue
        # Levels until an even block would hold no more than its parts are worth.
        levels = np.log2(max(q / (FILLED * 2.0**axes), 1.0)) / axes
        part = share * full**-fall
        if q > dense * cells or height <= 1:
            jump[i], last[i] = height, True
        elif levels <= 1.0 or part > MOST_SHARE:
            jump[i], last[i] = min(height, max(1, int(np.ceil(levels)))), True
        else:
            far = max(1, int(np.floor(levels / LEVELS_EACH + 0.5)))
            jump[i] = min(max(1, MOST_CUTS // axes), height - 1, far)
            units[i] = max(1, int(rest[i] * part))
        near[i] = last[i] and q + doubt < NEAR * needed


def shared(
    noisy: Ints, owner: Ints, variance: Floats, believed: Floats, known_variance: Floats
) -> Floats:
    """Counts of parts that are 0 or more and add up to what they and their owner say; steers only.

    Parameters
    ----------
    noisy, owner : (m,) draws of parts, and which of n nodes each is a part of
    variance : (n,) of the noise of a node's parts
    believed, known : (n,) the nodes' own draws and their variance

    Returns
    -------
    (m,) max(0, y - c), where c makes them add up to the mean by precision of a node's own draw and
    of the sum of y, or to 0 if that is below
    """
    result = np.zeros(len(noisy))
    _share(noisy, owner, variance, believed, known_variance, result)
    return result


@njit(cache=True, nogil=True)
def _share(noisy, owner, variance, believed, known_variance, result):  # type: ignore[no-untyped-def]
    n = len(believed)
    start = np.zeros(n + 1, dtype=np.int64)
    for part in owner:
        start[part + 1] += 1
    for i in range(n):
        start[i + 1] += start[i]
    behind = start[:-1].copy()
    of = np.empty(len(noisy), dtype=np.int64)
    for part in range(len(noisy)):
        of[behind[owner[part]]] = part
        behind[owner[part]] += 1
    limit = 0
    for i in range(n):
        limit = max(limit, start[i + 1] - start[i])
    values = np.empty(limit)
    for i in range(n):
        number = start[i + 1] - start[i]
        if number == 0:
            continue
        parts = of[start[i] : start[i + 1]]
        total = 0.0
        for part in parts:
            total += noisy[part]
        precision, sums = 1.0 / known_variance[i], 1.0 / (number * variance[i])
        together = (believed[i] * precision + total * sums) / (precision + sums)
        if together <= 0.0:
            continue
        # The largest k values that stay above 0 when they are moved to add up.
        _sort_down(noisy, parts, values)
        above, moved = 0.0, 0.0
        for k in range(number):
            above += values[k]
            by = (above - together) / (k + 1)
            if values[k] <= by:
                break
            moved = by
        for part in parts:
            result[part] = max(0.0, noisy[part] - moved)


@njit(cache=True, nogil=True)
def _sort_down(noisy, parts, values):  # type: ignore[no-untyped-def]
    """Write the draws of some parts into `values`, the largest first."""
    if len(parts) > FEW:
        for k in range(len(parts)):
            values[k] = -noisy[parts[k]]
        values[: len(parts)] = -np.sort(values[: len(parts)])
        return
    # Put in one by one: quicker than what a call of a sort costs.
    for k in range(len(parts)):
        value, place = np.float64(noisy[parts[k]]), k
        while place > 0 and values[place - 1] < value:
            values[place] = values[place - 1]
            place -= 1
        values[place] = value


def one_step_down(
    owner: Ints, above: Ints, parts: tuple[Ints, Ints, Ints], cut: list[int], jump: Ints, steps: int
) -> tuple[Ints, NDArray[np.bool_]]:
    """What is below which node after one halving more, and what ends there.

    Parameters
    ----------
    owner : (n,) the nodes, by their places in `jump`, that what was halved is in
    above : (n,) ids of what was halved, increasing
    parts : parents (m,), lower and upper edges (m, d) of what came out, in the parents' order
    cut : the axes that are cut
    jump : how often each node is halved
    steps : how often that was done by now

    Returns
    -------
    (m,) owners, and whether a part ends: it is one cell long along all axes that are cut, or its
    node is halved no more
    """
    parent, lower, upper = parts
    owners, ends = np.empty(len(parent), np.int64), np.empty(len(parent), np.bool_)
    _hand_down(owner, above, parent, lower, upper, np.array(cut), jump, steps, owners, ends)
    return owners, ends


@njit(cache=True, nogil=True)
def _hand_down(  # type: ignore[no-untyped-def]
    owner, above, parent, lower, upper, cut, jump, steps, owners, ends
):
    at = 0
    for child in range(len(parent)):
        while above[at] != parent[child]:
            at += 1
        owners[child] = owner[at]
        single = True
        for axis in cut:
            single &= upper[child, axis] - lower[child, axis] == 1
        ends[child] = single | (jump[owner[at]] == steps)
