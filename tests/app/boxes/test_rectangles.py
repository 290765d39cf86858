"""Rectangles of a visitor: checked, clipped, named, and never half changed."""

import math

import numpy as np
import pytest

from explorer.app.boxes.rectangles import Rectangles, was_dragged
from explorer.errors import InputError
from explorer.grid.grid import Grid
from explorer.queries.boxes import MOST_BOXES
from explorer.views.viewport import Viewport


@pytest.fixture
def chosen():
    rectangles = Rectangles(Grid.cells((20, 40)))
    rectangles.add((1, 2, 5, 6))
    rectangles.add((10, 10, 20, 15))
    return rectangles


def test_two_examples_lie_inside_any_grid() -> None:
    rectangles = Rectangles(Grid.cells((1, 1)))
    grid = Grid.from_bounds(500, 100, 900, 1100, "EPSG:3035", (50, 20))
    rectangles.reset(grid)
    assert rectangles.names == ["Q1", "Q2"]
    boxes = rectangles.boxes
    assert (boxes[:, :2] >= grid.bounds[:2]).all()
    assert (boxes[:, 2:] <= grid.bounds[2:]).all()
    assert (boxes[:, 2:] > boxes[:, :2]).all()


@pytest.mark.parametrize(
    "box",
    [
        (5, 2, 1, 6),
        (1, 6, 5, 2),
        (1, 2, 1, 6),
        (math.nan, 2, 5, 6),
        (1, 2, math.inf, 6),
        (50, 2, 60, 6),
        (1, 2, 5),
        ("a", 2, 5, 6),
        (None, 2, 5, 6),
    ],
)
def test_what_is_not_a_rectangle_is_refused(chosen, box) -> None:
    with pytest.raises(InputError):
        chosen.add(box)
    assert len(chosen) == 2
    assert chosen.boxes.shape == (2, 4)


def test_a_rectangle_over_the_edge_is_clipped(chosen) -> None:
    row = chosen.add((-10, 15, 12, 99))
    assert chosen.boxes[row].tolist() == [0, 15, 12, 20]


def test_an_edit_that_turns_it_inside_out_leaves_it_as_it_was(chosen) -> None:
    chosen.edit(0, "east", 9)
    assert chosen.boxes[0].tolist() == [1, 2, 9, 6]
    with pytest.raises(InputError, match="West must be smaller"):
        chosen.edit(0, "west", 9.5)
    with pytest.raises(InputError, match="South must be smaller"):
        chosen.edit(0, "north", 1)
    assert chosen.boxes[0].tolist() == [1, 2, 9, 6]


def test_a_row_that_is_gone_is_refused(chosen) -> None:
    for act in (
        lambda: chosen.edit(7, "west", 0),
        lambda: chosen.remove(2),
        lambda: chosen.remove(-1),
        lambda: chosen.rename(5, "x"),
    ):
        with pytest.raises(InputError):
            act()


def test_a_deleted_name_is_used_again_and_the_others_stay(chosen) -> None:
    chosen.add((0, 0, 1, 1))
    chosen.select([1])
    chosen.remove(0)
    assert chosen.names == ["Q2", "Q3"]
    assert chosen.selected == []
    chosen.add((0, 0, 1, 1))
    assert chosen.names == ["Q2", "Q3", "Q1"]


def test_names_from_a_file_are_made_safe_and_numbers_go_on(chosen) -> None:
    boxes = np.array([[0, 0, 1, 1], [0, 0, 2, 2], [0, 0, 3, 3]])
    assert chosen.add_many(boxes, ["<b>Mission</b>", "Q1", ""]) == 3
    assert chosen.names == ["Q1", "Q2", "‹b›Mission‹/b›", "Q3", "Q4"]


def test_a_file_with_one_bad_rectangle_adds_none(chosen) -> None:
    with pytest.raises(InputError):
        chosen.add_many(np.array([[0, 0, 1, 1], [9, 9, 2, 2]]), ["a", "b"])
    assert len(chosen) == 2
    assert len(chosen.boxes) == 2


def test_there_is_an_end_to_it(chosen) -> None:
    with pytest.raises(InputError, match="already"):
        chosen.add_many(np.tile([0.0, 0, 1, 1], (MOST_BOXES, 1)), [""] * MOST_BOXES)
    assert len(chosen) == 2


def test_the_array_handed_out_is_a_copy(chosen) -> None:
    chosen.boxes[0, 0] = 99
    assert chosen.boxes[0, 0] == 1


def test_a_box_by_keyboard_lies_in_the_middle_of_the_view(chosen) -> None:
    row = chosen.add_middle((0, 0, 40, 20))
    assert chosen.boxes[row].tolist() == [15, 7.5, 25, 12.5]


@pytest.mark.parametrize(
    "huge", [10**400, -(10**400), pytest.param(10**5000, id="huge"), math.nan, math.inf]
)
def test_edges_that_no_float_holds_are_one_sentence(chosen, huge) -> None:
    before = chosen.boxes
    with pytest.raises(InputError, match="edge"):
        chosen.add((1, 2, huge, 6))
    with pytest.raises(InputError, match="edge"):
        chosen.edit(0, "west", huge)
    np.testing.assert_array_equal(chosen.boxes, before)
    view = Viewport.whole(chosen.grid, 100)
    assert not was_dragged((0, 0, huge, 10), view)
    assert was_dragged((0, 0, 10, 10), view)


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
    with pytest.raises(InputError, match="West"):
        rectangles.edit(0, "east", 0, place=1)


@pytest.mark.parametrize("k", [1, 2, 3])
def test_rows_taken_from_elsewhere_come_back_and_examples_have_both_ends(k) -> None:
    rectangles = places(k)
    rectangles.reset(*rectangles.grids)
    boxes = rectangles.boxes
    ends = boxes.reshape(2, k, 4)[:, [0, -1]]
    assert not np.isnan(ends).any()
    other = places(k)
    assert other.add_many(boxes, rectangles.names) == 2
    np.testing.assert_array_equal(other.boxes, boxes)
    other.remove(0)
    assert other.replace(boxes[:1], ["x"]) == 1
    np.testing.assert_array_equal(other.boxes, boxes[:1])
    with pytest.raises(InputError):
        other.add_row([None] * k)


def test_a_box_that_is_no_number_is_no_gap() -> None:
    rectangles = places(2)
    with pytest.raises(InputError, match="edge"):
        rectangles.add_many(np.array([[[1, 2, 5, math.nan], [1, 2, 3, 4]]]), ["x"])
    assert len(rectangles) == 0
