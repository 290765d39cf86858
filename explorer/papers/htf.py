"""What htf-2022 claims of HTF and its parameters.

Settings are those of its section 7.2 (T = 3, 0.001 for the cuts of a level, 0.0001 for the height,
no cut below 5 cells or 100 records); claims of section 7.7 (Fig. 10) have its own, epsilon 0.1,
0.001 for the height and stop count 10, and vary one of them at a time. The error is the mean
relative error with smoothing 20 over 2,000 random rectangles.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterator, Sequence

import numpy as np

from explorer.evaluate.results import figure
from explorer.mechanisms import (
    AG,
    HTF,
    UG,
    Identity,
    KDStandard,
    Mosaic,
    Privlet,
    PrivTree,
    QuadTree,
    Uniform,
)
from explorer.mechanisms.base import Mechanism
from explorer.papers.bench import CLUSTERS, GAUSSIANS, SIGMAS, Bench
from explorer.papers.report import Claim, claims_of
from explorer.papers.verdicts import (
    Comparison,
    Floats,
    Outcome,
    alike,
    below_one,
    between,
    hollow,
    lowest,
    near_best,
    ratio,
    smaller,
)

EPSILONS = (0.1, 0.3, 0.5)
SQUARES = ("sq2", "sq6", "sq10")
BUDGETS = ("geometric", "uniform")
CLAIMS: list[Claim] = []
_claim = claims_of("htf-2022", CLAIMS)


def _htf(epsilon: float, **changes: object) -> HTF:
    """Section 7.2."""
    settings = {"stop_count": 100, "stop_extent": 5, "height_budget": 1e-4, **changes}
    return HTF(epsilon=epsilon, **settings)


def _heights(bench: Bench) -> Sequence[int]:
    """Heights of binary trees, as far around Eq. 15 as the paper's figures go."""
    return (6, 8, 10, 14) if bench.quick else (8, 10, 12, 14, 16, 18)


def _kd_trees(bench: Bench, epsilon: float) -> list[Mechanism]:
    return [
        KDStandard(epsilon=epsilon, height=height, budget=budget)
        for budget in BUDGETS
        for height in _heights(bench)
    ]


def _quadtrees(bench: Bench, epsilon: float) -> list[Mechanism]:
    # A quarter is two cuts: height 2k in the paper's figures is k here.
    return [
        QuadTree(epsilon=epsilon, height=height // 2, budget=budget)
        for budget in BUDGETS
        for height in _heights(bench)
    ]


def _places(bench: Bench) -> Iterator[tuple[str, float, str]]:
    """Map, epsilon and workload of Fig. 4 to 6."""
    for data in bench.maps.cities:
        for epsilon in EPSILONS:
            yield data, epsilon, "random"
        for workload in SQUARES:
            yield data, 0.1, workload


def _best(bench: Bench, data: str, rivals: Sequence[Mechanism], workload: str) -> Floats:
    return lowest([bench.errors(data, rival, workload) for rival in rivals])


@_claim("htf-kd-trees", "7.2, Fig. 4")
def beats_kd_trees(bench: Bench) -> Outcome:
    """HTF is clearly more accurate than kd-trees, geometric or uniform, of any height."""
    return _beats(bench, _kd_trees, "kd-tree")


@_claim("kd-height", "7.2, Fig. 4")
def kd_trees_turn(bench: Bench) -> Outcome:
    """The error of kd-trees has its minimum at a middle height."""
    return _turns(bench, _kd_trees, "kd-tree")


def _beats(bench: Bench, rivals, name: str) -> Outcome:  # type: ignore[no-untyped-def]
    cells, gains = [], []
    for data, epsilon, workload in _places(bench):
        ours = bench.errors(data, _htf(epsilon), workload)
        trees = rivals(bench, epsilon)
        what = f"{data}, epsilon {epsilon:g}, {workload}"
        cells.append(smaller(what, ours, _best(bench, data, trees, workload)))
        gains += [1 - ratio(ours, bench.errors(data, tree, workload))[0] for tree in trees]
    aside = f"Over all heights and budgets HTF's error is {np.mean(gains):.0%} smaller on average."
    return Outcome(f"error of HTF over that of the {name} of the best height", cells, aside)


@_claim("htf-grids", "7.3, Fig. 5")
def beats_grids(bench: Bench) -> Outcome:
    """HTF is consistently more accurate than UG and AG, with stop counts of 10, 50 and 100."""
    cells, others = [], []
    for data, epsilon, workload in _places(bench):
        for stop in (10, 50, 100):
            htf = _htf(epsilon, stop_count=stop)
            for rival in (UG(epsilon=epsilon), AG(epsilon=epsilon)):
                what = f"{data}, epsilon {epsilon:g}, {workload}, stop {stop}, {rival.title}"
                pair = [bench.errors(data, mechanism, workload) for mechanism in (htf, rival)]
                cells.append(smaller(what, *pair))
                pair = [
                    bench.errors(data, mechanism, workload, "mreRho") for mechanism in (htf, rival)
                ]
                others.append(smaller(what, *pair))
    other = Outcome("", others)
    aside = (
        f"With a smoothing of 0.001 N in place of 20 the figure is {figure(other.value)} "
        f"({other.count(1)} for, {other.count(-1)} against)."
    )
    return Outcome("error of HTF over that of UG or AG", cells, aside)


@_claim("stop-50", "7.3, Fig. 5")
def stop_50(bench: Bench) -> Outcome:
    """For small budgets a stop count around 50 is nearly the best."""
    cells = []
    for data in bench.maps.cities:
        ours, *others = (bench.errors(data, _htf(0.1, stop_count=n)) for n in (50, 10, 100))
        cells.append(near_best(f"{data}, epsilon 0.1", ours, others))
    return Outcome("error with stop count 50 over the best of 10, 50 and 100", cells, sense=0)


def _turns(bench: Bench, rivals, name: str) -> Outcome:  # type: ignore[no-untyped-def]
    heights = _heights(bench)
    cells = []
    for data in bench.maps.cities:
        for epsilon in EPSILONS:
            errors = [bench.errors(data, tree) for tree in rivals(bench, epsilon)]
            for number, budget in enumerate(BUDGETS):
                part = errors[number * len(heights) : (number + 1) * len(heights)]
                cells.append(hollow(f"{data}, epsilon {epsilon:g}, {budget}", heights, part))
    meaning = f"error of the lowest or highest {name}, the better one, over the best between"
    return Outcome(meaning, cells, sense=1)


@_claim("htf-quadtrees", "7.4, Fig. 6")
def beats_quadtrees(bench: Bench) -> Outcome:
    """HTF is more accurate than quadtrees, geometric or uniform, of any height."""
    return _beats(bench, _quadtrees, "quadtree")


@_claim("quadtree-height", "7.4, Fig. 6")
def quadtrees_turn(bench: Bench) -> Outcome:
    """The error of quadtrees falls with their height and rises again."""
    return _turns(bench, _quadtrees, "quadtree")


@_claim("height-rule", "7.4, Eq. 15")
def height_rule(bench: Bench) -> Outcome:
    """The rule for HTF's height gives log2(N epsilon / 10), rounded down: 15, 16 and 17 levels for
    3.5 million records and epsilon 0.1, 0.3 and 0.5.
    """
    matrix = bench.maps.of(bench.maps.main).matrix
    limit = math.ceil(math.log2(matrix.counts.size))
    cells = []
    for epsilon in EPSILONS:
        expected = min(math.floor(math.log2(matrix.total * epsilon / 10)), limit)
        drawn = [
            _htf(epsilon).release(matrix, rng=seed).facts["height"] for seed in range(bench.seeds)
        ]
        moves = np.array(drawn) / np.mean(drawn)
        says = 1 if 2 * drawn.count(expected) > len(drawn) else -1
        cells.append(
            Comparison(
                f"epsilon {epsilon:g}: {expected} wanted", float(np.mean(drawn)), moves, says
            )
        )
    return Outcome("height, geometric mean over epsilon 0.1, 0.3 and 0.5", cells, sense=0)


def _rivals(bench: Bench) -> dict[str, list[Mechanism]]:
    """The others of Fig. 7 at epsilon 0.1; trees of every height, the best one counts."""
    single = [kind(epsilon=0.1) for kind in (UG, AG, Privlet, Identity, Uniform)]
    rivals: dict[str, list[Mechanism]] = {mechanism.title: [mechanism] for mechanism in single}
    rivals["kd-tree"] = _kd_trees(bench, 0.1)
    rivals["quadtree"] = _quadtrees(bench, 0.1)
    return rivals


@_claim("htf-all", "7.5, Fig. 7")
def beats_all(bench: Bench) -> Outcome:
    """On the city and on Gaussian clusters HTF is more accurate than kd-trees, quadtrees, UG, AG,
    Privlet, Identity and Uniform.
    """
    cells, newer = [], []
    for data in (*bench.maps.cities, *GAUSSIANS):
        ours = bench.errors(data, _htf(0.1))
        others = {
            name: _best(bench, data, rival, "random") for name, rival in _rivals(bench).items()
        }
        best = min(others, key=lambda name: float(others[name].mean()))
        cells.append(smaller(f"{data}, against {best}", ours, others[best]))
        newer += [
            smaller(mechanism.title, ours, bench.errors(data, mechanism))
            for mechanism in (PrivTree(epsilon=0.1), Mosaic(epsilon=0.1))
        ]
    later = Outcome("", newer).value
    aside = f"Against PrivTree and Mosaic, which the paper does not have, it is {figure(later)}."
    return Outcome("error of HTF over that of the best other", cells, aside)


@_claim("htf-sparsity", "7.5, Fig. 7")
def gains_with_sigma(bench: Bench) -> Outcome:
    """HTF gains more over UG, AG and quadtrees where sigma is 100 than where it is 20."""
    gains = {}
    grids = [UG(epsilon=0.1), AG(epsilon=0.1)]
    for sigma in SIGMAS:
        names = [f"gauss {sigma} {number + 1}" for number in range(CLUSTERS)]
        pairs = [
            smaller(
                name,
                bench.errors(name, _htf(0.1)),
                _best(bench, name, [*grids, *_quadtrees(bench, 0.1)], "random"),
            )
            for name in names
        ]
        gains[sigma] = Outcome("", pairs)
    low, high = gains[SIGMAS[0]], gains[SIGMAS[-1]]
    moves = np.mean([c.moves for c in high.cells], axis=0)
    moves = moves - np.mean([c.moves for c in low.cells], axis=0)
    parts = ", ".join(f"{figure(1 / gain.value)} for {sigma}" for sigma, gain in gains.items())
    what = f"error of the best other over that of HTF: {parts}"
    cell = below_one(what, high.value / low.value, moves)
    return Outcome("HTF's error relative to the best other, sigma 100 over sigma 20", (cell,))


@_claim("split-less", "7.5, Fig. 7")
def less_for_cuts(bench: Bench) -> Outcome:
    """Less budget for cuts (0.0005 a level in place of 0.001) does HTF good."""
    cells = [
        smaller(
            data,
            bench.errors(data, _htf(0.1, split_budget=5e-4)),
            bench.errors(data, _htf(0.1)),
        )
        for data in (*bench.maps.cities, *GAUSSIANS)
    ]
    return Outcome("error with 0.0005 over that with 0.001", cells)


@_claim("htf-fastest", "7.5, Fig. 8")
def fastest(bench: Bench) -> Outcome:
    """HTF takes less time than all the others."""
    main = bench.maps.main
    ours = bench.errors(main, _htf(0.1), metric="seconds")
    others: list[Mechanism] = [
        kind(epsilon=0.1) for kind in (UG, AG, QuadTree, KDStandard, Privlet, Identity)
    ]
    cells = [
        smaller(other.title, ours, bench.errors(main, other, metric="seconds")) for other in others
    ]
    return Outcome("time of HTF over that of the other", cells)


def _default(epsilon: float = 0.1, **changes: object) -> HTF:
    return HTF(epsilon=epsilon, **{"stop_count": 10, "height_budget": 1e-3, **changes})


@_claim("split-budget", "7.7, Fig. 10a")
def split_budget_turns(bench: Bench) -> Outcome:
    """The error has its minimum at a middle budget for cuts: too little misses homogeneous halves,
    too much starves the counts.
    """
    budgets = (5e-5, 1e-4, 2e-4, 5e-4, 1e-3, 2e-3, 3e-3)
    return _hollow(bench, "split_budget", budgets, "budget for cuts")


@_claim("rounds", "7.7, Fig. 10b")
def rounds_turn(bench: Bench) -> Outcome:
    """The error has its minimum at a middle number of rounds T."""
    return _hollow(bench, "T", (1, 2, 3, 4, 6, 8, 12), "number of rounds")


def _hollow(bench: Bench, name: str, values: Sequence[float], words: str) -> Outcome:
    cells = [
        hollow(data, values, [bench.errors(data, _default(**{name: value})) for value in values])
        for data in bench.maps.cities
    ]
    meaning = f"error with the least or most, the better one, over the best {words} between"
    return Outcome(meaning, cells, sense=1)


@_claim("height-low", "7.7, Fig. 10c")
def low_trees_hurt(bench: Bench) -> Outcome:
    """Trees lower than Eq. 15 says are significantly worse."""
    cells = []
    for data in bench.maps.cities:
        settled = _settled(bench, data)
        pair = (bench.errors(data, _default(height=settled - step)) for step in (0, 4))
        cells.append(smaller(f"{data}: height {settled} against {settled - 4}", *pair))
    return Outcome("error at the height of Eq. 15 over that four levels lower", cells)


@_claim("height-settles", "7.7, Fig. 10c")
def height_settles(bench: Bench) -> Outcome:
    """From the height of Eq. 15 on the error hardly changes any more."""
    cells = _above(bench, "paper")
    steady = Outcome("", tuple(_above(bench, "longer")))
    aside = (
        "The paper's first cut follows the height's parity; with the longer side cut first the "
        f"figure is {figure(steady.value)} ({steady.count(1)} for, {steady.count(-1)} against)."
    )
    meaning = "error one to three levels above the height of Eq. 15 over that at it"
    return Outcome(meaning, cells, aside, sense=0)


def _above(bench: Bench, first_axis: str) -> list[Comparison]:
    cells = []
    for data in bench.maps.cities:
        settled = _settled(bench, data)
        at, *above = (
            bench.errors(data, _default(height=settled + step, first_axis=first_axis))
            for step in range(4)
        )
        cells += [
            between(f"{data}: height {settled + step} against {settled}", errors, at, 0.9, 1.1)
            for step, errors in enumerate(above, 1)
        ]
    return cells


def _settled(bench: Bench, data: str) -> int:
    """Eq. 15 at epsilon 0.1 with the exact number of records."""
    return math.floor(math.log2(bench.maps.of(data).matrix.total * 0.1 / 10))


@_claim("stop-large", "7.7, Fig. 10d")
def large_stops_hurt(bench: Bench) -> Outcome:
    """Large stop counts, beyond the noise variance 2 / epsilon^2, end the tree too early."""
    cells = []
    for data in bench.maps.cities:
        small = lowest([bench.errors(data, _default(stop_count=n)) for n in (10, 50, 100, 200)])
        cells += [
            smaller(
                f"{data}: best up to 200 against {n}",
                small,
                bench.errors(data, _default(stop_count=n)),
            )
            for n in (1000, 5000)
        ]
    return Outcome("error with the best stop count up to 200 over that with 1000 or 5000", cells)


@_claim("stop-theory", "7.7, Fig. 10d")
def theory_of_stops(bench: Bench) -> Outcome:
    """A stop count of 10 does about as well as the thresholds of Algorithm 4."""
    cells = []
    for data in bench.maps.cities:
        pair = [
            bench.errors(data, mechanism)
            for mechanism in (_default(), _default(stop_rule="optimal"))
        ]
        cells.append(alike(data, pair))
    return Outcome("worse over better of stop count 10 and Algorithm 4", cells, sense=0)


@_claim("scale", "7.7, Fig. 10e")
def scale_helps(bench: Bench) -> Outcome:
    """The error falls with the number of records."""
    cells = []
    parts = ("0.15", "0.3", "0.6", "1")
    for data in bench.maps.cities:
        names = [data if part == "1" else f"{data} {part}" for part in parts]
        errors = [bench.errors(name, _default()) for name in names]
        cells += [
            smaller(f"{data}: part {more} against {less}", errors[i + 1], errors[i])
            for i, (less, more) in enumerate(itertools.pairwise(parts))
        ]
    return Outcome("error with about twice the records over that with once", cells)


@_claim("scale-epsilon", "7.7, Fig. 10e")
def scale_is_epsilon(bench: Bench) -> Outcome:
    """Twice the records do what twice the epsilon does."""
    cells = []
    for data in bench.maps.cities:
        half = bench.errors(f"{data} 0.5", _scaled(0.2, 2), metric="mreRho")
        whole = bench.errors(data, _scaled(0.1, 1), metric="mreRho")
        what = f"{data}: half the records at epsilon 0.2 against all at 0.1"
        cells.append(between(what, half, whole, 1 / 1.1, 1.1))
    meaning = "error (smoothing 0.001 N) with half the records and twice epsilon over that with all"
    return Outcome(meaning, cells, sense=0)


def _scaled(epsilon: float, times: float) -> HTF:
    """Everything that is counted in records or in epsilon, scaled alike."""
    return _default(
        epsilon,
        stop_count=10 / times,
        split_budget=1e-3 * times,
        height_budget=1e-3 * times,
    )
