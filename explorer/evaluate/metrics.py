"""How far private answers are from true ones: the metrics of the papers, with their formulas.

For n queries with true answers a_i, private answers b_i and errors e_i = |b_i - a_i|:

    mre20   mean of e_i / max(a_i, 20)            smoothing 20 (htf-2022, section 7.1)
    mreRho  mean of e_i / max(a_i, 0.001 N)       smoothing rho N (grids-2013, section V-A)
    mae     mean of e_i
    mse     mean of e_i^2
    rmse    root of mse
    l1      sum of e_i, entry by entry
    mape    mean of e_i / a_i over the queries with a_i > 0; NaN when there is none
    smape   mean of 2 e_i / (|a_i| + |b_i|), 0 where both are 0; from 0 to 2
    maape   mean of arctan(e_i / |a_i|), pi/2 where only a_i is 0, 0 where both are; 0 to pi/2
    bias    mean of b_i - a_i, which may be negative

Relative metrics are fractions, not per cent. N is the exact number of all records, so every
metric belongs to the curator. The first three also come as median and as 25, 75 and 95 %
quantiles over the queries (numpy's linear interpolation), as in the candlesticks of grids-2013.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike, NDArray

from explorer.errors import InputError

Floats = NDArray[np.float64]

SMOOTHING = 20.0
"""Smallest denominator of `mre` in the HTF papers, in records."""
RHO = 0.001
"""Smallest denominator of "mreRho", as a part of all records."""

AVERAGES = ("mre20", "mreRho", "mae", "mse", "rmse", "l1", "mape", "smape", "maape", "bias")
"""Names of the metrics that are one figure for a workload."""
PROFILED = ("mre20", "mreRho", "mae")
"""The metrics that also come as quantiles."""
QUANTILES = {"p25": 0.25, "median": 0.5, "p75": 0.75, "p95": 0.95}
"""What a candlestick shows besides the mean."""


def names() -> list[str]:
    """Every name that `measure` uses: the averages, then "mre20 p25", "mre20 median", ..."""
    return [*AVERAGES, *(f"{metric} {q}" for metric in PROFILED for q in QUANTILES)]


def check(name: str) -> str:
    """The name itself; an InputError lists the names there are."""
    if name not in names():
        raise InputError(f"There is no metric {name!r}: choose one of {', '.join(names())}.")
    return name


def absolute_errors(true: ArrayLike, private: ArrayLike) -> Floats:
    """e_i = |b_i - a_i|, of any shape."""
    a, b = _pair(true, private)
    errors: Floats = np.abs(b - a)
    return errors


def relative_errors(true: ArrayLike, private: ArrayLike, floor: float) -> Floats:
    """e_i / max(a_i, floor), of any shape; `floor` in records, above 0."""
    if not floor > 0:
        raise InputError(f"The smoothing is {floor}: give a number of records above 0.")
    a, b = _pair(true, private)
    errors: Floats = np.abs(b - a) / np.maximum(a, floor)
    return errors


def mre(true: ArrayLike, private: ArrayLike, smoothing: float = SMOOTHING) -> float:
    """Mean relative error with a smallest denominator in records.

    >>> mre([0, 40], [10, 50])  # 10 / 20 and 10 / 40
    0.375
    """
    return float(relative_errors(true, private, smoothing).mean())


def mse(true: ArrayLike, private: ArrayLike) -> float:
    """Mean squared error, in records squared."""
    return float(np.square(absolute_errors(true, private)).mean())


def l1(true: ArrayLike, private: ArrayLike) -> float:
    """Sum of absolute errors over all entries, whatever the shape.

    A matrix norm would not do: numpy's ``norm(x, 1)`` of a matrix is its largest column sum.

    >>> l1([[1, 2], [3, 4]], [[0, 2], [5, 4]])
    3.0
    """
    return float(absolute_errors(true, private).sum())


def mape(true: ArrayLike, private: ArrayLike) -> float:
    """Mean of e_i / a_i over the queries that are not empty; NaN when all are."""
    a, b = _pair(true, private)
    nonempty = a > 0
    if not nonempty.any():
        return float("nan")
    return float(np.mean(np.abs(b[nonempty] - a[nonempty]) / a[nonempty]))


def smape(true: ArrayLike, private: ArrayLike) -> float:
    """Mean of 2 e_i / (|a_i| + |b_i|), 0 where both answers are 0."""
    a, b = _pair(true, private)
    scale = np.abs(a) + np.abs(b)
    return float(np.mean(2 * np.abs(b - a) / np.where(scale > 0, scale, 1.0)))


def maape(true: ArrayLike, private: ArrayLike) -> float:
    """Mean of arctan(e_i / |a_i|): relative, and bounded where a_i is 0.

    >>> round(maape([1, 0, 0], [2, 0, 5]), 4)  # (pi/4 + 0 + pi/2) / 3
    0.7854
    """
    a, b = _pair(true, private)
    return float(np.mean(np.arctan2(np.abs(b - a), np.abs(a))))


def measure(true: ArrayLike, private: ArrayLike, total: float) -> dict[str, float]:
    """All metrics of one workload.

    Parameters
    ----------
    true, private : (n,) answers, n of 1 or more
    total : exact number of records on the map, for rho

    Returns
    -------
    dict
        A figure for each of `names`.
    """
    a, b = _pair(true, private)
    errors = {
        "mre20": relative_errors(a, b, SMOOTHING),
        "mreRho": relative_errors(a, b, RHO * max(total, 1.0)),
        "mae": absolute_errors(a, b),
    }
    squared = mse(a, b)
    result = {name: float(errors[name].mean()) for name in PROFILED}
    result |= {
        "mse": squared,
        "rmse": float(np.sqrt(squared)),
        "l1": float(errors["mae"].sum()),
        "mape": mape(a, b),
        "smape": smape(a, b),
        "maape": maape(a, b),
        "bias": float(np.mean(b - a)),
    }
    parts = np.quantile(np.stack([errors[m] for m in PROFILED]), list(QUANTILES.values()), axis=1)
    for quantile, row in zip(QUANTILES, parts, strict=True):
        result |= {f"{m} {quantile}": float(part) for m, part in zip(PROFILED, row, strict=True)}
    return result


def _pair(true: ArrayLike, private: ArrayLike) -> tuple[Floats, Floats]:
    a, b = np.asarray(true, dtype=np.float64), np.asarray(private, dtype=np.float64)
    if a.shape != b.shape or a.size == 0:
        raise InputError(
            f"There are true answers of shape {a.shape} and private ones of shape {b.shape}: give "
            "as many of one as of the other, at least one."
        )
    return a, b
