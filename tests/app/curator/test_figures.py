"""Figures and the summary sentence state the numbers of the screen."""

import re

import numpy as np
import pytest

from explorer.app.curator.answers import COLUMNS, BoxAnswers, answer_boxes, median_error
from explorer.app.curator.figures import key_figures, map_error, summary
from explorer.app.kit.numbers import percent
from explorer.mechanisms import HTF, UG, Uniform
from explorer.points.matrix import FrequencyMatrix
from explorer.views.partition import Leaves


@pytest.fixture
def matrix():
    return FrequencyMatrix.from_array(np.arange(48).reshape(6, 8))


def answers(true, private) -> BoxAnswers:
    true, private = np.array(true, float), np.array(private, float)
    return BoxAnswers(
        true=true, private=private, sd=np.ones_like(true), touched=np.ones(len(true), np.int64)
    )


def test_relative_error_is_in_percent_and_unknown_where_nothing_is() -> None:
    got = answers([100, 0, 50], [110, 5, 40])
    np.testing.assert_allclose(got.relative[[0, 2]], [10, -20])
    assert np.isnan(got.relative[1])
    assert median_error(got) == 15
    assert np.isnan(median_error(answers([0], [3])))


@pytest.mark.parametrize(
    "mechanism", [Uniform(epsilon=1.0), UG(epsilon=5.0, inside="interpolated"), HTF(epsilon=1.0)]
)
def test_map_error_is_the_sum_over_cells(matrix, mechanism) -> None:
    release = mechanism.release(matrix, rng=3)
    expected = np.abs(matrix.counts - release.density()).sum() / matrix.total
    assert map_error(matrix, release, Leaves.of(release)) == pytest.approx(expected)


def test_the_sentence_holds_the_numbers_of_the_table(matrix) -> None:
    release = HTF(epsilon=1.0).release(matrix, rng=3)
    got = answer_boxes(release, matrix, np.array([[0.0, 0, 4, 3], [2, 2, 8, 6]]))
    text = summary("HTF", "a test", release, got)
    worst = int(np.argmax(np.abs(got.difference)))
    for number in (release.n_leaves, got.private[worst], got.true[worst]):
        assert f"{number:,.0f}" in text
    assert "preview" in text
    assert "epsilon 1 per record" in text
    assert text.endswith(".")
    assert text.count(". ") == 0


def test_a_map_of_one_cell_is_told_in_words_that_fit() -> None:
    one = FrequencyMatrix.from_array([[5]])
    release = Uniform(epsilon=1.0).release(one, rng=3)
    text = summary("Uniform", "a test", release, answer_boxes(release, one, np.zeros((0, 4))))
    assert f"replaces 1 × 1 cell by 1 private count of {release.total:,.0f};" in text


def test_no_box_is_said_too(matrix) -> None:
    release = HTF(epsilon=1.0).release(matrix, rng=3)
    got = answer_boxes(release, matrix, np.zeros((0, 4)))
    assert "no box" in summary("HTF", "a test", release, got)
    strip = dict(key_figures(release, got, float("nan"), 1.5))
    assert strip["Median box error"] == strip["Cell errors (L1/N)"] == "–"
    assert strip["Computed in"] == "1.5 s"


def test_percentages_have_the_digits_they_deserve() -> None:
    assert [percent(v) for v in (0.0, -0.5, 55.55, 123456.0)] == [
        "0 %",
        "-0.50 %",
        "55.5 %",
        "123,456 %",
    ]


def test_what_is_written_adds_up() -> None:
    """A person subtracts what she reads: 235,746 less 245,256 is 9,510, not 9,509."""
    answers = BoxAnswers(
        true=np.array([245_256.4, 10_125.4, 3.5]),
        private=np.array([235_746.6, 11_794.6, 4.5]),
        sd=np.ones(3),
        touched=np.ones(3, dtype=np.int64),
        spread=np.array([235_000.2, 11_000.7, 4.0]),
    )
    columns = {each.name: each.values(answers) for each in COLUMNS}
    np.testing.assert_array_equal(columns["difference"], columns["private"] - columns["true"])
    noise, uneven = answers.shown_causes()
    np.testing.assert_array_equal(noise + uneven, columns["difference"])
    for bar, parts in zip(
        columns["noise / uneven areas"], zip(noise, uneven, strict=True), strict=True
    ):
        shown = [
            float(t.replace("−", "-").replace(",", "")) for t in re.findall(r"</i>([^<]*)<", bar)
        ]
        assert shown == list(parts)
    np.testing.assert_allclose(answers.shown_difference(2), [-9509.8, 1669.2, 1.0])
