"""Boxes by hand: clicked, dragged, nudged, deleted; undone and done again, settings too."""

import io

import numpy as np
import pandas as pd
import pytest
from bokeh.events import SelectionGeometry, Tap

from explorer import exact
from explorer.app import Compare, Explore
from explorer.app.boxes.chips import count
from explorer.app.curator.history import MOST
from explorer.grid.grid import Grid
from explorer.points.matrix import FrequencyMatrix
from tests.app import press
from tests.app.acts import drag
from tests.helpers import happen


@pytest.fixture(scope="module")
def matrix():
    grid = Grid.around(2.35, 48.85, 8000, shape=64)
    return FrequencyMatrix.from_array(np.random.default_rng(9).poisson(9, (64, 64)), grid)


@pytest.fixture
def page(matrix):
    page = Explore(matrix, mechanism="ug", epsilon=1.0)
    page.rectangles.put([[-2000, -2000, 0, 0], [-1500, -1500, -500, -500]], ["big", "small"])
    page.boxes_changed()
    return page


def tags(page, number: int) -> list[str]:
    return list(page.maps.boxes[0].tags[number].data["text"])


def test_boxes_carry_both_numbers_when_a_page_opens(matrix) -> None:
    page = Explore(matrix)
    true = exact(matrix, page.rectangles.boxes)
    assert tags(page, 0) == [f"{n}  {count(t)}" for n, t in zip(("Q1", "Q2"), true, strict=True)]
    private = page.screen.release.answer(page.rectangles.boxes).value
    for text, value in zip(tags(page, 1), private, strict=True):
        assert text.split("  ")[1] == count(value)
        assert text.endswith("%")


def test_a_page_that_compares_says_both_private_numbers(matrix) -> None:
    page = Compare(matrix, a="ug", b="ag")
    for number, screen in enumerate((page.pair.a, page.pair.b)):
        value = screen.release.answer(page.rectangles.boxes).value
        assert [text.split("  ")[1] for text in tags(page, number)] == [count(v) for v in value]


def test_a_click_selects_the_smallest_box_there_and_a_click_beside_none(page) -> None:
    figure = page.maps.views[1].figure
    for x, y, selected in ((-1000, -1000, [1]), (-200, -200, [0]), (3000, 3000, [])):
        happen(Tap(figure, x=x, y=y))
        assert page.rectangles.selected == selected
        assert page.table.widget.selection == selected
    for wrong in ("x", None, float("nan")):
        happen(Tap(figure, x=wrong, y=0))
        assert page.rectangles.selected == []


def test_a_side_of_the_selected_box_can_be_dragged_and_counts_at_once(page, matrix) -> None:
    happen(Tap(page.maps.views[0].figure, x=-1000, y=-1000))
    view = page.maps.views[0]
    view.editor.right = 700.0
    assert page.rectangles.boxes[1, 2] == 700
    wanted = exact(matrix, [[-1500, -1500, 700, -500]])[0]
    assert tags(page, 0)[1] == f"small  {count(wanted)}"
    view.editor.name = "dragged 1"
    assert page.table.widget.value["true"].iloc[1] == round(float(wanted))
    assert page.maps.views[1].editor.right == 700


def test_a_drag_beyond_the_map_is_clipped_and_nonsense_changes_nothing(page) -> None:
    happen(Tap(page.maps.views[0].figure, x=-1000, y=-1000))
    view, before = page.maps.views[0], page.rectangles.boxes
    view.editor.update(left=-9000.0)
    view.editor.name = "dragged 1"
    assert page.rectangles.boxes[1, 0] == -4000
    assert view.editor.left == -4000
    page.editing.edited(0, ("x", None, float("inf"), {}), True)
    assert (page.rectangles.boxes[0] == before[0]).all()


def test_a_new_box_says_what_it_holds_while_it_is_dragged(page, matrix) -> None:
    figure = page.maps.views[0].figure
    shape = {"type": "rect", "x0": 1000.0, "x1": 3000.0, "y0": 500.0, "y1": 2500.0}
    happen(SelectionGeometry(figure, geometry=shape, final=False))
    true, private = page.maps.boxes[0].drafts
    assert all(view.draft.visible for view in page.maps.views)
    assert true.data["text"] == [count(exact(matrix, [[1000, 500, 3000, 2500]])[0])]
    assert private.data["text"][0].endswith("%")
    drag(figure, (1000.0, 500.0, 3000.0, 2500.0))
    assert not any(view.draft.visible for view in page.maps.views)
    assert len(page.rectangles) == 3
    for wrong in ({"type": "rect"}, {"type": "rect", "x0": "a", "x1": 1, "y0": 1, "y1": 2}):
        happen(SelectionGeometry(figure, geometry=wrong, final=False))
    assert not any(view.draft.visible for view in page.maps.views)


def test_keys_move_delete_and_let_go_of_the_selected_box(page) -> None:
    happen(Tap(page.maps.views[0].figure, x=-1000, y=-1000))
    before = page.rectangles.boxes[1]
    page.pressed("ArrowRight", False)
    step = page.rectangles.boxes[1, 0] - before[0]
    assert 0 < step < 100
    page.pressed("ArrowLeft", False)
    page.pressed("ArrowUp", True)
    moved = page.rectangles.boxes[1] - before
    assert moved == pytest.approx([0, 10 * step, 0, 10 * step], rel=1e-3, abs=0.01)
    page.pressed("Escape", False)
    assert page.rectangles.selected == []
    page.pressed("Delete", False)
    assert page.rectangles.names == ["big", "small"]
    happen(Tap(page.maps.views[0].figure, x=-1600, y=-1600))
    page.pressed("Delete", False)
    assert page.rectangles.names == ["small"]


def test_keys_zoom_the_maps(page) -> None:
    def width() -> float:
        x0, _y0, x1, _y1 = page.maps.ranges.bounds
        return x1 - x0

    whole = width()
    page.pressed("+", False)
    assert width() == pytest.approx(whole / 2)
    page.pressed("-", False)
    assert width() == pytest.approx(whole)
    page.pressed("+", False)
    page.pressed("0", False)
    assert width() == pytest.approx(whole)


def test_everything_done_to_boxes_and_settings_is_undone_and_done_again(page) -> None:
    steps = []

    def look():
        made = page.mechanism
        settings = made.key, made.epsilon, made.settings()
        return page.rectangles.boxes.tolist(), list(page.rectangles.names), settings

    def did() -> None:
        steps.append(look())

    page.history.reset()
    did()
    drag(page.maps.views[0].figure, (1000.0, 500.0, 3000.0, 2500.0))
    did()
    page.rectangles.rename(0, "harbour")
    page.boxes_changed()
    did()
    page.state.put(mechanism="htf")
    did()
    page.state.set_parameter("height", 5)
    page.settings_changed()
    did()
    page.state.put(epsilon=0.3)
    did()
    happen(Tap(page.maps.views[0].figure, x=-1000, y=-1000))
    page.pressed("Delete", False)
    did()
    for wanted in steps[-2::-1]:
        page.pressed("mod+z", False)
        assert look() == wanted
        assert page.screen.release.parameters == page.mechanism.settings()
        assert page.screen.release.epsilon == page.mechanism.epsilon
    page.pressed("mod+z", False)
    assert look() == steps[0]
    for wanted in steps[1:]:
        page.pressed("mod+shift+z", False)
        assert look() == wanted
    page.pressed("mod+y", False)
    assert look() == steps[-1]


def test_a_new_act_forgets_what_was_undone_and_only_so_much_is_kept(page) -> None:
    page.history.reset()
    page.state.put(epsilon=0.5)
    page.pressed("mod+z", False)
    assert page.state.epsilon == 1
    drag(page.maps.views[0].figure, (1000.0, 500.0, 3000.0, 2500.0))
    page.pressed("mod+y", False)
    assert page.state.epsilon == 1
    for number in range(MOST + 20):
        page.rectangles.rename(0, f"box {number}")
        page.history.note()
    undone = 0
    while page.history.undo():
        undone += 1
    assert undone == MOST


def test_a_slider_on_its_way_is_one_step_and_random_noise_stays_as_it_was(page) -> None:
    page.history.reset()
    for epsilon in (0.9, 0.8, 0.7):
        page.state.put(epsilon=epsilon)
    page.pressed("mod+z", False)
    assert page.state.epsilon == 1
    page.state.put(frozen=False)
    seed = page.state.seed
    page.state.put(epsilon=0.4)
    assert page.state.seed != seed
    page.pressed("mod+z", False)
    assert (page.state.epsilon, page.state.seed) == (1, seed)


@pytest.mark.parametrize("kind", [Explore, Compare])
def test_answers_are_saved_with_their_intervals_and_say_that_they_are_exact(matrix, kind) -> None:
    page = kind(matrix)
    page.rectangles.rename(0, "=1+1")
    page.boxes_changed()
    assert press.find(page, "Save answers").filename == "answers.exact.csv"
    frame = pd.read_csv(io.BytesIO(press.download(page, "Save answers")))
    wanted = page.answers.reset_index()
    assert frame.box.tolist() == ["'=1+1", "Q2"] * (len(frame) // 2)
    for name, column in (("EXACT", "true"), ("private", "private"), ("low", "low")):
        np.testing.assert_allclose(frame[name], wanted[column], rtol=1e-12)


def test_undo_and_redo_are_buttons_too(page) -> None:
    undo, redo = page.exchange.steps
    page.state.put(epsilon=0.5)
    undo.param.trigger("clicks")
    assert page.state.epsilon == 1
    redo.param.trigger("clicks")
    assert page.state.epsilon == 0.5
