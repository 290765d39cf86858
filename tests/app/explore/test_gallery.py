"""The gallery of Explore: every mechanism at the epsilon of the page, and one click to use it."""

import numpy as np
import pytest

from explorer.app import Explore
from explorer.app.curator.answers import answer_boxes, median_error
from explorer.app.kit.numbers import percent
from explorer.grid.grid import Grid
from explorer.mechanisms import all_mechanisms
from explorer.points.matrix import FrequencyMatrix
from tests.app import press


@pytest.fixture
def page():
    grid = Grid.around(2.35, 48.85, 8000, shape=32, name="Test town")
    counts = np.random.default_rng(9).poisson(9, (32, 32))
    made = Explore(FrequencyMatrix.from_array(counts, grid), mechanism="ug", epsilon=0.5)
    made.explain.choice.value = "Gallery"
    return made


def test_every_mechanism_stands_there_with_the_error_of_its_preview(page) -> None:
    gallery = page.explain.open
    matrix, boxes = page.parts.data.matrix, page.rectangles.boxes
    assert set(gallery.cards) == set(all_mechanisms())
    for key, kind in all_mechanisms().items():
        release = kind(epsilon=0.5).release(matrix, rng=page.state.seed)
        off = percent(median_error(answer_boxes(release, matrix, boxes)))
        said = gallery.cards[key][1].object
        assert f"boxes off by {off}," in said
        assert ("(on the maps)" in said) == (key == "ug")


def test_it_follows_epsilon_and_boxes_and_a_button_chooses(page) -> None:
    gallery = page.explain.open
    before = gallery.cards["htf"][1].object
    page.state.put(epsilon=2.0)
    after = gallery.cards["htf"][1].object
    assert after != before
    assert "At epsilon 2 " in gallery.said.object
    page.rectangles.remove(0)
    page.boxes_changed()
    assert gallery.cards["htf"][1].object != after
    press.press(page, "Use HTF")
    assert page.state.mechanism == "htf"
    assert "(on the maps)" in gallery.cards["htf"][1].object


def test_without_boxes_it_says_so_and_it_does_nothing_when_shut(page) -> None:
    gallery = page.explain.open
    for _ in range(2):
        page.rectangles.remove(0)
    page.boxes_changed()
    assert "draw a box" in gallery.said.object
    page.explain.close()
    said = gallery.said.object
    page.state.put(epsilon=3.0)
    assert gallery.said.object == said


def test_the_menu_has_groups_and_every_mechanism_once(page) -> None:
    menu = press.find(page, "Mechanism")
    listed = [key for group in menu.groups.values() for key in group.values()]
    assert sorted(listed) == sorted(all_mechanisms())
    assert [*menu.groups][:3] == ["Baselines", "Grids", "Trees"]
