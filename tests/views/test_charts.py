"""Charts: what their data sources hold, built once, on logarithmic axes."""

import numpy as np

from explorer.mechanisms import mechanism
from explorer.views.charts import Candlesticks, Curve, ErrorCurves, Stick
from explorer.views.series import style_of

EPSILONS = (0.1, 1.0, 10.0)


def curve(name="htf", middle=(3.0, 2.0, 1.0)) -> Curve:
    line = np.array(middle)
    return Curve(
        name.upper(), style_of(mechanism(name)), np.array(EPSILONS), line, line * 0.9, line * 1.2
    )


def test_lines_bands_and_points_are_the_numbers() -> None:
    chart = ErrorCurves(EPSILONS)
    glyphs = list(chart.figure.renderers)
    chart.show([curve(), curve("ug", (5.0, 4.0, 3.0))], "Mean error", "UG is worse")
    assert list(chart.figure.renderers) == glyphs
    np.testing.assert_array_equal(chart.lines.data["ys"][1], [5, 4, 3])
    np.testing.assert_allclose(chart.bands.data["ys"][0], [2.7, 1.8, 0.9, 1.2, 2.4, 3.6])
    np.testing.assert_allclose(chart.bands.data["xs"][0], [0.1, 1, 10, 10, 1, 0.1])
    assert chart.points.data["y"] == [3, 2, 1, 5, 4, 3]
    assert chart.figure.html_attributes == {"role": "img", "aria-label": "UG is worse"}
    assert chart.figure.yaxis[0].axis_label == "Mean error"
    assert chart.figure.y_range.start < 0.9
    assert chart.figure.y_range.end > 6


def test_each_name_stands_beside_its_line_and_none_covers_another() -> None:
    chart = ErrorCurves(EPSILONS)
    many = [curve(name, (1, 1, 1 + i / 1000)) for i, name in enumerate(("htf", "ug", "ag", "hb"))]
    chart.show(many, "", "")
    labels = chart.names.major_label_overrides
    assert sorted(labels.values()) == ["AG", "HB", "HTF", "UG"]
    places = np.log(sorted(labels))
    span = np.log(chart.figure.y_range.end / chart.figure.y_range.start)
    assert np.diff(places).min() / span * 400 >= 16.9
    # The order from bottom to top is the order of the lines' ends.
    assert [labels[place] for place in sorted(labels)] == ["HTF", "UG", "AG", "HB"]
    ends = [line[-1] for line in chart.leaders.data["ys"]]
    assert sorted(ends) == sorted(labels)


def test_what_a_logarithm_cannot_show_is_left_out() -> None:
    chart = ErrorCurves(EPSILONS)
    chart.show([curve(middle=(2.0, 0.0, np.nan)), curve("ug", (0.0, 0.0, 0.0))], "", "")
    assert [list(line) for line in chart.lines.data["ys"]] == [[2.0]]
    assert np.isfinite(chart.figure.y_range.start)


def test_candlesticks_hold_the_quantiles_the_first_on_top() -> None:
    chart = Candlesticks()
    sticks = [
        Stick("Mosaic", style_of(mechanism("mosaic")), 0.01, 0.02, 0.04, 0.1, 0.05),
        Stick("HTF", style_of(mechanism("htf")), 0.0, 0.2, 0.4, 1.0, 0.5),
    ]
    chart.show(sticks, "Relative error", "Mosaic is best")
    data = chart.source.data
    assert chart.figure.y_range.factors == ["HTF", "Mosaic"]
    assert data["p75"] == [0.04, 0.4]
    assert data["median_shown"] == ["0.02", "0.2"]
    # A quantile of 0 has no place on the axis: it is drawn at its end, and told as 0.
    assert data["p25"][1] == chart.figure.x_range.start > 0
    assert data["p25_shown"][1] == "0"
    assert chart.figure.html_attributes["aria-label"] == "Mosaic is best"
