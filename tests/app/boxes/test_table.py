"""The table of boxes: numbers of the API, edits checked, rows and selection in step."""

import numpy as np
import pytest

from explorer.app.boxes.answers import COLUMNS as PRIVATE_COLUMNS
from explorer.app.boxes.answers import PrivateAnswers
from explorer.app.boxes.rectangles import Rectangles
from explorer.app.boxes.table import BoxTable
from explorer.app.curator.answers import COLUMNS, answer_boxes
from explorer.grid.grid import Grid
from explorer.mechanisms import HTF
from explorer.points.matrix import FrequencyMatrix
from tests.app.acts import Browser


class Visit:
    """A table with notes of what happened."""

    columns = COLUMNS

    def __init__(self, *grids: Grid, places=("",)) -> None:
        self.rectangles = Rectangles(*grids, places=places)
        self.rectangles.reset(*grids)
        self.said: list[str] = []
        acts = self.show, self.show, self.said.append
        self.table = BoxTable(self.rectangles, *acts, self.columns)
        self.show()
        self.browser = Browser(self.table.widget)
        self.edit = self.browser.edit

    @property
    def shown(self):
        return self.table.widget.value


class City(Visit):
    """Boxes on a city, with answers of a release."""

    def __init__(self) -> None:
        grid = Grid.around(2.35, 48.85, 8000, shape=32)
        counts = np.random.default_rng(4).poisson(30, grid.shape)
        self.matrix = FrequencyMatrix.from_array(counts, grid)
        self.release = HTF(epsilon=1.0).release(self.matrix, rng=2)
        super().__init__(grid)

    def show(self) -> None:
        self.table.show(answer_boxes(self.release, self.matrix, self.rectangles.boxes))


@pytest.fixture
def visit():
    return City()


def test_a_row_holds_the_answers_of_the_api(visit) -> None:
    boxes = visit.rectangles.boxes
    answers = visit.release.answer(boxes)
    low, high = answers.interval()
    row = visit.shown.iloc[1]
    assert [row[f"{e} km"] for e in ("west", "south", "east", "north")] == [
        pytest.approx(v / 1000, abs=1e-3) for v in boxes[1]
    ]
    assert row["private"] == round(float(answers.value[1]))
    assert row["range of the noise (95 %)"] == f"{low[1]:,.0f} to {high[1]:,.0f}"
    assert row["difference"] == pytest.approx(row["private"] - row["true"], abs=0.11)
    touched, leaves = visit.release.touched(boxes)[1], visit.release.n_leaves
    assert row["leaves"] == f"{touched:,} of {leaves:,}"


def test_edits_move_boxes_and_impossible_ones_are_said_and_put_back(visit) -> None:
    before = visit.shown["true"][0]
    visit.edit(0, "east km", visit.shown["east km"][0] + 0.5)
    visit.edit(0, "box", "<i>Centre</i>")
    assert visit.shown["true"][0] > before
    assert visit.shown["box"][0] == "‹i›Centre‹/i›"
    assert not visit.said
    shown, revision = visit.shown.copy(), visit.browser.model.data.revision
    for column, value in (
        ("east km", -99),
        ("north km", None),
        ("west km", "far"),
        ("south km", float("nan")),
        ("west km", 10**400),
        ("west km", {"b": 1}),
        ("true", 5),
        ("index", 1),
        ("__class__", 1),
        (["box"], "x"),
        ("box", "x" * 5000),
    ):
        visit.edit(0, column, value)
        assert visit.said, column
        assert visit.shown[list(shown.columns)].equals(shown)
        visit.said.clear()
    # The field holds what was typed: all values are sent again, though none is another one.
    assert visit.browser.model.data.revision > revision
    np.testing.assert_equal(visit.browser.shown, visit.shown.to_dict("list"))


@pytest.mark.parametrize(
    "message",
    [
        {"kind": "edit", "row": 99, "column": "box", "value": "x"},
        {"kind": "edit", "row": True, "column": "box", "value": "x"},
        {"kind": "delete", "row": -1},
        {"kind": "delete", "row": "x"},
        {"kind": "select", "rows": ["x", None]},
        {"kind": "select", "rows": [10**9]},
        {"kind": "click", "row": 0},
        {"kind": "no such"},
        {"kind": ["select"]},
        "text",
        None,
    ],
    ids=str,
)
def test_messages_no_browser_sends_are_refused(visit, message) -> None:
    before = visit.shown.copy()
    visit.browser.send(message)
    assert len(visit.said) == 1
    assert visit.shown.equals(before)
    assert visit.rectangles.selected == []


def test_deleting_and_a_row_that_is_gone(visit) -> None:
    visit.browser.delete(0)
    assert list(visit.shown["box"]) == ["Q2"]
    visit.browser.delete(5)
    assert len(visit.said) == 1
    assert len(visit.shown) == 1
    assert visit.rectangles.selected == []


def test_selecting_a_row_reaches_the_rectangles_and_survives_new_answers(visit) -> None:
    visit.browser.select([1])
    assert visit.rectangles.selected == [1]
    visit.release = HTF(epsilon=2.0).release(visit.matrix, rng=2)
    visit.show()
    assert visit.table.widget.selection == visit.browser.model.data.selected == [1]


class Trips(Visit):
    """Rows that have a box for each of two places, with private answers alone."""

    columns = PRIVATE_COLUMNS

    def __init__(self) -> None:
        grids = Grid.around(2.35, 48.85, 8000, shape=16), Grid.cells((8, 8))
        super().__init__(*grids, places=("from", "to"))

    def show(self) -> None:
        ones = np.ones(len(self.rectangles))
        touched = ones.astype(int)
        self.table.show(PrivateAnswers(private=ones, sd=ones, touched=touched, leaves=4))


FROM, TO = "from: W, S … E, N km", "to: W, S … E, N cells"


def test_a_row_of_two_places_shows_edits_and_empties_both_boxes() -> None:
    visit = Trips()
    shown = visit.table.widget.value
    assert list(shown.columns[1:3]) == [FROM, TO]
    assert list(shown.columns[3:]) == ["private", "range of the noise (95 %)", "leaves"]
    assert shown[FROM][0] == "-0.8, -0.4 … 0.6, 0.6"
    visit.edit(0, FROM, "−1, 0 .. 2.5, 3")
    assert visit.rectangles.boxes[0, 0].tolist() == [-1000, 0, 2500, 3000]
    visit.edit(0, TO, "1 2 3 4")
    assert visit.rectangles.boxes[0, 1].tolist() == [1, 2, 3, 4]
    assert visit.table.widget.value[TO][0] == "1.0, 2.0 … 3.0, 4.0"
    visit.edit(0, TO, "anywhere")
    assert np.isnan(visit.rectangles.boxes[0, 1]).all()
    assert list(visit.table.widget.value[TO]) == ["anywhere", "5.0, 4.8 … 5.8, 5.6"]
    assert not visit.said


@pytest.mark.parametrize(
    ("typed", "said"),
    [
        ("", "A row needs a box on one map at least: delete the row instead."),
        ("1, 2, 3", "A box is west, south, east, north in km, such as 1, 2, 3.5, 4; or type"),
        ("3, 0, 1, 1", "West must be smaller than east"),
        ("50, 50, 60, 60", "This box lies outside the map"),
    ],
)
def test_a_box_typed_wrongly_is_one_sentence_and_changes_nothing(typed, said) -> None:
    visit = Trips()
    visit.edit(0, TO, "anywhere")
    before = visit.rectangles.boxes
    visit.edit(0, FROM, typed)
    assert len(visit.said) == 1
    assert visit.said[0].startswith(said)
    np.testing.assert_array_equal(visit.rectangles.boxes, before)
