"""Evaluation: repeated releases of mechanisms on one map, measured on workloads."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from explorer.evaluate.results import tidy
from explorer.evaluate.runs import Flag, runs
from explorer.evaluate.store import Store
from explorer.evaluate.tasks import Choice, Sweep, plan
from explorer.evaluate.workloads import Workload, workload
from explorer.points.matrix import FrequencyMatrix

if TYPE_CHECKING:
    import pandas as pd


def evaluate(
    matrix: FrequencyMatrix,
    mechanisms: Iterable[Choice],
    epsilons: Iterable[float] | None = None,
    workloads: Sequence[Workload] | None = None,
    seeds: int | Iterable[int] = 5,
    *,
    sweep: Sweep | None = None,
    city: str = "",
    jobs: int | None = None,
    folder: str | Path | None = None,
    cancel: Flag | None = None,
    progress: Callable[[float], None] | None = None,
) -> pd.DataFrame:
    """Measure mechanisms on a map.

    Releases are previews: the same seed means the same random noise for every mechanism, epsilon
    and parameter, so that differences can be taken seed by seed. What is wanted as the runs come
    in, rather than at the end, is `plan` and `runs`.

    Parameters
    ----------
    matrix : FrequencyMatrix
        Exact counts; the results are the curator's own. Under a contribution bound errors are
        measured against all records on the map.
    mechanisms : instances, names, or (name, parameters)
    epsilons : budgets; None keeps each instance's own
    workloads : sequence of Workload
        By default the 2,000 random rectangles of htf-2022.
    seeds : how many repetitions, or which seeds
    sweep : (parameter, values) or a mapping of several
        For the mechanisms that have the parameter.
    city : name of the map, for the table
    jobs : processes, by default one for each processor; 1 works in this process
    folder : where finished runs are kept and found again
    cancel, progress : as for `runs`; after a cancel the finished runs are returned

    Returns
    -------
    DataFrame
        Tidy, see `explorer.evaluate.results`.

    Raises
    ------
    InputError
        For a mechanism, parameter, value or workload that there is not.

    Examples
    --------
    >>> from explorer import FrequencyMatrix
    >>> matrix = FrequencyMatrix.from_array([[90, 0], [80, 10]])
    >>> table = evaluate(matrix, ["identity", "uniform"], [0.5, 1], seeds=3, jobs=1)
    >>> table[table.metric == "mae"].groupby(["mechanism", "epsilon"]).value.count().to_dict()
    {('identity', 0.5): 3, ('identity', 1.0): 3, ('uniform', 0.5): 3, ('uniform', 1.0): 3}
    """
    chosen = [workload("random", matrix.shape)] if workloads is None else workloads
    store = None if folder is None else Store(folder)
    tasks = plan(mechanisms, epsilons, seeds, sweep)
    done = runs(
        matrix,
        tasks,
        chosen,
        city=city,
        jobs=jobs,
        store=store,
        cancel=cancel,
        progress=progress,
    )
    return tidy(done, tasks)
