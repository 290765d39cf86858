"""Replay audit of a run of rounds: the same sums on two neighbouring sets of people.

A run is made on some people while every shard is written down; then again on neighbours, one
person's vector being zero, with the written sums forced. Both must ask the same people the same
questions in the same shards with the same noise, and publish the same, tree and all; and over all
shards the log-ratio of the probabilities of the sums, under the distribution as drawn, is at most
epsilon. Whatever a run does with sums, refine, stop, infer, is tested with it.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from explorer.federated.asking import Asking
from explorer.federated.people import People
from explorer.federated.places import Ints
from explorer.federated.shards import Hook, Shard
from explorer.privacy.audit.loss import Breach
from explorer.privacy.audit.surface import difference
from explorer.releases.units import UNITS_PER_EPSILON, to_epsilon

Start = Callable[[People, Hook], Asking]
"""Begins a run with a seed of its own: the same for both sets of people."""

Run = Callable[[Asking], Any]
"""Asks as it likes; returns all that is published."""

STYLES = ("fair", "still", "up", "down")
"""Sums as drawn; without noise; with noise above zero; below zero: possible outcomes all."""

ROUNDING = 1e-9
"""Logarithms are floats: a loss may pass epsilon by this part of it."""


@dataclass
class Recorder:
    """Writes down every shard; gives its sums in one of the `STYLES`."""

    style: str

    def __post_init__(self) -> None:
        self.shards: list[Shard] = []
        self.noise: list[Ints | None] = []

    def __call__(self, shard: Shard) -> Ints | None:
        """See `shards.Hook`."""
        if shard.exact is None or shard.noisy is None:
            self.shards.append(shard)
            self.noise.append(None)
            return None
        noise = shard.noisy - shard.exact
        self.noise.append(noise)
        sums = {
            "fair": shard.noisy,
            "still": shard.exact,
            "up": shard.exact + np.abs(noise),
            "down": shard.exact - np.abs(noise),
        }[self.style]
        self.shards.append(replace(shard, noisy=sums))
        return sums.copy()


class Replayer:
    """Forces written sums, and adds up how much likelier they were where they were written.

    `corrupt` is the share of a shard's people whose noise the server knows and takes off; without
    `neighbours`, where many vectors differ, no likelihood is worked out.
    """

    def __init__(self, recorder: Recorder, corrupt: float = 0.0, neighbours: bool = True) -> None:
        self.shards, self.noise, self.corrupt = recorder.shards, recorder.noise, corrupt
        self.position, self.loss, self._neighbours = 0, 0.0, neighbours

    def __call__(self, shard: Shard) -> Ints | None:
        """See `shards.Hook`; raises a Breach for another question."""
        if self.position == len(self.shards):
            raise Breach(f"the neighbours are asked once more, in round {shard.round}")
        written, drawn = self.shards[self.position], self.noise[self.position]
        self.position += 1
        where = difference(_question(written), _question(shard), "the question")
        if where is not None:
            raise Breach(f"{where} of round {shard.round} differs")
        if shard.exact is None or written.exact is None or written.noisy is None:
            return None
        if shard.noisy is None or not np.array_equal(shard.noisy - shard.exact, drawn):  # type: ignore[arg-type]
            raise Breach(f"the noise of round {shard.round} differs")
        if self._neighbours:
            self.loss += self._loss(shard, written.exact, shard.exact, written.noisy)
        return written.noisy.copy()

    def _loss(self, shard: Shard, one: Ints, other: Ints, noisy: Ints) -> float:
        price = self._shape(shard), shard.units, shard.sensitivity
        # Where both are the same they cancel; few differ.
        moved = np.flatnonzero(one != other)
        here = log_probability(noisy[moved] - one[moved], *price)
        there = log_probability(noisy[moved] - other[moved], *price)
        return float((here - there).sum())

    def _shape(self, shard: Shard) -> float:
        """Shape of the noise that the server does not know: at least one honest share."""
        n_corrupt = math.floor(self.corrupt * len(shard.members) + 1e-9)
        survivors = int(np.count_nonzero(shard.there))
        return shard.shape * max(survivors - n_corrupt, 1) / survivors

    def finish(self) -> None:
        """Refuse a run that asked for less than was written."""
        if self.position < len(self.shards):
            raise Breach("the neighbours are asked less")


def replay(start: Start, run: Run, people: People, person: int, style: str = "fair") -> float:
    """Run on some people and on their neighbours; returns the loss as a part of epsilon.

    Raises
    ------
    Breach
        For a question or an output that differs, or a loss above epsilon.
    """
    recorder = Recorder(style)
    asking = start(people, recorder)
    published = run(asking), asking.ledger
    replayer = Replayer(recorder)
    other = start(people.without(person), replayer)
    where = difference(published, (run(other), other.ledger), "the output")
    replayer.finish()
    if where is not None:
        raise Breach(f"{where} differs")
    part = abs(replayer.loss) / to_epsilon(asking.units)
    if part > 1.0 + ROUNDING:
        raise Breach(f"a loss of {part:.4f} epsilon")
    return part


def _question(shard: Shard) -> tuple[Any, ...]:
    """What is public of a shard: all but its sums."""
    return (
        shard.round,
        shard.number,
        shard.members,
        shard.there,
        shard.counters,
        shard.shape,
        shard.units,
        shard.sensitivity,
        shard.exact is None,
    )


Floats = NDArray[np.float64]


def log_probability(noise: Ints, shape: float, units: int, sensitivity: int = 1) -> Floats:
    """Logarithm of the probability of each noise, the difference of two NB(a, q), (n,).

    2a ln(1-q) + |z| ln q + ln Gamma(a+|z|) - ln Gamma(a) - ln |z|! + ln F(a, a+|z|; |z|+1; q^2),
    F = 2F1, q = exp(-epsilon / S), a = m / n_min of m survivors. For a = 1 it is discrete Laplace
    noise, ln((1-q)/(1+q)) + |z| ln q.

    Parameters
    ----------
    noise : z, whole numbers
    shape : a, above 0
    units, sensitivity : price in 10^-12 epsilon, S

    >>> float(np.exp(log_probability(np.array([0]), 1.0, 10**12))[0]).__round__(6)
    0.462117
    """
    from scipy.special import gammaln, hyp2f1

    decay = units / (UNITS_PER_EPSILON * sensitivity)
    q = math.exp(-decay)
    sizes, where = np.unique(np.abs(noise), return_inverse=True)
    z = sizes.astype(np.float64)
    log = 2.0 * shape * math.log(-math.expm1(-decay)) - z * decay
    log += gammaln(shape + z) - gammaln(shape) - gammaln(z + 1.0)
    log += np.log(hyp2f1(shape, shape + z, z + 1.0, q * q))
    result: Floats = log[where.reshape(np.shape(noise))]
    return result
