"""The audit of Gravity in four dimensions, where it has maps, and of Gravity with one bug each."""

from __future__ import annotations

import itertools
import re
from collections.abc import Callable, Iterator
from contextlib import contextmanager, nullcontext
from typing import Any

import numpy as np
import pytest

from explorer.mechanisms import Gravity
from explorer.mechanisms.turns import portion
from explorer.privacy.audit.audit import replay_cases
from explorer.privacy.curator import Curator
from explorer.privacy.regions import Boxes, Regions
from explorer.releases.place_maps import PlaceMaps
from explorer.releases.release import Release
from explorer.releases.units import UNITS_PER_EPSILON, to_units
from explorer.testing.counts import counted, folded
from tests.audit.mutants import QUESTION, Cooked, EmptyLeavesDropped, Exact

pytestmark = pytest.mark.audit
SEEDS = (0, 1, 2)


class Wide(Gravity):
    """Gravity of two places with any settings."""

    key, dimensions = "gravity-of-two", (4,)


class Plain(Wide):
    """Gravity of two places with the settings that it has by itself."""

    @classmethod
    def tunables(cls):
        return []


def of_two(desk: type[Curator] = Curator) -> Callable[[Any], Any]:
    """Run the plan on a curator of that kind, on counts folded into four dimensions."""

    def publish(mechanism):
        def run(matrix, source):
            counts = counted(folded(matrix.counts, 4), matrix.contribution_bound)
            curator = desk(counts, to_units(mechanism.epsilon), source)
            return Release.from_estimate(
                mechanism.plan(curator),
                inside="uniform",
                mechanism=mechanism.key,
                parameters={},
                units=curator.units,
                preview=True,
                domain=counts.domain,
                unit=counts.unit,
                contribution_bound=counts.contribution_bound,
                ledger=tuple(curator.ledger),
            )

        return run

    return publish


def test_no_breach_in_two_hundred_pairs() -> None:
    found = replay_cases(Wide, range(50), publish=of_two())
    assert found.breach is None, found.breach
    # The audit comes as near to the claim as the mechanism does.
    assert 0.95 < found.largest <= 1 + 1e-12


class MapsForNothing(Exact):
    """The tree gets the whole budget, though the maps have had their share."""

    def open(self, units=None):
        if units is not None:
            return super().open(units)
        self._books.append(Boxes(self.shape, len(self._books), self.units))
        return self._books[-1].root()


class KeepsTheParents(Cooked):
    """Children have what their parents had: draws of the tree's nodes are not on the account."""

    def count(self, regions, units, stage):
        noisy = super().count(regions, units, stage)
        if stage == "levels":
            book, _, ids, shown = self._notes.charges[-1]
            book._spent[ids] -= shown
            shown[:] = 0
        return noisy


class LeavesTakeAll(Cooked):
    """A leaf's draw takes the tree's whole budget once more."""

    def count(self, regions, units, stage):
        whole = regions.book.limit if stage == "leaves" else units
        return super().count(regions, whole, stage)


class EveryMapTakesAll(Cooked):
    """Each map has the share of all of them."""

    def count(self, regions, units, stage):
        more = 2 if stage.startswith("map") else 1
        return super().count(regions, more * np.asarray(units), stage)


class Peeking(Plain):
    """Has the curator's exact counts at hand."""

    def plan(self, curator):
        type(self).desk = curator
        return super().plan(curator)

    @classmethod
    def true_worth(cls, nodes):
        rest = cls.desk.remaining(nodes) / UNITS_PER_EPSILON
        return cls.desk.truth(nodes) * rest / 10


class SharesByTruth(Peeking):
    """True counts say how the budget is shared out."""

    def _portion(self, nodes, worth, jump, due, ratio):
        return portion(self.true_worth(nodes), jump, due, 2, ratio)


class StopsByTruth(Peeking):
    """True counts say where the tree ends."""

    def _ends(self, nodes, worth, due):
        return super()._ends(nodes, self.true_worth(nodes), due)


class MassesOfTheTruth(Peeking):
    """Counts are shared out among halves as the trips themselves lie."""

    def plan(self, curator):
        right = PlaceMaps.masses
        PlaceMaps.masses = lambda _, low, high: np.maximum(curator.matrix.count(low, high), 1e-3)
        try:
            return super().plan(curator)
        finally:
            PlaceMaps.masses = right


@contextmanager
def cuts_at_the_median() -> Iterator[None]:
    """The tree cuts every side where half of its true records lie on either side."""
    right = Regions.grid

    def wrong(regions, parts):
        parts, desk = np.broadcast_to(parts, regions.lower.shape), Peeking.desk
        if regions.book is not desk._books[-1] or len(desk._books) < 3 or parts.max() > 2:
            return right(regions, parts)
        boxes, fan_out = [], []
        for low, high, number in zip(regions.lower, regions.upper, parts, strict=True):
            sides = []
            for axis in range(4):
                edges = [low[axis], high[axis]]
                if number[axis] == 2 and high[axis] - low[axis] > 1:
                    edges.insert(1, median(desk, low, high, axis))
                sides.append(list(itertools.pairwise(edges)))
            tiles = list(itertools.product(*sides))
            boxes += tiles
            fan_out.append(len(tiles))
        both = np.array(boxes, dtype=np.int64)
        return regions.divide(np.array(fan_out), both[:, :, 0], both[:, :, 1])

    Regions.grid = wrong  # type: ignore[method-assign]
    try:
        yield
    finally:
        Regions.grid = right  # type: ignore[method-assign]


def median(desk: Exact, low: np.ndarray, high: np.ndarray, axis: int) -> int:
    """First cell of the upper half of a box by its true counts."""
    cuts = np.arange(low[axis] + 1, high[axis])
    upper = np.repeat(high[None], len(cuts), axis=0)
    upper[:, axis] = cuts
    below = desk.matrix.count(np.repeat(low[None], len(cuts), axis=0), upper)
    whole = desk.matrix.count(low[None], high[None])[0]
    return int(cuts[np.argmin(np.abs(2 * below - whole))])


BUGS = {
    "share of the maps not taken off": (Plain, MapsForNothing, "loss|books", nullcontext),
    "every map has the share of all": (Plain, EveryMapTakesAll, "loss", nullcontext),
    "halves expect the truth": (MassesOfTheTruth, Exact, "differs", nullcontext),
    "child keeps its parent's budget": (Plain, KeepsTheParents, "loss", nullcontext),
    "leaf takes the whole budget again": (Plain, LeavesTakeAll, "loss", nullcontext),
    "shares by the true count": (SharesByTruth, Exact, QUESTION, nullcontext),
    "stop by the true count": (StopsByTruth, Exact, QUESTION, nullcontext),
    "cuts at the true median": (Peeking, Exact, f"{QUESTION}|loss", cuts_at_the_median),
    "empty children skipped": (Plain, EmptyLeavesDropped, f"{QUESTION}|books", nullcontext),
}


@pytest.mark.parametrize("name", BUGS)
@pytest.mark.planted
def test_every_planted_bug_is_found(name: str) -> None:
    kind, desk, says, around = BUGS[name]
    for seed in SEEDS:
        with around():
            found = replay_cases(kind, range(250), seed, of_two(desk))
        assert found.breach is not None, f"not found in {found.pairs} pairs"
        assert re.search(says, found.breach), found.breach


@pytest.mark.parametrize("desk", [Cooked, Exact])
@pytest.mark.planted
def test_the_bugs_clothes_alone_are_no_bug(desk: type[Curator]) -> None:
    found = replay_cases(Peeking, range(15), publish=of_two(desk))
    assert found.breach is None, found.breach
