"""The privacy loss of recorded draws, worked out by hand."""

import math
from fractions import Fraction

import numpy as np
import pytest

from explorer.privacy.audit.loss import Breach, Draw, Loss, Question
from explorer.releases.units import to_units


def ints(*values: int) -> np.ndarray:
    return np.array(values, dtype=np.int64)


def counts(values: np.ndarray, outcome: np.ndarray, units: np.ndarray, sensitivity=1) -> Draw:
    keys = np.arange(len(values), dtype=np.uint64)
    return Draw(Question("laplace", "count", keys, values, sensitivity, units), outcome)


def added(*steps: tuple[Draw, np.ndarray]) -> Loss:
    loss = Loss()
    for draw, values in steps:
        loss.add(draw, values)
    return loss


def test_a_count_pays_by_its_distance_from_the_outcome() -> None:
    draw = counts(ints(3, 3, 3), ints(2, 7, 3), ints(500, 30, 4))
    # Each moves from 3 to 4: away from 2, nearer to 7, away from 3.
    assert added((draw, ints(4, 4, 4))).exact == 500 - 30 + 4
    assert added((draw, ints(3, 3, 3))).exact == 0


def test_sensitivity_divides_exactly() -> None:
    draw = counts(ints(0), ints(0), ints(100), sensitivity=7)
    assert added((draw, ints(3))).exact == Fraction(300, 7)


def test_one_unit_too_many_is_seen() -> None:
    budget = to_units("0.3")
    each = [budget // 3, budget // 3, budget - 2 * (budget // 3)]
    right = [(counts(ints(0), ints(0), ints(part)), ints(1)) for part in each]
    assert not added(*right).exceeds(budget)
    assert added(*right).exact == budget
    one_more = (counts(ints(0), ints(0), ints(1)), ints(1))
    assert added(*right, one_more).exceeds(budget)


def test_sums_beyond_64_bits_are_exact() -> None:
    far, much = 10**10, 8 * 10**12
    draw = counts(ints(0), ints(0), ints(much), sensitivity=10**10)
    assert added((draw, ints(far))).exact == Fraction(far * much, 10**10)


def test_losses_on_the_other_side_count_too() -> None:
    loss = added((counts(ints(1), ints(5), ints(10**12)), ints(2)))
    assert loss.exact == -(10**12)
    assert loss.epsilon == 1.0
    assert loss.exceeds(10**12 - 1)
    assert not loss.exceeds(10**12)


def test_a_decision_pays_the_ratio_of_its_probabilities() -> None:
    keys, units, a = np.zeros(1, dtype=np.uint64), ints(to_units(0.8)), 0.4
    question = Question("above", "test", keys, ints(3), 2, units, threshold=5)
    loss = added((Draw(question, np.array([True])), ints(4)))
    # Below the threshold one step is worth a, whatever else.
    assert loss.exact == -units[0] / Fraction(2)
    assert loss.rest == 0
    loss = added((Draw(question, np.array([False])), ints(4)))
    q = math.exp(-a)
    assert loss.rest == pytest.approx(math.log((1 - q**3 / (1 + q)) / (1 - q**2 / (1 + q))))


def test_a_selection_pays_the_ratio_of_its_probabilities() -> None:
    keys, units, a = np.zeros(2, dtype=np.uint64), ints(to_units(1), to_units(0.6)), 0.6
    offsets = ints(0, 3, 5)
    question = Question("lowest", "cut", keys, ints(4, 1, 1, 0, 1), 1, units, offsets)
    draw = Draw(question, ints(2, 1))
    loss = added((draw, ints(4, 1, 1, 1, 1)))
    # Two candidates: the dearer comes through alone when it is first: w / 2; then both are alike.
    before = math.exp(-a / 2) / 2
    assert loss.epsilon == pytest.approx(abs(math.log(before / 0.5)), rel=1e-12)
    # The exact part is the weight's exponent: half a unit of cost.
    assert loss.exact == Fraction(-int(units[1]), 2)


def test_what_moves_further_than_its_sensitivity_is_a_breach() -> None:
    with pytest.raises(Breach, match="'count' moves by 2, more than its sensitivity of 1"):
        added((counts(ints(0), ints(0), ints(5)), ints(-2)))


def test_questions_are_alike_but_for_their_exact_figures() -> None:
    keys = np.arange(2, dtype=np.uint64)

    def ask(**changed) -> Question:
        parts = {"kind": "lowest", "stage": "a", "keys": keys, "values": ints(1, 2)}
        parts |= {"sensitivity": 1, "units": ints(5, 5), "offsets": ints(0, 1, 2)}
        return Question(**(parts | changed))

    assert ask().is_like(ask(values=ints(7, 8)))
    for changed in (
        {"kind": "laplace"},
        {"stage": "b"},
        {"keys": keys + np.uint64(1)},
        {"values": ints(1, 2, 3)},
        {"sensitivity": 2},
        {"units": ints(5, 6)},
        {"offsets": ints(0, 0, 2)},
        {"threshold": 0},
    ):
        assert not ask().is_like(ask(**changed)), changed
