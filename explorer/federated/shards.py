"""A round, shard by shard: who is in it, who is left, what they add up to."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from explorer.federated import calibration
from explorer.federated.people import People
from explorer.federated.protocol import Round
from explorer.releases.units import to_epsilon

Ints = NDArray[np.int64]


class Asked(Protocol):
    """What a round needs of a question."""

    @property
    def counters(self) -> int:
        """v, nodes that are counted."""

    def owner(self, cells: NDArray[np.integer]) -> NDArray[np.integer]:
        """The counter of each cell, -1 for none."""


@dataclass(frozen=True)
class Shard:
    """What one shard did, for the audit: its `exact` and `noisy` sums are exact data.

    Attributes
    ----------
    round, number : which round of the run, which shard of the round
    members, survivors : (n,) and (m,) people
    counters : numbers of a vector
    shape : m / n_min of the noise
    units, sensitivity : the round's price and S
    exact, noisy : (v,) sums of the survivors before and after noise and modulus; None if refused
    """

    round: int
    number: int
    members: Ints
    survivors: Ints
    counters: int
    shape: float
    units: int
    sensitivity: int
    exact: Ints | None
    noisy: Ints | None


@dataclass(frozen=True)
class Roll:
    """Who of a round is in which shard and has not dropped out.

    Attributes
    ----------
    starts : (K + 1,) first member of each shard
    there : (s,) whose vector arrives
    survivors : (K,) how many, shard by shard
    kept : (K,) whether the shard has enough of them
    """

    starts: Ints
    there: NDArray[np.bool_]
    survivors: Ints
    kept: NDArray[np.bool_]

    @classmethod
    def of(cls, plan: Round, there: NDArray[np.bool_]) -> Roll:
        """The roll of those who are `there`."""
        starts = calibration.shard_of(plan.asked, plan.shards)
        survivors = np.add.reduceat(there, starts[:-1], dtype=np.int64)
        return cls(starts, there, survivors, survivors >= plan.fewest)

    @property
    def answered(self) -> int:
        """People whose vectors are in a sum."""
        return int(self.survivors[self.kept].sum())

    @property
    def positions(self) -> Ints:
        """Members whose vectors are in a sum, (answered,), shard by shard."""
        kept = np.repeat(self.kept, np.diff(self.starts))
        return np.flatnonzero(self.there & kept)


def summed(
    people: People,
    question: Asked,
    plan: Round,
    members: Ints,
    roll: Roll,
    words: NDArray[np.uint64],
    random: np.random.Generator,
) -> Ints:
    """One draw a counter for all shards: NB(a) - NB(a), a = sum of m / n_min, in floats.

    The law of the sum of all shares of the round; shards cannot be seen apart, nothing wraps
    round. For previews: floats are no proof of a law.

    Returns
    -------
    (v,) int64
    """
    there, nodes = roll.positions, question.counters
    _, index, value = people.entries(
        members[there], question.owner, question.counters, words[there]
    )
    exact = np.bincount(index, weights=value, minlength=plan.counters).astype(np.int64)
    shape = roll.answered / plan.honest
    if shape == 0:
        return exact
    chance = -np.expm1(-to_epsilon(plan.units) / plan.sensitivity)
    plus, minus = random.negative_binomial(shape, chance, (2, plan.counters))
    return exact + plus - minus
