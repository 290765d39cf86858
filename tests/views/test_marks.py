"""Marks over the maps: one source for both, edges of boxes, clicks passed on as they come."""

import numpy as np
from bokeh.events import Tap
from bokeh.plotting import figure

from explorer.views.gestures import on_tap
from explorer.views.marks import Marks
from tests.helpers import happen


def test_two_figures_share_the_marks_and_have_none_before_something_is_marked() -> None:
    marks, figures = Marks(), (figure(), figure())
    for each in figures:
        marks.draw_on(each)
    marks.show_node(None)
    assert not any(each.renderers for each in figures)
    marks.show_node((1.0, 2.0, 3.0, 4.0))
    sources = [[glyph.data_source for glyph in each.renderers] for each in figures]
    assert sources[0] == sources[1]
    assert marks.cut in sources[0]
    assert marks.node in sources[0]


def test_leaves_and_a_node_are_edges() -> None:
    marks = Marks()
    before = marks.cut.data
    marks.show_cut(np.zeros((0, 4)))
    assert marks.cut.data is before, "nothing is sent for nothing"
    boxes = np.array([[0.0, 1, 2, 3], [4, 5, 6, 7]])
    marks.show_cut(boxes)
    assert [marks.cut.data[name].tolist() for name in ("x0", "y0", "x1", "y1")] == boxes.T.tolist()
    marks.show_node((1.0, 2.0, 3.0, 4.0))
    assert marks.node.data["y1"].tolist() == [4]
    marks.show_node(None)
    assert len(marks.node.data["x0"]) == 0


def test_a_click_is_told() -> None:
    fig, seen = figure(), []
    on_tap(fig, lambda x, y: seen.append((x, y)))
    happen(Tap(fig, x=3.0, y=4.0, sx=1, sy=1))
    assert seen == [(3.0, 4.0)]
