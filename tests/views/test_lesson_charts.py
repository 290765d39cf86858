"""Charts of lessons, of cuts and of many runs: the numbers they draw, their axes, their names."""

import numpy as np
import pytest
from bokeh.models import BoxAnnotation, Span
from hypothesis import given
from hypothesis import strategies as st

from explorer.mechanisms import mechanism
from explorer.views.answer_charts import AnswerDots, Dots, ends, stacked
from explorer.views.charts import spread
from explorer.views.lesson_charts import (
    BEST,
    CHOSEN,
    AverageChart,
    BiasChart,
    CostsChart,
    CutCosts,
    DistributionsChart,
    GrowingChart,
    KeptChart,
    LevelsChart,
    LossChart,
    SharesChart,
    Slope,
    SlopeChart,
    UnevennessChart,
    VectorChart,
    WinsChart,
)
from explorer.views.series import style_of
from explorer.views.small import CountsPair, PlaceMap


def spoken(*figures) -> set[str]:
    return {figure.html_attributes["aria-label"] for figure in figures}


def lines(figure) -> list[float]:
    return sorted(span.location for span in figure.select({"type": Span}))


def test_distributions_are_densities_and_ratios_stay_inside_the_picture() -> None:
    chart = DistributionsChart()
    edges = np.array([0.0, 1.0, 3.0])
    ratio, error = np.array([0.5, np.nan]), np.zeros(2)
    chart.show(edges, np.array([0.4, 0.6]), np.array([0.5, 0.5]), ratio, error, 1.0, "words")
    assert (max(chart.first.data["y"]), max(chart.second.data["y"])) == (0.4, 0.5)
    assert chart.ratios.data["y"].tolist() == [0.5]
    assert chart.lower.y_range.end == 1.25
    assert lines(chart.lower) == [-1.0, 1.0]
    assert all("words" in name for name in spoken(chart.upper, chart.lower))


def test_logarithmic_axes_show_no_zero_and_hold_all_numbers() -> None:
    kept, growing, unevenness = KeptChart(), GrowingChart(), UnevennessChart(8)
    levels = LevelsChart(4)
    k = np.array([1.0, 10, 100])
    kept.show(k, np.array([1e6, 1e3, 0.01]), np.array([90.0, 5, 1]), 40, "words")
    assert kept.false.data["x"].tolist() == [1, 10], "less than a cell is not drawn"
    assert kept.figure.y_range.end > 1e6
    sides, noise = np.array([1, 2, 4]), np.array([14.0, 56, 226])
    growing.show(sides, np.array([0, 3, 900]), noise, 2, "words")
    assert growing.source.data["trips"].min() > 0
    assert growing.figure.y_range.start <= 0.5 < 900 < growing.figure.y_range.end
    unevenness.show(np.array([1, 2]), np.array([0.3, 0.0]), np.array([0.2, 0.1]), 0.75, "words")
    assert unevenness.true.data["y"].min() > 0
    marked = [lines(each.figure) for each in (kept, growing, unevenness)]
    assert marked == [[40], [2], [0.75]]
    ranges = np.array([[1.0, 0.0], [2, 1], [4, 3]])
    levels.show([1, 3], ranges, np.array([900.0, 80]), np.array([200.0, 20]), "words")
    assert levels.ranges.data["high"].tolist() == [4, 3]
    assert levels.ranges.data["low"].min() > 0
    assert levels.figure.y_range.end > 900
    assert spoken(*(each.figure for each in (kept, growing, unevenness, levels))) == {"words"}
    levels.show([], np.zeros((3, 0)), np.zeros(0), np.zeros(0), "nothing")
    assert not len(levels.noises.data["x"])


def test_a_pair_of_slices_has_one_scale_and_leaves_out_what_is_below_one() -> None:
    pair = CountsPair()
    true, noisy = np.array([[0, 3], [0, 0]]), np.array([[-9, 40], [1, 0]])
    box = np.array([[0.5, 0.0, 1.0, 0.5]])
    pair.show(true, noisy, box, (0.75, 0.25), ("true words", "noisy words"), top=40)
    first, second = (each.image.data["image"][0] for each in (pair.true, pair.other))
    assert (first > 0).tolist() == [[False, True], [False, False]]
    assert (second > 0).tolist() == [[False, True], [True, False]]
    assert second.max() == 255 > first.max() > second[1, 0]
    assert spoken(*pair.figures) == {"true words", "noisy words"}


def test_candidates_wins_vectors_and_losses_are_drawn_as_given() -> None:
    costs, wins, vector, losses = CostsChart(), WinsChart(), VectorChart(), LossChart()
    costs.show(np.array([5.0, 6, 7]), np.array([50.0, -20, 9]), "words")
    assert (costs.winner.data["x"], costs.winner.data["y"]) == ([2], [-20])
    assert costs.figure.y_range.start < -20 < 50 < costs.figure.y_range.end
    wins.show(np.array([0.5, 0.3, 0.2]), np.array([0.9, 0.1, 0.0]), "words")
    assert wins.source.data["paper"].tolist() == [50, 30, 20]
    assert lines(wins.figure) == [100 / 3]
    vector.show(np.array([0, -3, 7]), "words", np.array([0, 0, 9]))
    assert vector.figure.y_range.start < -3 < 9 < vector.figure.y_range.end
    vector.show(np.array([0, 1]), "words")
    assert not len(vector.truth.data["x"])
    honest, loss = np.array([1.0, 2, 3]), np.array([4.0, 2, 1])
    losses.show(honest, loss, np.zeros(3), 1.0, 2, 1.5, "words")
    assert lines(losses.figure) == [1.0, 2]
    assert (losses.refused.right, losses.figure.y_range.end > 4) == (1.5, True)
    assert spoken(*(each.figure for each in (costs, wins, vector, losses))) == {"words"}


def test_bands_intervals_and_lines_are_there_where_there_is_a_result() -> None:
    average, shares, biases = AverageChart(), SharesChart(0.01, 10), BiasChart()
    mean, error = np.array([5.0, 6, 7]), np.array([np.nan, 1, 0.5])
    average.show(np.array([5.0, 7, 9]), mean, error, 8.0, "words")
    assert len(average.band.data["x"]) == 4
    assert average.figure.y_range.start < 5 < 9 < average.figure.y_range.end
    average.clear("nothing")
    assert not len(average.line.data["x"])
    line = shares.figure.select_one({"dimension": "height"})
    for epsilon, low in ((None, None), (0.5, 0.3)):
        shares.show((np.array([0.1, 1.0]),) * 4, 0.95, epsilon, (low, None), "words")
        assert line.visible == (epsilon is not None)
    assert (line.location, shares.figure.select_one({"type": BoxAnnotation}).left) == (0.5, 0.3)
    biases.show(["a", "b"], np.array([0.0, 100.0]), np.array([1.0, 10.0]), 1, "words")
    data = biases.source.data
    assert data["colour"][0] != data["colour"][1]
    np.testing.assert_allclose(data["high"] - data["low"], 2 * 1.96 * np.array([1.0, 10.0]))
    assert spoken(average.figure, shares.figure, biases.figure) == {"nothing", "words"}


def test_names_boxes_and_outlines_stand_where_they_belong() -> None:
    chart, pair, costs = SlopeChart(("one", "other")), CountsPair(), CutCosts()
    chart.show([Slope(style_of(mechanism("ag")), (1, 2), ("AG 1 %", "AG 5 %"))], "words")
    assert chart.figure.yaxis[0].major_label_overrides == {1: "AG 1 %"}
    assert chart.right.major_label_overrides == {2: "AG 5 %"}
    true = np.array([[0.0, 3], [0, 8]])
    pair.show(true, true, np.array([[0.5, 0, 1, 0.5]]), (0.75, 0.25), ("true", "other"), top=8)
    outlined = {name: list(each) for name, each in pair.boxes.data.items()}
    assert outlined == {"x0": [0.5], "y0": [0.0], "x1": [1.0], "y1": [0.5]}
    place = PlaceMap((0, 0, 4, 4), "Map", drag=True)
    place.mark([((0, 0, 1, 2), "#fff", True)], (3, 3))
    assert (place.boxes.data["y1"].tolist(), place.place.data) == ([2], {"x": [3], "y": [3]})
    seen, noisy = np.array([13, 15]), np.array([1.0, 20])
    numbers = np.arange(11, 16), np.array([5.0, 3, 4, 6, 9])
    costs.show("cut at row", *numbers, seen, noisy, 13, 12, "words")
    assert costs.seen.data["exact"].tolist() == [4, 9]
    ends_of_choice = dict(zip(costs.ends.data["colour"], costs.ends.data["x"], strict=True))
    assert ends_of_choice == {BEST: 12, CHOSEN: 13}
    assert costs.figure.y_range.start < 1 < 20 < costs.figure.y_range.end


# Dots of many runs.


def test_dots_stack_where_answers_are_alike_and_more_runs_leave_earlier_ones() -> None:
    values = [5.0, 0.1, 5.01, 9.99, 5.02, 10.0]
    x, y = stacked(values, 0.0, 10.0)
    assert x[0] == x[2] == x[4]
    np.testing.assert_array_equal(y, [0, 0, 1, 0, 2, 1])
    assert len(set(zip(x, y, strict=True))) == 6
    assert np.abs(x - values).max() <= 10 / 32 / 2 + 1e-9
    some = np.random.default_rng(1).normal(0, 1, 60)
    few, more = stacked(some[:30], -5, 5), stacked(some, -5, 5)
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
    np.testing.assert_array_equal(source.data["answer"], [90, 101, 130])
    assert (chart.line.data["x"], chart.here.data["x"]) == ([100], [120])
    np.testing.assert_allclose(chart.bands.data["left"], [90, 95])
    np.testing.assert_allclose(chart.bands.data["right"], [110, 105])
    np.testing.assert_array_equal(chart.shown.data["x"], [source.data["x"][1]])
    assert spoken(chart.figure) == {"three runs"}
    chart.show(Dots(np.array([1.0, -2.0]), 0.0, 3.0, 7), "")
    assert len(chart.bands.data["left"]) == 0, "5 % of nothing"
    assert len(chart.shown.data["x"]) == 0, "a run that is not drawn yet"
    chart.show(Dots(np.full(200, 5.0), 5.0, 5.0), "")
    assert chart.figure.y_range.end > chart.dots.data["y"].max() == 199
    assert chart.marks.size < 1


@given(st.lists(st.floats(-0.5, 1.5), max_size=30), st.floats(0.001, 0.2))
def test_labels_are_apart_in_order_and_inside(places, gap) -> None:
    found = spread(places, gap)
    moved = found[np.argsort(np.clip(places, 0, 1), kind="stable")]
    assert (np.diff(moved) >= min(gap, 1 / max(len(places), 1)) - 1e-9).all()
    assert ((found >= 0) & (found <= 1)).all()
    np.testing.assert_allclose(spread([0.2, 0.5, 0.8], 0.1), [0.2, 0.5, 0.8])
