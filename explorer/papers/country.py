"""What section 6 and Fig. 9 of htf-2022 claim of a country, checked on a country at hand.

Great Britain's accidents where the files of the catalogue are found, else the made-up nation. Runs
that are compared share their seeds. Errata a to e are named where they matter.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache, cached_property

import numpy as np

from explorer.cities import nation
from explorer.cities.countries import GREAT_BRITAIN, MADE_UP, countries
from explorer.country.benchmarks import benchmark, benchmark_plan, by_cells
from explorer.country.budgets import of_eq_38
from explorer.country.mechanism import NO_MAPS, Country
from explorer.evaluate.metrics import SMOOTHING, mre
from explorer.evaluate.workloads import workload
from explorer.grid.grid import Grid
from explorer.mechanisms import HTF, Mosaic
from explorer.papers.report import Claim, claims_of
from explorer.papers.verdicts import Comparison, Floats, Outcome, ratio, repetitions, smaller
from explorer.points.area_counts import AreaCounts
from explorer.points.matrix import FrequencyMatrix
from explorer.points.points import Points
from explorer.points.truth import exact

SEEDS, QUICK_SEEDS = 5, 3
#: Draws a seed of counts alone, which cost little and spread much.
DRAWS = 8
#: Centres of the squares of Fig. 9 that represent the paper's cities; the first two are quick.
CITIES = {
    "London": (-0.1276, 51.5072),
    "Birmingham": (-1.8904, 52.4862),
    "Manchester": (-2.2426, 53.4808),
    "Leeds": (-1.5491, 53.8008),
    "Glasgow": (-4.2518, 55.8642),
    "Bristol": (-2.5879, 51.4545),
}
#: Erratum e: plus and minus so many degrees, which is no square on the ground.
HALF = 0.6
#: Part of epsilon that Eq. 38 leaves to the lowest level of the United States, .585, and of
#: benchmarks 2 (quarters, 5 levels below the root), .395, and 1 (halves, 9), .229: what Fig. 9
#: compares (erratum e).
HIERARCHY = float(of_eq_38([1, 50, 3_006, 19_495])[-1])
SHARES = {
    2: float(of_eq_38(4.0 ** np.arange(6))[-1]),
    1: float(of_eq_38(2.0 ** np.arange(10))[-1]),
}
#: The threshold 10,000 of section 7.6 for as many records as Great Britain has.
THRESHOLD = 10_000 / 139_776
CLAIMS: list[Claim] = []
_claim = claims_of("htf-2022", CLAIMS)


@dataclass(frozen=True, eq=False)
class Land:
    """A country with its points.

    Attributes
    ----------
    title : for people
    counts : by area and cell
    points : in degrees
    cities : centres of the squares of Fig. 9
    """

    title: str
    counts: AreaCounts
    points: Points
    cities: dict[str, tuple[float, float]]


class CountryBench:
    """Errors of plans over a country, each made once.

    Parameters
    ----------
    quick : larger cells, two cities, one epsilon
    seeds : repetitions, 2 or more; by default 5, quick 3
    land : the country, by default the one that is found
    """

    def __init__(
        self, quick: bool = False, seeds: int | None = None, land: Land | None = None
    ) -> None:
        self.quick = quick
        self.seeds = repetitions(seeds, QUICK_SEEDS if quick else SEEDS)
        if land is not None:
            self.land = land
        self.epsilons = (1.0,) if quick else (0.1, 1.0)
        self.totals = (0.5,) if quick else (0.5, 1.0)
        self.side = 256 if quick else 1024
        self.areas_of_plan = cache(self._areas_of_plan)
        self.areas_of_benchmark = cache(self._areas_of_benchmark)
        self.squares_of = cache(self._squares_of)
        self.city = cache(self._city)
        self._benchmark = cache(lambda number: benchmark(self.land.counts, number))

    def titles(self) -> dict[str, str]:
        """What the country was."""
        return {"country": self.land.title}

    @cached_property
    def land(self) -> Land:
        """The country."""
        return find(self.quick)

    @property
    def cities(self) -> tuple[str, ...]:
        """Names of the squares of Fig. 9."""
        return tuple(self.land.cities)[: 2 if self.quick else None]

    @property
    def threshold(self) -> float:
        """That of section 7.6, for as many records as there are here."""
        return float(round(THRESHOLD * self.land.counts.by_area.sum(), -2))

    def counts_alone(self, epsilon: float, budgets: str, consistency: str) -> Floats:
        """Sum of squared errors over all areas, seed by seed, all of epsilon on their counts."""
        plan = Country(epsilon=epsilon, inside=NO_MAPS, budgets=budgets, consistency=consistency)
        truth, errors = self.land.counts.by_node, []
        for seed in range(DRAWS * self.seeds):
            release = plan.release(self.land.counts, rng=seed)
            people = release.windows.people
            error = release.tree.value - truth[people.top[release.node]]
            # An only child is the same people once more.
            errors.append(float(np.sum(people.chain[release.node] * error**2)))
        return np.array(errors).reshape(-1, DRAWS).mean(axis=1)

    def _areas_of_plan(
        self, epsilon: float, inside: str, threshold: float, budgets: str = "Eq. 38"
    ) -> Floats:
        """Mean relative error of the lowest areas as section 6 releases them, seed by seed."""
        plan = Country(
            epsilon=epsilon,
            inside=inside,
            budgets=budgets,
            own_share=0.0 if inside != NO_MAPS else 0.3,
            threshold=threshold or None,
            consistency="drawn",
        )
        counts = self.land.counts
        truth, errors = counts.by_area, []
        for seed in range(self.seeds):
            value = plan.release(counts, rng=seed).answer(counts.areas).value
            errors.append(mre(truth, value, SMOOTHING))
        return np.array(errors)

    def _areas_of_benchmark(self, epsilon: float, inside: str, number: int) -> Floats:
        """The same of a benchmark, whose areas are answered from cells."""
        counts, truth = self.land.counts, self.land.counts.by_area
        plan = benchmark_plan(epsilon, float(truth.sum()), len(truth), inside)
        results = []
        for seed in range(self.seeds):
            release = plan.release(self._benchmark(number), rng=seed)
            results.append(mre(truth, by_cells(release, counts.windows), SMOOTHING))
        return np.array(results)

    def _squares_of(self, city: str, inside: str, epsilon: float) -> Floats:
        """Mean relative error of the random rectangles of a city, seed by seed."""
        matrix = self.city(city)
        boxes = workload("random", matrix.grid.shape).boxes
        rectangles = boxes[:, :, ::-1].reshape(-1, 4)
        truth = exact(matrix, rectangles)
        mechanism = {"htf": HTF, "mosaic": Mosaic}[inside](epsilon=epsilon)
        values = (
            mechanism.release(matrix, rng=seed).answer(rectangles).value
            for seed in range(self.seeds)
        )
        return np.array([mre(truth, value, SMOOTHING) for value in values])

    def _city(self, name: str) -> FrequencyMatrix:
        """The square of a city in Fig. 9, in degrees."""
        lon, lat = self.land.cities[name]
        edges = [np.linspace(at - HALF, at + HALF, self.side + 1) for at in (lat, lon)]
        points = self.land.points
        counts = np.histogram2d(points.y, points.x, edges)[0].astype(np.int64)
        return FrequencyMatrix(counts, Grid.cells((self.side, self.side)))


def find(quick: bool = False) -> Land:
    """Great Britain's accidents by district if the files are here, else the made-up nation."""
    cell = 2_000.0 if quick else 500.0
    accidents = countries().get(GREAT_BRITAIN)
    if accidents is None:
        return made_up(140_000 if quick else 1_000_000, cell)
    areas, points = accidents.areas(), accidents.points()
    title = f"{accidents.title}, {len(areas):,} districts"
    return Land(title, areas.count(points, cell), points, CITIES)


def made_up(rows: int, cell: float) -> Land:
    """The made-up nation with so many points; its six largest towns."""
    areas, points = countries()[MADE_UP].areas(), nation.points(rows)
    plan = nation.plan()
    largest = np.argsort(-plan.share, kind="stable")[: len(CITIES)]
    towns = {
        f"town {rank}": (float(plan.towns[at, 0]), float(plan.towns[at, 1]))
        for rank, at in enumerate(largest, 1)
    }
    title = f"{nation.NAME}, made up, {len(areas):,} districts"
    return Land(title, areas.count(points, cell), points, towns)


@_claim("country-budgets", "section 6, Eq. 33-38")
def budgets_of_levels(bench: CountryBench) -> Outcome:
    """Sharing the budget among levels by the cube roots of their numbers of areas makes the squared
    error of all counts smaller than equal or geometric shares.
    """
    cells, asides = [], []
    for epsilon in bench.epsilons:
        printed = bench.counts_alone(epsilon, "Eq. 38", "drawn")
        for rival in ("uniform", "geometric"):
            theirs = bench.counts_alone(epsilon, rival, "drawn")
            cells.append(smaller(f"epsilon {epsilon:g}, {rival}", printed, theirs))
        ours = bench.counts_alone(epsilon, "least squares", "non-negative")
        asides.append(f"{ratio(ours, printed)[0]:.2f} at epsilon {epsilon:g}")
    return Outcome(
        "sum of squared errors of all areas, Eq. 38 over the other shares",
        cells,
        "What comes after matters more (erratum a): shares that are best before least squares, and "
        f"least squares, over Eq. 38 as drawn: {', '.join(asides)}.",
    )


@_claim("country-cities", "section 7.6, Fig. 9")
def cities_with_htf(bench: CountryBench) -> Outcome:
    """In cities the hierarchical release with HTF answers rectangles better than benchmarks 1 and
    2.
    """
    return _cities(bench, "htf")


@_claim("country-cities-mosaic", "section 7.6, Fig. 9, other mechanism")
def cities_with_mosaic(bench: CountryBench) -> Outcome:
    """The same order with Mosaic inside."""
    return _cities(bench, "mosaic")


def _cities(bench: CountryBench, inside: str) -> Outcome:
    """Rectangles in cities: the mechanism at the share that each structure leaves it."""
    cells = [
        smaller(
            f"{city}, total {total:g}, benchmark {number}",
            bench.squares_of(city, inside, HIERARCHY * total),
            bench.squares_of(city, inside, share * total),
        )
        for city in bench.cities
        for total in bench.totals
        for number, share in SHARES.items()
    ]
    return Outcome(
        "error of rectangles in cities, hierarchical over benchmark",
        cells,
        "It compares one mechanism at .585, .395 and .229 of epsilon (erratum e): no count of "
        "an area is in it.",
    )


@_claim("country-areas", "section 7.6, reason (ii)")
def areas_with_htf(bench: CountryBench) -> Outcome:
    """The hierarchical release with HTF gives counts of named areas better than benchmarks 1 and
    2.
    """
    return _areas(bench, "htf")


@_claim("country-areas-mosaic", "section 7.6, other mechanism")
def areas_with_mosaic(bench: CountryBench) -> Outcome:
    """The same with Mosaic inside."""
    return _areas(bench, "mosaic")


def _areas(bench: CountryBench, inside: str) -> Outcome:
    """Named areas: the hierarchy against rectangles that do not follow their borders."""
    cells = [
        smaller(
            f"epsilon {epsilon:g}, benchmark {number}",
            bench.areas_of_plan(epsilon, inside, 0.0),
            bench.areas_of_benchmark(epsilon, inside, number),
        )
        for epsilon in bench.epsilons
        for number in SHARES
    ]
    return Outcome("error of lowest areas, hierarchical over benchmark", cells)


@_claim("country-threshold", "section 6, dynamic levels")
def thresholds(bench: CountryBench) -> Outcome:
    """An area whose noisy count is below a threshold is better handed to HTF whole than divided
    further.
    """
    cells: list[Comparison] = []
    for epsilon in bench.epsilons:
        without = bench.areas_of_plan(epsilon, "htf", 0.0)
        for times in (1, 2):
            threshold = times * bench.threshold
            with_it = bench.areas_of_plan(epsilon, "htf", threshold)
            cells.append(smaller(f"epsilon {epsilon:g}, {threshold:,.0f}", with_it, without))
    return Outcome(
        "error of lowest areas, with the threshold over without",
        cells,
        "Without, maps begin in the lowest areas; what is left on the path goes to HTF.",
    )
