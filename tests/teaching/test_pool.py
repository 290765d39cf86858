"""The pool: exact figures on chosen answers, bars that hold every answer, theory on real draws."""

import math

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
    assert question.preview(3)[0] == question.preview(3)[0]
    assert question.preview(3)[0] != question.preview(4)[0]
    pool = Pool(question.true)
    for seed in range(400):
        pool.add(seed, question.preview(seed)[0])
    found = pool.summary()
    # The grid of 32 x 32 has whole leaves in the half: no uneven spread, only noise. The sample's
    # sd has a relative error of 1 / sqrt(2 n), with a little excess kurtosis: five errors.
    assert abs(found.mean - found.true) < 5 * found.theory / 20
    assert found.sd == pytest.approx(found.theory, rel=5 / math.sqrt(800))
    assert not found.is_off
    assert not found.is_wider
