"""Boxes and polygons on maps: tags, clicks, drags, keys, undo, the cell at the pointer."""

import io
import json

import numpy as np
import pandas as pd
import pytest
import shapely
from bokeh.events import SelectionGeometry, Tap
from bokeh.models import CrosshairTool

from explorer import exact
from explorer.app import Compare, Explore, Federated
from explorer.app.boxes.answers import count
from explorer.app.boxes.rectangles import Rectangles, chosen
from explorer.app.boxes.released import ReleasePage
from explorer.app.curator.answers import BoxAnswers, chips, worst
from explorer.app.curator.history import MOST
from explorer.grid.grid import Grid
from explorer.points.matrix import FrequencyMatrix
from explorer.scenario import Polygon, Scenario
from explorer.views import palette
from tests.app import press
from tests.app.acts import drag
from tests.helpers import happen

CORNERS = [[-1000.0, -1000.0], [1500.0, -500.0], [0.0, 2000.0]]
TRIANGLE = shapely.Polygon(CORNERS)
MATRIX = FrequencyMatrix.from_array(
    np.random.default_rng(9).poisson(9, (64, 64)), Grid.around(2.35, 48.85, 8000, shape=64)
)


@pytest.fixture
def page() -> Explore:
    page = Explore(MATRIX, mechanism="ug", epsilon=1.0)
    page.rectangles.put([[-2000, -2000, 0, 0], [-1500, -1500, -500, -500]], ["big", "small"])
    page.boxes_changed()
    return page


def tags(page, number: int) -> list[str]:
    return list(page.maps.boxes[0].tags[number].data["text"])


def true_of(shape) -> float:
    return float(exact(MATRIX, shape)[0])


def tap(page, x, y) -> None:
    happen(Tap(page.maps.views[0].figure, x=x, y=y))


# What is written at a box, and which boxes a panel is about.


def answers(true: list[float], private: list[float]) -> BoxAnswers:
    zeros = np.zeros(len(true))
    return BoxAnswers(
        true=np.array(true, float), private=np.array(private, float), sd=zeros,
        touched=zeros.astype(int),
    )  # fmt: skip


def test_each_map_says_what_it_shows() -> None:
    names, found = ["Q1", "Q2", "Q3"], answers([33_155, 100, 0], [33_182, 41, 2.4])
    assert [text for text, _ in chips("true", names, found)] == ["Q1  33,155", "Q2  100", "Q3  0"]
    private = chips("private", names, found)
    assert [text for text, _ in private] == ["Q1  33,182  +0.1 %", "Q2  41  −59 %", "Q3  2"]
    assert [colour for _, colour in private] == [palette.PRIVATE, palette.WORST, palette.PRIVATE]
    difference = [text for text, _ in chips("difference", names, found)]
    assert difference == ["Q1  +27", "Q2  −59", "Q3  +2"]
    assert worst(answers([10], [20])) is None


def test_a_trace_of_a_record_has_no_percentage() -> None:
    """In the sea are 1e-13 records of parts of cells; a box there is not 58 trillion % off."""
    found = answers([1e-13, 100], [58.0, 110])
    assert np.isnan(found.relative[0])
    assert found.relative[1] == pytest.approx(10)
    assert worst(found) is None
    assert chips("private", ["sea", "town"], found)[0][0] == "sea  58"


@pytest.mark.parametrize(
    ("n", "selected", "first", "said"),
    [
        (3, [], ["Q1", "Q2", "Q3"], ""),
        (4, [2, 0], ["Q1", "Q3"], "Only the 2 selected of 4 boxes."),
        (9, [], ["Q1", "Q2", "Q3", "Q4", "Q5"], "first 5 of 9 boxes"),
        (9, [3, 4, 5, 6, 7, 8], ["Q4", "Q5", "Q6", "Q7", "Q8"], "first 5 of 6 selected boxes"),
        (0, [], [], "drag one"),
    ],
)
def test_a_panel_is_about_the_selected_boxes_a_handful_at_most(n, selected, first, said) -> None:
    rectangles = Rectangles(Grid.cells((32, 32)))
    for i in range(n):
        rectangles.add((i, 0, i + 1, 1))
    rectangles.select(selected)
    some = chosen(rectangles, 5)
    assert list(some.names) == first
    assert len(some.boxes) == len(first)
    assert said in some.sentence
    assert bool(said) == bool(some.sentence)


# Boxes by hand.


def test_boxes_carry_both_numbers_when_a_page_opens() -> None:
    page = Explore(MATRIX)
    true = exact(MATRIX, page.rectangles.boxes)
    assert tags(page, 0) == [f"{n}  {count(t)}" for n, t in zip(("Q1", "Q2"), true, strict=True)]
    private = page.screen.release.answer(page.rectangles.boxes).value
    for text, value in zip(tags(page, 1), private, strict=True):
        assert text.split("  ")[1] == count(value)
        assert text.endswith("%")


def test_a_click_selects_the_smallest_box_there_and_a_click_beside_none(page) -> None:
    for x, y, selected in ((-1000, -1000, [1]), (-200, -200, [0]), (3000, 3000, [])):
        tap(page, x, y)
        assert page.rectangles.selected == page.table.widget.selection == selected
    for wrong in ("x", None, float("nan")):
        tap(page, wrong, 0)
        assert page.rectangles.selected == []


def test_a_side_of_the_selected_box_can_be_dragged_and_counts_at_once(page) -> None:
    tap(page, -1000, -1000)
    view, big = page.maps.views[0], page.rectangles.boxes[0]
    view.editor.right = 700.0
    assert page.rectangles.boxes[1, 2] == 700
    wanted = true_of([[-1500, -1500, 700, -500]])
    assert tags(page, 0)[1] == f"small  {count(wanted)}"
    view.editor.name = "dragged 1"
    assert page.table.widget.value["true"].iloc[1] == round(wanted)
    assert page.maps.views[1].editor.right == 700
    # Beyond the map it is clipped, and nonsense changes nothing.
    view.editor.update(left=-9000.0)
    view.editor.name = "dragged 2"
    assert page.rectangles.boxes[1, 0] == view.editor.left == -4000
    page.editing.edited(0, ("x", None, float("inf"), {}), True)
    assert (page.rectangles.boxes[0] == big).all()


def test_a_new_box_says_what_it_holds_while_it_is_dragged(page) -> None:
    figure = page.maps.views[0].figure
    shape = {"type": "rect", "x0": 1000.0, "x1": 3000.0, "y0": 500.0, "y1": 2500.0}
    happen(SelectionGeometry(figure, geometry=shape, final=False))
    true, private = page.maps.boxes[0].drafts
    assert all(view.draft.visible for view in page.maps.views)
    assert true.data["text"] == [count(true_of([[1000, 500, 3000, 2500]]))]
    assert private.data["text"][0].endswith("%")
    drag(figure, (1000.0, 500.0, 3000.0, 2500.0))
    assert not any(view.draft.visible for view in page.maps.views)
    assert len(page.rectangles) == 3
    for wrong in ({"type": "rect"}, {"type": "rect", "x0": "a", "x1": 1, "y0": 1, "y1": 2}):
        happen(SelectionGeometry(figure, geometry=wrong, final=False))
    assert not any(view.draft.visible for view in page.maps.views)


def test_keys_move_delete_and_let_go_of_the_selected_box(page) -> None:
    tap(page, -1000, -1000)
    before = page.rectangles.boxes[1]
    page.pressed("ArrowRight", False)
    step = page.rectangles.boxes[1, 0] - before[0]
    assert 0 < step < 100
    page.pressed("ArrowLeft", False)
    page.pressed("ArrowUp", True)
    moved = page.rectangles.boxes[1] - before
    assert moved == pytest.approx([0, 10 * step, 0, 10 * step], rel=1e-3, abs=0.01)
    page.pressed("Escape", False)
    page.pressed("Delete", False)
    assert page.rectangles.names == ["big", "small"]
    tap(page, -1600, -1600)
    page.pressed("Delete", False)
    assert page.rectangles.names == ["small"]


def test_a_new_act_forgets_what_was_undone_and_only_so_much_is_kept(page) -> None:
    page.history.reset()
    # A slider on its way is one step.
    for epsilon in (0.9, 0.8, 0.5):
        page.state.put(epsilon=epsilon)
    page.pressed("mod+z", False)
    assert page.state.epsilon == 1
    drag(page.maps.views[0].figure, (1000.0, 500.0, 3000.0, 2500.0))
    page.pressed("mod+y", False)
    assert page.state.epsilon == 1
    page.state.put(frozen=False)
    seed = page.state.seed
    page.state.put(epsilon=0.4)
    assert page.state.seed != seed
    page.pressed("mod+z", False)
    assert (page.state.epsilon, page.state.seed) == (1, seed)
    for number in range(MOST + 20):
        page.rectangles.rename(0, f"box {number}")
        page.history.note()
    undone = 0
    while page.history.undo():
        undone += 1
    assert undone == MOST


@pytest.mark.parametrize("kind", [Explore, Compare])
def test_answers_are_saved_with_their_intervals_and_say_that_they_are_exact(kind) -> None:
    page = kind(MATRIX)
    page.rectangles.rename(0, "=1+1")
    page.boxes_changed()
    assert press.find(page, "Save answers").filename == "answers.exact.csv"
    frame = pd.read_csv(io.BytesIO(press.download(page, "Save answers")))
    wanted = page.answers.reset_index()
    assert frame.box.tolist() == ["'=1+1", "Q2"] * (len(frame) // 2)
    for name, column in (("EXACT", "true"), ("private", "private"), ("low", "low")):
        np.testing.assert_allclose(frame[name], wanted[column], rtol=1e-12)


# Polygons.


def sketch(page, corners, final: bool) -> None:
    """What a browser tells while a polygon is drawn on a map."""
    field = page.maps.views[0].sketch.told
    field.value = json.dumps({"turn": field.value[-20:], "corners": corners, "final": final})


def test_a_polygon_counts_while_it_is_drawn_and_is_a_row_at_its_end(page) -> None:
    page.state.put(drag="polygon")
    assert all(view.sketch.on for view in page.maps.views)
    sketch(page, CORNERS[:2], False)
    assert not page.maps.views[0].draft.visible
    sketch(page, CORNERS, False)
    true, private = (each.data["text"] for each in page.maps.boxes[0].drafts)
    assert true == [count(true_of(TRIANGLE))]
    assert private[0].endswith("%")
    sketch(page, CORNERS, True)
    assert not page.maps.views[0].draft.visible
    assert page.rectangles.shapes == (None, None, TRIANGLE)
    assert tags(page, 0)[2] == f"Q1  {count(true_of(TRIANGLE))}"
    answer = page.release.answer(TRIANGLE)
    row = page.answers.loc["Q1"]
    assert (row["private"], row["noise_sd"]) == (answer.value[0], answer.sd[0])
    assert row[["from_noise", "from_spread"]].sum() == pytest.approx(row["error"])


def test_a_polygon_given_up_and_nonsense_leave_everything_as_it_was(page) -> None:
    page.state.put(drag="polygon")
    sketch(page, CORNERS, False)
    sketch(page, None, False)
    assert not any(view.draft.visible for view in page.maps.views)
    wrong = [[1], [[1, 2]], [[0, 0], [1, 1], [2, "x"]], {"a": 1}, "x" * 50, 7, [[[]]], True]
    for corners in wrong:
        sketch(page, corners, False)
        sketch(page, corners, True)
    for text in ("", "{", "[" * 9999, "3", "null", '{"corners": []}'):
        page.maps.views[0].sketch.told.value = text
    tap(page, -200, -200)
    assert page.rectangles.selected == [], "clicks make corners and select nothing"
    assert page.rectangles.names == ["big", "small"]
    assert "three corners" in page.message.sentence or "two numbers" in page.message.sentence


def test_the_selected_polygon_is_dragged_whole_or_by_a_corner_and_undone(page) -> None:
    def dragged(corners, number: int = 0, end: bool = True) -> None:
        editor = page.maps.views[number].polygon_editor
        editor.update(xs=[x for x, _ in corners], ys=[y for _, y in corners])
        if end:
            editor.name = f"dragged {editor.name}"

    page.history.reset()
    sketch(page, CORNERS, True)
    tap(page, 1300, 1800)
    assert page.rectangles.selected == []
    tap(page, 0, 500)
    assert page.rectangles.selected == [2]
    moved = [[x + 500, y - 250] for x, y in CORNERS]
    dragged(moved, end=False)
    assert tags(page, 0)[2] == f"Q1  {count(true_of(shapely.Polygon(moved)))}"
    page.maps.views[0].polygon_editor.name = "dragged"
    assert page.rectangles.shapes[2].equals(shapely.Polygon(moved))
    dragged([*moved[:2], [3000.0, 3500.0]], number=1)
    assert page.rectangles.boxes[2].tolist() == [-500, -1250, 3000, 3500]
    # Beyond the map it is cut; sides that cross make parts, and the keys move them all.
    dragged([[-9000.0, 0.0], *moved[1:]])
    before = page.rectangles.shapes[2]
    assert before.bounds[0] == -4000
    page.pressed("ArrowUp", True)
    assert page.rectangles.shapes[2].area == pytest.approx(before.area)
    assert page.rectangles.boxes[2, 1] > before.bounds[1]
    page.pressed("mod+z", False)
    assert page.rectangles.shapes[2].equals(before)
    for _ in range(4):
        page.pressed("mod+z", False)
    assert page.rectangles.names == ["big", "small"]


def test_a_scenario_carries_polygons_and_opens_with_the_same_answers() -> None:
    page = Explore(side=256)
    sketch(page, [*CORNERS, [-500.12345, 100.0]], True)
    scenario = page.scenarios.present()
    assert isinstance(scenario.boxes[2], Polygon)
    assert Scenario.from_link(scenario.to_link()) == scenario
    assert Scenario.from_yaml(scenario.to_yaml()) == scenario
    other = Explore(scenario=scenario)
    pd.testing.assert_frame_equal(other.answers, page.answers, check_exact=True)


def test_the_pages_that_show_maps_take_polygons() -> None:
    compare = Compare(MATRIX, a="ug", b="ag")
    sketch(compare, CORNERS, True)
    for letter, screen in zip("AB", (compare.pair.a, compare.pair.b), strict=True):
        wanted = screen.release.answer(TRIANGLE).value[0]
        assert compare.answers.loc[(letter, "Q3"), "private"] == wanted
    federated = Federated(MATRIX)
    sketch(federated, CORNERS, True)
    assert federated.answers.loc["Q3", "true"] == true_of(TRIANGLE)
    alone = ReleasePage(compare.pair.a.release)
    sketch(alone, CORNERS, True)
    assert alone.answers.loc["Q3", "private"] == compare.answers.loc[("A", "Q3"), "private"]


# The cell at the pointer.


def test_both_maps_say_what_the_cell_at_the_pointer_holds_once_asked(page) -> None:
    def heads() -> list[str]:
        return [each.object for each in page.maps.heads]

    def hairs() -> list[int]:
        views = page.maps.views
        return [sum(isinstance(t, CrosshairTool) for t in each.figure.tools) for each in views]

    def point(x: object, y: object) -> None:
        """As the browser does, which tells of the pointer only when it shall."""
        if page.cross_hair.pointer.said.tags:
            page.cross_hair.pointer.said.value = json.dumps([x, y])

    before = heads()
    page.pressed("c", False)
    assert hairs() == [1, 1]
    # The cell in row 40 and column 10, of 125 m.
    point(-4000 + 10.5 * 125, -4000 + 40.5 * 125)
    assert f"{MATRIX.counts[40, 10]:,} in this cell" in heads()[0]
    assert f"{page.release.density()[40, 10]:,.2f} in this cell" in heads()[1]
    point(None, None)
    assert heads() == before
    point(9e9, 0.0)
    assert "in this cell" not in "".join(heads())
    for nonsense in ("", "{", "[1]", "[[], {}]", "[NaN, 1]", '["0", 1]'):
        page.cross_hair.pointer.said.value = nonsense
    page.pressed("p", False)
    point(0.0, 0.0)
    assert "in this cell" not in heads()[0], "the truth is hidden"
    assert "in this cell" in heads()[1]
    page.pressed("p", False)
    page.pressed("c", False)
    assert hairs() == [0, 0]
    point(0.0, 0.0)
    assert heads() == before
