"""Errors of methods on three cities against the figures of a prototype, and against our target.

Port Amber is made here; what needs the files of New York and San Francisco is skipped without them.
"""

from __future__ import annotations

import json
import math
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from explorer.cities.catalogue import cities
from explorer.federated import rounds
from explorer.federated.calibration import sigma
from explorer.federated.paper_bench import INTEGERS, HeatmapBench
from explorer.federated.paper_maps import BLURS, Map, smoothed
from explorer.federated.paper_methods import (
    MENDED,
    METHODS,
    ONCE,
    PRINTED,
    Plan,
    of_plan,
)
from explorer.releases.quarters import KeyTree
from explorer.releases.rounds import Heard
from explorer.releases.units import to_epsilon

THEIRS = 5
"""Runs behind a figure of the reference."""
MEASURED = 40
"""Runs of ours behind `Method.spread` and `Method.ratio`."""
FAR = 4.0
"""Standard errors of a difference: fifty differences pass them once in 300 times."""
RUNS = 2
"""Of every method on Port Amber, San Francisco and smooth maps."""
FILES = {
    "new-york": "nyc_uber2014_sample.parquet",
    "san-francisco": "sf_cabspotting_points.parquet",
}
NAMES = {"new-york": "ny", "madeup": "amber", "san-francisco": "sf"}
"""Of cities, here and in the reference."""


@dataclass(frozen=True)
class Method:
    """A method of both programs.

    Attributes
    ----------
    reference : its name there
    spread : standard deviation of one run of ours, of MSE and of L1, measured
    runs : how many are made here
    ratio : our mean error over theirs, measured; None where there is no difference to be seen
    integers : runs that send fewer are another case, see `METHODS`
    """

    reference: str
    spread: tuple[float, float]
    runs: int = 4
    ratio: tuple[float, float] | None = None
    integers: float = 0.0


#: The adaptive grid's error hangs on where the edges of its uneven cells fall: rounded down (as
#: here), up or to the nearest its MSE is 3.50, 3.50, 3.34 on New York (theirs 3.42), 4.31, 3.98,
#: 4.16 on San Francisco (3.93), 1.01, 1.01, 1.03 on Port Amber (1.02e-11), of as many cells.
#: Algorithm 2 mended ends after four rounds or after five on New York, ours in 20 of 40 runs each.
#: All five runs of the reference have five (of ours five in a row would once in 32 times), so that
#: runs with five are compared, which send 8,300 integers or more, those with four at most 5,400.
_GRID, _SKETCH = "adaptive grid, epsilon in its sizes", "count-min 4x2000, best level (oracle)"
_MENDED = "Algorithm 2 + H rule, jumps, joint inference (c .5, b 3, start 3)"
_ONCE = "asked once (H rule)"
CASES = {
    "new-york": {
        "count-min": Method(_SKETCH, (2.5e-14, 4.0e-3), 3),
        "adaptive grid, epsilon": Method(_GRID, (1.49e-13, 2.7e-3), 3, (1.0255, 1.0079)),
        PRINTED: Method("Algorithm 2, c=.1", (7.9e-15, 1.33e-3)),
        "Algorithm 2, c .3": Method("Algorithm 2, c=.3", (2.65e-13, 2.2e-3)),
        f"{ONCE}, c .5": Method(_ONCE, (9.4e-13, 5.5e-3)),
        f"{MENDED}, c .5": Method(_MENDED, (7.6e-13, 6.1e-3), 6, integers=7_000),
    },
    "madeup": {
        "adaptive grid, epsilon": Method(_GRID, (1.6e-13, 2.3e-3), RUNS),
        PRINTED: Method("Algorithm 2, c=.1", (8.8e-14, 2.8e-3), RUNS),
        "Algorithm 2, c .3": Method("Algorithm 2, c=.3", (1.3e-13, 3.4e-3), RUNS),
        f"{ONCE}, c .5": Method(_ONCE, (1.1e-13, 3.3e-3), RUNS),
        f"{MENDED}, c .5": Method(_MENDED, (1.6e-13, 4.5e-3), RUNS),
    },
    "san-francisco": {
        PRINTED: Method("Algorithm 2, c=.1", (8.1e-15, 9.3e-4), RUNS),
        f"{ONCE}, c .5": Method(_ONCE, (8.7e-12, 3.1e-2), RUNS),
        f"{MENDED}, c .5": Method(_MENDED, (1.0e-12, 9.5e-3), RUNS),
    },
}  # fmt: skip
ALL_CASES = [(city, name) for city, methods in CASES.items() for name in methods]


def variant(start: int = 1, **settings: Any) -> Plan:
    """A row of Table 3 as the prototype has it."""
    return of_plan(never_giving_up, start, joined=False, **settings)


def never_giving_up(
    server: rounds.Server,
    tree: KeyTree,
    *,
    c: float,
    threshold: float | None = None,
    times: int | None = None,
    both: bool = False,
) -> Iterator[Heard]:
    """Algorithm 2 without its collapse: all the prototype's variants but those that say so.

    With it (`rounds.paper`) trees of fixed epsilon have 84,000 cells in place of 128,000 and an MSE
    that is 29 % larger, those of a schedule 6 % fewer cells and the same error.
    """

    def decide(heard: Heard, remaining: int) -> tuple[KeyTree, Heard]:
        next_sd = sigma(to_epsilon(remaining)) * rounds.several(server)
        t = 2 * (math.hypot(heard.noise, next_sd) if both else next_sd)
        t = t if threshold is None else threshold
        nobody = np.zeros(heard.cells, dtype=bool)
        return rounds.divided(heard, (heard.sums > t).astype(np.int64), nobody)

    return rounds.scheduled(server, tree, c, 2.0, decide, times, 0.0)


#: Name in the reference, plan, spread of MSE and of L1.
ABLATION: dict[str, tuple[Plan, tuple[float, float]]] = {
    "no noise, T=10": (METHODS["no noise, T 10"], (7.2e-14, 1.4e-3)),
    "fixed eps/10, T=10": (variant(c=0.1, threshold=10.0, times=10), (3.4e-13, 6.5e-3)),
    "fixed eps/10, T=2 sd of the round": (
        variant(c=0.1, threshold=2 * sigma(0.1) * math.sqrt(10), times=10), (2.0e-12, 8.0e-3)
    ),
    "scheduled c=.1, fixed T=10": (variant(c=0.1, threshold=10.0), (5.8e-15, 1.4e-3)),
    "scheduled c=.1, T adaptive (rem)": (variant(c=0.1), (5.7e-15, 1.3e-3)),
    "scheduled c=.3, T adaptive (rem)": (variant(c=0.3), (1.4e-13, 2.7e-3)),
    "scheduled c=.3, T both sigmas": (variant(c=0.3, both=True), (6.3e-13, 3.9e-3)),
    "scheduled c=.3, T both sigmas, collapse T/4": (
        METHODS["scheduled c .3, both sigmas"], (4.4e-13, 5.1e-3)
    ),
    "scheduled c=.5 b=3 start 3 both, collapse 0, closed": (
        METHODS["c .5, b 3, both, closed"], (2.3e-12, 1.1e-2)
    ),
}  # fmt: skip

OURS: dict[str, Plan] = {
    f"{ONCE}, c .5": of_plan(rounds.once, once=True, c=0.5),
    f"{ONCE}, c .6": of_plan(rounds.once, once=True, c=0.6),
}
#: Geometric mean of the MSE over that of Algorithm 2 with c .1, and the standard deviation of its
#: logarithm from seed to seed, over 12 seeds: on Port Amber, on three cities, on smooth maps.
#: At most .33 is wanted on three cities and 1.15 on smooth maps. With c .6 both hold, .328(2) and
#: 1.046(16); with c .5 the cities miss theirs, .349(2) and .978(8). Algorithm 2 mended: .325(1) and
#: 1.109(29) with c .6, .345(2) and 1.013(21) with c .5. (`dp-explorer papers heatmaps` has them.)
TARGET = {
    ("madeup", f"{ONCE}, c .5"): (0.5445, 0.0111),
    ("madeup", f"{ONCE}, c .6"): (0.5271, 0.0162),
    ("cities", f"{ONCE}, c .6"): (0.3279, 0.0190),
    ("smooth", f"{ONCE}, c .6"): (1.0455, 0.0517),
}
TARGET_RUNS = 12
LIMITS = {"cities": 0.33, "smooth": 1.15}


@pytest.fixture(scope="module")
def bench(real_data: Callable[[str], Path]) -> Callable[..., HeatmapBench]:
    """One bench for each city and for its smooth maps, with as many runs as are asked for."""

    @cache
    def counts(key: str) -> NDArray[np.int64]:
        if key in FILES:
            real_data(FILES[key])
        found: NDArray[np.int64] = cities()[key].load((1024, 1024))[1].counts
        return found

    @cache
    def maps(key: str, smooth: bool) -> list[Map]:
        if smooth:
            return [Map.of(key, smoothed(counts(key), blur), True) for blur in BLURS]
        return [Map.of(key, counts(key))]

    @cache
    def made(key: str, runs: int = RUNS, smooth: bool = False) -> HeatmapBench:
        plans = {**METHODS, **OURS, **{name: plan for name, (plan, _) in ABLATION.items()}}
        return HeatmapBench(seeds=runs, maps=maps(key, smooth), methods=plans)

    return made


@pytest.fixture(scope="module")
def rows(reference_data: Callable[[str], Path]) -> dict[tuple[str, str], dict[str, float]]:
    """Table 1 and the ablation, by city and method, 100,000 people none of whom drops out."""
    found = json.loads(reference_data("federated/table1.json").read_text())["rows"]
    chosen = [row for row in found if (row["clients"], row["dropout"]) == (100_000, 0.0)]
    known = {(row["city"], row["method"]): row for row in chosen}
    found = json.loads(reference_data("federated/ablation.json").read_text())["rows"]
    return known | {(row["city"], row["variant"]): row for row in found}


def check_alike(ran: NDArray[np.float64], wanted: dict[str, float], method: Method) -> None:
    """MSE and L1 of runs within `FAR` standard errors of the reference."""
    for column, measure in ((0, "mse"), (1, "l1")):
        spread = method.spread[column]
        # Five runs say little of their own spread: theirs or ours, whichever is larger.
        theirs, expected = max(wanted[f"{measure}_se"], spread / THEIRS**0.5), wanted[measure]
        if method.ratio is not None:
            # Measured against the same figures of theirs, so that only ours vary.
            theirs, expected = spread / MEASURED**0.5, method.ratio[column] * wanted[measure]
        error = np.hypot(spread / len(ran) ** 0.5, theirs)
        assert abs(ran[:, column].mean() - expected) <= FAR * error, measure


@pytest.mark.statistical
@pytest.mark.parametrize(("city", "name"), ALL_CASES)
def test_errors_are_those_of_the_prototype(
    city: str,
    name: str,
    bench: Callable[..., HeatmapBench],
    rows: dict[tuple[str, str], dict[str, float]],
) -> None:
    method = CASES[city][name]
    ran = bench(city, method.runs).run(0, name)
    ran = ran[ran[:, INTEGERS] > method.integers]
    assert len(ran) >= 2
    check_alike(ran, rows[NAMES[city], method.reference], method)


@pytest.mark.slow
@pytest.mark.statistical
@pytest.mark.parametrize("name", ABLATION)
def test_variants_are_those_of_the_prototype(
    name: str, bench: Callable[..., HeatmapBench], rows: dict[tuple[str, str], dict[str, float]]
) -> None:
    check_alike(bench("new-york").run(0, name), rows["ny", name], Method(name, ABLATION[name][1]))


@pytest.mark.slow
@pytest.mark.statistical
@pytest.mark.parametrize(("where", "name"), TARGET)
def test_the_error_of_algorithm_2_is_divided_as_measured(
    where: str, name: str, bench: Callable[..., HeatmapBench]
) -> None:
    keys = {"madeup": ["madeup"], "cities": list(NAMES), "smooth": ["san-francisco"]}[where]
    smooth, logs = where == "smooth", []
    for own in [bench(key, RUNS, smooth) for key in keys]:
        for setting in own.settings(smooth):
            ours, theirs = (own.made(each, setting)[:, 0].mean() for each in (name, PRINTED))
            logs.append(math.log(ours / theirs))
    assert len(logs) == {"madeup": 5, "cities": 14, "smooth": 4}[where]
    measured, spread = TARGET[where, name]
    found, error = float(np.mean(logs)), spread * math.sqrt(1 / RUNS + 1 / TARGET_RUNS)
    assert abs(found - math.log(measured)) <= FAR * error
    if where in LIMITS:
        # What is wanted, as far as so few runs can tell.
        assert found <= math.log(LIMITS[where]) + FAR * spread / math.sqrt(RUNS)
