"""The chart of cuts: all costs, what was seen, both ends of the choice, a spoken name."""

import numpy as np

from explorer.views.costs import BEST, CHOSEN, CutCosts


def test_the_sources_hold_the_numbers_and_glyphs_stay() -> None:
    chart = CutCosts()
    glyphs = list(chart.figure.renderers)
    positions, costs = np.arange(11, 16), np.array([5.0, 3, 4, 6, 9])
    chart.show(
        "cut at row", positions, costs, np.array([13, 15]), np.array([1.0, 20]), 13, 12, "said"
    )
    assert chart.figure.renderers == glyphs
    assert chart.line.data["y"].tolist() == costs.tolist()
    assert chart.seen.data["exact"].tolist() == [4, 9]
    assert chart.seen.data["order"].tolist() == [1, 2]
    assert dict(zip(chart.ends.data["colour"], chart.ends.data["x"], strict=True)) == {
        BEST: 12,
        CHOSEN: 13,
    }
    assert chart.figure.y_range.start < 1
    assert chart.figure.y_range.end > 20
    assert chart.figure.xaxis.axis_label == "cut at row"
    assert chart.figure.html_attributes == {"role": "img", "aria-label": "said"}


def test_one_cut_without_candidates_has_a_chart_too() -> None:
    chart = CutCosts()
    none = np.zeros(0)
    chart.show("cut at column", np.array([7]), np.array([2.0]), none, none, 7, 7, "one cut")
    assert chart.figure.x_range.start < 7 < chart.figure.x_range.end
    assert len(chart.seen.data["noisy"]) == 0
