"""Polygons of a visitor: checked, clipped, moved; a row among boxes that is never half changed."""

import numpy as np
import pytest
import shapely

from explorer.app.boxes import polygons
from explorer.app.boxes.rectangles import ONE_MAP, Rectangles
from explorer.errors import InputError
from explorer.grid.grid import Grid
from explorer.queries.boxes import MOST_BOXES

TRIANGLE = shapely.Polygon([(1, 2), (9, 2), (1, 8)])
RING = shapely.Polygon([(0, 0), (20, 0), (20, 20), (0, 20)], [[(5, 5), (15, 5), (15, 15), (5, 15)]])


@pytest.fixture
def chosen() -> Rectangles:
    rectangles = Rectangles(Grid.cells((20, 40)))
    rectangles.add((1, 2, 5, 6))
    rectangles.add_shape(TRIANGLE, "Tri")
    return rectangles


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
        chosen.add_shape(polygons.polygon_of(corners))
    assert chosen.names == ["Q1", "Tri"]
    assert len(chosen.boxes) == len(chosen.shapes) == 2


def test_a_row_has_the_box_around_its_polygon(chosen) -> None:
    assert chosen.boxes.tolist() == [[1, 2, 5, 6], [1, 2, 9, 8]]
    assert chosen.shapes == (None, TRIANGLE)
    assert chosen.queries.shapes == chosen.shapes


def test_a_polygon_is_clipped_and_rounded_as_a_box_is(chosen) -> None:
    row = chosen.add_shape(shapely.Polygon([(-5, 1.00049), (10, 1), (-5, 16)]))
    assert chosen.boxes[row].tolist() == [0, 1, 10, 11]
    corners = shapely.get_coordinates(chosen.shapes[row])
    assert (np.round(corners, 3) == corners).all()


def test_a_rectangle_is_a_box_and_sides_that_cross_make_parts(chosen) -> None:
    row = chosen.add_shape(shapely.Polygon([(1, 1), (1, 3), (1, 4), (6, 4), (6, 1)]))
    assert chosen.shapes[row] is None
    assert chosen.boxes[row].tolist() == [1, 1, 6, 4]
    row = chosen.add_shape(shapely.Polygon([(0, 0), (4, 4), (4, 0), (0, 4)]))
    assert chosen.shapes[row].area == 8
    assert len(polygons.handles(chosen.shapes[row])) == 0


def test_a_click_finds_the_polygon_itself_and_not_the_box_around_it(chosen) -> None:
    assert chosen.at(8, 7) is None
    assert chosen.at(2, 6.5) == 1
    assert chosen.at(2, 3) == 0
    chosen.add_shape(RING)
    assert chosen.at(10, 10) is None
    assert chosen.at(18, 18) == 2


def test_a_polygon_moves_whole_and_stops_at_the_edge(chosen) -> None:
    chosen.move(1, (4, 5, 12, 11))
    assert chosen.shapes[1].equals(shapely.affinity.translate(TRIANGLE, 3, 3))
    chosen.move(1, (90, 90, 98, 96))
    assert chosen.boxes[1].tolist() == [32, 14, 40, 20]
    assert chosen.shapes[1].area == TRIANGLE.area


def test_edges_of_a_polygon_are_not_typed_and_names_are(chosen) -> None:
    with pytest.raises(InputError, match="edges of a polygon"):
        chosen.edit(1, "west", 0)
    chosen.rename(1, "Hill")
    assert chosen.names[1] == "Hill"
    chosen.remove(0)
    assert chosen.shapes == (TRIANGLE,)


def test_rows_are_put_together_or_not_at_all(chosen) -> None:
    before = chosen.boxes, chosen.shapes, list(chosen.names)
    outside = shapely.Polygon([(50, 50), (60, 50), (50, 60)])
    for act in (chosen.put, chosen.add_many):
        with pytest.raises(InputError, match="outside the map"):
            act([(0, 0, 1, 1), outside.bounds], ["A", "B"], [None, outside])
        assert (chosen.boxes == before[0]).all()
        assert (chosen.shapes, chosen.names) == before[1:]
    assert chosen.replace([(0, 0, 1, 1), outside.bounds, RING.bounds], "ABC", [None, outside, RING])
    assert chosen.shapes == (None, RING)
    many = [TRIANGLE] * (MOST_BOXES - 1)
    with pytest.raises(InputError, match="200 boxes already"):
        chosen.add_many([TRIANGLE.bounds] * len(many), [""] * len(many), many)
    assert len(chosen) == 2


def test_too_many_corners_are_refused(chosen, monkeypatch) -> None:
    monkeypatch.setattr(polygons, "MOST_CORNERS", 12)
    with pytest.raises(InputError, match="corners together"):
        chosen.add_shape(RING)
    assert len(chosen) == 2


def test_a_polygon_is_a_question_to_one_map() -> None:
    grid = Grid.cells((20, 40))
    rows = Rectangles(grid, grid, places=("from", "to"))
    with pytest.raises(InputError, match=ONE_MAP):
        rows.add_shape(TRIANGLE)


def test_a_drag_moves_all_of_it_or_one_corner() -> None:
    bounds = (0.0, 0.0, 40.0, 20.0)
    corners = polygons.outline(TRIANGLE)
    moved = polygons.dragged(TRIANGLE, (corners + np.array([2, 3])).tolist(), bounds)
    assert moved.equals(shapely.affinity.translate(TRIANGLE, 2, 3))
    corners[1] += (4, 0)
    assert polygons.dragged(TRIANGLE, corners.tolist(), bounds).bounds == (1, 2, 13, 8)
    # What has holes moves as a whole and has no corners that can be taken.
    outer = polygons.outline(RING)
    whole = polygons.dragged(RING, (outer + np.array([5, 0])).tolist(), bounds)
    assert whole.area == RING.area
    outer[0] += (1, 1)
    assert polygons.dragged(RING, outer.tolist(), bounds) is RING
