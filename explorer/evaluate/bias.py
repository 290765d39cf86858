"""Bias of large regions: whether a mechanism makes the whole map, or large parts, too full."""

from __future__ import annotations

import numpy as np
import pandas as pd

from explorer.evaluate.ranking import standard_error
from explorer.evaluate.results import label


def biases(table: pd.DataFrame) -> pd.DataFrame:
    """Biases in the results of an evaluation.

    Parameters
    ----------
    table : as `evaluate` returns it

    Returns
    -------
    DataFrame
        Columns label, city, epsilon, workload; `bias`, the mean over seeds of the workload's mean
        signed error, in records; its standard `error`; `sd`, the standard deviation of that mean
        signed error from seed to seed; `bias_in_sd`; `seeds`. On "total" they are those of the
        whole map's count.
    """
    rows = table[table.metric == "bias"].assign(label=label(table))
    found = []
    for key, own in rows.groupby(["label", "city", "epsilon", "workload"], sort=False):
        values = own.value.to_numpy()
        sd = float(np.std(values, ddof=1)) if len(values) > 1 else float("nan")
        mean = float(values.mean())
        found.append(
            (*key, mean, standard_error(values), sd, mean / sd if sd else 0.0, len(values))
        )
    columns = ["label", "city", "epsilon", "workload", "bias", "error", "sd", "bias_in_sd", "seeds"]
    return pd.DataFrame(found, columns=columns)
