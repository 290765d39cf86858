"""Rectangles of a visitor: checked, clipped, named, and never half changed."""

import math

import numpy as np
import pytest

from explorer.app.boxes.rectangles import MOST_RECTANGLES, Rectangles, was_dragged
from explorer.errors import InputError
from explorer.grid.grid import Grid
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
        chosen.add_many(np.tile([0.0, 0, 1, 1], (MOST_RECTANGLES, 1)), [""] * MOST_RECTANGLES)
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
