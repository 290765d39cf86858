"""Figures of a protocol: what dropouts cost, what a person sends, what the size of shards does."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from explorer.app.curator.screen import Screen
from explorer.app.federated.screen import chosen, released
from explorer.federated import calibration
from explorer.federated.asking import Protocol
from explorer.releases.units import to_units

Floats = NDArray[np.float64]

#: The curve ends where so small a part of the honest people is left.
LEAST_PART = 0.05
SIZES = (100, 1_000, 10_000, 100_000, 1_000_000)
#: Numbers in a vector, two to a factor of ten.
CELLS = np.round(10 ** np.arange(1, 6.01, 0.25))


@dataclass(frozen=True)
class Dropouts:
    """A shard of n people: what its sum would cost, by how many drop out.

    Attributes
    ----------
    size, fewest, honest : people; fewest survivors of a sum; honest ones its noise is made for
    epsilon : as chosen
    dropped, part, cost, floor : (k,) percent who drop out; a, the honest survivors over `honest`;
        epsilon of the sum; what that tends to as epsilon goes to 0
    """

    size: int
    fewest: int
    honest: int
    epsilon: float
    dropped: Floats
    part: Floats
    cost: Floats
    floor: Floats

    @property
    def refused(self) -> float:
        """Percent who drop out beyond which nothing is unmasked."""
        return 100.0 * (1 - self.fewest / self.size)


@dataclass(frozen=True)
class Size:
    """Shards of one size: how many, noise of a sum over all people, bytes of a person."""

    size: int
    shards: int
    noise: float
    neighbours: int
    protocol: int


@dataclass(frozen=True, eq=False)
class Figures:
    """All that the panel shows.

    Attributes
    ----------
    dropouts : Dropouts
    bits, protocol : of the last round, and bytes of its protocol without the vector
    cells, sent : (k,) numbers in a vector, and bytes that a person sends for them
    rounds : (r,) cells and bytes of this release's own rounds
    vectors : (r,) bytes of the vectors among them
    sizes : shards of several sizes
    people : who are asked in all
    """

    screen: Screen
    dropouts: Dropouts
    bits: int
    protocol: int
    cells: Floats
    sent: Floats
    rounds: tuple[Floats, Floats]
    vectors: Floats
    sizes: tuple[Size, ...]
    people: int

    @property
    def even(self) -> int:
        """Numbers whose bytes are as many as those of the protocol."""
        return math.ceil(8 * self.protocol / self.bits)


def find_figures(screen: Screen) -> Figures:
    """The figures of the release on screen; every one of them is public."""
    release, mechanism = released(screen), chosen(screen)
    rows = [row for row in release.heard if row.bits]
    people = round(release.facts["asked"])
    size = min(mechanism.shard, people)
    degree, _ = calibration.neighbours(size, mechanism.dropped, mechanism.corrupt)
    protocol = calibration.bytes_up(0, 1, degree)
    bits = rows[-1].bits if rows else 16
    sent = np.array([float(calibration.bytes_up(int(v), bits, degree)) for v in CELLS])
    return Figures(
        screen=screen,
        dropouts=dropouts(size, mechanism.dropped, mechanism.corrupt, mechanism.epsilon),
        bits=bits,
        protocol=protocol,
        cells=CELLS,
        sent=sent,
        rounds=(
            np.array([float(row.cells) for row in rows]),
            np.array([row.bytes_up for row in rows]),
        ),
        vectors=np.array([float(-(-row.cells * row.bits // 8)) for row in rows]),
        sizes=tuple(
            _size(n, people, mechanism.dropped, mechanism.corrupt, mechanism.epsilon)
            for n in sorted({min(n, people) for n in SIZES})
            if calibration.fewest(n, mechanism.dropped) - math.ceil(mechanism.corrupt * n) >= 1
        ),
        people=people,
    )


def dropouts(size: int, dropped: float, corrupt: float, epsilon: float) -> Dropouts:
    """What the sum of a shard would cost, as more and more people drop out."""
    honest = calibration.honest(size, dropped, corrupt)
    bad = math.ceil(corrupt * size - 1e-9)
    limit = 1 - (LEAST_PART * honest + bad) / size
    gone = np.linspace(0.0, max(limit, 0.01), 61)
    part = np.maximum((1 - gone) * size - bad, 1e-9) / honest
    return Dropouts(
        size=size,
        fewest=calibration.fewest(size, dropped),
        honest=honest,
        epsilon=epsilon,
        dropped=100 * gone,
        part=part,
        cost=np.array([calibration.epsilon_of_fewer(epsilon, float(a)) for a in part]),
        floor=np.array([calibration.floor_of_fewer(float(a)) for a in part]),
    )


def _size(size: int, people: int, dropped: float, corrupt: float, epsilon: float) -> Size:
    """Everybody in one round, in shards of one size."""
    plan = Protocol(max(size, 2), dropped, corrupt).round(people, to_units(epsilon), 1)
    shape = plan.shards * (people / plan.shards) * (1 - dropped) / plan.honest
    return Size(
        size=size,
        shards=plan.shards,
        noise=plan.sd(shape),
        neighbours=plan.degree,
        protocol=calibration.bytes_up(0, 1, plan.degree),
    )
