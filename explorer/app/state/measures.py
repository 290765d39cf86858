"""Workloads and metrics of a sweep by the names that the page gives them."""

from __future__ import annotations

from collections.abc import Sequence

from explorer.evaluate import Workload, workload
from explorer.evaluate.workloads import inside
from explorer.grid.grid import Grid
from explorer.grid.range_queries import Queries, edges_and_shapes
from explorer.scenario.choices import WORKLOADS

#: Name of the workload made of the visitor's own boxes.
DRAWN = "drawn"
FIXED = tuple(name for name in WORKLOADS if name != DRAWN)
#: Column titles of the ranking, as short as in the papers.
SHORT = {
    "mreRho": "mreRho",
    "mre20": "mre20",
    "mae": "MAE",
    "rmse": "RMSE",
    "mreRho median": "median",
    "smape": "sMAPE",
}
#: Held against each other in the sentence about the ranking.
COMPARED = ("mre20", "mreRho", "mae", "mreRho median")


def quantile_metric(metric: str) -> str:
    """The metric whose quantiles over the queries go with ``metric``.

    >>> [quantile_metric(name) for name in ("mre20", "mae", "rmse", "mreRho median", "smape")]
    ['mre20', 'mae', 'mae', 'mreRho', 'mreRho']
    """
    base = metric.split(maxsplit=1)[0]
    if base == "rmse":
        return "mae"
    return base if base in ("mre20", "mreRho", "mae") else "mreRho"


def asked(grid: Grid, drawn: Queries, names: Sequence[str]) -> list[Workload]:
    """The workloads ``names`` on a grid; ``drawn`` are the visitor's own, in the grid's unit."""
    boxes, _ = edges_and_shapes(drawn)
    result = []
    for name in names:
        if name != DRAWN:
            result.append(workload(name, grid.shape))
        elif len(boxes) and (there := inside(grid.to_cells(boxes), grid.shape)).any():
            result.append(Workload.of(DRAWN, drawn[there], grid))
    return result
