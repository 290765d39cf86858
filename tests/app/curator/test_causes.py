"""Causes of errors: split for every kind of map, leaves sorted and marked, told in numbers."""

import numpy as np
import pytest

from explorer.app import Explore
from explorer.app.curator import causes
from explorer.app.curator.answers import answer_boxes
from explorer.app.curator.causes import Question, find_causes
from explorer.grid.grid import Grid
from explorer.inspection.errors import error_split
from explorer.points.matrix import FrequencyMatrix
from explorer.releases.overlap import cut_leaves
from tests.app.acts import Browser, control, drag


@pytest.fixture
def matrix():
    grid = Grid.around(2.35, 48.85, 8000, shape=64)
    return FrequencyMatrix.from_array(np.random.default_rng(9).poisson(9, (64, 64)), grid)


def sorted_leaves(page: Explore, row: int) -> tuple[int, int]:
    cells = page.rectangles.grid.to_cells(page.rectangles.boxes)[row]
    inside, cut = cut_leaves(page.screen.release.tree, cells)
    return inside, len(cut)


@pytest.mark.parametrize("mechanism", ["htf", "mosaic", "identity", "privlet"])
def test_both_parts_add_up_to_the_difference_in_the_table(matrix, mechanism) -> None:
    page = Explore(matrix, mechanism=mechanism, epsilon=0.5)
    answers, boxes = page.screen.answers, page.rectangles.boxes
    split = error_split(matrix, page.screen.release, boxes)
    np.testing.assert_allclose(answers.noise, split.noise, atol=1e-6)
    np.testing.assert_allclose(answers.uniformity, split.uniformity, atol=1e-6)
    np.testing.assert_allclose(answers.noise + answers.uniformity, answers.difference)
    for row, shown in enumerate(page.table.widget.value["noise / uneven areas"]):
        for part in (split.noise[row], split.uniformity[row]):
            text = f"{part:+,.0f}".replace("-", "−")
            assert ("0" if text in ("+0", "−0") else text) in shown


def test_an_interpolated_map_is_split_after_the_picture(matrix) -> None:
    page = Explore(matrix, mechanism="mosaic", epsilon=0.5)
    boxes = page.rectangles.boxes
    assert answer_boxes(page.screen.release, matrix, boxes).spread is None
    assert np.isfinite(page.screen.answers.noise).all()
    # A zoom computes the picture anew, and not what is known already.
    known = page.screen.answers.spread
    control(page.body, "Zoom in").clicks += 1
    assert page.screen.answers.spread is known


def test_a_selected_row_marks_the_leaves_it_cuts_and_says_how_many(matrix) -> None:
    page = Explore(matrix, epsilon=0.5)
    assert "Select a row" in page.readout.causes.view.object
    Browser(page.table.widget).select([1])
    inside, cut = sorted_leaves(page, 1)
    assert 0 < cut == len(page.maps.marks[0].cut.data["x0"])
    assert f"Q2 holds {inside:,} leaves whole and cuts {cut:,}" in page.readout.causes.view.object
    assert inside + cut == page.screen.answers.touched[1]
    page.state.put(epsilon=2.0)
    inside, cut = sorted_leaves(page, 1)
    assert f"holds {inside:,} leaves whole and cuts {cut:,}" in page.readout.causes.view.object
    assert len(page.maps.marks[0].cut.data["x0"]) == cut
    Browser(page.table.widget).select([])
    assert len(page.maps.marks[0].cut.data["x0"]) == 0
    assert "Select a row" in page.readout.causes.view.object


def test_several_rows_are_marked_together_and_leaves_only_once(matrix) -> None:
    page = Explore(matrix, epsilon=0.5)
    drag(page.maps.left.figure, tuple(page.rectangles.boxes[0]))
    Browser(page.table.widget).select([0, 2])
    assert len(page.maps.marks[0].cut.data["x0"]) == sorted_leaves(page, 0)[1]
    for _ in range(4):
        control(page.body, "Add box").clicks += 1
    Browser(page.table.widget).select(list(range(7)))
    assert "The other 3 are marked too" in page.readout.causes.view.object


def test_more_leaves_than_can_be_drawn_are_the_largest(matrix, monkeypatch) -> None:
    monkeypatch.setattr(causes, "MOST_BOXES", 5)
    page = Explore(matrix, epsilon=0.5)
    asked = Question(page.screen, ("Q1", "Q2"), (0,))
    found = find_causes(asked)
    assert len(found.cut) == 5
    assert "Only the 5 largest are marked" in found.sentence
    monkeypatch.setattr(causes, "MOST_BOXES", 8000)
    every = find_causes(asked).cut
    areas = np.prod(every[:, 2:] - every[:, :2], axis=1)
    smallest = np.prod(found.cut[:, 2:] - found.cut[:, :2], axis=1).min()
    assert smallest >= np.sort(areas)[-5] * (1 - 1e-9)


def test_the_whole_map_cuts_no_leaf(matrix) -> None:
    page = Explore(matrix, mechanism="identity", epsilon=0.5)
    drag(page.maps.right.figure, matrix.grid.bounds)
    Browser(page.table.widget).select([2])
    assert "Q3 holds 4,096 leaves whole and cuts none" in page.readout.causes.view.object
    assert page.screen.answers.uniformity[2] == pytest.approx(0, abs=1)
