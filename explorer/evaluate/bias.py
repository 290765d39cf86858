"""Bias: whether a mechanism makes large regions too full, and how much of an error comes back.

What a release is off by differs from draw to draw; its mean, the bias, comes back in every draw: a
leaf's count is in it otherwise than the release says.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import ArrayLike, NDArray

from explorer.errors import InputError
from explorer.evaluate.ranking import standard_error
from explorer.evaluate.results import label

if TYPE_CHECKING:
    import pandas as pd

Floats = NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class ErrorParts:
    """What answers to n boxes were off by in many draws on the same records.

    Attributes
    ----------
    bias : (n,) mean of the private answers less the true one
    sd : (n,) standard deviation of the answers from draw to draw
    runs : number of draws; bias is itself off by about sd / sqrt(runs)
    """

    bias: Floats
    sd: Floats
    runs: int

    @classmethod
    def of(cls, answers: ArrayLike, true: ArrayLike) -> ErrorParts:
        """From answers (runs, n) as `repeats` gives them, two runs or more, and true ones (n,).

        Raises
        ------
        InputError
            For a single run.
        """
        private = np.asarray(answers, dtype=np.float64)
        if private.ndim != 2 or len(private) < 2:
            raise InputError("Bias and spread need two runs or more: repeat the release.")
        bias = private.mean(axis=0) - np.asarray(true, dtype=np.float64)
        return cls(bias, private.std(axis=0, ddof=1), len(private))

    @property
    def squared_bias(self) -> Floats:
        """bias^2 without what chance adds to it in so few runs, sd^2 / runs; 0 or more, (n,)."""
        result: Floats = np.maximum(self.bias**2 - self.sd**2 / self.runs, 0.0)
        return result

    @property
    def share(self) -> Floats:
        """Part of the mean squared error that is bias, 0 to 1, (n,); 0 where there is none."""
        whole = self.squared_bias + self.sd**2
        part: Floats = np.divide(
            self.squared_bias, whole, where=whole > 0, out=np.zeros_like(whole)
        )
        return part

    @property
    def rms(self) -> tuple[float, float]:
        """Root mean square over the boxes, of the bias and of the standard deviation."""
        bias = float(np.mean(self.bias**2 - self.sd**2 / self.runs))
        return float(np.sqrt(max(bias, 0.0))), float(np.sqrt(np.mean(self.sd**2)))


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
    import pandas as pd

    rows = table[table.metric == "bias"].assign(label=label(table))
    results = []
    for key, group in rows.groupby(["label", "city", "epsilon", "workload"], sort=False):
        values = group.value.to_numpy()
        sd = float(np.std(values, ddof=1)) if len(values) > 1 else float("nan")
        mean = float(values.mean())
        results.append(
            (*key, mean, standard_error(values), sd, mean / sd if sd else 0.0, len(values))
        )
    columns = ["label", "city", "epsilon", "workload", "bias", "error", "sd", "bias_in_sd", "seeds"]
    return pd.DataFrame(results, columns=columns)
