"""Dots of many runs: places, marks, bands and the spoken name."""

import numpy as np
import pytest

from explorer.views.dots import AnswerDots, Dots, ends, legend, stacked


def test_dots_stack_where_answers_are_alike_the_earlier_run_below() -> None:
    x, y = stacked([5.0, 0.1, 5.01, 9.99, 5.02, 10.0], 0.0, 10.0)
    assert x[0] == x[2] == x[4]
    np.testing.assert_array_equal(y, [0, 0, 1, 0, 2, 1])
    assert len(set(zip(x, y, strict=True))) == 6
    assert np.abs(x - [5.0, 0.1, 5.01, 9.99, 5.02, 10.0]).max() <= 10 / 32 / 2 + 1e-9


def test_more_runs_leave_the_dots_of_earlier_ones() -> None:
    values = np.random.default_rng(1).normal(0, 1, 60)
    few, more = stacked(values[:30], -5, 5), stacked(values, -5, 5)
    np.testing.assert_array_equal(np.array(few), np.array(more)[:, :30])


@pytest.mark.parametrize("answers", [[7.0], [7.0] * 50, [-1e9, 1e9], []])
def test_the_axis_holds_all_answers_the_true_one_and_the_map(answers) -> None:
    dots = Dots(np.array(answers), 100.0, 40.0)
    low, high = ends(dots)
    assert low < min([*answers, 40.0])
    assert high > max([*answers, 100.0])
    AnswerDots().show(dots, "something")


def test_a_figure_shows_every_run_the_truth_its_bands_and_the_map() -> None:
    chart = AnswerDots()
    source = chart.dots
    chart.show(Dots(np.array([90.0, 101.0, 130.0]), 100.0, 120.0, 1), "three runs")
    assert chart.dots is source
    np.testing.assert_array_equal(source.data["answer"], [90, 101, 130])
    np.testing.assert_array_equal(source.data["run"], [1, 2, 3])
    assert chart.line.data["x"] == [100]
    assert chart.here.data["x"] == [120]
    np.testing.assert_allclose(chart.bands.data["left"], [90, 95])
    np.testing.assert_allclose(chart.bands.data["right"], [110, 105])
    np.testing.assert_array_equal(chart.shown.data["x"], [source.data["x"][1]])
    assert chart.figure.html_attributes["aria-label"] == "three runs"


def test_nothing_true_has_no_bands_and_a_run_not_yet_drawn_no_mark() -> None:
    chart = AnswerDots()
    chart.show(Dots(np.array([1.0, -2.0]), 0.0, 3.0, 7), "")
    assert chart.bands.data["left"] == []
    assert len(chart.shown.data["x"]) == 0


def test_high_stacks_get_smaller_dots_that_stay_inside() -> None:
    chart = AnswerDots()
    chart.show(Dots(np.full(200, 5.0), 5.0, 5.0), "")
    assert chart.dots.data["y"].max() == 199
    assert chart.figure.y_range.end > 199
    assert chart.marks.size < 1


def test_the_legend_names_every_mark() -> None:
    for text in ("one run", "true answer", "within 5 % and 10 %", "your map", "the run on the map"):
        assert text in legend()
