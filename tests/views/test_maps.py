"""The map figure: sources are replaced, ranges shared, tools as a visitor expects."""

import numpy as np
import pytest
from bokeh.events import SelectionGeometry

from explorer.views import palette
from explorer.views.gestures import on_box
from explorer.views.maps import LinkedRanges, MapView, QueryBoxes, partition_sources
from explorer.views.viewport import Viewport
from tests.helpers import happen


@pytest.fixture
def pair():
    ranges, boxes, sources = LinkedRanges((0, 0, 40, 20)), QueryBoxes(), partition_sources()
    return [MapView(ranges, boxes, *sources, unit="m", label=name) for name in ("A", "B")]


def test_maps_share_ranges_partition_and_boxes(pair) -> None:
    left, right = pair
    assert left.figure.x_range is right.figure.x_range
    assert left.figure.y_range is right.figure.y_range
    assert left.leaves.data_source is right.leaves.data_source
    assert left.image is not right.image


def test_a_picture_lies_where_its_viewport_is(pair) -> None:
    view = Viewport(5.0, 2.0, 25.0, 12.0, 100, 50)
    pair[0].show_image(np.zeros((50, 100), np.uint8), view)
    data = pair[0].image.data
    assert [data[name][0] for name in "xywh"] == [5, 2, 20, 10]


def test_one_plain_drag_draws_a_box(pair) -> None:
    figure = pair[0].figure
    assert figure.toolbar.active_drag is pair[0].draw_tool
    seen = []
    on_box(pair[0].figure, seen.append)
    shape = {"type": "rect", "x0": 1.0, "x1": 3.0, "y0": 2.0, "y1": 5.0}
    for final in (False, True):
        happen(SelectionGeometry(figure, geometry=shape, final=final))
    circle = {"type": "point", "x": 1.0, "y": 1.0}
    happen(SelectionGeometry(figure, geometry=circle, final=True))
    assert seen == [(1.0, 2.0, 3.0, 5.0)]


def test_what_a_drag_does_can_be_chosen(pair) -> None:
    for mode, tool in [("move", pair[0].pan_tool), ("scroll", None), ("draw", pair[0].draw_tool)]:
        pair[0].drag(mode)
        assert pair[0].figure.toolbar.active_drag is tool


def test_selected_boxes_stand_out_and_the_source_holds_copies() -> None:
    boxes = QueryBoxes()
    rectangles = np.array([[0.0, 0, 1, 1], [2, 2, 3, 3]])
    boxes.show(rectangles, ["Q1", "Q2"], selected=[1])
    data = boxes.source.data
    assert list(data["width"]) == [2, 4]
    assert data["fill"][1] > data["fill"][0]
    rectangles[0, 0] = 99
    assert boxes.source.data["x0"][0] == 0


def test_colours_change_without_the_picture(pair) -> None:
    before = pair[0].image.data
    pair[0].recolour(palette.PALETTES["magma"])
    assert pair[0].image.data is before
    assert pair[0].mapper.palette[255] == palette.PALETTES["magma"][255]


def test_partition_can_be_hidden_with_its_hover(pair) -> None:
    pair[0].show_partition(False)
    assert not (pair[0].leaves.visible)
    assert not (pair[0].edges.visible)
    assert not (pair[0].hover.visible)
    assert pair[1].leaves.visible


def test_zoom_keeps_the_centre() -> None:
    ranges = LinkedRanges((0, 0, 40, 20))
    ranges.zoom(0.5)
    assert ranges.bounds == (10, 5, 30, 15)
    ranges.zoom(2.0)
    assert ranges.bounds == (0, 0, 40, 20)


def test_a_map_has_a_name_and_a_scale_bar_in_metres_only(pair) -> None:
    assert pair[0].figure.html_attributes["aria-label"] == "A"
    kinds = {type(model).__name__ for model in pair[0].figure.select({})}
    assert "ScaleBar" in kinds
    ranges = LinkedRanges((0, 0, 4, 4))
    plain = MapView(ranges, QueryBoxes(), *partition_sources(), unit="cells")
    assert "ScaleBar" not in {type(model).__name__ for model in plain.figure.select({})}


def test_the_wheel_scrolls_the_page_unless_a_drag_moves_the_map() -> None:
    view = MapView(LinkedRanges((0, 0, 8, 4)), QueryBoxes(), *partition_sources(), unit="cells")
    assert view.wheel.modifiers == {"ctrl": True}
    view.drag("move")
    assert view.wheel.modifiers == {}
    view.drag("draw")
    assert view.wheel.modifiers == {"ctrl": True}


def test_a_view_ends_a_little_beyond_the_map() -> None:
    ranges = LinkedRanges((0, 0, 8, 4))
    assert ranges.x.bounds == (-2, 10)
    assert ranges.y.bounds == (-1, 5)
