"""A made-up town on a small square, and a server that adds noise of the summed law."""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray

from explorer.federated import calibration
from explorer.federated.asking import Asking, Protocol
from explorer.federated.people import People
from explorer.federated.session import Session
from explorer.points.matrix import FrequencyMatrix
from explorer.releases.quarters import KeyTree, interleave
from explorer.releases.rounds import Heard
from explorer.releases.units import to_epsilon


def town(side: int = 64, people: int = 40_000, seed: int = 0) -> NDArray[np.int64]:
    """Counts of a town: half of the people along a street, half in a wide suburb."""
    rng = np.random.default_rng(seed)
    half = people // 2
    street = np.stack([np.full(half, side // 3), rng.integers(0, side, half)])
    suburb = np.clip(rng.normal(0.6 * side, side / 8, (2, people - half)), 0, side - 1)
    rows, cols = np.concatenate([street, suburb.astype(np.int64)], axis=1)
    return np.bincount(rows * side + cols, minlength=side * side).reshape(side, side)


class Bench:
    """A `Session` over exact codes, without protocol: what plans are tested with."""

    def __init__(
        self,
        counts: NDArray[np.int64],
        epsilon: float = 1.0,
        people: int | None = None,
        shard: int = 10_000,
        noise: bool = True,
        refuse: tuple[int, ...] = (),
        seed: int = 0,
    ) -> None:
        rows, cols = np.nonzero(counts)
        self.codes = np.repeat(interleave(cols, rows), counts[rows, cols])
        self.depth = int(max(counts.shape) - 1).bit_length()
        self.rng = np.random.default_rng(seed)
        self.people = len(self.codes) if people is None else people
        self.units, self.shard, self.spread = round(epsilon * 10**12), shard, 1.0
        self.noise, self.refuse, self.least_units = noise, refuse, 10**8
        self.asked: list[tuple[int, int, bool]] = []
        self.order, self.used = self.rng.permutation(len(self.codes)), 0

    def ask(self, tree: KeyTree, people: int, units: int, fresh: bool) -> Heard:
        if fresh:
            who = self.order[self.used : self.used + people]
            self.used += people
        else:
            who = self.rng.choice(len(self.codes), people, replace=False)
        self.asked.append((people, units, fresh))
        k = calibration.shards(people, self.shard)
        sums = np.bincount(tree.index(self.codes[who]), minlength=tree.v).astype(np.float64)
        epsilon = to_epsilon(units)
        sd = calibration.sigma(epsilon) * math.sqrt(k)
        if self.noise:
            chance = -math.expm1(-epsilon)
            plus, minus = self.rng.negative_binomial(k, chance, (2, tree.v))
            sums += plus - minus
        answered = people
        if len(self.asked) in self.refuse:
            sums[:], answered = 0.0, 0
        return Heard(
            cells=tree.v, people=people, answered=answered, units=units,
            noise=sd if self.noise else 0.0, shards=k, tree=tree, sums=sums,
        )  # fmt: skip


def session(seed: int = 1, epsilon: float = 1.0, people: int = 60_000) -> Session:
    """The server of a preview about a town of 60,000 people and 128 x 128 cells."""
    everybody = People.of_matrix(FrequencyMatrix.from_array(town(128, 60_000)))
    asking = Asking(everybody, Protocol(10_000, 0.0, 0.0), round(epsilon * 10**12), seed, "summed")
    return Session(asking, people, everybody.depth, (128, 128))
