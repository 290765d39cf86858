"""The methods of heatmaps-2022 and ours on the maps at hand, seed by seed.

San Francisco and New York where their files are found, Port Amber always; a smooth map made from
the first of them, which is what the paper's images of luminosity are like: blurred, its square
root, cut off. Every method runs over the same people, shards and law of noise, with the same seeds.
Measures are of the map made whole: negative cells are 0 and all add up to 1.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache, cached_property
from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray

from explorer.cities.catalogue import cities
from explorer.evaluate import metrics
from explorer.evaluate.papers.verdicts import repetitions
from explorer.federated import baselines, rounds
from explorer.federated.adaptive_grid import adaptive_grid
from explorer.federated.asking import Asking, Protocol
from explorer.federated.people import People
from explorer.federated.session import Session
from explorer.grid.grid import Grid
from explorer.points.matrix import FrequencyMatrix
from explorer.releases.inference import Estimate
from explorer.releases.joint import alone, mean_costs, together
from explorer.releases.quarters import KeyTree, interleave
from explorer.releases.rounds import Heard
from explorer.releases.tree import Tree
from explorer.releases.units import to_units

Floats = NDArray[np.float64]
Plan = Callable[[Session, int], tuple[Estimate, Sequence[Any]]]

SEEDS, QUICK_SEEDS = 5, 3
SHARD = 10_000
SAMPLING, FLAT, ONCE = "sampling only", "flat, finest level", "each person once"
"""Methods whose costs or levels are their own matter."""
#: In the order in which they are shown; those that are there, and two of them when quick.
CITIES = {"new-york": "New York", "madeup": "Port Amber", "san-francisco": "San Francisco"}


def of_plan(
    plan: Callable[..., Iterator[Heard]],
    start: int = 3,
    once: bool = False,
    joined: bool = True,
    **settings: Any,
) -> Plan:
    """A plan of `rounds` from a level on, with its inference."""

    def run(session: Session, population: int) -> tuple[Estimate, Sequence[Any]]:
        heard = list(plan(session, KeyTree.even(session.depth, start), **settings))
        if not joined:
            return alone(heard[-1], session.shape, population, [], "last"), heard
        paid = [each.units for each in heard]
        if once:
            paid = mean_costs(session.units, [each.people for each in heard])
        return together(heard, session.shape, population, paid), heard

    return run


def _algorithm_2(c: float, **settings: Any) -> Plan:
    return of_plan(rounds.paper, 1, joined=False, c=c, **settings)


def _silent(session: Session, population: int) -> tuple[Estimate, Sequence[Any]]:
    """Table 3's first row: a tree divided above T = 10 by sums without noise."""
    tree = KeyTree.even(session.depth, 1)
    heard = [session.look(tree)]
    for _ in range(session.depth - 1):
        finer, _after = rounds.divided(
            heard[-1], (heard[-1].sums > 10).astype(np.int64), np.zeros(heard[-1].cells, bool)
        )
        heard.append(session.look(finer))
    return alone(heard[-1], session.shape, population, [], "last"), heard


TABLE_1: Mapping[str, Plan] = {
    SAMPLING: baselines.sampling,
    FLAT: baselines.flat,
    "hierarchical": baselines.hierarchical,
    "count-min": baselines.count_min,
    "spatial decomposition": baselines.decomposition,
    "adaptive grid, epsilon / sqrt K": lambda s, n: adaptive_grid(s, n, by_shards=True),
    "adaptive grid, epsilon": adaptive_grid,
    "Algorithm 2, c .1": _algorithm_2(0.1),
    "Algorithm 2, c .3": _algorithm_2(0.3),
    "Algorithm 2, c 1": _algorithm_2(1.0),
    "Algorithm 2, mended": of_plan(rounds.mended),
    ONCE: of_plan(rounds.once, once=True),
}
"""Methods of Table 1, and ours."""
TABLE_3: Mapping[str, Plan] = {
    "no noise, T 10": _silent,
    "fixed epsilon, T 10": _algorithm_2(0.1, rounds=10, threshold=10.0),
    "scheduled, T 10": _algorithm_2(0.1, threshold=10.0),
    "scheduled, T adaptive": _algorithm_2(0.1),
    "scheduled c .3, both sigmas": _algorithm_2(0.3, both=True),
    "c .5, b 3, both, closed": of_plan(
        rounds.paper, joined=False, c=0.5, b=3.0, both=True, collapse=0.0, closed=True,
        growth=rounds.GROWTH,
    ),
    "Algorithm 2, mended": of_plan(rounds.mended),
    ONCE: of_plan(rounds.once, once=True),
}  # fmt: skip
"""Variants of Table 3, and what mends them one by one."""
SEVERAL = (0, 1, 4, 16, 64)
"""S of Table 2; 0 is the most visited place alone."""


@dataclass(frozen=True, eq=False)
class Map:
    """A map with its people.

    Attributes
    ----------
    title : for people
    smooth : whether it is like the paper's images
    people : one for each record
    truth : (rows, cols), adds up to 1
    """

    title: str
    smooth: bool
    people: People
    truth: Floats

    @classmethod
    def of(cls, title: str, counts: NDArray[np.int64], smooth: bool = False) -> Map:
        """The map of a matrix of counts."""
        people = People.of_matrix(FrequencyMatrix(counts, Grid.cells(counts.shape)))
        return cls(title, smooth, people, counts / counts.sum())


class HeatmapBench:
    """Errors of methods on maps, each run made once.

    Parameters
    ----------
    quick : 256 cells a side, 20,000 people, three seeds, two maps
    seeds : repetitions, 2 or more; by default 5, quick 3
    maps : by default those that are found
    """

    def __init__(
        self, quick: bool = False, seeds: int | None = None, maps: Sequence[Map] | None = None
    ) -> None:
        self.quick = quick
        self.seeds = repetitions(seeds, QUICK_SEEDS if quick else SEEDS)
        if maps is not None:
            self.maps = tuple(maps)
        self.number = 20_000 if quick else 100_000
        self.run = cache(self._run)
        self.several = cache(self._several)

    @cached_property
    def maps(self) -> tuple[Map, ...]:
        """Cities that are here, and a smooth map."""
        return tuple(found(self.quick))

    @property
    def rough(self) -> tuple[int, ...]:
        """Which maps are cities."""
        return tuple(at for at, each in enumerate(self.maps) if not each.smooth)

    @property
    def even(self) -> tuple[int, ...]:
        """Which maps are smooth."""
        return tuple(at for at, each in enumerate(self.maps) if each.smooth)

    def error(self, at: int, method: str, number: int | None = None, shard: int = SHARD) -> Floats:
        """MSE of a method on a map, seed by seed."""
        return self.run(at, method, number or self.number, shard)[:, 0]

    def integers(self, at: int, method: str) -> Floats:
        """Integers that a person sends, seed by seed."""
        return self.run(at, method, self.number, SHARD)[:, -1]

    def _run(self, at: int, method: str, number: int, shard: int, dropped: float = 0.0) -> Floats:
        plan, own = {**TABLE_3, **TABLE_1}[method], self.maps[at]
        return np.array(
            [self._one(own, plan, method, number, shard, dropped, s) for s in range(self.seeds)]
        )

    def _one(
        self, own: Map, plan: Plan, method: str, number: int, shard: int, dropped: float, seed: int
    ) -> Floats:
        people, number = own.people, min(number, len(own.people))
        asking = Asking(
            people, Protocol(shard, dropped, 0.0), to_units(1.0), seed, "summed",
            number if method in (FLAT, ONCE) else None,
        )  # fmt: skip
        random = np.random.default_rng([seed, 7])

        def sample(question: Any) -> NDArray[np.int64]:
            members = random.choice(len(people), number, replace=False)
            return np.bincount(question.owner(people.cells[members]), minlength=question.counters)

        shape = people.grid.shape
        session = Session(asking, number, people.depth, shape, sample=sample)
        estimate, heard = plan(session, len(people))
        density = Tree.of(estimate).paint(shape)
        sent = [each.cells for each in heard]
        # Who is asked once sends one vector: at most the longest.
        cost = max(sent) if method == ONCE else sum(sent)
        if method == SAMPLING:
            # Two numbers, her place: the server is free to take the level that is best.
            density, cost = _best_level(own.truth, density), 2
        return np.array([*measures(own.truth, density), float(cost)])

    def _several(self, places: int) -> Floats:
        """Table 2: squared error of the mean of people's normalised visits, seed by seed."""
        people, truth = visitors(self.maps[self.rough[0]], self.quick, places)
        errors = []
        for seed in range(self.seeds):
            asking = Asking(people, Protocol(SHARD, 0.0, 0.0), to_units(1.0), seed, "summed")
            session = Session(asking, len(people), people.depth, people.grid.shape)
            estimate, _ = of_plan(rounds.mended)(session, len(people))
            density = Tree.of(estimate).paint(people.grid.shape)
            errors.append(measures(truth, density)[0])
        return np.array(errors)


def measures(truth: Floats, density: Floats) -> list[float]:
    """MSE, L1, MAPE, sMAPE and MAAPE of a density made whole against a map that adds up to 1.

    MAPE takes 1 / cells in place of 0 (appendix A.1 takes the smallest value of its map).
    """
    held = np.maximum(density, 0.0)
    held = held / max(float(held.sum()), 1e-300)
    error = np.abs(held - truth)
    mape = float(np.mean(error / np.where(truth > 0, truth, 1.0 / truth.size)))
    return [
        metrics.mse(truth, held),
        metrics.l1(truth, held),
        mape,
        metrics.smape(truth, held),
        metrics.maape(truth, held),
    ]


def _best_level(truth: Floats, density: Floats) -> Floats:
    """The level of a map whose squared error is smallest: every level is known to who knows it."""
    side, best, least = len(truth), density, np.inf
    step = 1
    while step <= side:
        blocks = density.reshape(side // step, step, side // step, step).mean(axis=(1, 3))
        rough = np.repeat(np.repeat(blocks, step, axis=0), step, axis=1)
        error = measures(truth, rough)[0]
        if error < least:
            best, least = rough, error
        step *= 2
    return best


def found(quick: bool) -> Iterator[Map]:
    """The maps at hand, cities first."""
    side = 256 if quick else 1024
    here = cities()
    keys = [key for key in CITIES if key == "madeup" or (key in here and here[key].file)]
    if quick:
        keys = ["madeup"]
    matrix: NDArray[np.int64] | None = None
    for key in keys:
        counts = here[key].load((side, side))[1].counts
        yield Map.of(f"{CITIES[key]}, {counts.sum():,} records", counts)
        matrix = counts
    assert matrix is not None
    yield Map.of("the last of them, blurred", smoothed(matrix), True)


def smoothed(counts: NDArray[np.int64], cells: float = 6.0) -> NDArray[np.int64]:
    """Counts blurred by a Gaussian of some cells, their square root scaled to 255, cut off."""
    from scipy.ndimage import gaussian_filter

    root = np.sqrt(gaussian_filter(counts.astype(np.float64), cells))
    scale = 255 / max(float(np.quantile(root, 0.999)), 1e-9)
    return np.rint(np.minimum(root * min(scale, 4.0), 255)).astype(np.int64)


def visitors(own: Map, quick: bool, places: int) -> tuple[People, Floats]:
    """Made-up users of a city with a home and other places; the mean of their visits.

    `places` is S; 0 keeps the most visited place of each.
    """
    random = np.random.default_rng(5)
    number = 10_000 if quick else 50_000
    kept = random.integers(1, 9, number)
    offsets = np.concatenate([[0], np.cumsum(kept)])
    cells = random.choice(own.people.cells, offsets[-1])
    visits = 1 + random.geometric(0.3, offsets[-1])
    visits[offsets[:-1]] += random.geometric(0.1, number)
    total = np.add.reduceat(visits, offsets[:-1])
    weight = visits / np.repeat(total, kept)
    grid, depth = own.people.grid, own.people.depth
    truth = KeyTree.even(depth, depth).spread(np.bincount(cells, weight, 4**depth) / number)
    rows, cols = np.indices(grid.shape)
    truth = truth[interleave(cols, rows)]
    if places == 0:
        best = np.array([a + int(np.argmax(visits[a:b])) for a, b in pairwise(offsets)])
        return People(cells[best], grid), truth
    return People(cells, grid, offsets=offsets, visits=visits, places=places), truth
