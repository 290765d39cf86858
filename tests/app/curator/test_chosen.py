"""Which boxes a panel tells about."""

import numpy as np

from explorer.app.boxes.rectangles import Rectangles
from explorer.app.curator.chosen import chosen
from explorer.grid.grid import Grid


def rectangles(n: int) -> Rectangles:
    found = Rectangles(Grid.cells((32, 32)))
    for i in range(n):
        found.add((i, 0, i + 1, 1))
    return found


def test_all_boxes_when_none_is_selected() -> None:
    some = chosen(rectangles(3), 5)
    assert some.names == ("Q1", "Q2", "Q3")
    assert some.sentence == ""


def test_the_selected_boxes_and_no_other() -> None:
    every = rectangles(4)
    every.select([2, 0])
    some = chosen(every, 5)
    assert some.names == ("Q1", "Q3")
    np.testing.assert_array_equal(some.boxes[:, 0], [0, 2])
    assert some.sentence == "Only the 2 selected of 4 boxes."


def test_a_handful_at_most_and_it_says_which() -> None:
    some = chosen(rectangles(9), 5)
    assert len(some) == len(some.boxes) == 5
    assert "first 5 of 9 boxes" in some.sentence
    every = rectangles(9)
    every.select(list(range(3, 9)))
    some = chosen(every, 5)
    assert some.names[0] == "Q4"
    assert "first 5 of 6 selected boxes" in some.sentence


def test_no_box_is_said() -> None:
    some = chosen(rectangles(0), 5)
    assert len(some) == 0
    assert some.boxes.shape == (0, 4)
    assert "drag one" in some.sentence
