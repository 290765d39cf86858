"""How Mosaic steers: where it goes on, how far, and what it pays, from numbers already released.

A node's count is believed to be y, its budget left is R. With k the contribution bound, q = y R / k
is its count in units of the noise that R still buys. Everything here is a function of q, of public
figures and of `focus`; nothing looks at an exact count. (Figures: notebooks/design, mosaic for
every size.)
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numba import njit
from numpy.typing import NDArray

from explorer.releases.nodes import Ints
from explorer.releases.transcript import Floats
from explorer.releases.units import UNITS_PER_EPSILON

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
    """What `focus` chooses: the smaller the boxes that a map is for, the less decisions may cost.

    Attributes
    ----------
    first : part of the budget for the noisy total
    base : part of the rest for the parts that are always there, at q = 1
    dense : q of each cell from which cells are counted at once
    share, fall : a draw that others follow costs the part share q^-fall of the rest
    """

    first: float
    base: float
    dense: float
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
    """What n nodes do next.

    Attributes
    ----------
    jump : (n,) levels to go down; 0 ends here
    last : (n,) whether what is reached gets all that is left, and ends
    units : (n,) what each part that is reached pays where it does not end
    near : (n,) whether leaves come next though the count was hardly enough
    """

    jump: Ints
    last: NDArray[np.bool_]
    units: Ints
    near: NDArray[np.bool_]


def steps(
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
