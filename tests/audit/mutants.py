"""Planted bugs: real mechanisms in which one thing is broken. The audit must find every one.

The curator refuses to overspend, so bugs that spend too much run on one that refuses nothing and
keeps false books: what was drawn can then only be seen in the draws themselves.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
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
from explorer.points import split_costs
from explorer.points.matrix import FrequencyMatrix
from explorer.privacy.audit.audit import front_door
from explorer.privacy.audit.replay import Publish
from explorer.privacy.curator import Curator
from explorer.privacy.noise import PreviewNoise
from explorer.privacy.regions import Regions
from explorer.releases.release import Release
from explorer.releases.transcript import Measurement
from explorer.releases.units import UNITS_PER_EPSILON, laplace_variance, to_units
from tests.audit.planting import Plant


@dataclass(frozen=True)
class Mutant:
    """A mechanism's class, how its bug is switched on, and what the audit may say of it."""

    name: str
    kind: type[Mechanism]
    publish: Callable[[Mechanism], Publish]
    says: str
    plants: Sequence[Plant] = ()
    cases: int = 500


def behind(
    curator_class: type[Curator], shaped: Callable[[FrequencyMatrix], Any] = lambda matrix: matrix
) -> Callable[[Mechanism], Publish]:
    """Run a mechanism's plan on a curator of another kind, perhaps on counts of another shape."""

    def publish(mechanism: Mechanism) -> Publish:
        def run(matrix: FrequencyMatrix, source: Any) -> Release:
            counts = shaped(matrix)
            curator = curator_class(counts, to_units(mechanism.epsilon), source)
            return Release.from_estimate(
                mechanism.plan(curator),
                inside=getattr(mechanism, "inside", "uniform") if counts is matrix else "uniform",
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


class Exact(Curator):
    """Gives exact counts away."""

    @property
    def matrix(self) -> FrequencyMatrix:
        return self._Curator__counts  # type: ignore[attr-defined, no-any-return]

    def truth(self, regions: Regions) -> Any:
        return self.matrix.count(regions.lower, regions.upper)


class Cooked(Exact):
    """Refuses nothing, and writes down no more than the budget."""

    def _charge(self, regions, units, stage):
        paid = np.broadcast_to(np.asarray(units, dtype=np.int64), len(regions)).copy()
        shown = np.minimum(paid, self.remaining(regions))
        regions.book.pay(regions.ids, shown)
        self._notes.charges.append((regions.book, stage, regions.ids, shown))
        return paid


def counting(base: type[Curator], change: Callable[..., Any]) -> type[Curator]:
    """A curator that counts by `change(count, curator, regions, units, stage)`."""

    def count(self, regions, units, stage):
        return change(partial(base.count, self), self, regions, units, stage)

    return type("Counting", (base,), {"count": count})


def sees(where: Callable[[Regions, str], Any]) -> type[Curator]:
    """The plan sees exact counts where that holds; those released are noisy."""

    def peek(count, curator, regions, units, stage):
        noisy = count(regions, units, stage)
        return curator.truth(regions) if where(regions, stage) else noisy

    return counting(Exact, peek)


def sees_stage(seen: str) -> Callable[[Mechanism], Publish]:
    return behind(sees(lambda _, stage: stage == seen))


def forgets(forgotten: str) -> type[Curator]:
    """What one stage costs is not on the account of what is drawn later."""

    def forget(count, curator, regions, units, stage):
        noisy = count(regions, units, stage)
        if stage == forgotten:
            book, _, ids, shown = curator._notes.charges[-1]
            book._spent[ids] -= shown
            shown[:] = 0
        return noisy

    return counting(Cooked, forget)


def leaves_twice(count, _, regions, units, stage):
    noisy = count(regions, units, stage)
    return count(regions, units, "again") if stage == "leaves" else noisy


def negatives_again(count, curator, regions, units, stage):
    noisy = count(regions, units, stage)
    if stage == "leaves" and np.any(noisy < 0):
        count(regions.select(noisy < 0), curator.units, "again")
    return noisy


class PaidCountsAreFree(Cooked):
    """What regions paid for being counted can be spent again."""

    def remaining(self, regions):
        return np.full(len(regions), self.units, dtype=np.int64)


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


class Noise:
    """Stands between the curator and a source of noise, some of whose methods are replaced."""

    def __init__(self, source: Any, preview: bool = True, **replaced: Any) -> None:
        self.preview = preview
        for name in ("laplace", "lowest", "above"):
            setattr(self, name, replaced.get(name) or getattr(source, name))


def asking(method: str, **changed: Callable[[Any, FrequencyMatrix], Any]) -> Any:
    """Ask the source of noise for something else: each argument named is replaced by a function
    of itself and the data."""
    names = list(inspect.signature(getattr(PreviewNoise, method)).parameters)[1:]

    def publish(mechanism: Mechanism) -> Publish:
        def run(matrix: FrequencyMatrix, source: Any) -> Release:
            def asked_otherwise(*values: Any) -> Any:
                asked = dict(zip((name.strip("_") for name in names), values, strict=True))
                asked |= {name: of(asked, matrix) for name, of in changed.items()}
                return getattr(source, method)(*asked.values())

            return mechanism.release(matrix, rng=Noise(source, **{method: asked_otherwise}))

        return run

    return publish


LOSS = "the loss|the books"
QUESTION = "another question|once more|leaves out|differs|moves by"
MUTANTS = [
    Mutant("leaf share spent twice", QuadTree, behind(counting(Cooked, leaves_twice)), LOSS),
    Mutant(
        "every level spends all", QuadTree,
        behind(counting(Cooked, lambda count, curator, regions, _, stage: count(
            regions, curator.units, stage))), LOSS,
    ),
    Mutant("stop forgets what was spent", HTF, behind(forgets("stop test")), LOSS),
    Mutant(
        "sensitivity 1 in place of 2", HTF, front_door, "moves by|loss",
        [(split_costs, "SENSITIVITY", split_costs.SENSITIVITY // 2)],
    ),
    Mutant("true total for the height", HTF, sees_stage("height"), QUESTION),
    Mutant("true count in the stop test", HTF, sees_stage("stop test"), QUESTION),
    Mutant("box from the data", QuadTree, behind(BoxOfTheData), QUESTION),
    Mutant("empty leaves dropped", QuadTree, behind(EmptyLeavesDropped), f"{QUESTION}|books"),
    Mutant(
        "one name for all nodes", QuadTree,
        asking("laplace", keys=lambda asked, _: np.zeros_like(asked["keys"])), "share their noise",
    ),
    Mutant(
        "one noise value for all nodes", QuadTree, front_door, "distribution",
        [(PreviewNoise, "laplace", lambda right, self, values, sensitivity, units, keys, _: right(
            self, values, sensitivity, units, np.zeros_like(keys), "always"))], 60,
    ),
    Mutant("occupied coordinates only", KDStandard, behind(OccupiedCoordinates), QUESTION),
    Mutant("float remainder", FloatRemainder, behind(Cooked), LOSS),
    Mutant("PrivTree publishes its scores", PrivTree, behind(BiasedScores), LOSS),
    Mutant(
        "PrivTree with lambda 1 / epsilon in place of (7/3) / epsilon", PrivTree,
        asking("above", sensitivity=lambda asked, _: asked["sensitivity"] * 3 // 7), LOSS,
    ),
    Mutant(
        "Privlet charges the levels of one side only", Privlet,
        asking("laplace", units=lambda asked, _: 2 * asked["units"]), LOSS,
    ),
    Mutant("Mosaic steered by true counts", Mosaic, sees_stage("levels"), QUESTION),
    Mutant(
        "Mosaic knows the total", Mosaic, behind(sees(lambda regions, _: regions.ids[0] == 0)),
        QUESTION,
    ),
    Mutant("Mosaic's counts are free", Mosaic, behind(PaidCountsAreFree), LOSS),
    Mutant("kd-cell grown on true counts", KDCell, sees_stage("grid"), QUESTION),
    Mutant(
        "each evaluation of a search takes its whole share", HTF,
        asking("laplace", units=lambda asked, _: (
            asked["units"] * (3 if asked["stage"].startswith("split") else 1))), LOSS,
    ),
    Mutant("negative leaves drawn again", QuadTree, behind(counting(Cooked, negatives_again)),
           LOSS),
    Mutant(
        "noise seeded with the data", QuadTree,
        asking("laplace", keys=lambda asked, matrix: asked["keys"] + np.uint64(matrix.total)),
        QUESTION,
    ),
    Mutant(
        "contribution bound forgotten", QuadTree,
        lambda mechanism: lambda matrix, source: mechanism.release(matrix.counts, rng=source),
        "moves by|loss",
    ),
]  # fmt: skip
