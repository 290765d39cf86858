"""The pool: exact figures on chosen answers, bars that hold every answer, theory on real draws."""

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from explorer.errors import InputError
from explorer.teaching.pool import MOST_BARS, Answer, Pool, Question, QuestionSettings
from tests.helpers import city


def pooled(values, true=100.0, sd=5.0):
    pool = Pool(true)
    for i, value in enumerate(values):
        pool.add(i % 3, Answer(value, sd))
    return pool.summary()


def test_figures_of_chosen_answers() -> None:
    found = pooled([95.0, 105.0, 111.0, 100.0])
    assert (found.answers, found.people) == (4, 3)
    assert found.mean == 102.75
    assert found.sd == pytest.approx(np.std([95, 105, 111, 100], ddof=1))
    assert found.theory == 5.0
    assert (found.within_5, found.within_10) == (0.75, 0.75)


def test_without_answers_there_is_nothing_and_one_has_no_spread() -> None:
    assert Pool(5.0).summary() is None
    assert math.isnan(pooled([7.0]).sd)
    assert math.isnan(pooled([7.0], true=0.0).within_5)


@given(st.lists(st.floats(-1e9, 1e9), min_size=1, max_size=60), st.floats(0, 1e4))
def test_every_answer_is_in_the_bar_that_is_named(values, sd) -> None:
    found = pooled(values, sd=sd)
    assert found.counts.sum() == len(values)
    assert len(found.counts) <= MOST_BARS
    assert len(found.edges) == len(found.counts) + 1
    for value in values:
        at = found.bar(value)
        slack = 1e-9 * max(abs(value), found.width)
        assert found.edges[at] - slack <= value <= found.edges[at + 1] + slack
        assert found.counts[at] > 0


def test_bars_keep_their_place_while_answers_come_in() -> None:
    pool, seen = Pool(0.0), []
    for value in (1.0, 4.0, -3.0, 2.0):
        pool.add(1, Answer(value, 3.0))
        seen.append(pool.summary())
    assert {each.width for each in seen} == {1.0}
    assert all((each.edges % 1.0 == 0).all() for each in seen)
    pool.add(1, Answer(1000.0, 3.0))
    assert pool.summary().width == 50.0


@pytest.mark.parametrize(
    ("value", "sd"), [(math.nan, 1), (math.inf, 1), (1, -1), (1e16, 1), (1, 1e16)]
)
def test_an_answer_that_is_none_is_refused(value, sd) -> None:
    with pytest.raises(InputError, match="finite"):
        Answer(value, sd)


def test_a_question_is_answered_as_theory_says() -> None:
    question = Question.of(
        city(), "Town", QuestionSettings(mechanism="ug", epsilon=0.5, box=(0, 0, 0.5, 1))
    )
    assert question.true == city().counts[:, :32].sum()
    assert question.draw(3) == question.draw(3)
    assert question.draw(3) != question.draw(4)
    pool = Pool(question.true)
    for seed in range(400):
        pool.add(seed, question.draw(seed))
    found = pool.summary()
    # The grid of 32 x 32 has whole leaves in the half: no uneven spread, only noise. The sample's
    # sd has a relative error of 1 / sqrt(2 n), with a little excess kurtosis: five errors.
    assert abs(found.mean - found.true) < 5 * found.theory / 20
    assert found.sd == pytest.approx(found.theory, rel=5 / math.sqrt(800))
    assert not found.is_off
    assert not found.is_wider
