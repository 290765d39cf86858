"""Profiles: for every mechanism, epsilon and workload what a curve or a candlestick shows."""

from __future__ import annotations

import pandas as pd

from explorer.errors import InputError
from explorer.evaluate.metrics import PROFILED, QUANTILES, check
from explorer.evaluate.ranking import standard_error
from explorer.evaluate.results import label

BY = ["label", "city", "workload", "epsilon"]


def profiles(table: pd.DataFrame, metric: str = "mre20") -> pd.DataFrame:
    """Averages over the seeds, also of an evaluation that is still under way.

    Parameters
    ----------
    table : as `evaluate` returns it, or a part of it
    metric : a name of `metrics.AVERAGES`

    Returns
    -------
    DataFrame
        One row for each of `BY`, in the table's order: `seeds`; `mean` of the metric over the seeds
        and its standard `error` (NaN with one seed), for a curve with a band; and, for the metrics
        of `metrics.PROFILED`, `p25`, `median`, `p75`, `p95` over the queries, averaged over the
        seeds, for a candlestick as in grids-2013.
    """
    if check(metric) not in table.metric.unique() and len(table):
        raise InputError(f"The results do not hold the metric {metric!r}.")
    rows = table.assign(label=label(table))
    own = rows[rows.metric == metric].groupby(BY, sort=False).value
    columns = {
        "seeds": own.count(),
        "mean": own.mean(),
        "error": own.agg(lambda values: standard_error(values.to_numpy())),
    }
    if metric in PROFILED:
        for quantile in QUANTILES:
            part = rows[rows.metric == f"{metric} {quantile}"]
            columns[quantile] = part.groupby(BY, sort=False).value.mean()
    return pd.DataFrame(columns).reset_index()
