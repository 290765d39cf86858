"""Rounds: a tree, a question to people, masked sums, a finer tree.

Three plans are on one frame: people as the budget (`once`), Algorithm 2 of heatmaps-2022 repaired
(`mended`), and Algorithm 2 as printed (`paper`). Everything a plan sees is a sum that was released;
what it decides costs nothing.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from dataclasses import replace
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from explorer.federated.calibration import epsilon_of, shards, sigma
from explorer.federated.refine import FURTHEST, levels_down
from explorer.releases.quarters import KeyTree
from explorer.releases.rounds import Heard
from explorer.releases.units import to_epsilon, to_units

if TYPE_CHECKING:
    from explorer.federated.session import Session

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]

SMALLEST = 1_000
"""People in the smallest round."""
GROWTH = 0.05
"""A tree that gained a smaller part than this in new nodes is not worth another look."""
LEAST_PART = 1_000
"""No round costs less than the whole budget over this, or tables of its noise explode."""
MOST_ROUNDS = 64
"""Split and collapse may take turns for ever (erratum 40): the last of these takes what is left."""


class Own(NamedTuple):
    """What a plan takes for c and b unless it is told."""

    c: float
    b: float


OWN = {"people": Own(0.6, 2.0), "mended": Own(0.6, 3.0), "paper": Own(0.1, 2.0)}
"""By algorithm. With the prototype's c .5 the first two have .35 of the error of Algorithm 2 as
printed on three cities, with .6 they have .33 (`dp-explorer papers heatmaps`)."""


def once(
    server: Session,
    tree: KeyTree,
    *,
    c: float = OWN["people"].c,
    b: float = OWN["people"].b,
    furthest: int = FURTHEST,
) -> Iterator[Heard]:
    """PEOPLE: each person is asked in one round only, with all her budget; people are spent.

        left = all people
        s = the fewest with sqrt(sigma^2 K / nu + s / v) <= c s / v, at least 1,000
        go on with s if left >= b s and the tree grew; else ask all who are left, and end
        divide what pays (`refine`), the next sums being as large as all who are left allow

    Ours (build note of heatmaps, section 3). Everybody's vector enters one round, so the cost is
    the largest epsilon of any round although later rounds depend on earlier ones: parallel
    composition over people.

    Parameters
    ----------
    server, tree : who asks, and the first tree
    c : noise and sampling of the mean cell's sum as a part of it, above 0
    b : go on while that many times the next round's people are left, 1 or more
    furthest : the most levels that a cell is divided by at once, 1 to 3

    Yields
    ------
    Heard, the last one without a decision
    """
    left, grew, noise = server.people, True, sigma(to_epsilon(server.units))
    for number in range(1, MOST_ROUNDS + 1):
        s = fewest_people(tree.v, c, noise, server)
        # Too few for a round of their own are asked with these.
        last = left < max(b * s, s + SMALLEST) or not grew or number == MOST_ROUNDS
        response = server.ask(tree, left if last else s, server.units, fresh=True)
        left -= response.people
        if last:
            yield response
            return
        scale = left / max(response.answered, 1)
        next_sd = noise * math.sqrt(shards(left, server.shard) / server.spread)
        finer, response = refined(response, scale, next_sd, furthest)
        yield response
        tree, grew = finer, _grew(response, finer)


def mended(
    server: Session,
    tree: KeyTree,
    *,
    c: float = OWN["mended"].c,
    b: float = OWN["mended"].b,
    furthest: int = FURTHEST,
) -> Iterator[Heard]:
    """Algorithm 2 repaired: its schedule of budgets, the threshold of `refine`, jumps, no collapse.

    The noise of summed rounds throughout (errata 33, 34, 36); the end when the tree grows by less
    than 5 % (erratum 40). Every round asks a fresh sample and is booked for everyone.

    Parameters
    ----------
    server, tree, furthest : as of `once`
    c : target noise of a sum as a part of the mean count, Eq. 7
    b : go on while b times the next round's epsilon remains, Eq. 9 as the scripts read it
        (erratum 35)
    """

    def decide(response: Heard, remaining: int) -> tuple[KeyTree, Heard]:
        next_sd = sigma(to_epsilon(remaining)) * several(server)
        return refined(response, 1.0, next_sd, furthest)

    return scheduled(server, tree, c, b, decide)


def paper(
    server: Session,
    tree: KeyTree,
    *,
    c: float = OWN["paper"].c,
    b: float = OWN["paper"].b,
    k: float = 2.0,
    threshold: float | None = None,
    rounds: int | None = None,
    collapse: float = 0.25,
    summed: bool = True,
    both: bool = False,
    closed: bool = False,
    growth: float = 0.0,
) -> Iterator[Heard]:
    """Algorithm 2 of heatmaps-2022: epsilon by schedule, divide above T, give up below T / 4.

    Where print and published scripts, or two readings, differ, there is a parameter.

    Parameters
    ----------
    server, tree, c, b : as of `repaired`; the scripts' c = .1 is c = .05 here (erratum 34), the
        text's reading of Eq. 9 is b + 1 here (erratum 35)
    k : T = k sigma(what remains), Eq. 6: 2, said to be the 95th percentile (erratum 37: it is 97th)
    threshold : a fixed T in its place, for Table 3
    rounds : as many equal shares of epsilon in place of the schedule, for Table 3
    collapse : cells below this part of T are given up; 0: those of 0 or less
    summed : whether sigma is that of the summed round, sqrt(K) times one shard's (erratum 33)
    both : whether T knows the noise of the round that is judged, too (erratum 36)
    closed : whether what was given up is never made again (erratum 40)
    growth : end when the tree gained no more than this part in new nodes (erratum 40); 0: never
    """
    shut = np.zeros(0, dtype=np.int64)

    def decide(response: Heard, remaining: int) -> tuple[KeyTree, Heard]:
        nonlocal shut
        more = several(server)
        next_sd = sigma(to_epsilon(remaining)) * more
        t, _ = threshold_of(
            response.noise, next_sd, more, k=k, threshold=threshold, summed=summed, both=both
        )
        grown = response.sums > t
        lost = response.sums < collapse * t if collapse > 0 else response.sums <= 0
        return divided(response, grown.astype(np.int64), lost, shut if closed else None)

    def book(response: Heard, remaining: int) -> tuple[KeyTree, Heard]:
        nonlocal shut
        finer, response = decide(response, remaining)
        shut = np.union1d(shut, response.collapsed)
        return finer, response

    return scheduled(server, tree, c, b, book, rounds, growth)


def threshold_of(
    noise: float,
    next_sd: float,
    several: float,
    *,
    k: float,
    threshold: float | None,
    summed: bool,
    both: bool,
    **_others: Any,
) -> tuple[float, float]:
    """T of Eq. 6 in one of its readings, and the sigma that it is k times of."""
    sd = next_sd if summed else next_sd / several
    sd = math.hypot(noise, sd) if both else sd
    return (k * sd if threshold is None else threshold), sd


Decide = Callable[[Heard, int], tuple[KeyTree, Heard]]


def scheduled(
    server: Session,
    tree: KeyTree,
    c: float,
    b: float,
    decide: Decide,
    rounds: int | None = None,
    growth: float = GROWTH,
) -> Iterator[Heard]:
    """The schedule of Algorithm 2, Eq. 7 to 9: how much of epsilon each round is worth.

    target = c s / (v sqrt K)
    e = epsilon whose noise is target; go on with e if remaining >= b e, else take all, and end
    """
    remaining, grew = server.units, True
    for number in range(1, MOST_ROUNDS + 1):
        if rounds is None:
            units = _affordable(server, c * server.people / (tree.v * several(server)))
            # What is left must do for a round, too.
            enough = max(b * units, units + least(server.units, server.least_units))
            last = remaining < enough or number == MOST_ROUNDS or not grew
        else:
            units, last = server.units // rounds, number == rounds
        units = remaining if last else units
        response = server.ask(tree, server.people, units, fresh=False)
        remaining -= units
        if last:
            yield response
            return
        finer, response = decide(response, remaining)
        yield response
        tree, grew = finer, _grew(response, finer, growth)


def _affordable(server: Session, target: float) -> int:
    """The budget whose noise of one shard is `target`, and never a tiny one."""
    return max(to_units(min(epsilon_of(target), 1e3)), least(server.units, server.least_units))


def least(units: int, least_units: int) -> int:
    """The least price of a scheduled round, in 10^-12 epsilon."""
    return max(units // LEAST_PART, min(least_units, units), 1)


def refined(response: Heard, scale: float, next_sd: float, furthest: int) -> tuple[KeyTree, Heard]:
    """The tree divided where that pays for sums `scale` times as large with noise `next_sd`."""
    y = response.sums
    down = levels_down(
        response.tree, y, response.noise, np.maximum(y, 0.0) * scale, next_sd, furthest
    )
    if response.answered == 0:
        # Every shard was refused: nothing is known, so nothing is decided.
        down[:] = 0
    return divided(response, down, np.zeros(len(y), dtype=bool))


def divided(
    response: Heard, down: Ints, lost: NDArray[np.bool_], shut: Ints | None = None
) -> tuple[KeyTree, Heard]:
    """The next tree, and the round with what was divided and given up; all look at the old tree.

    `down` (v,) says by how many levels; what is `lost` (v,) is given up: the area falls to the
    nearest ancestor, the root stays. Keys in `shut` must not be made again.
    """
    tree = response.tree
    keys = tree.keys[tree.open]
    can = (down > 0) & (tree.level[tree.open] < tree.depth) & (response.answered > 0)
    gone = lost & ~can & (keys > 1) & (response.answered > 0)
    finer = tree.split(np.flatnonzero(can), down[can])
    if shut is not None:
        finer = finer.without(np.setdiff1d(shut, tree.keys))
    finer = finer.without(keys[gone])
    return finer, replace(response, split=keys[can], collapsed=keys[gone])


def fewest_people(v: int, c: float, noise: float, server: Session) -> int:
    """The smallest round whose sums say something of the mean cell, see `once`.

    For K shards it is v (1/2 + sqrt(1/4 + c^2 sigma^2 K / nu)) / c^2; more than all people where
    none is enough.
    """
    k = 1
    while True:
        root = math.sqrt(0.25 + c**2 * noise**2 * k / server.spread)
        s = max(SMALLEST, math.ceil(v * (0.5 + root) / c**2))
        if s <= k * server.shard or s > server.people:
            return s
        k = max(k + 1, shards(s, server.shard))


def several(server: Session) -> float:
    """Noise of a summed round of all people over that of one shard at its fewest survivors."""
    return math.sqrt(shards(server.people, server.shard) / server.spread)


def _grew(response: Heard, finer: KeyTree, growth: float = GROWTH) -> bool:
    """Whether a tree gained more than a part in new nodes; where no one was heard it may yet."""
    if growth <= 0 or response.answered == 0:
        return True
    new = len(np.setdiff1d(finer.keys, response.tree.keys, assume_unique=True))
    return new > growth * response.tree.v
