"""What htf-2022 claims of HTF's parameters (section 7.7, Fig. 10), computed.

Settings are those of that section: epsilon 0.1, T = 3, 0.001 for the cuts of a level and for the
height, stop count 10; one of them is varied at a time. The error is the mean relative error with
smoothing 20 over 2,000 random rectangles.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Sequence

from explorer.evaluate.results import figure
from explorer.mechanisms import HTF
from explorer.papers.bench import Bench
from explorer.papers.verdicts import (
    Comparison,
    Outcome,
    alike,
    between,
    hollow,
    lowest,
    smaller,
)


def _default(epsilon: float = 0.1, **changes: object) -> HTF:
    """Settings of section 7.7 with changes."""
    return HTF(epsilon=epsilon, **{"stop_count": 10, "height_budget": 1e-3, **changes})


def split_budget_turns(bench: Bench) -> Outcome:
    """Errors along the budget for the cuts of a level."""
    budgets = (5e-5, 1e-4, 2e-4, 5e-4, 1e-3, 2e-3, 3e-3)
    return _hollow(bench, "split_budget", budgets, "budget for cuts")


def rounds_turn(bench: Bench) -> Outcome:
    """Errors along the rounds T."""
    return _hollow(bench, "T", (1, 2, 3, 4, 6, 8, 12), "number of rounds")


def _hollow(bench: Bench, name: str, values: Sequence[float], words: str) -> Outcome:
    cells = [
        hollow(data, values, [bench.errors(data, _default(**{name: value})) for value in values])
        for data in bench.maps.cities
    ]
    meaning = f"error with the least or most, the better one, over the best {words} between"
    return Outcome(meaning, tuple(cells), sense=1)


def low_trees_hurt(bench: Bench) -> Outcome:
    """The height of Eq. 15 against four levels less."""
    cells = []
    for data in bench.maps.cities:
        settled = _settled(bench, data)
        pair = (bench.errors(data, _default(height=settled - step)) for step in (0, 4))
        cells.append(smaller(f"{data}: height {settled} against {settled - 4}", *pair))
    return Outcome("error at the height of Eq. 15 over that four levels lower", tuple(cells))


def height_settles(bench: Bench) -> Outcome:
    """The heights above that of Eq. 15 against it."""
    cells = _above(bench, "paper")
    steady = Outcome("", tuple(_above(bench, "longer")))
    aside = (
        "The paper's first cut follows the height's parity; with the longer side cut first the "
        f"figure is {figure(steady.value)} ({steady.count(1)} for, {steady.count(-1)} against)."
    )
    meaning = "error one to three levels above the height of Eq. 15 over that at it"
    return Outcome(meaning, tuple(cells), aside, sense=0)


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


def large_stops_hurt(bench: Bench) -> Outcome:
    """Stop counts above the noise variance against the best below it."""
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
    return Outcome(
        "error with the best stop count up to 200 over that with 1000 or 5000", tuple(cells)
    )


def theory_of_stops(bench: Bench) -> Outcome:
    """Stop count 10 and Algorithm 4's thresholds."""
    cells = []
    for data in bench.maps.cities:
        pair = [
            bench.errors(data, mechanism)
            for mechanism in (_default(), _default(stop_rule="optimal"))
        ]
        cells.append(alike(data, pair))
    return Outcome("worse over better of stop count 10 and Algorithm 4", tuple(cells), sense=0)


def scale_helps(bench: Bench) -> Outcome:
    """Errors on parts of the records."""
    cells = []
    parts = ("0.15", "0.3", "0.6", "1")
    for data in bench.maps.cities:
        names = [data if part == "1" else f"{data} {part}" for part in parts]
        errors = [bench.errors(name, _default()) for name in names]
        cells += [
            smaller(f"{data}: part {more} against {less}", errors[i + 1], errors[i])
            for i, (less, more) in enumerate(itertools.pairwise(parts))
        ]
    return Outcome("error with about twice the records over that with once", tuple(cells))


def scale_is_epsilon(bench: Bench) -> Outcome:
    """Half the records at twice the epsilon, with a smoothing that scales with the records."""
    cells = []
    for data in bench.maps.cities:
        half = bench.errors(f"{data} 0.5", _scaled(0.2, 2), metric="mreRho")
        whole = bench.errors(data, _scaled(0.1, 1), metric="mreRho")
        what = f"{data}: half the records at epsilon 0.2 against all at 0.1"
        cells.append(between(what, half, whole, 1 / 1.1, 1.1))
    meaning = "error (smoothing 0.001 N) with half the records and twice epsilon over that with all"
    return Outcome(meaning, tuple(cells), sense=0)


def _scaled(epsilon: float, times: float) -> HTF:
    """Everything that is counted in records or in epsilon, scaled alike."""
    return _default(
        epsilon,
        stop_count=10 / times,
        split_budget=1e-3 * times,
        height_budget=1e-3 * times,
    )
