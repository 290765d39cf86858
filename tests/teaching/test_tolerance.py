"""From a tolerated error to epsilon: bisection on a ladder, its interval, its refusals."""

import math
import threading

import numpy as np
import pytest

from explorer import FrequencyMatrix, Uniform
from explorer.errors import InputError
from explorer.teaching import tolerance
from explorer.teaching.previews import Cancelled


def test_a_step_is_found_where_it_is_and_each_epsilon_is_tried_once() -> None:
    asked = []

    def hits(epsilon: float) -> int:
        asked.append(epsilon)
        return 100 if epsilon >= 0.2 else 40

    found = tolerance.smallest_epsilon(hits, 100)
    assert found.epsilon == found.low == found.high == 0.2
    assert len(set(asked)) == len(asked) <= 18
    assert [step.epsilon for step in found.steps] == sorted(asked)


def test_the_interval_comes_from_the_binomial_law() -> None:
    # Hits rise by one from rung to rung, 40 at the lowest.
    ladder = tolerance.LADDER
    found = tolerance.smallest_epsilon(lambda epsilon: 40 + ladder.index(epsilon), 100)
    # Binomial(100, 0.95): 2.5 % quantile 90, 97.5 % quantile 99.
    assert found.epsilon == ladder[95 - 40]
    assert found.low == ladder[90 - 40]
    assert found.high == ladder[100 - 40]


@pytest.mark.statistical
def test_the_interval_holds_the_truth_that_arithmetic_gives() -> None:
    counts = np.zeros((8, 8), dtype=int)
    counts[3, 3] = 1000
    matrix = FrequencyMatrix.from_array(counts)
    # One draw answers the whole map: P(|Z| <= 50) = 1 - 2 q^51 / (1 + q) with q = e^-epsilon.
    shares = [1 - 2 * math.exp(-51 * e) / (1 + math.exp(-e)) for e in tolerance.LADDER]
    true = next(e for e, s in zip(tolerance.LADDER, shares, strict=True) if s >= 0.95)
    inside = 0
    for seed in range(20):
        found = tolerance.for_box(
            lambda epsilon: Uniform(epsilon=epsilon),
            matrix,
            np.array([0.0, 0, 8, 8]),
            5,
            60,
            seed=seed,
        )
        assert found.low is not None
        inside += found.low <= true <= (found.high or math.inf)
    # 95 in 100 each: fewer than 16 of 20 has a probability of 0.3 %.
    assert inside >= 16


def test_an_empty_box_has_no_percent_and_a_flag_stops() -> None:
    matrix = FrequencyMatrix.from_array(np.eye(4, dtype=int))
    make = Uniform().__class__
    with pytest.raises(InputError, match="No point lies in this box"):
        tolerance.for_box(lambda e: make(epsilon=e), matrix, np.array([0.0, 1, 1, 2]), 5, 100)
    flag = threading.Event()
    flag.set()
    with pytest.raises(Cancelled):
        tolerance.for_box(
            lambda e: make(epsilon=e), matrix, np.array([0.0, 0, 4, 4]), 5, 100, cancel=flag
        )
