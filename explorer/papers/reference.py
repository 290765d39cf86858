"""Errors of trips and of a country next to those that another program measured on the same data.

Two means agree when they differ by at most 3 sqrt(se^2 + se'^2), and by at most a part of the
reference in any case: of trips 3 %, since of five draws a standard error is itself known to a third
or so; of a country 10 %, since rectangles, lattice and random draws are other ones.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from explorer.country.mechanism import NO_MAPS
from explorer.errors import InputError
from explorer.evaluate.ranking import may_differ, standard_error
from explorer.grid.grid import Progress
from explorer.grid.whole_file import write_whole
from explorer.mechanisms import (
    EBP,
    EUG,
    MKM,
    DAFEntropy,
    DAFHomogeneity,
    Gravity,
    Identity,
    PrivTree,
    Uniform,
)
from explorer.mechanisms.base import Mechanism
from explorer.papers.bench import Bench
from explorer.papers.country import HIERARCHY, SHARES, CountryBench
from explorer.papers.report import Table, with_error
from explorer.papers.trip_bench import TripBench
from explorer.papers.verdicts import Floats, Outcome

OF_TRIPS, OF_COUNTRY = 0.03, 0.1
METRICS = ("mre20", "mreRho", "mae")
FILE = "bench_real.json"
SETS = ("sf:o,d:64", "san:o,d:64")
SHOWN = (("random", "mre20"), ("near10", "mre20"), ("place", "mre20"), ("near10", "mae"))

#: How the reference calls mechanisms of trips.
MADE: dict[str, Callable[[float], Mechanism]] = {
    "uniform": lambda epsilon: Uniform(epsilon=epsilon),
    "identity": lambda epsilon: Identity(epsilon=epsilon),
    "eug": lambda epsilon: EUG(epsilon=epsilon),
    "eug* (erratum 47)": lambda epsilon: EUG(epsilon=epsilon, border_term="corrected"),
    "ebp": lambda epsilon: EBP(epsilon=epsilon),
    "mkm": lambda epsilon: MKM(epsilon=epsilon),
    "daf-entropy": lambda epsilon: DAFEntropy(epsilon=epsilon),
    "daf-homogeneity": lambda epsilon: DAFHomogeneity(epsilon=epsilon),
    "daf-homogeneity noisy-min": lambda epsilon: DAFHomogeneity(epsilon=epsilon, rule="noisy-min"),
    "privtree 16": lambda epsilon: PrivTree(epsilon=epsilon),
    "gravity": lambda epsilon: Gravity(epsilon=epsilon),
}

COUNTRY_FILES = "static_budgets.json", "release_gb.json", "fig9.json"
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
_KEYS = {title: key for key, title in _TITLES.items()}


@dataclass(frozen=True)
class Pair:
    """One mean error of ours next to that of the reference, each with its standard error.

    Attributes
    ----------
    what : what was measured, as facts by name
    ours, error, theirs, their_error : means and standard errors
    part : of the reference by which they may differ in any case
    """

    what: dict[str, Any]
    ours: float
    error: float
    theirs: float
    their_error: float
    part: float

    @classmethod
    def of(cls, what: dict[str, Any], ours: Floats, theirs: Sequence[float], part: float) -> Pair:
        """Our errors, seed by seed, beside the mean and standard error of the reference."""
        mean, error = map(float, theirs)
        return cls(what, float(ours.mean()), standard_error(ours), mean, error, part)

    @property
    def allowed(self) -> float:
        """How far they may differ."""
        return may_differ(self.error, self.their_error, self.theirs, self.part)

    @property
    def within(self) -> bool:
        """Whether they agree."""
        return abs(self.ours - self.theirs) <= self.allowed

    @property
    def no_worse(self) -> bool:
        """Whether ours agrees or is smaller."""
        return self.ours - self.theirs <= self.allowed


def compare_trips(
    path: str | Path,
    keys: Sequence[str] = SETS,
    seeds: int | None = None,
    jobs: int | None = None,
    folder: str | Path | None = None,
    progress: Callable[[float], None] | None = None,
) -> list[Pair]:
    """Measure what the reference measured, on sets that are here.

    Parameters
    ----------
    path : file, or the folder with `FILE`
    keys : sets of the reference
    seeds : repetitions, by default those of the bench
    jobs, folder, progress : as of `explorer.papers.check`

    Raises
    ------
    InputError
        For a file that is no such reference, or sets that it or this computer has not.
    """
    rows = _read_trips(path, keys)
    bench = TripBench(seeds=seeds)
    selected = [
        (key, name, float(epsilon), figures)
        for key in keys
        for label, figures in rows[key]["runs"].items()
        for name, epsilon in [label.split("|")]
        if name in MADE and rows[key]["d"] in MADE[name](1.0).dimensions
    ]

    def ask(_: Bench) -> Outcome:
        for key, name, epsilon, _figures in selected:
            bench.errors(key, MADE[name](epsilon), "random", "mae")
        return Outcome("", ())

    bench.plan([ask])
    bench.run(jobs, folder, progress)
    pairs = []
    for key, name, epsilon, figures in selected:
        for workload in rows[key]["truth"]:
            for at, metric in enumerate(METRICS):
                what = {"data": key, "mechanism": name, "epsilon": epsilon}
                what |= {"workload": workload, "metric": metric}
                ours = bench.errors(key, MADE[name](epsilon), workload, metric)
                theirs = figures[workload][2 * at : 2 * at + 2]
                pairs.append(Pair.of(what, ours, theirs, OF_TRIPS))
    return pairs


def tables_of_trips(pairs: Sequence[Pair]) -> list[Table]:
    """Ours / reference by set, mechanism and epsilon, ! beyond; and how each mechanism agrees."""
    by_row: dict[tuple[str, str, float], dict[tuple[str, str], Pair]] = {}
    for pair in pairs:
        what = pair.what
        row = by_row.setdefault((what["data"], what["mechanism"], what["epsilon"]), {})
        row[what["workload"], what["metric"]] = pair
    rows = [
        [data, name, f"{epsilon:g}", *(_shown(row.get(column)) for column in SHOWN),
         f"{sum(pair.within for pair in row.values())} of {len(row)}"]
        for (data, name, epsilon), row in by_row.items()
    ]  # fmt: skip
    sums = []
    for name in dict.fromkeys(pair.what["mechanism"] for pair in pairs):
        chosen = [pair for pair in pairs if pair.what["mechanism"] == name]
        ratio = float(np.exp(np.mean([np.log(pair.ours / pair.theirs) for pair in chosen])))
        counts = len(chosen), sum(p.within for p in chosen), sum(p.no_worse for p in chosen)
        sums.append([name, *map(str, counts), f"{ratio:.3f}"])
    header = ["set", "mechanism", "epsilon", *(f"{w} {m}" for w, m in SHOWN), "within"]
    return [
        Table("", header, rows, left=2),
        Table("", ["mechanism", "pairs", "within", "no worse", "ours / reference"], sums),
    ]


def _shown(pair: Pair | None) -> str:
    if pair is None:
        return "-"
    ours, theirs = with_error(pair.ours, pair.error), with_error(pair.theirs, pair.their_error)
    return f"{ours} / {theirs}{'' if pair.within else ' !'}"


def save(pairs: Sequence[Pair], path: Path) -> None:
    """Write JSON: every pair, and whether it is within."""
    names = "ours", "error", "theirs", "their_error", "within"
    rows = [{**pair.what, **{name: getattr(pair, name) for name in names}} for pair in pairs]
    text = json.dumps(rows, indent=1) + "\n"
    write_whole(path, lambda part: part.write_text(text, encoding="utf-8"))


def _read_trips(path: str | Path, keys: Sequence[str]) -> dict[str, Any]:
    file = Path(path).expanduser()
    file = file / FILE if file.is_dir() else file
    try:
        rows: dict[str, Any] = json.loads(file.read_text(encoding="utf-8"))["rows"]
        missing = [key for key in keys if not {"runs", "truth", "d"} <= set(rows.get(key, ()))]
    except (OSError, ValueError, KeyError, TypeError, AttributeError) as error:
        raise InputError(f"{path} could not be read as reference figures of trips.") from error
    if missing:
        raise InputError(f"The reference has no {', '.join(missing)}; it has {', '.join(rows)}.")
    return rows


def compare_country(
    folder: str | Path, bench: CountryBench, progress: Progress | None = None
) -> list[Pair]:
    """Mean relative errors of districts and of rectangles in cities next to the reference.

    Parameters
    ----------
    folder : with `COUNTRY_FILES`
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
    measurements = [*_districts(folder, bench), *_cities(folder, bench)]
    pairs = []
    for done, (what, theirs, measure, *arguments) in enumerate(measurements, 1):
        pairs.append(Pair.of({"error": what}, measure(*arguments), theirs, OF_COUNTRY))
        if progress is not None:
            progress(done / len(measurements))
    return pairs


def table_of_country(pairs: Sequence[Pair]) -> Table:
    """Every pair, and whether it is within."""
    rows = [
        [
            pair.what["error"],
            with_error(pair.ours, pair.error),
            with_error(pair.theirs, pair.their_error),
            "within" if pair.within else "apart",
        ]
        for pair in pairs
    ]
    return Table("", ["error", "ours", "reference", ""], rows)


def _districts(folder: str | Path, bench: CountryBench) -> list[tuple[Any, ...]]:
    """What is measured, the reference, and the call that measures ours."""
    static, releases = (_read_country(folder, name) for name in COUNTRY_FILES[:2])
    by_plan = {(row["plan"], row["epsilon"]): row for row in releases}
    result: list[tuple[Any, ...]] = []
    for epsilon in bench.epsilons:
        for rule, short in _STATIC.items():
            row = static.get(f"{epsilon:g}|{short}|raw") or static.get(f"{epsilon}|{short}|raw")
            if row is not None:
                what = f"districts, {rule} alone, {epsilon:g}"
                plan = bench.areas_of_plan, epsilon, NO_MAPS, 0.0, rule
                result.append((what, row["mre"][3], *plan))
        for threshold in (0.0, 10_000.0, 20_000.0):
            row = by_plan.get((f"paper HTF thr {threshold:.0f}", epsilon))
            if row is not None:
                what = f"districts, HTF, threshold {threshold:,.0f}, {epsilon:g}"
                result.append((what, row["mre3"], bench.areas_of_plan, epsilon, "htf", threshold))
        for (inside, number), name in _BENCHMARKS.items():
            row = by_plan.get((name, epsilon))
            if row is not None:
                what = f"districts, {_TITLES[inside]}, benchmark {number}, {epsilon:g}"
                rival = bench.areas_of_benchmark, epsilon, inside, number
                result.append((what, row["mre3"], *rival))
    return result


def _cities(folder: str | Path, bench: CountryBench) -> list[tuple[Any, ...]]:
    result: list[tuple[Any, ...]] = []
    for row in _read_country(folder, COUNTRY_FILES[2]):
        city, total, name = (
            str(row["area"]).removeprefix("accidents "),
            row["total"],
            row["mechanism"],
        )
        if city not in bench.cities or name not in _KEYS or total not in bench.totals:
            continue
        for structure, share in _FIG_9.items():
            what = f"{city}, {name}, {share:.3f} of {total:g}"
            squares = bench.squares_of, city, _KEYS[name], share * total
            result.append((what, row["mre"][structure], *squares))
    return result


def _read_country(folder: str | Path, name: str) -> Any:
    try:
        path = Path(folder).expanduser() / name
        return json.loads(path.read_text(encoding="utf-8"))["rows"]
    except (OSError, ValueError, KeyError, TypeError) as error:
        raise InputError(
            f"{name} could not be read from {folder}; give the folder of a reference, with "
            f"{', '.join(COUNTRY_FILES)} in it."
        ) from error
