"""Rectangles and polygons of a visitor: checked, clipped, named, moved, and never half changed."""

import math

import numpy as np
import pytest
import shapely

from explorer.app.boxes import rectangles
from explorer.app.boxes.rectangles import (
    ONE_MAP,
    Rectangles,
    dragged,
    outline,
    polygon_of,
    shape_handles,
    was_dragged,
)
from explorer.errors import InputError
from explorer.grid.grid import Grid
from explorer.queries.boxes import MOST_BOXES
from explorer.views.viewport import Viewport

TRIANGLE = shapely.Polygon([(1, 2), (9, 2), (1, 8)])
RING = shapely.Polygon([(0, 0), (20, 0), (20, 20), (0, 20)], [[(5, 5), (15, 5), (15, 15), (5, 15)]])
HUGE = 10**5000


@pytest.fixture
def chosen() -> Rectangles:
    """A rectangle and a triangle."""
    rectangles = Rectangles(Grid.cells((20, 40)))
    rectangles.add((1, 2, 5, 6))
    rectangles.add_shape(TRIANGLE, "Tri")
    return rectangles


def same(chosen: Rectangles) -> bool:
    """Whether nothing has changed."""
    boxes = [[1, 2, 5, 6], [1, 2, 9, 8]]
    return chosen.boxes.tolist() == boxes and chosen.names == ["Q1", "Tri"]


def test_what_is_no_rectangle_on_the_map_is_refused(chosen) -> None:
    for box in (
        (5, 2, 1, 6),
        (1, 6, 5, 2),
        (1, 2, 1, 6),
        (50, 2, 60, 6),
        (1, 2, 5),
        *((value, 2, 5, 6) for value in ("a", None, math.nan)),
        *((1, 2, value, 6) for value in (math.inf, 10**400, -(10**400), HUGE)),
    ):
        with pytest.raises(InputError) as refused:
            chosen.add(box)
        assert "\n" not in str(refused.value)
    for side, value in (("west", 9.5), ("north", 1), ("west", HUGE), ("west", math.nan)):
        with pytest.raises(InputError):
            chosen.edit(0, side, value)
    with pytest.raises(InputError, match="edges of a polygon"):
        chosen.edit(1, "west", 0)
    for row in (-1, 2):
        with pytest.raises(InputError):
            chosen.remove(row)
    assert same(chosen)
    chosen.boxes[0, 0] = 99
    assert same(chosen), "what is handed out is a copy"
    view = Viewport.whole(chosen.grid, 100)
    assert not was_dragged((0, 0, HUGE, 10), view)
    assert was_dragged((0, 0, 10, 10), view)


@pytest.mark.parametrize(
    "corners",
    [
        None,
        "abc",
        [],
        [[0, 0], [1, 1]],
        [[0, 0], [1, 1], [2, "x"]],
        [[0, 0], [1, 1], [float("nan"), 2]],
        [[0, 0, 0], [1, 1, 1], [2, 0, 2]],
        [[0, 0], [5, 5], [9, 9]],
        [[50, 0], [60, 0], [60, 9]],
        [[0.0001, 0], [0.0002, 0], [0.0002, 0.0001]],
        {"x": 1},
    ],
)
def test_what_is_no_polygon_on_the_map_is_refused(chosen, corners) -> None:
    with pytest.raises(InputError):
        chosen.add_shape(polygon_of(corners))
    assert same(chosen)


def test_what_reaches_beyond_the_map_is_clipped_and_rounded(chosen) -> None:
    row = chosen.add((-10, 15, 12, 99))
    assert chosen.boxes[row].tolist() == [0, 15, 12, 20]
    row = chosen.add_shape(shapely.Polygon([(-5, 1.00049), (10, 1), (-5, 16)]))
    assert chosen.boxes[row].tolist() == [0, 1, 10, 11]
    corners = shapely.get_coordinates(chosen.shapes[row])
    assert (np.round(corners, 3) == corners).all()
    chosen.edit(0, "east", 9)
    assert chosen.boxes[0].tolist() == [1, 2, 9, 6]


def test_a_rectangle_is_a_box_and_sides_that_cross_make_parts(chosen) -> None:
    row = chosen.add_shape(shapely.Polygon([(1, 1), (1, 3), (1, 4), (6, 4), (6, 1)]))
    assert chosen.shapes[row] is None
    assert chosen.boxes[row].tolist() == [1, 1, 6, 4]
    row = chosen.add_shape(shapely.Polygon([(0, 0), (4, 4), (4, 0), (0, 4)]))
    assert chosen.shapes[row].area == 8
    assert len(shape_handles(chosen.shapes[row])) == 0


def test_a_click_finds_the_polygon_itself_and_not_the_box_around_it(chosen) -> None:
    assert chosen.at(8, 7) is None
    assert chosen.at(2, 6.5) == 1
    assert chosen.at(2, 3) == 0
    chosen.add_shape(RING)
    assert chosen.at(10, 10) is None
    assert chosen.at(18, 18) == 2


def test_a_polygon_moves_whole_or_by_one_corner_and_stops_at_the_edge(chosen) -> None:
    chosen.move(1, (4, 5, 12, 11))
    assert chosen.shapes[1].equals(shapely.affinity.translate(TRIANGLE, 3, 3))
    chosen.move(1, (90, 90, 98, 96))
    assert chosen.boxes[1].tolist() == [32, 14, 40, 20]
    assert chosen.shapes[1].area == TRIANGLE.area
    bounds, corners = (0.0, 0.0, 40.0, 20.0), outline(TRIANGLE)
    moved = dragged(TRIANGLE, (corners + np.array([2, 3])).tolist(), bounds)
    assert moved.equals(shapely.affinity.translate(TRIANGLE, 2, 3))
    corners[1] += (4, 0)
    assert dragged(TRIANGLE, corners.tolist(), bounds).bounds == (1, 2, 13, 8)
    # What has holes moves as a whole and has no corners that can be taken.
    outer = outline(RING)
    whole = dragged(RING, (outer + np.array([5, 0])).tolist(), bounds)
    assert whole.area == RING.area
    outer[0] += (1, 1)
    assert dragged(RING, outer.tolist(), bounds) is RING


def test_rows_are_put_together_or_not_at_all(chosen, monkeypatch) -> None:
    outside = shapely.Polygon([(50, 50), (60, 50), (50, 60)])
    for act in (chosen.put, chosen.add_many):
        with pytest.raises(InputError, match="outside the map"):
            act([(0, 0, 1, 1), outside.bounds], ["A", "B"], [None, outside])
        assert same(chosen)
    most = MOST_BOXES - 1
    with pytest.raises(InputError, match="200 boxes already"):
        chosen.add_many([TRIANGLE.bounds] * most, [""] * most, [TRIANGLE] * most)
    monkeypatch.setattr(rectangles, "MOST_CORNERS", 12)
    with pytest.raises(InputError, match="corners together"):
        chosen.add_shape(RING)
    assert same(chosen)
    chosen.put([(0, 0, 1, 1)], ["Only"])
    assert chosen.names == ["Only"]


def test_names_are_made_safe_and_numbers_of_deleted_ones_are_used_again(chosen) -> None:
    boxes = np.array([[0, 0, 1, 1], [0, 0, 2, 2], [0, 0, 3, 3]])
    chosen.add_many(boxes, ["<b>Mission</b>", "Q1", ""])
    assert chosen.names == ["Q1", "Tri", "‹b›Mission‹/b›", "Q2", "Q3"]
    chosen.select([1])
    chosen.remove(0)
    assert chosen.selected == []
    chosen.add((0, 0, 1, 1))
    assert chosen.names == ["Tri", "‹b›Mission‹/b›", "Q2", "Q3", "Q1"]


# Rows with a box for each of several places.


def places(k: int) -> Rectangles:
    """Rows with a box for each of k places, whose grids differ."""
    grids = [Grid.cells((20, 40)), Grid.cells((30, 10)), Grid.cells((8, 8))][:k]
    return Rectangles(*grids, places=["from", "over", "to"][:k])


@pytest.mark.parametrize("k", [2, 3])
def test_a_row_has_a_box_for_each_map_and_a_gap_is_anywhere(k) -> None:
    rectangles = places(k)
    row = rectangles.add((1, 2, 5, 6), place=k - 1)
    expected = np.full((1, k, 4), np.nan)
    expected[row, k - 1] = 1, 2, 5, 6
    np.testing.assert_array_equal(rectangles.boxes, expected)
    # Each place is clipped to its own map.
    rectangles.add((1, 2, 99, 99), place=1)
    assert rectangles.boxes[1, 1].tolist() == [1, 2, *rectangles.grids[1].bounds[2:]]
    with pytest.raises(InputError, match=ONE_MAP):
        rectangles.add_shape(TRIANGLE)
    for wrong in ([None] * k, [(1, 2, 5, math.nan), *[(1, 2, 3, 4)] * (k - 1)]):
        with pytest.raises(InputError):
            rectangles.add_row(wrong)
    assert len(rectangles) == 2


@pytest.mark.parametrize("k", [2, 3])
def test_a_dragged_box_fills_the_gap_of_the_selected_row_or_begins_another(k) -> None:
    rectangles = places(k)
    rectangles.select([rectangles.draw((1, 2, 5, 6), 0)])
    assert rectangles.draw((2, 2, 4, 4), 1) == 0
    assert rectangles.draw((3, 3, 6, 6), 1) == 1
    assert len(rectangles) == 2
    assert rectangles.boxes[0, 1].tolist() == [2, 2, 4, 4]
    assert np.isnan(rectangles.boxes[1, 0]).all()


def test_an_edge_typed_into_a_gap_leaves_the_others_at_the_map() -> None:
    rectangles = places(2)
    rectangles.add((1, 2, 5, 6))
    rectangles.edit(0, "north", 7, place=1)
    assert rectangles.boxes[0].tolist() == [[1, 2, 5, 6], [0, 0, 10, 7]]
    rectangles.clear(0, 0)
    with pytest.raises(InputError, match="one map at least"):
        rectangles.clear(0, 1)
    assert np.isnan(rectangles.boxes[0, 0]).all()


@pytest.mark.parametrize("k", [1, 2, 3])
def test_rows_taken_from_elsewhere_come_back_and_examples_have_both_ends(k) -> None:
    rectangles, other = places(k), places(k)
    rectangles.reset(*rectangles.grids)
    boxes = rectangles.boxes
    assert not np.isnan(boxes.reshape(2, k, 4)[:, [0, -1]]).any()
    other.add_many(boxes, rectangles.names)
    np.testing.assert_array_equal(other.boxes, boxes)
    other.remove(0)
    assert other.replace(boxes[:1], ["x"]) == 1
    np.testing.assert_array_equal(other.boxes, boxes[:1])
