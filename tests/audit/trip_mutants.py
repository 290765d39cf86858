"""Planted bugs of trip mechanisms, on counts of four dimensions.

As in `mutants`: bugs that spend too much sit behind a curator that does not look.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import numpy as np

from explorer.mechanisms import EUG, DAFEntropy, DAFHomogeneity, Mechanism
from explorer.points.matrix import FrequencyMatrix
from explorer.points.split_costs import LATTICE_BITS, SENSITIVITY
from explorer.privacy import curator as curators
from explorer.privacy import partitions
from explorer.privacy.audit.replay import Publish
from explorer.privacy.curator import Curator
from explorer.releases.release import Release
from explorer.releases.units import to_units
from explorer.testing.counts import counted, folded
from explorer.trips import matrix as matrices
from explorer.trips.index import Index
from explorer.trips.matrix import TripMatrix
from tests.audit.mutants import QUESTION, Cooked, EmptyLeavesDropped, Exact, Mutant

DIMENSIONS = 4


def in_four(matrix: FrequencyMatrix) -> TripMatrix:
    """Return the cells of a map as cells of four dimensions."""
    wide = counted(folded(matrix.counts, DIMENSIONS), matrix.contribution_bound)
    assert isinstance(wide, TripMatrix)
    return wide


def front_door(mechanism: Mechanism) -> Publish:
    return lambda matrix, source: mechanism.release(in_four(matrix), rng=source)


def behind(desk: type[Curator]) -> Callable[[Mechanism], Publish]:
    """Run a mechanism's plan on a curator of another kind, in four dimensions."""

    def publish(mechanism: Mechanism) -> Publish:
        def run(matrix: FrequencyMatrix, source: Any) -> Release:
            wide = in_four(matrix)
            curator = desk(wide, to_units(mechanism.epsilon), source)
            return Release.from_estimate(
                mechanism.plan(curator),
                inside="uniform",
                mechanism=mechanism.key,
                parameters={},
                units=curator.units,
                preview=True,
                domain=wide.domain,
                unit=wide.unit,
                contribution_bound=wide.contribution_bound,
                ledger=tuple(curator.ledger),
            )

        return run

    return publish


class TrueTotal(Exact):
    """Budgets and the first fan-out follow from the true total; the noisy one is published."""

    def count(self, regions, units, stage):
        noisy = super().count(regions, units, stage)
        at_root = stage in ("levels", "total") and regions.ids[0] == 0
        return self.truth(regions) if at_root else noisy


class TrueStops(Exact):
    """Nodes stop and are cut by their true counts; noisy ones are published."""

    def count(self, regions, units, stage):
        noisy = super().count(regions, units, stage)
        below = stage == "levels" and regions.ids[0] > 0
        return self.truth(regions) if below else noisy


class LeavesTakeAllAgain(Cooked):
    """The last draw takes the whole budget, whatever the path has spent."""

    def count(self, regions, units, stage):
        return super().count(regions, self.units if stage == "leaves" else units, stage)


class CutsForNothing(Cooked):
    """What the evaluation of candidates costs is on no account."""

    def _charge(self, regions, units, stage):
        if stage != "cuts":
            return super()._charge(regions, units, stage)
        paid = np.broadcast_to(np.asarray(units, dtype=np.int64), len(regions)).copy()
        super()._charge(regions, 0 * paid, stage)
        return paid


class CutsWhereDataLies(Exact):
    """Candidates lie between the first and the last record of a region."""

    def partition(self, regions, axis, parts, *asked):
        where, chosen = self.matrix.cells, regions.select(parts > 1)
        right = partitions.Offers.of

        def of(keys, low, high, number, p):
            low, high = low.copy(), high.copy()
            for i in range(len(low)):
                inside = np.all((where >= chosen.lower[i]) & (where < chosen.upper[i]), axis=1)
                found = where[inside, axis]
                if len(found) and found.max() + 1 - found.min() >= number[i]:
                    low[i], high[i] = found.min(), found.max() + 1
            return right(keys, low, high, number, p)

        partitions.Offers.of = staticmethod(of)
        try:
            return super().partition(regions, axis, parts, *asked)
        finally:
            partitions.Offers.of = right


@contextmanager
def instead(owner: Any, name: str, wrong: Any) -> Iterator[None]:
    """Put something wrong in a place for a while."""
    right = vars(owner)[name]
    setattr(owner, name, wrong)
    try:
        yield
    finally:
        setattr(owner, name, right)


def printed_noise(noise, rule, costs, sensitivity, units, keys, stage):
    """Line 14 as printed: Lap(2 / (p eps_prt)) for Lap(2 p / eps_prt)."""
    return _least(noise, rule, costs, sensitivity, units * costs.shape[1] ** 2, keys, stage)


_least = partitions.least


def occupied_only(self, lower, upper, axis, owner, start, stop):
    """The sparse shortcut: distances from the mean of the occupied cells alone."""
    costs = np.zeros(start.shape, dtype=np.int64)
    for place in np.ndindex(start.shape):
        low, high = lower[owner[place[1]]].copy(), upper[owner[place[1]]].copy()
        low[axis], high[axis] = start[place], stop[place]
        held = self.multiplicities[np.all((self.cells >= low) & (self.cells < high), axis=1)]
        if len(held):
            costs[place] = int(np.abs(held - held.mean()).sum() * (1 << LATTICE_BITS))
    return costs


@contextmanager
def closed_above() -> Iterator[None]:
    """Boxes hold their last edges, too: a trip between two of them lies in both."""
    right = TripMatrix.count

    def wrong(self, lower, upper):
        return right(self, lower, np.minimum(np.asarray(upper) + 1, self.shape))

    with instead(TripMatrix, "count", wrong):
        yield


@contextmanager
def index_kept() -> Iterator[None]:
    """The index of a domain is kept, and answers for all other data of that domain."""
    kept: dict[tuple[int, ...], Index] = {}
    right = TripMatrix.index.func  # type: ignore[attr-defined]
    with (
        instead(TripMatrix, "index", property(lambda m: kept.setdefault(m.shape, right(m)))),
        instead(matrices, "count_parts", lambda *_: None),
        instead(matrices, "only_place", lambda low, *_: np.full(len(low), -1)),
    ):
        yield


def bound_of_one(mechanism: Mechanism) -> Publish:
    """Noise as for one trip of a person who may have given several."""
    return lambda matrix, source: mechanism.release(
        counted(folded(matrix.counts, DIMENSIONS)), rng=source
    )


def cuts_of_one(noise, rule, costs, _sensitivity, units, keys, stage):
    """Costs of candidates move as far as one trip of a person moves them."""
    return _least(noise, rule, costs, SENSITIVITY, units, keys, stage)


class DrawsLargeOnesAgain(Cooked):
    """Draws counts that stand out a second time, to be sure of them."""

    def count(self, regions, units, stage):
        noisy = super().count(regions, units, stage)
        large = noisy > np.median(noisy)
        if stage == "levels" and large.any():
            again = np.broadcast_to(np.asarray(units), len(regions))[large]
            self._noise.laplace(
                self.truth(regions)[large], self.matrix.contribution_bound, again,
                regions.keys[large], "again",
            )  # fmt: skip
        return noisy


H, E = DAFHomogeneity, DAFEntropy
TRIP_MUTANTS = [
    Mutant(
        "noise of the printed line 14", H, front_door, "loss|moves by",
        lambda: instead(curators.partitions, "least", printed_noise),
    ),
    Mutant("cost evaluations not charged", H, behind(CutsForNothing), "loss"),
    Mutant(
        "objective over occupied cells only", H, front_door, "loss|moves by",
        lambda: instead(TripMatrix, "slab_costs", occupied_only),
    ),
    Mutant("empty children skipped", E, behind(EmptyLeavesDropped), QUESTION),
    Mutant("candidates inside the data's range", H, behind(CutsWhereDataLies), QUESTION),
    Mutant("budgets by the true total", E, behind(TrueTotal), QUESTION),
    Mutant("stops by the true count", E, behind(TrueStops), QUESTION),
    Mutant("leaf takes the whole budget again", E, behind(LeavesTakeAllAgain), "loss"),
    Mutant("the same in the other", H, behind(LeavesTakeAllAgain), "loss"),
    Mutant("closed upper edges", EUG, front_door, "loss", closed_above),
    Mutant("closed upper edges in a tree", E, front_door, "loss", closed_above),
    Mutant("several trips a person at bound 1", E, bound_of_one, "moves by|loss"),
    Mutant("index kept for other data", E, front_door, "no figure moves", index_kept, 40),
    Mutant(
        "costs of cuts forget the bound", H, front_door, "moves by|loss",
        lambda: instead(curators.partitions, "least", cuts_of_one),
    ),
    Mutant("large counts drawn again", E, behind(DrawsLargeOnesAgain), "loss"),
]  # fmt: skip
