"""Charts of the lessons: sources hold what was given, and every chart says it in words."""

import numpy as np
from bokeh.models import BoxAnnotation, Span

from explorer.mechanisms import mechanism
from explorer.views.series import style_of
from explorer.views.teaching.average import AverageChart
from explorer.views.teaching.biases import BiasChart
from explorer.views.teaching.distributions import DistributionsChart
from explorer.views.teaching.frame import legend
from explorer.views.teaching.growing import GrowingChart
from explorer.views.teaching.kept import KeptChart
from explorer.views.teaching.losses import LossChart
from explorer.views.teaching.lots import CostsChart, LevelsChart, WinsChart
from explorer.views.teaching.place_map import PlaceMap
from explorer.views.teaching.prose import prose
from explorer.views.teaching.refined import RefinedPair, UnevennessChart
from explorer.views.teaching.shares import SharesChart
from explorer.views.teaching.slices import SlicePair
from explorer.views.teaching.slopes import Slope, SlopeChart
from explorer.views.teaching.vectors import VectorChart


def spoken(fig) -> str:
    return fig.html_attributes["aria-label"]


def test_distributions_are_densities_and_ratios_stay_inside_the_picture() -> None:
    chart = DistributionsChart()
    edges = np.array([0.0, 1.0, 3.0])
    ratio, error = np.array([0.5, np.nan]), np.zeros(2)
    chart.show(edges, np.array([0.4, 0.6]), np.array([0.5, 0.5]), ratio, error, 1.0, "words")
    assert max(chart.first.data["y"]) == 0.4
    assert max(chart.second.data["y"]) == 0.5
    assert chart.ratios.data["y"].tolist() == [0.5]
    assert chart.lower.y_range.end == 1.25
    spans = chart.lower.select({"type": Span})
    assert sorted(limit.location for limit in spans) == [-1.0, 1.0]
    assert "words" in spoken(chart.upper)
    assert "words" in spoken(chart.lower)


def test_an_average_has_a_band_where_there_is_an_error() -> None:
    chart = AverageChart()
    mean, error = np.array([5.0, 6, 7]), np.array([np.nan, 1, 0.5])
    chart.show(np.array([5.0, 7, 9]), mean, error, 8.0, "words")
    assert len(chart.band.data["x"]) == 4
    assert chart.single.data["y"].tolist() == [5, 5]
    assert chart.figure.y_range.start < 5 < 9 < chart.figure.y_range.end
    chart.clear("nothing")
    assert not len(chart.line.data["x"])
    assert spoken(chart.figure) == "nothing"


def test_shares_without_a_result_have_no_line() -> None:
    chart = SharesChart(0.01, 10)
    points = tuple(np.array([0.1, 1.0]) for _ in range(4))
    chart.show(points, 0.95, None, (None, None), "words")
    found, band = (
        chart.figure.select_one({"dimension": "height"}),
        chart.figure.select_one({"type": BoxAnnotation}),
    )
    assert not found.visible
    assert not band.visible
    chart.show(points, 0.95, 0.5, (0.3, None), "words")
    assert found.location == 0.5
    assert band.left == 0.3
    assert band.right > 10


def test_slopes_name_both_ends() -> None:
    chart = SlopeChart(("one", "other"))
    slopes = [Slope(style_of(mechanism("ag")), (1, 2), ("AG 1 %", "AG 5 %"))]
    slopes.append(Slope(style_of(mechanism("ug")), (2, 1), ("UG 2 %", "UG 4 %")))
    chart.show(slopes, "words")
    assert chart.lines.data["ys"] == [[1, 2], [2, 1]]
    assert chart.figure.yaxis[0].major_label_overrides == {1: "AG 1 %", 2: "UG 2 %"}
    assert chart.right.major_label_overrides == {2: "AG 5 %", 1: "UG 4 %"}


def test_biases_mark_the_chosen_one_by_size_and_colour() -> None:
    chart = BiasChart()
    chart.show(["a", "b"], np.array([0.0, 100.0]), np.array([1.0, 10.0]), 1, "words")
    data = chart.source.data
    assert data["size"].tolist() == [8, 14]
    assert data["colour"][0] != data["colour"][1]
    np.testing.assert_allclose(data["high"] - data["low"], 2 * 1.96 * np.array([1.0, 10.0]))


def test_a_map_has_boxes_and_a_place_and_draws_only_where_it_may() -> None:
    both = [PlaceMap((0, 0, 4, 4), "Map", drag=drag) for drag in (True, False)]
    assert [m.figure.toolbar.active_drag == "auto" for m in both] == [False, True]
    both[0].mark([((0, 0, 1, 2), "#fff", True)], (3, 3))
    assert both[0].boxes.data["y1"].tolist() == [2]
    assert both[0].place.data == {"x": [3], "y": [3]}
    both[0].mark([])
    assert both[0].place.data == {"x": [], "y": []}


def test_words_of_a_lesson_are_shown_and_never_executed() -> None:
    text = prose("**a** <script>x</script> [b](javascript:c) ![d](http://e/f)\n\n1. g")
    assert "<strong>a</strong>" in text
    assert "<script" not in text
    assert "<img" not in text
    assert 'href="javascript' not in text
    assert "<li>g</li>" in text


def test_a_legend_says_what_colours_stand_for() -> None:
    text = legend([("#123456", "dash", "a < b")])
    assert "a &lt; b" in text
    assert "stroke-dasharray" in text


def test_what_is_kept_ends_where_it_is_less_than_a_cell() -> None:
    chart = KeptChart()
    k = np.array([1.0, 10, 100])
    chart.show(k, np.array([1e6, 1e3, 0.01]), np.array([90.0, 5, 1]), 40, "words")
    assert chart.false.data["x"].tolist() == [1, 10]
    assert chart.true.data["y"].tolist() == [90, 5, 1]
    assert chart.figure.select_one({"type": Span}).location == 40
    assert chart.figure.y_range.end > 1e6
    assert spoken(chart.figure) == "words"


def test_growing_boxes_stay_inside_the_picture() -> None:
    chart = GrowingChart()
    sides, noise = np.array([1, 2, 4]), np.array([14.0, 56, 226])
    chart.show(sides, np.array([0, 3, 900]), noise, 2, "words")
    assert chart.source.data["noise"].tolist() == noise.tolist()
    # A logarithmic axis has no 0.
    assert chart.source.data["trips"].min() > 0
    assert chart.figure.y_range.start <= 0.5 < 900 < chart.figure.y_range.end
    assert chart.figure.select_one({"type": Span}).location == 2
    assert spoken(chart.figure) == "words"


def test_a_pair_of_slices_has_one_scale_and_leaves_out_what_is_below_one() -> None:
    pair = SlicePair()
    true, noisy = np.array([[0, 3], [0, 0]]), np.array([[-9, 40], [1, 0]])
    pair.show(true, noisy, (0.75, 0.25), (0.5, 0.0, 1.0, 0.5), ("true words", "noisy words"))
    first, second = (each.image.data["image"][0] for each in (pair.true, pair.noisy))
    assert (first > 0).tolist() == [[False, True], [False, False]]
    assert (second > 0).tolist() == [[False, True], [True, False]]
    assert second.max() == 255 > first.max() > second[1, 0]
    assert [spoken(each) for each in pair.figures] == ["true words", "noisy words"]
    assert pair.box.data["x1"] == [1.0]


def test_candidates_wins_and_levels_are_drawn_as_given() -> None:
    costs, wins, levels = CostsChart(), WinsChart(), LevelsChart(4)
    true, noisy = np.array([5.0, 6, 7]), np.array([50.0, -20, 9])
    costs.show(true, noisy, "words")
    assert (costs.winner.data["x"], costs.winner.data["y"]) == ([2], [-20])
    assert costs.figure.y_range.start < -20 < 50 < costs.figure.y_range.end
    wins.show(np.array([0.5, 0.3, 0.2]), np.array([0.9, 0.1, 0.0]), "words")
    assert wins.source.data["paper"].tolist() == [50, 30, 20]
    assert wins.figure.select_one({"type": Span}).location == 100 / 3
    assert wins.figure.y_range.end > 90
    ranges = np.array([[1.0, 0.0], [2, 1], [4, 3]])
    levels.show([1, 3], ranges, np.array([900.0, 80]), np.array([200.0, 20]), "words")
    assert levels.ranges.data["high"].tolist() == [4, 3]
    assert levels.ranges.data["low"].min() > 0
    assert levels.figure.y_range.end > 900
    levels.show([], np.zeros((3, 0)), np.zeros(0), np.zeros(0), "nothing")
    assert not len(levels.noises.data["x"])
    assert {spoken(each.figure) for each in (costs, wins)} == {"words"}
    assert spoken(levels.figure) == "nothing"


def test_vectors_and_losses_are_drawn_as_given() -> None:
    vector, losses = VectorChart(), LossChart()
    vector.show(np.array([0, -3, 7]), "words", np.array([0, 0, 9]))
    assert vector.source.data["y"].tolist() == [0, -3, 7]
    assert vector.figure.y_range.start < -3 < 9 < vector.figure.y_range.end
    vector.show(np.array([0, 1]), "words")
    assert not len(vector.truth.data["x"])
    assert vector.figure.x_range.end == 2
    honest, loss = np.array([1.0, 2, 3]), np.array([4.0, 2, 1])
    losses.show(honest, loss, np.zeros(3), 1.0, 2, 1.5, "words")
    spans = losses.figure.select({"type": Span})
    assert sorted(each.location for each in spans) == [1.0, 2]
    assert losses.refused.right == 1.5
    assert losses.figure.y_range.end > 4
    assert spoken(vector.figure) == spoken(losses.figure) == "words"


def test_divided_cells_are_outlined_where_they_are() -> None:
    pair, h = RefinedPair(), UnevennessChart(8)
    true = np.array([[0.0, 3], [0, 8]])
    pair.show(true, true - 3, np.array([[0, 1]]), 2, (0.75, 0.25), ("true words", "made words"))
    outlined = {name: list(each) for name, each in pair.divided.data.items()}
    assert outlined == {"x0": [0.5], "y0": [0.0], "x1": [1.0], "y1": [0.5]}
    picture = pair.made.image.data["image"][0]
    assert (picture > 0).tolist() == [[False, False], [False, True]]
    assert [spoken(each) for each in pair.figures] == ["true words", "made words"]
    h.show(np.array([1, 2]), np.array([0.3, 0.0]), np.array([0.2, 0.1]), 0.75, "words")
    assert h.true.data["y"].min() > 0
    assert h.figure.select_one({"type": Span}).location == 0.75
    assert spoken(h.figure) == "words"
