"""Errors next to those that another program measured on the same trips and boxes.

Two means agree when they differ by at most 3 sqrt(se^2 + se'^2), and by at most 3 % of the
reference in any case: of five draws a standard error is itself known to a third or so.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import numpy as np

from explorer.errors import InputError
from explorer.evaluate.ranking import may_differ, standard_error
from explorer.evaluate.results import figure
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
from explorer.papers.trips.bench import TripBench
from explorer.papers.verdicts import Outcome

FLOOR = 0.03
METRICS = ("mre20", "mreRho", "mae")
FILE = "bench_real.json"
SETS = ("sf:o,d:64", "san:o,d:64")
SHOWN = (("random", "mre20"), ("near10", "mre20"), ("place", "mre20"), ("near10", "mae"))

#: How the reference calls them.
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


@dataclass(frozen=True)
class Pair:
    """One mean error of ours next to that of the reference.

    Attributes
    ----------
    data, mechanism, epsilon, workload, metric : what was measured
    ours, error : mean and its standard error
    theirs, their_error : those of the reference
    """

    data: str
    mechanism: str
    epsilon: float
    workload: str
    metric: str
    ours: float
    error: float
    theirs: float
    their_error: float

    @property
    def allowed(self) -> float:
        """How far they may differ."""
        return may_differ(self.error, self.their_error, self.theirs, FLOOR)

    @property
    def within(self) -> bool:
        """Whether they agree."""
        return abs(self.ours - self.theirs) <= self.allowed

    @property
    def no_worse(self) -> bool:
        """Whether ours agrees or is smaller."""
        return self.ours - self.theirs <= self.allowed


def compare(
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
    rows = _read(path, keys)
    bench = TripBench(seeds=seeds)
    selected = [
        (key, name, float(epsilon), figures)
        for key in keys
        for label, figures in rows[key]["runs"].items()
        for name, epsilon in [label.split("|")]
        if name in MADE and rows[key]["d"] in MADE[name](1.0).dimensions
    ]

    def measured(key: str, name: str, epsilon: float, workload: str, metric: str) -> Any:
        return bench.errors(key, MADE[name](epsilon), workload, metric)

    def ask(_: Bench) -> Outcome:
        for key, name, epsilon, _figures in selected:
            measured(key, name, epsilon, "random", "mae")
        return Outcome("", ())

    bench.plan([ask])
    bench.run(jobs, folder, progress)
    result = []
    for key, name, epsilon, figures in selected:
        for workload in rows[key]["truth"]:
            for at, metric in enumerate(METRICS):
                ours = measured(key, name, epsilon, workload, metric)
                means = float(ours.mean()), standard_error(ours)
                result.append(
                    Pair(key, name, epsilon, workload, metric, *means,
                         *figures[workload][2 * at : 2 * at + 2])
                )  # fmt: skip
    return result


def lines(pairs: Sequence[Pair]) -> tuple[list[str], list[list[str]]]:
    """Header and rows of a table: ours / reference by set, mechanism and epsilon; ! beyond."""
    by_row: dict[tuple[str, str, float], dict[tuple[str, str], Pair]] = {}
    for pair in pairs:
        row = by_row.setdefault((pair.data, pair.mechanism, pair.epsilon), {})
        row[pair.workload, pair.metric] = pair
    header = ["set", "mechanism", "epsilon", *(f"{w} {m}" for w, m in SHOWN), "within"]
    rows = [
        [data, name, f"{epsilon:g}", *(_shown(row.get(column)) for column in SHOWN), _within(row)]
        for (data, name, epsilon), row in by_row.items()
    ]
    return header, rows


def summary(pairs: Sequence[Pair]) -> tuple[list[str], list[list[str]]]:
    """Header and rows: of each mechanism how many pairs agree, how many are no worse, the mean."""
    rows = []
    for name in dict.fromkeys(pair.mechanism for pair in pairs):
        of_mechanism = [pair for pair in pairs if pair.mechanism == name]
        ratio = float(np.exp(np.mean([np.log(pair.ours / pair.theirs) for pair in of_mechanism])))
        within, no_worse = (
            sum(p.within for p in of_mechanism),
            sum(p.no_worse for p in of_mechanism),
        )
        rows.append([name, f"{len(of_mechanism)}", f"{within}", f"{no_worse}", f"{ratio:.3f}"])
    return ["mechanism", "pairs", "within", "no worse", "ours / reference"], rows


def _shown(pair: Pair | None) -> str:
    if pair is None:
        return "-"
    ours, theirs = (
        f"{figure(value)} ± {figure(error, 1)}"
        for value, error in ((pair.ours, pair.error), (pair.theirs, pair.their_error))
    )
    return f"{ours} / {theirs}{'' if pair.within else ' !'}"


def _within(row: dict[tuple[str, str], Pair]) -> str:
    return f"{sum(pair.within for pair in row.values())} of {len(row)}"


def save(pairs: Sequence[Pair], path: Path) -> None:
    """Write JSON: every pair, and whether it is within."""
    rows = [{**asdict(pair), "within": pair.within} for pair in pairs]
    text = json.dumps(rows, indent=1) + "\n"
    write_whole(path, lambda part: part.write_text(text, encoding="utf-8"))


def _read(path: str | Path, keys: Sequence[str]) -> dict[str, Any]:
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
