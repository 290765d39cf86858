"""The same runs under two smoothings: when the order turns, and when it does not."""

import threading

import pandas as pd
import pytest

from explorer import AG, HTF, UG
from explorer.evaluate import workload
from explorer.teaching import judging
from explorer.teaching.previews import Cancelled
from tests.helpers import city


def table(figures: dict[str, dict[str, list[float]]]) -> pd.DataFrame:
    """Results of made-up runs: figures by mechanism and metric, one for each seed."""
    rows = [
        ("here", name, "{}", 1.0, seed, "random", metric, value)
        for name, metrics in figures.items()
        for metric, values in metrics.items()
        for seed, value in enumerate(values)
    ]
    names = ["city", "mechanism", "parameters", "epsilon", "seed", "workload", "metric", "value"]
    return pd.DataFrame(rows, columns=names)


def test_an_order_that_turns_beyond_chance_is_found() -> None:
    verdict = judging.judge(
        table(
            {
                "htf": {"mre20": [0.10, 0.11, 0.10, 0.11], "mreRho": [0.060, 0.061, 0.060, 0.061]},
                "ug": {"mre20": [0.47, 0.49, 0.48, 0.47], "mreRho": [0.027, 0.028, 0.027, 0.028]},
            }
        )
    )
    assert verdict.turned == verdict.sure == (("htf", "ug"),)
    assert [row.places for row in verdict.rows] == [(1, 2), (2, 1)]
    assert verdict.rows[0].errors == pytest.approx((0.105, 0.0605))


def test_real_runs_are_judged_as_the_evaluation_measured_them() -> None:
    matrix = city()
    made = [UG(epsilon=0.5), AG(epsilon=0.5), HTF(epsilon=0.5)]
    asked = workload("random", matrix.shape, n=100)
    told: list[float] = []
    results = judging.measured(matrix, made, asked, 3, progress=told.append)
    assert told[-1] == 1.0
    verdict = judging.judge(results)
    assert {row.key for row in verdict.rows} == {"ug", "ag", "htf"}
    mean = results[(results.mechanism == "ag") & (results.metric == "mreRho")].value.mean()
    (ag,) = (row for row in verdict.rows if row.key == "ag")
    assert ag.errors[1] == pytest.approx(mean)
    flag = threading.Event()
    flag.set()
    with pytest.raises(Cancelled):
        judging.measured(matrix, made, asked, 3, cancel=flag)
