"""The map figure: sources are replaced, ranges shared, tools as a visitor expects."""

import numpy as np
import pytest
import shapely
from bokeh.events import SelectionGeometry, Tap
from bokeh.models import ScaleBar
from bokeh.plotting import figure as plain_figure

from explorer.mechanisms import Identity
from explorer.points.matrix import FrequencyMatrix
from explorer.views.gestures import on_box, on_tap
from explorer.views.lines import Lines
from explorer.views.maps import LinkedRanges, MapView
from explorer.views.marks import Marks
from explorer.views.partition import Leaves, partition
from explorer.views.query_boxes import QueryBoxes
from explorer.views.small import SmallMap
from explorer.views.viewport import Viewport
from tests.helpers import happen


@pytest.fixture
def pair():
    ranges, boxes, lines = LinkedRanges((0, 0, 40, 20)), QueryBoxes(maps=2), Lines()
    return [
        MapView(ranges, boxes, lines, unit="m", label=name, number=number)
        for number, name in enumerate(("A", "B"))
    ]


def test_one_plain_drag_draws_a_box(pair) -> None:
    figure = pair[0].figure
    assert figure.toolbar.active_drag is pair[0].draw_tool
    seen = []
    on_box(pair[0].figure, lambda box, final: seen.append((box, final)))
    shape = {"type": "rect", "x0": 1.0, "x1": 3.0, "y0": 2.0, "y1": 5.0}
    for final in (False, True):
        happen(SelectionGeometry(figure, geometry=shape, final=final))
    circle = {"type": "point", "x": 1.0, "y": 1.0}
    happen(SelectionGeometry(figure, geometry=circle, final=True))
    assert seen == [((1.0, 2.0, 3.0, 5.0), False), ((1.0, 2.0, 3.0, 5.0), True)]


def test_a_map_is_zoomed_dragged_and_scrolled_as_a_visitor_expects(pair) -> None:
    ranges = LinkedRanges((0, 0, 40, 20))
    assert ranges.x.bounds == (-10, 50), "a view ends a little beyond the map"
    ranges.zoom(0.5)
    assert ranges.bounds == (10, 5, 30, 15)
    ranges.zoom(2.0)
    assert ranges.bounds == (0, 0, 40, 20)
    view = pair[0]
    # The wheel scrolls the page unless a drag moves the map.
    tools = {"move": (view.pan_tool, {}), "scroll": (None, None), "draw": (view.draw_tool, None)}
    for mode, (tool, modifiers) in tools.items():
        view.drag(mode)
        assert view.figure.toolbar.active_drag is tool
        assert view.wheel.modifiers == ({"ctrl": True} if modifiers is None else modifiers)
    assert view.figure.html_attributes["aria-label"] == "A"
    plain = MapView(ranges, QueryBoxes(), Lines(), unit="cells")
    scales = [
        any(isinstance(each, ScaleBar) for each in one.figure.select({})) for one in (view, plain)
    ]
    assert scales == [True, False], "a scale bar is in metres"


def test_boxes_are_shown_with_handles_and_a_tag_while_they_are_dragged() -> None:
    boxes = QueryBoxes((0, 0, 10, 10), maps=2)
    rectangles = np.array([[0.0, 0, 1, 1], [2, 2, 3, 3]])
    for selected, handles in (([], 0), ([0], 4), ([0, 1], 0)):
        boxes.show(rectangles, ["Q1", "Q2"], selected)
        assert len(boxes.polygons.corners.data["x"]) == handles
    boxes.show(rectangles, ["Q1", "Q2"], [1])
    assert list(boxes.source.data["width"]) == [2, 4]
    rectangles[0, 0] = 99
    assert boxes.source.data["x0"][0] == 0, "the source holds copies"
    boxes.show(rectangles[1:], ["Q1"], [0], held=False)
    assert not len(boxes.polygons.corners.data["x"])
    boxes.say_draft((1.0, 1.0, 2.0, 2.0), [("5", "red"), ("6", "blue")])
    assert (boxes.drafts[1].data["text"], boxes.drafts[0].data["colour"]) == (["6"], ["red"])
    boxes.forget_draft()
    assert not any(len(column) for each in boxes.drafts for column in each.data.values())


def test_tags_say_on_each_map_what_they_were_told_until_they_are_told_anew() -> None:
    boxes = QueryBoxes((0, 0, 10, 10), maps=2)
    rectangles = np.array([[0.0, 0, 1, 1], [9, 9.9, 10, 10]])
    boxes.show(rectangles, ["Q1", "Q2"])
    assert boxes.tags[1].data["text"] == ["Q1", "Q2"]
    boxes.say([[("Q1  5", "red"), ("Q2  7", "red")], [("Q1  6", "blue"), ("Q2  8", "blue")]])
    boxes.show(rectangles[::-1] + 0.0, ["Q2", "Q1"])
    data = boxes.tags[0].data
    assert data["text"] == ["Q2  7", "Q1  5"]
    assert boxes.tags[1].data["colour"] == ["blue", "blue"]
    # At the right and upper edge a tag stands inside.
    assert list(data["x"]) == [10, 0]
    assert data["align"] == ["right", "left"]
    assert data["y"][0] < 10


def test_lines_that_are_hidden_are_not_sent_until_they_are_shown(pair) -> None:
    matrix = FrequencyMatrix.from_array(np.full((4, 8), 9))
    view, lines = Viewport(0.0, 0.0, 8.0, 4.0, 800, 400), Lines()
    first, second = (lines.draw_on(each.figure) for each in pair)
    first.switch(False)
    for epsilon in (0.5, 1.0):
        release = Identity(epsilon=epsilon).release(matrix, rng=5)
        drawn = partition(Leaves.of(release), view, matrix.grid)
        lines.show(drawn, view)
        assert not len(first.boxes.data_source.data["x0"])
        assert second.boxes.data_source.data["x0"] is drawn.boxes["x0"]
    first.switch(True)
    assert first.boxes.data_source.data["x0"] is drawn.boxes["x0"]


def test_no_tag_covers_another_and_that_of_the_chosen_box_stays() -> None:
    boxes = QueryBoxes((0, 0, 100, 100))
    same = np.array([[10.0, 10, 30, 40]] * 3 + [[60, 60, 80, 80]])
    boxes.show(same, ["Q1", "Q2", "Q3", "Q4"], selected=[1])
    lift = np.array(boxes.tags[0].data["lift"])
    assert lift[1] == lift[3] == -4
    assert len({*lift[:3]}) == 3
    # At the upper edge the others go down: none leaves the map.
    boxes.show(np.array([[10.0, 10, 30, 100]] * 2), ["Q1", "Q2"])
    assert list(boxes.tags[0].data["lift"]) == [-4, 20]
    # Where a row has no box on this map there is no tag either.
    gap = np.array([[np.nan] * 4, [10, 10, 30, 40], [10, 10, 30, 40]])
    boxes.show(gap, ["Q1", "Q2", "Q3"])
    assert list(boxes.tags[0].data["lift"][1:]) == [-4, -28]


def overlaps(boxes: QueryBoxes, scale: float) -> int:
    """How many pairs of shown tags cover each other, at 7 pixels a letter and 20 a line."""
    data, texts = boxes.tags[0].data, [each.data["text"] for each in boxes.tags]
    shown = np.flatnonzero(np.isfinite(data["x"]))
    width = np.array([7 * max(len(of[i]) for of in texts) + 8 for i in shown])
    align = [data["align"][i] for i in shown]
    part = np.array([{"left": 0, "center": 0.5, "right": 1}[each] for each in align])
    left = np.asarray(data["x"])[shown] * scale - part * width
    low = np.asarray(data["y"])[shown] * scale - np.asarray(data["lift"])[shown]
    beside = (left[:, None] >= (left + width)[None]) | (left[None] >= (left + width)[:, None])
    clear = beside | (np.abs(low[:, None] - low[None]) >= 20)
    return int((~clear).sum() - len(shown)) // 2


def crowd(n: int) -> tuple[np.ndarray, list[str], list[tuple[str, str]]]:
    low = np.random.default_rng(3).uniform(5, 80, (n, 2))
    names = [f"B{i + 1}" for i in range(n)]
    return np.hstack([low, low + 9]), names, [(f"{name}  12,345  +1.5 %", "red") for name in names]


def test_of_sixty_tags_none_covers_another_and_the_map_is_seen_between_them() -> None:
    boxes = QueryBoxes((0, 0, 100, 100), maps=2)
    edges, names, tags = crowd(60)
    boxes.zoom(5.0)
    boxes.show(edges, names, selected=[30])
    boxes.say([tags, tags])
    shown = np.isfinite(boxes.tags[0].data["x"])
    assert overlaps(boxes, 5.0) == 0
    # The chosen box and the newest say what they hold, and about a third of the map is covered.
    assert shown[30]
    assert shown[59]
    assert 8 <= shown.sum() <= 24
    # Closer to the map there is room for more of them.
    boxes.zoom(20.0)
    assert np.isfinite(boxes.tags[0].data["x"]).sum() > 2 * shown.sum()
    assert overlaps(boxes, 20.0) == 0


def test_the_tags_of_many_areas_stand_inside_them_and_on_the_map() -> None:
    boxes = QueryBoxes((0, 0, 100, 100), maps=2)
    shapes = [
        shapely.Polygon([(x, y), (x + 33, y), (x + 33, y + 33), (x, y + 25)])
        for x in (0, 33, 66)
        for y in (0, 33, 66)
    ]
    edges = np.array([shape.bounds for shape in shapes])
    names = [f"Ward {i}" for i in range(9)]
    boxes.zoom(5.0)
    boxes.show(edges, names, (), True, shapes)
    boxes.say([[(f"{name}  12,345  +1.5 %", "red") for name in names]] * 2)
    data = boxes.tags[0].data
    assert overlaps(boxes, 5.0) == 0
    assert data["align"] == ["center"] * 9
    for x, low, shape in zip(data["x"], data["y"], shapes, strict=True):
        assert shape.contains(shapely.Point(x, low))
    # One alone has it above, as a box.
    boxes.show(edges[:1], names[:1], (), True, shapes[:1])
    assert boxes.tags[0].data["y"][0] == 33
    assert np.isnan(boxes.source.data["x0"]).all()
    assert len(boxes.polygons.outlines.data["xs"]) == 1


def test_whatever_a_browser_writes_into_a_source_the_next_tags_are_shown() -> None:
    boxes = QueryBoxes((0, 0, 10, 10), maps=2)
    edges = np.array([[1.0, 1, 2, 2]])
    for wrong in ({}, {"x": ["a", "b"], "lift": []}):
        boxes.show(edges, ["Q1"], [0])
        for source in (*boxes.tags, boxes.source, boxes.polygons.corners, boxes.polygons.outlines):
            source.data = wrong
        boxes.say([[("Q1  5", "red")], [("Q1  6", "blue")]])
        boxes.zoom(7.0)
        boxes.show(edges + 1, ["Q1"], [])
        assert [each.data["text"] for each in boxes.tags] == [["Q1  5"], ["Q1  6"]]
        assert boxes.source.data["x0"] == 2
        assert boxes.polygons.corners.data == {"x": [], "y": []}


def test_marks_of_leaves_and_a_node_are_on_both_maps_once_there_are_any() -> None:
    marks, figures = Marks(), (plain_figure(), plain_figure())
    for figure in figures:
        marks.draw_on(figure)
    marks.show_node(None)
    assert not any(figure.renderers for figure in figures)
    marks.show_node((1.0, 2.0, 3.0, 4.0))
    sources = [[glyph.data_source for glyph in figure.renderers] for figure in figures]
    assert sources[0] == sources[1]
    assert marks.node.data["y1"].tolist() == [4]
    boxes = np.array([[0.0, 1, 2, 3], [4, 5, 6, 7]])
    marks.show_cut(boxes)
    assert [marks.cut.data[name].tolist() for name in ("x0", "y0", "x1", "y1")] == boxes.T.tolist()
    marks.show_node(None)
    assert len(marks.node.data["x0"]) == 0
    seen: list[tuple[float, float]] = []
    on_tap(figures[0], lambda x, y: seen.append((x, y)))
    happen(Tap(figures[0], x=3.0, y=4.0, sx=1, sy=1))
    assert seen == [(3.0, 4.0)]


def test_a_small_map_is_one_picture_that_fills_the_grid() -> None:
    small = SmallMap((0.0, -10.0, 40.0, 10.0), "Small map")
    small.show(np.zeros((4, 8), np.uint8), "Small map of Port Amber")
    place = [small.image.data[name][0] for name in "xywh"]
    assert place == [0, -10, 40, 20]
    assert small.figure.aspect_ratio == 2.0
    assert small.figure.html_attributes["aria-label"] == "Small map of Port Amber"
