"""The Explore page without a browser: what a notebook or a script gets."""

import numpy as np
import pytest
from bokeh.document import Document
from pyviz_comms import Comm

from explorer import exact
from explorer.app import Explore
from explorer.app.curator.error_bars import RUNS, ErrorBars
from explorer.app.kit.labels import CURATOR, DRAWN, PREVIEW
from explorer.errors import InputError
from explorer.evaluate.simulation import simulated_sd
from explorer.grid.grid import Grid
from explorer.mechanisms import HTF
from explorer.points.matrix import FrequencyMatrix
from explorer.views.packing import pack
from tests.app import press


@pytest.fixture
def matrix():
    grid = Grid.around(2.35, 48.85, 8000, shape=64, name="Test <town>")
    return FrequencyMatrix.from_array(np.random.default_rng(9).poisson(9, (64, 64)), grid)


def test_counts_of_your_own_give_a_page_with_true_and_private_answers(matrix) -> None:
    page = Explore(matrix, mechanism="htf", epsilon=0.5, height=6)
    shown = page.table.widget.value
    boxes = page.rectangles.boxes
    release = HTF(epsilon=0.5, height=6).release(matrix, rng=page.state.seed)
    np.testing.assert_array_equal(shown["private"], np.round(release.answer(boxes).value))
    np.testing.assert_array_equal(shown["true"], np.round(exact(matrix, boxes)))
    said = press.text(page)
    assert f"{release.n_leaves:,}" in said
    assert CURATOR.capitalize() in said
    assert PREVIEW in said


def test_choosing_in_python_moves_the_controls_and_the_picture(matrix) -> None:
    page = Explore(matrix)
    before = page.screen
    page.state.put(epsilon=2.0)
    assert page.screen.release.epsilon == 2
    assert press.find(page, "Exact epsilon").value == "2"
    assert press.find(page, "Epsilon").value == pytest.approx(np.log10(2))
    page.state.put(mechanism="ug", right="difference")
    assert page.screen.title == "UG"
    assert press.find(page, "Mechanism").value == "ug"
    assert press.find(page, "Grid size")
    assert "Difference" in press.text(page)
    assert "too few" in press.text(page)
    assert before.release.epsilon == 0.1


def test_frozen_noise_repeats_and_new_draws_differ(matrix) -> None:
    page = Explore(matrix, mechanism="uniform", epsilon=1.0)
    first = page.screen.release.total
    page.state.put(epsilon=2.0)
    page.state.put(epsilon=1.0)
    assert page.screen.release.total == first
    page.state.roll()
    assert page.state.seed == 2
    page.state.put(frozen=False)
    page.state.put(epsilon=1.1)
    assert page.state.seed == 3
    seen = set()
    for _ in range(8):
        page.state.roll()
        seen.add(page.screen.release.total)
    assert len(seen) > 1


def test_a_release_is_drawn_once_and_the_next_change_is_a_preview(matrix) -> None:
    page = Explore(matrix, epsilon=1.0)
    press.draw_release(page)
    drawn = page.screen.release
    assert not drawn.preview
    assert DRAWN in press.text(page)
    press.press(page, "Zoom in")
    page.state.put(palette="magma", right="difference")
    assert page.screen.release is drawn
    page.state.put(epsilon=0.9)
    assert page.screen.release.preview


def test_a_dragged_box_is_a_row_at_once_and_a_click_is_none(matrix) -> None:
    page = Explore(matrix)
    page.drawn((-1000.0, -1000.0, 1000.0, 500.0))
    assert list(page.table.widget.value["box"]) == ["Q1", "Q2", "Q3"]
    assert len(page.maps.boxes[0].source.data["x0"]) == 3
    page.drawn((0.0, 0.0, 0.5, 0.5))
    page.drawn((None, 0.0, 5.0, 5.0))
    assert len(page.rectangles) == 3
    page.drawn((1e7, 1e7, 2e7, 2e7))
    assert len(page.rectangles) == 3
    assert "outside the map" in page.message.sentence


def test_a_setting_that_cannot_be_computed_is_said_and_the_picture_stays(
    matrix, monkeypatch
) -> None:
    page = Explore(matrix)
    good = page.screen

    def broken(_job, _progress=None):
        raise InputError("This matrix is too small for that.")

    with monkeypatch.context() as patched:
        patched.setattr("explorer.app.curator.drawing.compute", broken)
        page.state.put(epsilon=1.0)
    assert page.screen is good
    assert "too small" in page.message.sentence
    page.state.put(epsilon=2.0)
    assert page.screen is not good


@pytest.mark.parametrize("shape", [(1, 1), (1, 40), (40, 1), (2, 3)])
def test_tiny_matrices_have_a_page(shape) -> None:
    page = Explore(FrequencyMatrix.from_array(np.full(shape, 5)), epsilon=1.0)
    assert page.screen is not None
    assert page.page() is not None


@pytest.mark.parametrize("counts", [np.zeros((16, 16), int), np.eye(16, dtype=int)])
def test_no_points_and_few_points_have_a_page(counts) -> None:
    page = Explore(FrequencyMatrix.from_array(counts), right="difference", scale_from="release")
    assert page.screen is not None


def test_ten_to_the_nine_in_a_cell() -> None:
    counts = np.zeros((16, 16), int)
    counts[3, 4] = 10**9
    page = Explore(FrequencyMatrix.from_array(counts), epsilon=1.0)
    page.drawn((4.0, 3.0, 5.0, 4.0))
    assert page.table.widget.value["true"][2] == 10**9


def test_strings_of_a_file_reach_the_page_made_safe(matrix) -> None:
    page = Explore(matrix)
    page.rectangles.add((0, 0, 100, 100), "<img src=x onerror=alert(1)>")
    page.boxes_changed()
    shown = [press.markup(page), *page.table.widget.value["box"]]
    shown += [page.maps.left.figure.html_attributes["aria-label"]]
    assert not any("<img" in text for text in shown)


def test_an_unknown_city_or_choice_is_one_sentence() -> None:
    with pytest.raises(InputError, match="no city"):
        Explore("atlantis")
    with pytest.raises(InputError):
        Explore(FrequencyMatrix.from_array([[1]]), epsilon=-1)


def test_in_a_notebook_a_change_reaches_the_figures_on_screen(matrix) -> None:
    page = Explore(matrix)
    doc, comm, sent = Document(), Comm(), []
    comm.send = lambda text="", buffers=(): sent.append((text, sum(map(len, buffers))))
    comm._comm = True
    doc.add_root(page.__panel__().get_root(doc, comm))
    doc.hold()
    page.state.put(epsilon=2.0)
    packed = len(pack(page.screen.right_bytes))
    assert sum(size >= packed for _, size in sent) == 1, "the private picture, and no other"
    sent.clear()
    page.drawn((0.0, 0.0, 1000.0, 1000.0))
    assert any("Q3" in text for text, _ in sent)


def test_intervals_without_a_formula_are_simulated() -> None:
    page = Explore(FrequencyMatrix.from_array(np.arange(256).reshape(16, 16)), mechanism="mosaic")
    answers = page.screen.answers
    assert not answers.exact
    asked = simulated_sd(page.screen.release, page.rectangles.boxes, RUNS)
    low, high = asked.interval(answers.private)
    np.testing.assert_allclose(answers.interval, (low, high))
    shown = page.table.widget.value["range of the noise (95 %)"][0]
    assert shown == f"{low[0]:,.0f} to {high[0]:,.0f}"
    assert page.readout.about_bars.visible
    page.state.put(mechanism="ug")
    assert page.screen.answers.exact
    assert page.screen.answers.half_width is None
    assert not page.readout.about_bars.visible


def test_an_estimated_interval_says_so_until_it_is_simulated(monkeypatch) -> None:
    monkeypatch.setattr(ErrorBars, "want", lambda _self, _screen: None)
    page = Explore(FrequencyMatrix.from_array(np.arange(256).reshape(16, 16)), mechanism="mosaic")
    assert page.table.widget.value["range of the noise (95 %)"][0].startswith("≈ ")
