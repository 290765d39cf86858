"""Planted bugs: real mechanisms in which one thing is broken. The audit must find every one.

Our curator refuses to overspend, so bugs that spend too much sit behind one that does not look and
cooks its books: what was drawn can then only be seen in the draws themselves.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager, nullcontext
from dataclasses import dataclass
from typing import Any

import numpy as np

from explorer.mechanisms import (
    HTF,
    KDCell,
    KDStandard,
    Mechanism,
    Mosaic,
    Privlet,
    PrivTree,
    QuadTree,
)
from explorer.points import split_costs as homogeneity
from explorer.points.matrix import FrequencyMatrix
from explorer.privacy.audit.audit import front_door
from explorer.privacy.audit.replay import Publish
from explorer.privacy.curator import Curator
from explorer.privacy.noise import PreviewNoise
from explorer.privacy.regions import Regions
from explorer.releases.release import Release
from explorer.releases.transcript import Measurement
from explorer.releases.units import UNITS_PER_EPSILON, laplace_variance, to_units


@dataclass(frozen=True)
class Mutant:
    """A mechanism's class, how its bug is switched on, and what the audit may say of it."""

    name: str
    kind: type[Mechanism]
    publish: Callable[[Mechanism], Publish]
    says: str
    around: Callable[[], Any] = nullcontext
    cases: int = 500


def behind(desk: type[Curator]) -> Callable[[Mechanism], Publish]:
    """Run a mechanism's plan on a curator of another kind."""

    def publish(mechanism: Mechanism) -> Publish:
        def run(matrix: FrequencyMatrix, source: Any) -> Release:
            curator = desk(matrix, to_units(mechanism.epsilon), source)
            return Release.from_estimate(
                mechanism.plan(curator),
                inside=getattr(mechanism, "inside", "uniform"),
                mechanism=mechanism.key,
                parameters={},
                units=curator.units,
                preview=True,
                domain=matrix.grid,
                unit=matrix.unit,
                contribution_bound=matrix.contribution_bound,
                ledger=tuple(curator.ledger),
            )

        return run

    return publish


class Exact(Curator):
    """Looks things up."""

    @property
    def matrix(self) -> FrequencyMatrix:
        return self._Curator__counts  # type: ignore[attr-defined, no-any-return]

    def truth(self, regions: Regions) -> Any:
        return self.matrix.count(regions.lower, regions.upper)


def peeking(stage_seen: str) -> type[Curator]:
    """The plan sees exact counts of one stage; those released are noisy."""

    class Peeking(Exact):
        def count(self, regions, units, stage):
            noisy = super().count(regions, units, stage)
            return self.truth(regions) if stage == stage_seen else noisy

    return Peeking


class Cooked(Exact):
    """Refuses nothing, and writes down no more than the budget."""

    def _charge(self, regions, units, stage):
        paid = np.broadcast_to(np.asarray(units, dtype=np.int64), len(regions)).copy()
        shown = np.minimum(paid, self.remaining(regions))
        regions.book.pay(regions.ids, shown)
        self._notes.charges.append((regions.book, stage, regions.ids, shown))
        return paid


class LeavesTwice(Cooked):
    """Draws leaves a second time with the share that the first draw has spent."""

    def count(self, regions, units, stage):
        noisy = super().count(regions, units, stage)
        return super().count(regions, units, "again") if stage == "leaves" else noisy


class EveryLevelSpendsAll(Cooked):
    """Takes the whole budget for every level."""

    def count(self, regions, units, stage):
        return super().count(regions, self.units, stage)


class ForgetsTheTest(Cooked):
    """What the stop test cost is not on the account when the leaf is drawn."""

    def count(self, regions, units, stage):
        noisy = super().count(regions, units, stage)
        if stage == "stop test":
            book, _, ids, shown = self._notes.charges[-1]
            book._spent[ids] -= shown
            shown[:] = 0
        return noisy


class KnowsTheTotal(Exact):
    """The plan sees how many there are in all."""

    def count(self, regions, units, stage):
        noisy = super().count(regions, units, stage)
        return self.truth(regions) if regions.ids[0] == 0 else noisy


class LevelsForNothing(Cooked):
    """What nodes paid for being looked at is theirs to spend again."""

    def remaining(self, regions):
        return np.full(len(regions), self.units, dtype=np.int64)


class RedrawsNegatives(Cooked):
    """Draws again what came out below zero."""

    def count(self, regions, units, stage):
        noisy = super().count(regions, units, stage)
        if stage == "leaves" and np.any(noisy < 0):
            super().count(regions.select(noisy < 0), self.units, "again")
        return noisy


class BoxOfTheData(Exact):
    """The map ends where the data ends."""

    def open(self, units=None):
        root = super().open(units)
        cells = np.argwhere(self.matrix.counts)
        if len(cells):
            root.book._lower[0], root.book._upper[0] = cells.min(axis=0), cells.max(axis=0) + 1
        return root.book.root()


class EmptyLeavesDropped(Exact):
    """Leaves without a record get no noise."""

    def count(self, regions, units, stage):
        full = (self.truth(regions) > 0) | (stage != "leaves")
        noisy = np.zeros(len(regions), dtype=np.int64)
        paid = np.broadcast_to(np.asarray(units, dtype=np.int64), len(regions))
        if not full.all():
            nothing = Measurement(stage, regions.ids[~full], noisy[~full], np.ones((~full).sum()))
            self._notes.measured.append((regions.book, nothing))
            self._enter(stage, self._charge(regions.select(~full), paid[~full], stage), 1, 1)
        if full.any():
            noisy[full] = super().count(regions.select(full), paid[full], stage)
        return noisy


class OccupiedCoordinates(Exact):
    """Offers a median only the coordinates that hold data."""

    def median(self, regions, axis, units, stage="split"):
        paid = self._charge(regions, units, stage)
        rows = np.arange(len(regions))
        position = regions.lower[rows, axis] + 1
        for i, (low, high) in enumerate(zip(regions.lower, regions.upper, strict=True)):
            box = self.matrix.counts[low[0] : high[0], low[1] : high[1]]
            below = np.cumsum(box.sum(axis=1 - axis[i]))
            cuts = np.flatnonzero(np.diff(below)) + 1
            if len(cuts):
                costs = np.abs(below[-1] - 2 * below[cuts - 1])
                ends, name = np.array([0, len(cuts)]), regions.keys[i : i + 1]
                index = self._noise.lowest(costs, ends, 1, paid[i : i + 1], name, stage)
                position[i] = low[axis[i]] + cuts[index[0]]
        self._enter(stage, paid, len(regions), 1)
        return position


class BiasedScores(Exact):
    """PrivTree that publishes the noisy scores it split by."""

    def privtree(self, root, units, stage="structure"):
        self._charge(root, units, stage)
        nodes, leaves = root, []
        bound = self.matrix.contribution_bound
        delta = round(bound * 7 / 3 * UNITS_PER_EPSILON / units * np.log(4))
        for depth in range(20):
            score = np.maximum(self.truth(nodes) - depth * delta, -delta)
            paid = np.full(len(nodes), units * 3 // 7)
            self._enter(stage, paid, len(nodes), bound)
            noisy = self._noise.laplace(score, bound, paid, nodes.keys, stage)
            self._notes.measured.append(
                (root.book, Measurement(stage, nodes.ids, noisy, laplace_variance(paid, bound)))
            )
            goes_on = (noisy > 0) & (nodes.cells > 1)
            leaves.append(nodes.select(~goes_on))
            if not goes_on.any():
                break
            nodes = nodes.select(goes_on).grid(np.array([2, 2]))
        return Regions.join(leaves)


class FloatRemainder(QuadTree):
    """Keeps its budget as a float: what subtraction leaves over is drawn with once more."""

    def plan(self, curator):
        nodes, left, levels = curator.open(), self.epsilon, 4
        for level in range(levels):
            part = self.epsilon / levels
            nodes = nodes.grid(np.array([2, 2])) if level else nodes
            curator.count(nodes, round(part * UNITS_PER_EPSILON), f"level {level}")
            left -= part
        if left > 0 or curator.remaining(nodes).any():
            curator.count(nodes, max(1, round(left * UNITS_PER_EPSILON)), "rest")
        return self.infer(curator.transcript(), ["level 3"])


class Between:
    """Stands between the curator and the source of noise and changes what is asked."""

    preview = True

    def __init__(self, source: Any, matrix: FrequencyMatrix) -> None:
        self.source, self.matrix = source, matrix

    def laplace(self, values, sensitivity, units, keys, stage):
        return self.source.laplace(values, sensitivity, units, keys, stage)

    def lowest(self, costs, offsets, sensitivity, units, keys, stage):
        return self.source.lowest(costs, offsets, sensitivity, units, keys, stage)

    def above(self, values, threshold, sensitivity, units, keys, stage):
        return self.source.above(values, threshold, sensitivity, units, keys, stage)


class OneKey(Between):
    """Names all nodes alike, so that previews give them the same noise."""

    def laplace(self, values, sensitivity, units, keys, stage):
        return self.source.laplace(values, sensitivity, units, np.zeros_like(keys), stage)


class NoiseOfTheData(Between):
    """Seeds the noise with the data."""

    def laplace(self, values, sensitivity, units, keys, stage):
        return self.source.laplace(
            values, sensitivity, units, keys + np.uint64(self.matrix.total), stage
        )


class LambdaOfOne(Between):
    """PrivTree with lambda = 1 / epsilon in place of (7/3) / epsilon."""

    def above(self, values, threshold, sensitivity, units, keys, stage):
        return self.source.above(values, threshold, sensitivity * 3 // 7, units, keys, stage)


class HalfTheLevels(Between):
    """Privlet that takes the levels of one side only into account."""

    def laplace(self, values, sensitivity, units, keys, stage):
        return self.source.laplace(values, sensitivity, 2 * units, keys, stage)


class SearchForgetsRounds(Between):
    """Algorithm 1 that draws each of its evaluations with the whole share."""

    def laplace(self, values, sensitivity, units, keys, stage):
        if stage.startswith("split"):
            units = 3 * units
        return self.source.laplace(values, sensitivity, units, keys, stage)


def through(between: type[Between]) -> Callable[[Mechanism], Publish]:
    return lambda mechanism: (
        lambda matrix, source: mechanism.release(matrix, rng=between(source, matrix))
    )


def bound_forgotten(mechanism: Mechanism) -> Publish:
    """Noise as for one record of a user who may have given several."""
    return lambda matrix, source: mechanism.release(matrix.counts, rng=source)


@contextmanager
def one_sensitivity() -> Iterator[None]:
    """Sensitivity 1 for split costs."""
    right = homogeneity.SENSITIVITY
    homogeneity.SENSITIVITY = right // 2
    try:
        yield
    finally:
        homogeneity.SENSITIVITY = right


@contextmanager
def one_noise() -> Iterator[None]:
    """The sampler starts anew at every node."""
    right = PreviewNoise.laplace

    def wrong(self, values, sensitivity, units, keys, _stage):
        return right(self, values, sensitivity, units, np.zeros_like(keys), "always")

    PreviewNoise.laplace = wrong  # type: ignore[method-assign]
    try:
        yield
    finally:
        PreviewNoise.laplace = right  # type: ignore[method-assign]


LOSS = "the loss|the books"
QUESTION = "another question|once more|leaves out|differs|moves by"

MUTANTS = [
    Mutant("leaf share spent twice", QuadTree, behind(LeavesTwice), LOSS),
    Mutant("every level spends all", QuadTree, behind(EveryLevelSpendsAll), LOSS),
    Mutant("stop forgets what was spent", HTF, behind(ForgetsTheTest), LOSS),
    Mutant("sensitivity 1 in place of 2", HTF, front_door, "moves by|loss", one_sensitivity),
    Mutant("true total for the height", HTF, behind(peeking("height")), QUESTION),
    Mutant("true count in the stop test", HTF, behind(peeking("stop test")), QUESTION),
    Mutant("box from the data", QuadTree, behind(BoxOfTheData), QUESTION),
    Mutant("empty leaves dropped", QuadTree, behind(EmptyLeavesDropped), f"{QUESTION}|books"),
    Mutant("one name for all nodes", QuadTree, through(OneKey), "share their noise"),
    Mutant("one noise value for all nodes", QuadTree, front_door, "distribution", one_noise, 60),
    Mutant("occupied coordinates only", KDStandard, behind(OccupiedCoordinates), QUESTION),
    Mutant("float remainder", FloatRemainder, behind(Cooked), LOSS),
    Mutant("PrivTree publishes its scores", PrivTree, behind(BiasedScores), LOSS),
    Mutant("PrivTree with lambda 1 / epsilon", PrivTree, through(LambdaOfOne), LOSS),
    Mutant("Privlet charges half its levels", Privlet, through(HalfTheLevels), LOSS),
    Mutant("Mosaic steered by true counts", Mosaic, behind(peeking("levels")), QUESTION),
    Mutant("Mosaic knows the total", Mosaic, behind(KnowsTheTotal), QUESTION),
    Mutant("Mosaic's looks are free", Mosaic, behind(LevelsForNothing), LOSS),
    Mutant("kd-cell grown on true counts", KDCell, behind(peeking("grid")), QUESTION),
    Mutant("search forgets its rounds", HTF, through(SearchForgetsRounds), LOSS),
    Mutant("negative leaves drawn again", QuadTree, behind(RedrawsNegatives), LOSS),
    Mutant("noise seeded with the data", QuadTree, through(NoiseOfTheData), QUESTION),
    Mutant("contribution bound forgotten", QuadTree, bound_forgotten, "moves by|loss"),
]
