"""A round, shard by shard: who is in it, who is left, what they add up to."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np
from numba import njit
from numpy.typing import NDArray

from explorer.federated import calibration
from explorer.federated.inverse import Share
from explorer.federated.people import People
from explorer.federated.places import Ints, Question, Whole
from explorer.federated.protocol import Round
from explorer.federated.shamir import Bytes
from explorer.federated.shares import Shares, Stream, expected, shares
from explorer.releases.units import to_epsilon

if TYPE_CHECKING:
    from explorer.federated.aggregation import Seen

SHARES_AT_ONCE = 400_000
"""Non-zero shares in memory: 30 MB with their random words."""

SUMS_AT_ONCE = 2_000_000
"""Counters of shards in memory, 16 MB; those of one shard at least."""


@dataclass(frozen=True)
class Shard:
    """What one shard did, for the audit: exact data."""

    # round, number: which round of the run, which shard of the round
    round: int
    number: int
    members: Whole  # (n,) people asked
    there: NDArray[np.bool_]  # (n,) whose vectors arrived
    counters: int  # v, numbers of a vector
    shape: float  # m / n_min of the noise
    # units, sensitivity: the round's price and S
    units: int
    sensitivity: int
    exact: Ints | None = None  # (v,) sums of the survivors; None of a refused shard
    noisy: Ints | None = None  # (v,) the same with their shares of the noise


Hook = Callable[[Shard], Ints | None]
"""Sees a shard, and may give another outcome in place of the noisy one (audit alone)."""


@dataclass(frozen=True)
class Roll:
    """Who of a round is asked, is in which shard, and has not dropped out."""

    members: Whole  # (s,) people, shard by shard
    there: NDArray[np.bool_]  # (s,) whose vectors arrive
    words: NDArray[np.uint64]  # (s,) a random word of each, for rounding her shares of visits
    starts: Ints  # (K + 1,) first member of each shard
    survivors: Ints  # (K,) how many, shard by shard
    kept: NDArray[np.bool_]  # (K,) whether the shard has enough of them

    @classmethod
    def of(
        cls, plan: Round, members: Whole, there: NDArray[np.bool_], words: NDArray[np.uint64]
    ) -> Roll:
        """The roll of a round."""
        starts = calibration.shard_of(plan.asked, plan.shards)
        survivors = np.add.reduceat(there, starts[:-1], dtype=np.int64)
        return cls(members, there, words, starts, survivors, survivors >= plan.fewest)

    @property
    def answered(self) -> int:
        """People whose vectors are in a sum."""
        return int(self.survivors[self.kept].sum())

    def without(self, lost: Ints) -> Roll:
        """The same with some more shards refused."""
        accepted = self.kept.copy()
        accepted[lost] = False
        return replace(self, kept=accepted)

    def groups(self, limit: int) -> Iterator[Group]:
        """Shards that are not refused, at most so many at a time, one at least."""
        accepted, limit = np.flatnonzero(self.kept), max(1, limit)
        for begin in range(0, len(accepted), limit):
            numbers = accepted[begin : begin + limit]
            parts = [self.there_of(k) for k in numbers]
            shard_index = np.repeat(np.arange(len(numbers)), self.survivors[numbers])
            yield Group(self, numbers, np.concatenate(parts), shard_index)

    def there_of(self, k: int) -> Ints:
        """Positions of a shard's survivors among all who were asked."""
        result: Ints = self.starts[k] + np.flatnonzero(self.there[self.of_shard(k)])
        return result

    def of_shard(self, k: int) -> slice:
        """Positions of a shard among all who were asked."""
        return slice(int(self.starts[k]), int(self.starts[k + 1]))


@dataclass(frozen=True)
class Group:
    """Some shards at a time."""

    roll: Roll  # of the whole round
    numbers: Ints  # (g,) which of its shards
    positions: Ints  # (m,) their survivors, as positions among all who were asked
    shard: Ints  # (m,) which of the g each is in, rising

    def entries(self, people: People, question: Question) -> tuple[Ints, Ints, Ints]:
        """Exact vectors: survivor (a position in `positions`), counter, value."""
        roll, there = self.roll, self.positions
        return people.entries(
            roll.members[there], question.owner, question.counters, roll.words[there]
        )

    def shares(self, plan: Round, source: Stream) -> Iterator[Shares]:
        """Their shares of the noise, in parts that fit into memory."""
        share = Share(plan.units, plan.sensitivity, plan.honest)
        survivors, per_survivor = len(self.positions), expected(share, 1, plan.counters)
        at_once = max(1, int(min(SHARES_AT_ONCE / max(per_survivor, 1e-9), survivors)))
        for begin in range(0, survivors, at_once):
            part = shares(share, min(at_once, survivors - begin), plan.counters, source)
            yield Shares(part.person + begin, part.cell, part.value)


class Total:
    """Sums of shards, decoded and added up: `values` (v,), and how many sums did not fit."""

    def __init__(self, plan: Round) -> None:
        self._plan = plan
        self.values = np.zeros(plan.counters, dtype=np.int64)
        self.overflow = 0

    def add(self, sums: Ints, overflow: int | None = None) -> None:
        """Add the sums of some shards, (g, v), as they were before the modulus or are after it.

        Each is read as the number of [-L, 2^b - L) that is equal to it modulo 2^b: counts are not
        negative, so only the noise needs space below 0. `overflow` is given where the modulus
        hides how many did not fit.
        """
        other = int(_decode(sums, self._plan.bits, self._plan.low, self.values))
        self.overflow += other if overflow is None else overflow


def ideal(
    people: People,
    question: Question,
    plan: Round,
    roll: Roll,
    source: Stream,
    hook: Hook | None = None,
    number: int = 0,
) -> Total:
    """What an ideal aggregator gives: sums of shards modulo 2^b, every person with her own share.

    `hook` is told of every shard, and which round (`number`) it is of.
    """
    total = Total(plan)
    if hook is not None:
        for k in np.flatnonzero(~roll.kept):
            hook(seen(plan, roll, int(k), number))
    for group in roll.groups(SUMS_AT_ONCE // plan.counters):
        sums = np.zeros((len(group.numbers), plan.counters), dtype=np.int64)
        _add(sums, group.shard, *group.entries(people, question))
        exact = None if hook is None else sums.copy()
        for part in group.shares(plan, source):
            _add(sums, group.shard, part.person, part.cell, part.value)
        if hook is not None and exact is not None:
            for row, k in enumerate(group.numbers):
                other = hook(seen(plan, roll, int(k), number, exact[row], sums[row].copy()))
                sums[row] = sums[row] if other is None else other
        total.add(sums)
    return total


def masked(
    people: People,
    question: Question,
    plan: Round,
    roll: Roll,
    source: Stream,
    random: Bytes,
    keep: Callable[[Seen], None] | None = None,
) -> tuple[Total, Ints]:
    """The same sums behind masks: every shard goes through secure aggregation.

    The shares are drawn from the same words as in `ideal`, so both give equal sums bit for bit;
    `random` is for keys, seeds, rings and boxes. `keep` is told what the server saw of one survivor
    of each shard. Returns the total, and the shards that were refused because too few answered.
    """
    from explorer.federated.aggregation import KEYS, VECTOR, Refused, Vectors, aggregate, wrapped

    total, lost = Total(plan), []
    for group in roll.groups(SUMS_AT_ONCE // plan.counters):
        counts = group.entries(people, question)
        parts = list(group.shares(plan, source))
        noise = tuple(
            np.concatenate([getattr(part, name) for part in parts])
            for name in ("person", "cell", "value")
        )
        ends = np.searchsorted(group.shard, np.arange(len(group.numbers) + 1))
        for row, k in enumerate(group.numbers):
            in_shard = roll.of_shard(k)
            there = roll.there[in_shard]
            # Half of those who drop out have not sent their shares yet.
            last = np.where(there, VECTOR + 1, KEYS + roll.words[in_shard].astype(np.int64) % 2)
            position = np.flatnonzero(there)
            own_counts, own_noise = (
                Vectors(position[who[chosen] - ends[row]], index[chosen], value[chosen])
                for who, index, value in (counts, noise)
                for chosen in [(who >= ends[row]) & (who < ends[row + 1])]
            )
            ring = ordered(len(there), random)
            watched = None if keep is None else int(position[0])
            try:
                aggregated = aggregate(plan, own_counts, own_noise, last, ring, random, watched)
            except Refused:
                lost.append(int(k))
                continue
            if keep is not None and aggregated.seen is not None:
                keep(aggregated.seen)
            total.add(aggregated.total[np.newaxis], wrapped(plan, own_counts, own_noise))
    return total, np.array(lost, dtype=np.int64)


def ordered(size: int, random: Bytes) -> Ints:
    """The numbers 0 to n - 1 in random order."""
    keys = np.frombuffer(random(16 * size), dtype=[("a", "<u8"), ("b", "<u8")])
    return np.argsort(keys, order=("a", "b"))


def summed(
    people: People, question: Question, plan: Round, roll: Roll, random: np.random.Generator
) -> Ints:
    """One draw a counter for all shards: NB(a) - NB(a), a = sum of m / n_min, in floats.

    The distribution of the sum of all shares of the round; shards cannot be told from each other,
    nothing wraps round. For previews: floats do not prove a distribution.
    """
    exact = np.zeros(plan.counters, dtype=np.int64)
    for group in roll.groups(len(roll.kept)):
        _, index, value = group.entries(people, question)
        _count(exact, index, value)
    if roll.answered == 0:
        return exact
    chance = -np.expm1(-to_epsilon(plan.units) / plan.sensitivity)
    size = (2, plan.counters)
    plus, minus = random.negative_binomial(roll.answered / plan.honest, chance, size)
    return exact + plus - minus


def seen(
    plan: Round,
    roll: Roll,
    k: int,
    number: int,
    exact: Ints | None = None,
    noisy: Ints | None = None,
) -> Shard:
    """A shard as the audit sees it; without sums it was refused."""
    in_shard = roll.of_shard(k)
    shape = float(roll.survivors[k] / plan.honest)
    who = roll.members[in_shard], roll.there[in_shard]
    price = plan.units, plan.sensitivity
    return Shard(number, k, *who, plan.counters, shape, *price, exact, noisy)


@njit(cache=True, nogil=True)
def _add(sums, shard, person, index, value):  # type: ignore[no-untyped-def]
    for i in range(len(person)):
        sums[shard[person[i]], index[i]] += value[i]


@njit(cache=True, nogil=True)
def _count(sums, index, value):  # type: ignore[no-untyped-def]
    for i in range(len(index)):
        sums[index[i]] += value[i]


@njit(cache=True, nogil=True)
def _decode(sums, bits, low, values):  # type: ignore[no-untyped-def]
    modulus = np.int64(1) << bits
    overflow = 0
    for k in range(sums.shape[0]):
        for i in range(sums.shape[1]):
            wrapped = sums[k, i] & (modulus - 1)
            if wrapped >= modulus - low:
                wrapped -= modulus
            overflow += wrapped != sums[k, i]
            values[i] += wrapped
    return overflow
