"""Who learns what of one person in a real masked shard, and what is left when people fail.

The shares of a shard are made for n_min honest survivors: as many as are left when no more people
drop out and tell than was agreed. With fewer, a = honest survivors / n_min < 1, the sum costs
eps(a) and not epsilon, and below a half no noise a person could add repairs it (`calibration`,
heatmaps-2022 Lemma 5.1 with erratum 43). A shard of too few survivors is refused instead.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from explorer.federated import calibration
from explorer.federated.asking import Question
from explorer.federated.people import People
from explorer.federated.protocol import Protocol, Round
from explorer.federated.shards import Roll, masked
from explorer.federated.shares import Stream, new_key
from explorer.releases.quarters import KeyTree
from explorer.releases.units import to_epsilon, to_units

if TYPE_CHECKING:
    from explorer.federated.aggregation import Seen

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]

DROPPED, CORRUPT = 0.1, 0.05
"""What people agreed to expect, as `Federated` does unless it is told otherwise."""
LEVEL = 3
"""Everybody says in which of 4^3 cells she is."""
MANY = 100_000
"""People who are put into shards of several sizes for a comparison."""


@dataclass(frozen=True, eq=False)
class Shared:
    """One masked shard, and what it costs those in it.

    Attributes
    ----------
    plan : the round's public figures
    survivors : people whose vectors arrived
    corrupt : survivors who tell the server their shares of the noise
    total : (v,) the shard's sum with its noise, decoded; None if it was refused
    exact : (v,) the same without noise
    seen : the part of the first person, who is honest; None if it was refused
    """

    plan: Round
    survivors: int
    corrupt: int
    total: Ints | None
    exact: Ints
    seen: Seen | None

    @property
    def epsilon(self) -> float:
        """What was agreed."""
        return to_epsilon(self.plan.units)

    @property
    def honest(self) -> int:
        """Survivors whose shares of the noise no one else knows."""
        return max(0, self.survivors - self.corrupt)

    @property
    def part(self) -> float:
        """a: honest shares in the sum over those that the noise was made for."""
        return self.honest / self.plan.honest

    @property
    def refused(self) -> bool:
        """Whether nothing was unmasked."""
        return self.total is None

    @property
    def noise(self) -> float:
        """Standard deviation of what all survivors' shares add to each number."""
        return self.plan.sd(self.survivors / self.plan.honest)

    @property
    def loss(self) -> float:
        """What the sum would cost an honest person, against those who know the corrupt shares."""
        return self.costs(self.honest)

    def costs(self, honest: int) -> float:
        """The loss with so many honest shares in the sum; infinite without any."""
        if honest < 1:
            return math.inf
        return calibration.epsilon_of_fewer(self.epsilon, honest / self.plan.honest)

    @property
    def unmasked(self) -> float:
        """Chance that t of her k neighbours are corrupt, who could rebuild her secrets together."""
        from scipy.stats import hypergeom

        plan = self.plan
        others = min(self.corrupt, plan.asked - 1)
        return float(hypergeom.sf(plan.threshold - 1, plan.asked - 1, others, plan.degree))

    def curve(self) -> tuple[Floats, Floats, Floats]:
        """Honest shares 1 to n, the loss with each, and the floor that no epsilon goes below."""
        honest = np.arange(1, self.plan.asked + 1)
        loss = np.array([self.costs(int(count)) for count in honest])
        floor = np.array([calibration.floor_of_fewer(count / self.plan.honest) for count in honest])
        return honest.astype(np.float64), loss, floor


def in_a_shard(
    people: People,
    epsilon: float,
    size: int,
    dropped: float,
    corrupt: float,
    person: int = 0,
    seed: int = 0,
) -> Shared:
    """Put people into one shard and run secure aggregation, as a preview.

    Parameters
    ----------
    people : People, `size` or more
    epsilon : that was agreed
    size : people of the shard
    dropped, corrupt : parts of it who really drop out, and who really tell the server; what was
        agreed is `DROPPED` and `CORRUPT`. The watched person does neither.
    person : who is watched, another for each number
    seed : of noise and masks
    """
    size = min(size, len(people))
    level = min(LEVEL, people.depth)
    tree = KeyTree.even(people.depth, level)
    question = Question(
        tree.runs[0] << 2 * (people.depth - tree.depth), tree.run_index, tree.v, people.depth
    )
    plan = Protocol(max(size, 2), DROPPED, CORRUPT).round(size, to_units(epsilon), tree.v)
    random = np.random.default_rng([0x7125, person])
    members = random.choice(len(people), size, replace=False)
    there = np.ones(size, dtype=bool)
    gone = min(round(dropped * size), size - 1)
    there[size - gone :] = False
    words = random.integers(0, 2**64, size, dtype=np.uint64)
    roll = Roll.of(plan, members, there, words)
    views: list[Seen] = []
    key = new_key(seed)
    total, _ = masked(
        people, question, plan, roll, Stream(key, 0), Stream(key, 1).bytes, views.append
    )
    survivors = size - gone
    _, index, value = people.entries(members[there], question.owner, tree.v, words[there])
    exact = np.bincount(index, weights=value, minlength=tree.v).astype(np.int64)
    telling = min(round(corrupt * size), survivors - 1)
    total_known = total.values if views else None
    return Shared(plan, survivors, telling, total_known, exact, views[0] if views else None)


@dataclass(frozen=True)
class Cut:
    """Many people in shards of one size.

    Attributes
    ----------
    size, shards : people of a shard, and how many there are
    plan : figures of the round
    """

    size: int
    shards: int
    plan: Round

    @property
    def noise(self) -> float:
        """Standard deviation in each number of the sum over all shards, with no one missing."""
        return self.plan.sd(self.plan.asked / self.plan.honest)


def in_shards(epsilon: float, sizes: tuple[int, ...] = (100, 1_000, 10_000, 100_000)) -> list[Cut]:
    """`MANY` people in shards of several sizes, each asked about 4^3 cells."""
    protocols = {size: Protocol(size, DROPPED, CORRUPT) for size in sizes}
    plans = {n: p.round(MANY, to_units(epsilon), 4**LEVEL) for n, p in protocols.items()}
    return [Cut(size, plan.shards, plan) for size, plan in plans.items()]
