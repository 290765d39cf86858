"""Metrics against figures worked out by hand, and their bounds."""

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from explorer import InputError
from explorer.evaluate import metrics

# Five queries: empty and wrong, small, at the smoothing, large, exact. Errors 10, 5, 4, 30, 0.
TRUE = [0, 10, 20, 100, 50]
PRIVATE = [10, 5, 24, 70, 50]


#: Of the five queries with 40,000 records in all, whose thousandth is 40.
BY_HAND = {
    "mre20": (10 / 20 + 5 / 20 + 4 / 20 + 30 / 100 + 0 / 50) / 5,
    "mreRho": (10 / 40 + 5 / 40 + 4 / 40 + 30 / 100 + 0 / 50) / 5,
    "mae": 49 / 5,
    "mse": (100 + 25 + 16 + 900) / 5,
    "rmse": math.sqrt(1041 / 5),
    "l1": 49,
    # The empty query is left out.
    "mape": (5 / 10 + 4 / 20 + 30 / 100 + 0 / 50) / 4,
    "smape": (2 + 2 * 5 / 15 + 2 * 4 / 44 + 2 * 30 / 170 + 0) / 5,
    "maape": (math.pi / 2 + math.atan(0.5) + math.atan(0.2) + math.atan(0.3) + 0) / 5,
    "bias": (10 - 5 + 4 - 30) / 5,
    # Sorted errors 0, 4, 5, 10, 30: quartiles at 1, 2, 3 of 0..4, 95 % between the last two.
    "mae p25": 4,
    "mae median": 5,
    "mae p75": 10,
    "mae p95": 10 + 0.8 * 20,
    # 0, 0.2, 0.25, 0.3, 0.5 and 0, 0.1, 0.125, 0.25, 0.3
    "mre20 median": 0.25,
    "mreRho p75": 0.25,
}


def test_metrics_by_hand():
    found = metrics.measure(TRUE, PRIVATE, total=40_000)
    assert set(found) == set(metrics.names())
    assert {name: found[name] for name in BY_HAND} == pytest.approx(BY_HAND)
    # Alone they are the same; an empty map smooths with a thousandth of a record.
    for name in ("mse", "l1", "mape", "smape", "maape"):
        assert getattr(metrics, name)(TRUE, PRIVATE) == pytest.approx(BY_HAND[name]), name
    assert metrics.mre(TRUE, PRIVATE) == pytest.approx(BY_HAND["mre20"])
    assert metrics.measure([0], [1], total=0)["mreRho"] == pytest.approx(1000)
    # Entrywise, and not the norm of a matrix, which would be the largest column, 9.
    assert metrics.l1(np.zeros((2, 3)), np.array([[1, 2, 3], [4, 5, 6]])) == 21


def test_nothing_true_and_nothing_private_is_no_error():
    assert metrics.smape([0, 0], [0, 0]) == 0
    assert metrics.maape([0, 0], [0, 0]) == 0
    assert math.isnan(metrics.mape([0, 0], [1, 2]))


counts = st.lists(st.tuples(st.integers(0, 10**6), st.floats(-1e5, 1e6)), min_size=1, max_size=30)


@given(counts)
def test_bounds_and_order(pairs):
    true, private = np.array(pairs).T
    found = metrics.measure(true, private, total=true.sum())
    assert 0 <= found["smape"] <= 2 + 1e-12
    assert 0 <= found["maape"] <= math.pi / 2
    assert abs(found["bias"]) <= found["mae"] * (1 + 1e-12)
    assert found["mae"] <= found["rmse"] * (1 + 1e-12)
    assert found["l1"] == pytest.approx(found["mae"] * len(pairs))
    for name in metrics.PROFILED:
        order = [found[f"{name} {q}"] for q in ("p25", "median", "p75", "p95")]
        assert order == sorted(order)


@pytest.mark.parametrize("pair", [([], []), ([1], [1, 2]), ([[1, 2]], [1, 2])])
def test_answers_that_do_not_match_are_refused(pair):
    with pytest.raises(InputError, match="as many of one as of the other"):
        metrics.measure(*pair, total=1)


def test_names_and_smoothing_are_checked():
    assert metrics.check("mreRho p95") == "mreRho p95"
    with pytest.raises(InputError, match="no metric 'mre'"):
        metrics.check("mre")
    with pytest.raises(InputError, match="above 0"):
        metrics.mre([1], [2], smoothing=0)
