"""Errors of a country next to those of another program, measured on the same accidents.

Two means agree when they differ by at most 3 standard errors of their difference, or by at most
10 % of the reference: rectangles, lattice and random draws are other ones.
"""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from explorer.country.mechanism import NO_MAPS
from explorer.errors import InputError
from explorer.evaluate.ranking import may_differ, standard_error
from explorer.evaluate.results import figure
from explorer.grid.grid import Progress
from explorer.papers.country.claims import HIERARCHY, SHARES, CountryBench

FLOOR = 0.1
FILES = "static_budgets.json", "release_gb.json", "fig9.json"
_STATIC = {"Eq. 38": "eq38", "uniform": "uniform", "geometric": "geo2"}
_BENCHMARKS = {
    ("htf", 1): "Benchmark 1 (fan-out 2, h 9) HTF",
    ("htf", 2): "Benchmark 2 (fan-out 4, h 5) HTF",
    ("mosaic", 2): "Benchmark 2 Mosaic",
}
_FIG_9 = {
    "Hierarchical (USA levels)": HIERARCHY,
    "Benchmark 2 (4, h 5)": SHARES[2],
    "Benchmark 1 (2, h 9)": SHARES[1],
}
_TITLES = {"htf": "HTF", "mosaic": "Mosaic"}


@dataclass(frozen=True)
class Pair:
    """One mean error of ours next to that of the reference, each with its standard error."""

    what: str
    ours: float
    error: float
    theirs: float
    their_error: float

    @property
    def within(self) -> bool:
        """Whether they agree."""
        allowed = may_differ(self.error, self.their_error, self.theirs, FLOOR)
        return abs(self.ours - self.theirs) <= allowed


Asked = tuple[str, Callable[[], NDArray[np.float64]], Any]


def compare(
    folder: str | Path, bench: CountryBench, progress: Progress | None = None
) -> list[Pair]:
    """Mean relative errors of districts and of rectangles in cities next to the reference.

    Parameters
    ----------
    folder : with `FILES`
    bench : of Great Britain, not quick

    Raises
    ------
    InputError
        For files that are missing or hold something else, or another country.
    """
    if "London" not in bench.land.cities or bench.quick:
        raise InputError(
            "The reference is about Great Britain in full; bring gb_districts.parquet and "
            "gb_road_accidents.parquet, and leave out --quick."
        )
    measurements = _asked(*_read(folder), bench)
    pairs = []
    for done, (what, measure, (mean, error)) in enumerate(measurements, 1):
        ours = measure()
        pairs.append(
            Pair(
                what,
                float(ours.mean()),
                standard_error(ours),
                float(mean),
                float(error),
            )
        )
        if progress is not None:
            progress(done / len(measurements))
    return pairs


def lines(pairs: list[Pair]) -> tuple[list[str], list[list[str]]]:
    """Header and rows of a table."""
    rows = [
        [
            pair.what,
            f"{figure(pair.ours)} ± {figure(pair.error, 1)}",
            f"{figure(pair.theirs)} ± {figure(pair.their_error, 1)}",
            "within" if pair.within else "apart",
        ]
        for pair in pairs
    ]
    return ["error", "ours", "reference", ""], rows


def _read(folder: str | Path) -> tuple[Any, Any, Any]:
    results = []
    for name in FILES:
        path = Path(folder).expanduser() / name
        try:
            results.append(json.loads(path.read_text(encoding="utf-8"))["rows"])
        except (OSError, ValueError, KeyError, TypeError) as error:
            raise InputError(
                f"{name} could not be read from {folder}; give the folder of a reference, with "
                f"{', '.join(FILES)} in it."
            ) from error
    return results[0], results[1], results[2]


def _asked(static: Any, releases: Any, cities: Any, bench: CountryBench) -> list[Asked]:
    result: list[Asked] = []
    by_plan = {(row["plan"], row["epsilon"]): row for row in releases}
    for epsilon in bench.epsilons:
        for rule, short in _STATIC.items():
            row = static.get(f"{epsilon:g}|{short}|raw") or static.get(f"{epsilon}|{short}|raw")
            if row is not None:
                measure = _later(bench.areas_of_plan, epsilon, NO_MAPS, 0.0, rule)
                result.append((f"districts, {rule} alone, {epsilon:g}", measure, row["mre"][3]))
        for threshold in (0.0, 10_000.0, 20_000.0):
            name = f"paper HTF thr {threshold:.0f}", epsilon
            if name in by_plan:
                measure = _later(bench.areas_of_plan, epsilon, "htf", threshold)
                what = f"districts, HTF, threshold {threshold:,.0f}, {epsilon:g}"
                result.append((what, measure, by_plan[name]["mre3"]))
        for (inside, number), plan in _BENCHMARKS.items():
            if (plan, epsilon) in by_plan:
                measure = _later(bench.areas_of_benchmark, epsilon, inside, number)
                what = f"districts, {_TITLES[inside]}, benchmark {number}, {epsilon:g}"
                result.append((what, measure, by_plan[plan, epsilon]["mre3"]))
    keys = {title: key for key, title in _TITLES.items()}
    for row in cities:
        city, total = str(row["area"]).removeprefix("accidents "), row["total"]
        measured = row["mechanism"] in keys and total in bench.totals
        if city not in bench.cities or not measured:
            continue
        for structure, share in _FIG_9.items():
            measure = _later(bench.squares_of, city, keys[row["mechanism"]], share * total)
            what = f"{city}, {row['mechanism']}, {share:.3f} of {total:g}"
            result.append((what, measure, row["mre"][structure]))
    return result


def _later(
    measure: Callable[..., NDArray[np.float64]], *arguments: Any
) -> Callable[[], NDArray[np.float64]]:
    return lambda: measure(*arguments)
