"""Planted bugs of mechanisms for trips, and of Gravity where it has maps: four dimensions."""

from __future__ import annotations

import itertools
from typing import Any

import numpy as np

from explorer.mechanisms import EUG, DAFEntropy, DAFHomogeneity, Gravity
from explorer.mechanisms.gravity import portion
from explorer.points.matrix import FrequencyMatrix
from explorer.points.split_costs import LATTICE_BITS, SENSITIVITY
from explorer.privacy import partitions
from explorer.privacy.curator import Curator
from explorer.privacy.regions import Boxes, Regions
from explorer.releases.place_maps import PlaceMaps
from explorer.releases.units import UNITS_PER_EPSILON
from explorer.testing.counts import counted, folded
from explorer.trips import matrix as matrices
from explorer.trips.index import Index
from explorer.trips.matrix import TripMatrix
from tests.audit.mutants import (
    QUESTION,
    Cooked,
    EmptyLeavesDropped,
    Exact,
    Mutant,
    behind,
    counting,
    forgets,
    sees,
)
from tests.audit.planting import wrapped


def in_four(matrix: FrequencyMatrix, bound: int | None = None) -> Any:
    """The cells of a map as cells of four dimensions."""
    return counted(folded(matrix.counts, 4), bound or matrix.contribution_bound)


def front_door(mechanism, bound=None):
    return lambda matrix, source: mechanism.release(in_four(matrix, bound), rng=source)


def of_trips(curator_class: type[Curator]) -> Any:
    return behind(curator_class, in_four)


def leaves_take_all(count, _, regions, units, stage):
    """The last draw takes the whole budget, whatever the path has spent."""
    return count(regions, regions.book.limit if stage == "leaves" else units, stage)


def large_counts_again(count, curator, regions, units, stage):
    """Draws counts that stand out a second time, to be sure of them."""
    noisy = count(regions, units, stage)
    large = noisy > np.median(noisy)
    if stage == "levels" and large.any():
        again = np.broadcast_to(np.asarray(units), len(regions))[large]
        exact, bound = curator.truth(regions)[large], curator.matrix.contribution_bound
        curator._noise.laplace(exact, bound, again, regions.keys[large], "again")
    return noisy


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

        def of(right, keys, low, high, number, p):
            low, high = low.copy(), high.copy()
            for i in range(len(low)):
                inside = np.all((where >= chosen.lower[i]) & (where < chosen.upper[i]), axis=1)
                held = where[inside, axis]
                if len(held) and held.max() + 1 - held.min() >= number[i]:
                    low[i], high[i] = held.min(), held.max() + 1
            return right(keys, low, high, number, p)

        with wrapped(partitions.Offers, "of", of):
            return super().partition(regions, axis, parts, *asked)


def occupied_only(_, self, lower, upper, axis, owner, start, stop):
    """The sparse shortcut: distances from the mean of the occupied cells alone."""
    costs = np.zeros(start.shape, dtype=np.int64)
    for place in np.ndindex(start.shape):
        low, high = lower[owner[place[1]]].copy(), upper[owner[place[1]]].copy()
        low[axis], high[axis] = start[place], stop[place]
        held = self.multiplicities[np.all((self.cells >= low) & (self.cells < high), axis=1)]
        if len(held):
            costs[place] = int(np.abs(held - held.mean()).sum() * (1 << LATTICE_BITS))
    return costs


def printed_noise(right, noise, rule, costs, sensitivity, units, keys, stage):
    """Line 14 as printed: Lap(2 / (p eps_prt)) for Lap(2 p / eps_prt)."""
    return right(noise, rule, costs, sensitivity, units * costs.shape[1] ** 2, keys, stage)


def cuts_of_one(right, noise, rule, costs, _sensitivity, units, keys, stage):
    """Costs of candidates move as far as one trip of a person moves them."""
    return right(noise, rule, costs, SENSITIVITY, units, keys, stage)


KEPT: dict[tuple[int, ...], Index] = {}
_index = TripMatrix.index.func  # type: ignore[attr-defined]
# A property is a value: what is put in place of the cached one is read, not called.
INDEX_KEPT = [
    (TripMatrix, "index", property(lambda m: KEPT.setdefault(m.shape, _index(m)))),
    (matrices, "count_nested", lambda *_: None),
    (TripMatrix, "_one_by_one", lambda _, self, low, high: self.index.count(low, high)),
]
CLOSED_ABOVE = (
    TripMatrix, "count",
    lambda right, self, lower, upper: right(
        self, lower, np.minimum(np.asarray(upper) + 1, self.shape)),
)  # fmt: skip
"""Boxes hold their last edges, too: a trip between two of them lies in both."""


class Wide(Gravity):
    """Gravity of two places with any settings."""

    key, dimensions = "gravity-of-two", (4,)


class Plain(Wide):
    """Gravity of two places with the settings that it has by itself."""

    @classmethod
    def tunables(cls):
        return []


class MapsForNothing(Exact):
    """The tree gets the whole budget, though the maps have had their share."""

    def open(self, units=None):
        if units is not None:
            return super().open(units)
        self._books.append(Boxes(self.shape, len(self._books), self.units))
        return self._books[-1].root()


def every_map_takes_all(count, _, regions, units, stage):
    return count(regions, (2 if stage.startswith("map") else 1) * np.asarray(units), stage)


class Peeking(Plain):
    """Has the curator's exact counts at hand."""

    def plan(self, curator):
        type(self).curator = curator
        return super().plan(curator)

    @classmethod
    def true_worth(cls, nodes):
        rest = cls.curator.remaining(nodes) / UNITS_PER_EPSILON
        return cls.curator.truth(nodes) * rest / 10


class SharesByTruth(Peeking):
    def _portion(self, nodes, worth, jump, due, ratio):
        return portion(self.true_worth(nodes), jump, due, 2, ratio)


class StopsByTruth(Peeking):
    def _ends(self, nodes, worth, due):
        return super()._ends(nodes, self.true_worth(nodes), due)


class MassesOfTheTruth(Peeking):
    """Counts are shared out among halves as the trips themselves lie."""

    def plan(self, curator):
        def masses(_, __, low, high):
            return np.maximum(curator.matrix.count(low, high), 1e-3)

        with wrapped(PlaceMaps, "masses", masses):
            return super().plan(curator)


def cuts_at_the_median(right, regions, parts):
    """The tree cuts every side where half of its true records lie on either side."""
    parts, curator = np.broadcast_to(parts, regions.lower.shape), Peeking.curator
    if regions.book is not curator._books[-1] or len(curator._books) < 3 or parts.max() > 2:
        return right(regions, parts)
    boxes, fan_out = [], []
    for low, high, number in zip(regions.lower, regions.upper, parts, strict=True):
        sides = []
        for axis in range(4):
            edges = [low[axis], high[axis]]
            if number[axis] == 2 and high[axis] - low[axis] > 1:
                edges.insert(1, median(curator, low, high, axis))
            sides.append(list(itertools.pairwise(edges)))
        tiles = list(itertools.product(*sides))
        boxes += tiles
        fan_out.append(len(tiles))
    both = np.array(boxes, dtype=np.int64)
    return regions.divide(np.array(fan_out), both[:, :, 0], both[:, :, 1])


def median(curator: Any, low: np.ndarray, high: np.ndarray, axis: int) -> int:
    """First cell of the upper half of a box by its true counts."""
    cuts = np.arange(low[axis] + 1, high[axis])
    upper = np.repeat(high[None], len(cuts), axis=0)
    upper[:, axis] = cuts
    below = curator.matrix.count(np.repeat(low[None], len(cuts), axis=0), upper)
    whole = curator.matrix.count(low[None], high[None])[0]
    return int(cuts[np.argmin(np.abs(2 * below - whole))])


H, E = DAFHomogeneity, DAFEntropy
ALL_AGAIN = of_trips(counting(Cooked, leaves_take_all))
TRIP_MUTANTS = [
    Mutant("noise of the printed line 14", H, front_door, "loss|moves by",
           [(partitions, "least", printed_noise)]),
    Mutant("cost evaluations not charged", H, of_trips(CutsForNothing), "loss"),
    Mutant("objective over occupied cells only", H, front_door, "loss|moves by",
           [(TripMatrix, "slab_costs", occupied_only)]),
    Mutant("empty children skipped", E, of_trips(EmptyLeavesDropped), QUESTION),
    Mutant("candidates inside the data's range", H, of_trips(CutsWhereDataLies), QUESTION),
    Mutant("budgets and first fan-out by the true total", E, of_trips(sees(
           lambda regions, stage: stage in ("levels", "total") and regions.ids[0] == 0)), QUESTION),
    Mutant("stops and cuts by the true count", E, of_trips(sees(
           lambda regions, stage: stage == "levels" and regions.ids[0] > 0)), QUESTION),
    Mutant("leaf takes the whole budget again (entropy)", E, ALL_AGAIN, "loss"),
    Mutant("leaf takes the whole budget again (homogeneity)", H, ALL_AGAIN, "loss"),
    Mutant("closed upper edges", EUG, front_door, "loss", [CLOSED_ABOVE]),
    Mutant("closed upper edges in a tree", E, front_door, "loss", [CLOSED_ABOVE]),
    Mutant("several trips a person at bound 1", E, lambda mechanism: front_door(mechanism, 1),
           "moves by|loss"),
    Mutant("index of a domain kept for other data", E, front_door, "no figure moves", INDEX_KEPT,
           40),
    Mutant("costs of cuts forget the bound", H, front_door, "moves by|loss",
           [(partitions, "least", cuts_of_one)]),
    Mutant("large counts drawn again", E, of_trips(counting(Cooked, large_counts_again)), "loss"),
]  # fmt: skip
GRAVITY_MUTANTS = [
    Mutant("share of the maps not taken off", Plain, of_trips(MapsForNothing), "loss|books"),
    Mutant("every map has the share of all", Plain,
           of_trips(counting(Cooked, every_map_takes_all)), "loss"),
    Mutant("halves expect the truth", MassesOfTheTruth, of_trips(Exact), "differs"),
    Mutant("child keeps its parent's budget", Plain, of_trips(forgets("levels")), "loss"),
    Mutant("leaf takes the whole budget again", Plain, ALL_AGAIN, "loss"),
    Mutant("shares by the true count", SharesByTruth, of_trips(Exact), QUESTION),
    Mutant("stop by the true count", StopsByTruth, of_trips(Exact), QUESTION),
    Mutant("cuts at the true median", Peeking, of_trips(Exact), f"{QUESTION}|loss",
           [(Regions, "grid", cuts_at_the_median)]),
    Mutant("empty children of Gravity skipped", Plain, of_trips(EmptyLeavesDropped),
           f"{QUESTION}|books"),
]  # fmt: skip
