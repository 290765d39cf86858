"""The bench of federated heatmaps: maps, ways to ask people, and their errors seed by seed.

San Francisco and New York where their files are found, Port Amber always; smooth maps are made from
the last of them, which is what the paper's images of luminosity are like: blurred, square root, cut
off. Every method of heatmaps-2022 and ours runs over the same people, shards and noise
distribution, with the same seeds. Measures are of the map made whole: negative cells are 0 and all
add up to 1. What a person sends is counted in integers, as the paper does, and in bytes.
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
from explorer.federated import baselines, calibration, rounds
from explorer.federated.adaptive_grid import adaptive_grid
from explorer.federated.asking import Asking, Protocol
from explorer.federated.people import People
from explorer.federated.session import Session
from explorer.grid.grid import Grid
from explorer.papers.verdicts import Floats, repetitions
from explorer.points.matrix import FrequencyMatrix
from explorer.releases.inference import Estimate
from explorer.releases.joint import alone, mean_costs, together
from explorer.releases.quarters import KeyTree, interleave
from explorer.releases.rounds import Heard, Row
from explorer.releases.tree import Tree
from explorer.releases.units import to_units

#: In the order in which they are shown; those that are there, and the made-up one when quick.
CITIES = {"new-york": "New York", "madeup": "Port Amber", "san-francisco": "San Francisco"}
BLURS = (2.0, 6.0)
"""Cells by which smooth maps are blurred."""


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

    def coarse(self, cells: int) -> Map:
        """The same people on cells as large as `cells` x `cells` of these."""
        rows, cols = (side // cells for side in self.truth.shape)
        whole = np.rint(self.truth * len(self.people)).astype(np.int64)
        blocks = whole.reshape(rows, cells, cols, cells).sum(axis=(1, 3))
        return Map.of(f"{self.title}, {rows} x {cols} cells", blocks, self.smooth)


def maps_at_hand(quick: bool) -> Iterator[Map]:
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
    for blur in BLURS:
        title = f"the last of them, blurred by {blur:g} cells"
        yield Map.of(title, smoothed(matrix, blur), True)


def smoothed(counts: NDArray[np.int64], cells: float = 6.0) -> NDArray[np.int64]:
    """Counts blurred by a Gaussian of some cells, their square root scaled to 255, cut off."""
    from scipy.ndimage import gaussian_filter

    root = np.sqrt(gaussian_filter(counts.astype(np.float64), cells))
    scale = 255 / max(float(np.quantile(root, 0.999)), 1e-9)
    return np.rint(np.minimum(root * min(scale, 4.0), 255)).astype(np.int64)


def visitors(city: Map, quick: bool, places: int) -> tuple[People, Floats]:
    """Made-up users of a city with a home and other places; the mean of their visits.

    `places` is S; 0 keeps the most visited place of each.
    """
    random = np.random.default_rng(5)
    number = 10_000 if quick else 50_000
    n_places = random.integers(1, 9, number)
    offsets = np.concatenate([[0], np.cumsum(n_places)])
    cells = random.choice(city.people.cells, offsets[-1])
    visits = 1 + random.geometric(0.3, offsets[-1])
    visits[offsets[:-1]] += random.geometric(0.1, number)
    total = np.add.reduceat(visits, offsets[:-1])
    weight = visits / np.repeat(total, n_places)
    grid, depth = city.people.grid, city.people.depth
    truth = KeyTree.even(depth, depth).spread(np.bincount(cells, weight, 4**depth) / number)
    rows, cols = np.indices(grid.shape)
    truth = truth[interleave(cols, rows)]
    if places == 0:
        best = np.array([a + int(np.argmax(visits[a:b])) for a, b in pairwise(offsets)])
        return People(cells[best], grid), truth
    return People(cells, grid, offsets=offsets, visits=visits, places=places), truth


Made = tuple[Estimate | list[Estimate], Sequence[Any]]
"""A map, or maps of which the truth may choose, and the rounds."""
Plan = Callable[[Session, int], Made]

SAMPLING, FLAT, ONCE = "sampling only", "flat, finest level", "each person once"
"""Methods whose costs or levels are their own matter."""
HIERARCHICAL, ORACLE = "hierarchical", "hierarchical, level by the truth"
PRINTED, MENDED = "Algorithm 2, c .1", "Algorithm 2, mended"


def of_plan(
    plan: Callable[..., Iterator[Heard]],
    start: int = 3,
    once: bool = False,
    joined: bool = True,
    **settings: Any,
) -> Plan:
    """A plan of `rounds` from a level on, with its inference."""

    def run(session: Session, population: int) -> Made:
        responses = list(plan(session, KeyTree.even(session.depth, start), **settings))
        if not joined:
            return alone(responses[-1], session.shape, population, [], "last"), responses
        paid = [response.units for response in responses]
        if once:
            paid = mean_costs(session.units, [response.people for response in responses])
        return together(responses, session.shape, population, paid), responses

    return run


def algorithm_2(c: float, **settings: Any) -> Plan:
    """Algorithm 2 as printed, its last round alone."""
    return of_plan(rounds.paper, 1, joined=False, c=c, **settings)


def _every_level(session: Session, population: int) -> Made:
    """What "hierarchical" asks, and the map of each of its levels: which is best the truth says."""
    by_level, rows = baselines.levels(session, [1.0] * session.depth)
    return [baselines.published(session, population, level, rows) for level in by_level], rows


def _silent(session: Session, population: int) -> Made:
    """Table 3's first row: a tree divided above T = 10 by sums without noise."""
    tree = KeyTree.even(session.depth, 1)
    responses = [session.look(tree)]
    for _ in range(session.depth - 1):
        finer, _after = rounds.divided(
            responses[-1],
            (responses[-1].sums > 10).astype(np.int64),
            np.zeros(responses[-1].cells, bool),
        )
        responses.append(session.look(finer))
    return alone(responses[-1], session.shape, population, [], "last"), responses


TABLE_1: Mapping[str, Plan] = {
    SAMPLING: baselines.sampling,
    FLAT: baselines.flat,
    HIERARCHICAL: baselines.hierarchical,
    ORACLE: _every_level,
    "count-min": baselines.count_min,
    "spatial decomposition": baselines.decomposition,
    "adaptive grid, epsilon / sqrt K": lambda s, n: adaptive_grid(s, n, by_shards=True),
    "adaptive grid, epsilon": adaptive_grid,
    PRINTED: algorithm_2(0.1),
    "Algorithm 2, c .3": algorithm_2(0.3),
    "Algorithm 2, c 1": algorithm_2(1.0),
    MENDED: of_plan(rounds.mended),
    ONCE: of_plan(rounds.once, once=True),
}
"""Methods of Table 1, and ours."""
TABLE_3: Mapping[str, Plan] = {
    "no noise, T 10": _silent,
    "fixed epsilon, T 10": algorithm_2(0.1, rounds=10, threshold=10.0),
    "scheduled, T 10": algorithm_2(0.1, threshold=10.0),
    "scheduled, T adaptive": algorithm_2(0.1),
    "scheduled c .3, both sigmas": algorithm_2(0.3, both=True),
    "c .5, b 3, both, closed": of_plan(
        rounds.paper, joined=False, c=0.5, b=3.0, both=True, collapse=0.0, closed=True,
        growth=rounds.GROWTH,
    ),
    MENDED: of_plan(rounds.mended),
    ONCE: of_plan(rounds.once, once=True),
}  # fmt: skip
"""Variants of Table 3, and what corrects them one by one."""
OTHER_C: Mapping[str, Plan] = {
    f"{MENDED}, c .5": of_plan(rounds.mended, c=0.5),
    f"{ONCE}, c .5": of_plan(rounds.once, once=True, c=0.5),
}
"""Ours at the c of the prototype, next to the target."""
METHODS: Mapping[str, Plan] = {**TABLE_3, **TABLE_1, **OTHER_C}


def asked_once(method: str) -> bool:
    """Whether people are spent in place of epsilon: no one sends more than one vector."""
    return method == FLAT or method.startswith(ONCE)


SEEDS, QUICK_SEEDS = 5, 3
SHARD = 10_000
MEASURES = ("MSE", "L1", "MAPE", "sMAPE", "MAAPE", "integers", "bits", "bytes")
"""Columns of a run: errors; what one person sends, and bits of the widest of her integers."""
INTEGERS, BYTES = MEASURES.index("integers"), MEASURES.index("bytes")
FAILING = Protocol(SHARD)
"""For how many failing people keys and boxes are counted, though in these runs no one fails."""
SEVERAL = (0, 1, 4, 16, 64)
"""S of Table 2; 0 is the most visited place alone."""
COARSE, MOST = 4, 1_000_000
"""Of the settings of the target: cells joined along a side, and the most people of a city."""


@dataclass(frozen=True)
class Setting:
    """A map and how many of its people are asked.

    Attributes
    ----------
    at : which of the maps
    number : people
    shard : the most people in one
    coarse : cells joined along a side
    dropped : share of the people who send nothing
    bits : of a counter; as many as it needs by default
    """

    at: int
    number: int
    shard: int = SHARD
    coarse: int = 1
    dropped: float = 0.0
    bits: int | None = None


class HeatmapBench:
    """Errors of methods on maps, each run made once.

    Parameters
    ----------
    quick : 256 cells a side, 20,000 people, three seeds, three maps
    seeds : repetitions, 2 or more; by default 5, quick 3
    maps : by default those that are found
    methods : by name
    """

    def __init__(
        self,
        quick: bool = False,
        seeds: int | None = None,
        maps: Sequence[Map] | None = None,
        methods: Mapping[str, Plan] = METHODS,
    ) -> None:
        self.quick, self._methods = quick, methods
        self.seeds = repetitions(seeds, QUICK_SEEDS if quick else SEEDS)
        if maps is not None:
            self.maps = tuple(maps)
        self.number = 20_000 if quick else 100_000
        self._runs = cache(self._run)
        self.map = cache(self._map)
        self.several = cache(self._several)

    def titles(self) -> dict[str, str]:
        """What the maps were."""
        return {str(at): bench_map.title for at, bench_map in enumerate(self.maps)}

    @cached_property
    def maps(self) -> tuple[Map, ...]:
        """Cities that are here, and smooth maps."""
        return tuple(maps_at_hand(self.quick))

    @property
    def rough(self) -> tuple[int, ...]:
        """Which maps are cities."""
        return tuple(at for at, bench_map in enumerate(self.maps) if not bench_map.smooth)

    @property
    def even(self) -> tuple[int, ...]:
        """Which maps are smooth."""
        return tuple(at for at, bench_map in enumerate(self.maps) if bench_map.smooth)

    def settings(self, smooth: bool) -> tuple[Setting, ...]:
        """Those that the target is a mean over (build note, section 3), of the maps at hand.

        Cities at their depth and two levels less, smooth maps at their depth, with `number` people
        and a tenth; and a million people of cities that have about as many.
        """
        few = [self.number // 10, self.number]
        if smooth:
            return tuple(Setting(at, number) for at in self.even for number in few)
        kinds = [(coarse, number) for coarse in (COARSE, 1) for number in few]
        results = [Setting(at, n, coarse=coarse) for at in self.rough for coarse, n in kinds]
        if not self.quick:
            large = [at for at in self.rough if len(self.maps[at].people) > 0.9 * MOST]
            results += [Setting(at, MOST) for at in large]
        return tuple(results)

    def run(self, at: int, method: str, number: int | None = None, **setting: Any) -> Floats:
        """All `MEASURES` of a method, (seeds, 8)."""
        return self.made(method, Setting(at, number or self.number, **setting))

    def made(self, method: str, setting: Setting) -> Floats:
        """The same for a setting."""
        return self._runs(method, setting)

    def error(self, at: int, method: str, number: int | None = None, **setting: Any) -> Floats:
        """MSE of a method on a map, seed by seed."""
        return self.run(at, method, number, **setting)[:, 0]

    def sent(self, at: int, method: str, column: int = INTEGERS) -> Floats:
        """Integers that a person sends, or another column, seed by seed."""
        return self.run(at, method)[:, column]

    def _map(self, at: int, coarse: int) -> Map:
        return self.maps[at] if coarse == 1 else self.maps[at].coarse(coarse)

    def _run(self, method: str, setting: Setting) -> Floats:
        bench_map = self.map(setting.at, setting.coarse)
        return np.array([self._one(bench_map, method, setting, seed) for seed in range(self.seeds)])

    def _one(self, bench_map: Map, method: str, setting: Setting, seed: int) -> Floats:
        people, number = bench_map.people, min(setting.number, len(bench_map.people))
        asking = Asking(
            people, Protocol(setting.shard, setting.dropped, 0.0, setting.bits), to_units(1.0),
            # Only shards one by one know a modulus.
            seed, "summed" if setting.bits is None else "ideal",
            number if asked_once(method) else None,
        )  # fmt: skip
        random = np.random.default_rng([seed, 7])

        def sample(question: Any) -> NDArray[np.int64]:
            members = random.choice(len(people), number, replace=False)
            return np.bincount(question.owner(people.cells[members]), minlength=question.counters)

        shape = people.grid.shape
        session = Session(asking, number, people.depth, shape, sample=sample)
        drawn, rows = self._methods[method](session, len(people))
        estimates = drawn if isinstance(drawn, list) else [drawn]
        maps = [Tree.of(estimate).paint(shape) for estimate in estimates]
        sent = communication(rows, setting.shard, method.startswith(ONCE))
        if method == SAMPLING:
            # Her place as it is: the server is free to take the level that is best.
            maps, sent = levels_of(maps[0]), (2, people.depth, -(-2 * people.depth // 8))
        density = maps[0]
        if len(maps) > 1:
            density = min(maps, key=lambda painted: metrics.mse(bench_map.truth, whole(painted)))
        return np.array([*measures(bench_map.truth, density), *sent], dtype=np.float64)

    def _several(self, places: int) -> Floats:
        """Table 2: squared error of the mean of people's normalised visits, seed by seed."""
        people, truth = visitors(self.maps[self.rough[0]], self.quick, places)
        errors = []
        for seed in range(self.seeds):
            asking = Asking(people, Protocol(SHARD, 0.0, 0.0), to_units(1.0), seed, "summed")
            session = Session(asking, len(people), people.depth, people.grid.shape)
            responses = list(rounds.mended(session, KeyTree.even(people.depth, 3)))
            paid = [response.units for response in responses]
            estimate = together(responses, people.grid.shape, len(people), paid)
            errors.append(measures(truth, Tree.of(estimate).paint(people.grid.shape))[0])
        return np.array(errors)


def measures(truth: Floats, density: Floats) -> list[float]:
    """MSE, L1, MAPE, sMAPE and MAAPE of a density made whole against a map that adds up to 1.

    MAPE takes 1 / cells in place of 0 (appendix A.1 takes the smallest value of its map).
    """
    normalised = whole(density)
    error = np.abs(normalised - truth)
    mape = float(np.mean(error / np.where(truth > 0, truth, 1.0 / truth.size)))
    return [
        metrics.mse(truth, normalised),
        metrics.l1(truth, normalised),
        mape,
        metrics.smape(truth, normalised),
        metrics.maape(truth, normalised),
    ]


def whole(density: Floats) -> Floats:
    """A density without negative cells that adds up to 1."""
    clipped = np.maximum(density, 0.0)
    result: Floats = clipped / max(float(clipped.sum()), 1e-300)
    return result


def levels_of(density: Floats) -> list[Floats]:
    """A map at every level: square blocks of cells, each filled with its mean."""
    side = len(density)
    by_level = [density]
    for step in (2**k for k in range(1, side.bit_length())):
        blocks = density.reshape(side // step, step, side // step, step).mean(axis=(1, 3))
        by_level.append(np.repeat(np.repeat(blocks, step, axis=0), step, axis=1))
    return by_level


def communication(rows: Sequence[Row], shard: int, once: bool) -> tuple[int, int, int]:
    """Integers, bits of the widest and bytes that one person sends in all rounds that ask her.

    Bits are those that the tail bound of a round needs, reduced modulo 2^b for each shard
    (`calibration.bits`); sums without noise need only hold the shard. Bytes are of vectors, keys
    and boxes, the latter as for `FAILING` people. Asked once she sends one vector: at most the
    longest.
    """
    integers, bits, sent = [], [], []
    for row in rows:
        size = row.people // calibration.shards(row.people, shard)
        degree, _ = calibration.neighbours(size, FAILING.dropped, FAILING.corrupt)
        integers.append(row.cells)
        bits.append(row.bits or calibration.bits(size, 0))
        sent.append(calibration.bytes_up(row.cells, bits[-1], degree))
    total = max if once else sum
    return total(integers), max(bits), total(sent)
