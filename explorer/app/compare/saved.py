"""Results of sweeps as the table that `explorer.evaluate` makes. Exact errors: the curator's."""

from __future__ import annotations

from collections.abc import Sequence

import pandas as pd

from explorer.app.compare.kept import Kept
from explorer.app.curator.data import CityData
from explorer.errors import InputError
from explorer.evaluate import Run, Task, Workload, tidy
from explorer.version import __version__


def saved_table(
    results: Kept, data: CityData, tasks: Sequence[Task], workloads: Sequence[Workload]
) -> pd.DataFrame:
    """The finished ones of ``tasks``, a row for each workload and metric.

    Raises
    ------
    InputError
        When none is finished.
    """
    runs = []
    for task in tasks:
        by_workload = {
            workload.name: results.find(data.matrix, task, workload) for workload in workloads
        }
        done = {name: result for name, result in by_workload.items() if result is not None}
        if not done:
            continue
        answered = [workload for workload in workloads if workload.name in done]
        first = next(iter(done.values()))
        figures = {name: result.figures for name, result in done.items()}
        about = (data.title, data.matrix.key[:12], __version__)
        key = task.key(data.matrix, answered)
        runs.append(Run(task, key, figures, first.leaves, first.seconds, *about))
    if not runs:
        raise InputError("There are no results to save: start the sweep first.")
    return tidy(runs)
