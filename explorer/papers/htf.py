"""What htf-2022 claims of HTF, computed; see `claims` for the sentences.

Settings are those of its section 7.2 (T = 3, 0.001 for the cuts of a level, 0.0001 for the height,
no cut below 5 cells or 100 records) unless a claim is about others. The
error is its mean relative error with smoothing 20, over 2,000 random rectangles.
"""

from __future__ import annotations

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
from explorer.papers.bench import Bench
from explorer.papers.data import CLUSTERS, GAUSSIANS, SIGMAS
from explorer.papers.verdicts import (
    Comparison,
    Floats,
    Outcome,
    below_one,
    hollow,
    lowest,
    near_best,
    ratio,
    smaller,
)

EPSILONS = (0.1, 0.3, 0.5)
SQUARES = ("sq2", "sq6", "sq10")
BUDGETS = ("geometric", "uniform")


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


def beats_kd_trees(bench: Bench) -> Outcome:
    """HTF against the best kd-tree."""
    return _beats(bench, _kd_trees, "kd-tree")


def beats_quadtrees(bench: Bench) -> Outcome:
    """HTF against the best quadtree."""
    return _beats(bench, _quadtrees, "quadtree")


def _beats(bench: Bench, rivals, name: str) -> Outcome:  # type: ignore[no-untyped-def]
    cells, gains = [], []
    for data, epsilon, workload in _places(bench):
        ours = bench.errors(data, _htf(epsilon), workload)
        trees = rivals(bench, epsilon)
        what = f"{data}, epsilon {epsilon:g}, {workload}"
        cells.append(smaller(what, ours, _best(bench, data, trees, workload)))
        gains += [1 - ratio(ours, bench.errors(data, tree, workload))[0] for tree in trees]
    aside = f"Over all heights and budgets HTF's error is {np.mean(gains):.0%} smaller on average."
    return Outcome(f"error of HTF over that of the {name} of the best height", tuple(cells), aside)


def kd_trees_turn(bench: Bench) -> Outcome:
    """Errors of kd-trees along the height."""
    return _turns(bench, _kd_trees, "kd-tree")


def quadtrees_turn(bench: Bench) -> Outcome:
    """Errors of quadtrees along the height."""
    return _turns(bench, _quadtrees, "quadtree")


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
    return Outcome(meaning, tuple(cells), sense=1)


def beats_grids(bench: Bench) -> Outcome:
    """HTF with three stop counts against UG and AG."""
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
    other = Outcome("", tuple(others))
    aside = (
        f"With a smoothing of 0.001 N in place of 20 the figure is {figure(other.value)} "
        f"({other.count(1)} for, {other.count(-1)} against)."
    )
    return Outcome("error of HTF over that of UG or AG", tuple(cells), aside)


def stop_50(bench: Bench) -> Outcome:
    """Stop count 50 against 10 and 100."""
    cells = []
    for data in bench.maps.cities:
        ours, *others = (bench.errors(data, _htf(0.1, stop_count=n)) for n in (50, 10, 100))
        cells.append(near_best(f"{data}, epsilon 0.1", ours, others))
    return Outcome(
        "error with stop count 50 over the best of 10, 50 and 100", tuple(cells), sense=0
    )


def height_rule(bench: Bench) -> Outcome:
    """Heights that HTF chose on the main map, from noisy totals."""
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
    return Outcome("height, geometric mean over epsilon 0.1, 0.3 and 0.5", tuple(cells), sense=0)


def _rivals(bench: Bench) -> dict[str, list[Mechanism]]:
    """The others of Fig. 7 at epsilon 0.1; trees of every height, the best one counts."""
    single = [kind(epsilon=0.1) for kind in (UG, AG, Privlet, Identity, Uniform)]
    rivals: dict[str, list[Mechanism]] = {mechanism.title: [mechanism] for mechanism in single}
    rivals["kd-tree"] = _kd_trees(bench, 0.1)
    rivals["quadtree"] = _quadtrees(bench, 0.1)
    return rivals


def beats_all(bench: Bench) -> Outcome:
    """HTF against the best of all others of Fig. 7."""
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
    later = Outcome("", tuple(newer)).value
    aside = f"Against PrivTree and Mosaic, which the paper does not have, it is {figure(later)}."
    return Outcome("error of HTF over that of the best other", tuple(cells), aside)


def gains_with_sigma(bench: Bench) -> Outcome:
    """Gain over grids and quadtrees, by sigma."""
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
        gains[sigma] = Outcome("", tuple(pairs))
    low, high = gains[SIGMAS[0]], gains[SIGMAS[-1]]
    moves = np.mean([c.moves for c in high.cells], axis=0)
    moves = moves - np.mean([c.moves for c in low.cells], axis=0)
    parts = ", ".join(f"{figure(1 / gain.value)} for {sigma}" for sigma, gain in gains.items())
    what = f"error of the best other over that of HTF: {parts}"
    cell = below_one(what, high.value / low.value, moves)
    return Outcome("HTF's error relative to the best other, sigma 100 over sigma 20", (cell,))


def less_for_cuts(bench: Bench) -> Outcome:
    """0.0005 against 0.001 for the cuts of a level."""
    cells = [
        smaller(
            data,
            bench.errors(data, _htf(0.1, split_budget=5e-4)),
            bench.errors(data, _htf(0.1)),
        )
        for data in (*bench.maps.cities, *GAUSSIANS)
    ]
    return Outcome("error with 0.0005 over that with 0.001", tuple(cells))


def fastest(bench: Bench) -> Outcome:
    """Processor time of HTF against each other on the main map."""
    main = bench.maps.main
    ours = bench.errors(main, _htf(0.1), metric="seconds")
    others: list[Mechanism] = [
        kind(epsilon=0.1) for kind in (UG, AG, QuadTree, KDStandard, Privlet, Identity)
    ]
    cells = [
        smaller(other.title, ours, bench.errors(main, other, metric="seconds")) for other in others
    ]
    return Outcome("time of HTF over that of the other", tuple(cells))
