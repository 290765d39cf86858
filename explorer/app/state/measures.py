"""Workloads and metrics of a sweep by the names that the page gives them."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from explorer.evaluate import Workload, workload
from explorer.grid.grid import Grid

#: Name of the workload made of the visitor's own boxes.
DRAWN = "drawn"
WORKLOADS = {
    "random": "2,000 random rectangles",
    "sq2": "2,000 squares of 2 %",
    "sq6": "2,000 squares of 6 %",
    "sq10": "2,000 squares of 10 %",
    DRAWN: "the boxes of the table",
}
FIXED = tuple(name for name in WORKLOADS if name != DRAWN)

METRICS = {
    "mreRho": "Mean relative error (floor 0.1 % of all)",
    "mre20": "Mean relative error (floor 20 points)",
    "mae": "Mean absolute error, points",
    "rmse": "Root mean squared error, points",
    "mreRho median": "Median relative error (floor 0.1 % of all)",
    "smape": "Symmetric relative error, 0 to 2",
}
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


def asked(grid: Grid, boxes: NDArray[np.float64], names: Sequence[str]) -> list[Workload]:
    """The workloads ``names`` on a grid; ``boxes`` (n, 4) in grid units are the drawn ones."""
    found = []
    for name in names:
        if name != DRAWN:
            found.append(workload(name, grid.shape))
        elif len(boxes):
            found.append(Workload.of(DRAWN, boxes, grid))
    return found
