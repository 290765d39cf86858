"""The table of boxes: numbers of the API, edits checked, rows and selection in step."""

from types import SimpleNamespace

import numpy as np
import pytest

from explorer.app.boxes.answers import BoxAnswers, answer_boxes
from explorer.app.boxes.rectangles import Rectangles
from explorer.app.boxes.table import DELETE, BoxTable, table_frame
from explorer.grid.grid import Grid
from explorer.mechanisms import HTF
from explorer.points.matrix import FrequencyMatrix


class Visit:
    """A table with notes of what happened."""

    def __init__(self, grid=None) -> None:
        grid = grid or Grid.around(2.35, 48.85, 8000, shape=32)
        counts = np.random.default_rng(4).poisson(30, grid.shape)
        self.matrix = FrequencyMatrix.from_array(counts, grid)
        self.release = HTF(epsilon=1.0).release(self.matrix, rng=2)
        self.rectangles = Rectangles(grid)
        self.rectangles.reset(grid)
        self.said: list[str] = []
        self.table = BoxTable(self.rectangles, self.show, self.show, self.said.append)
        self.show()

    def show(self) -> None:
        self.table.show(answer_boxes(self.release, self.matrix, self.rectangles.boxes))

    def edit(self, row, column, value) -> None:
        self.table._edited(SimpleNamespace(row=row, column=column, value=value))

    @property
    def shown(self):
        return self.table.widget.value


@pytest.fixture
def visit():
    return Visit()


def test_a_row_holds_the_answers_of_the_api(visit) -> None:
    boxes = visit.rectangles.boxes
    answers = visit.release.answer(boxes)
    low, high = answers.interval()
    row = visit.shown.iloc[1]
    assert [row[f"{e} km"] for e in ("west", "south", "east", "north")] == [
        pytest.approx(v / 1000, abs=1e-3) for v in boxes[1]
    ]
    assert row["private"] == pytest.approx(answers.value[1], abs=0.05)
    assert row["95 % of the noise"] == f"{low[1]:,.0f} to {high[1]:,.0f}"
    assert row["difference"] == pytest.approx(row["private"] - row["true"], abs=0.11)
    touched, leaves = visit.release.touched(boxes)[1], visit.release.n_leaves
    assert row["leaves"] == f"{touched:,} of {leaves:,}"


def test_an_edit_moves_the_box_and_its_answers(visit) -> None:
    before = visit.shown["true"][0]
    visit.edit(0, "east km", visit.shown["east km"][0] + 0.5)
    assert visit.shown["true"][0] > before
    assert not visit.said


@pytest.mark.parametrize(
    ("column", "value"),
    [
        ("east km", -99),
        ("north km", None),
        ("west km", "far"),
        ("south km", float("nan")),
        ("west km", 10**400),
        ("true", 5),
        ("index", 1),
    ],
)
def test_an_impossible_edit_is_said_and_put_back(visit, column, value) -> None:
    before = visit.shown.copy()
    if column in before:
        # The browser sends its new column first, and then what was edited.
        column_sent = [value, *before[column][1:]]
        visit.table.widget._process_data({column: column_sent})
    visit.said.clear()
    visit.edit(0, column, value)
    assert len(visit.said) == 1
    assert visit.shown[list(before.columns)].equals(before)


def test_events_no_browser_sends_are_refused(visit) -> None:
    before = visit.shown.copy()
    widget = visit.table.widget
    for event in (
        SimpleNamespace(event_name="table-edit", row=99, column="box", pre=False),
        SimpleNamespace(event_name="cell-click", row=-1, column="box"),
        SimpleNamespace(event_name="cell-click", row="x", column=DELETE),
        SimpleNamespace(event_name="table-edit", row=0, column="__class__", pre=False),
    ):
        widget._process_event(event)
    widget._process_data({"west km": ["a", {"b": 1}]})
    widget._process_data({"true": [1]})
    assert len(visit.said) == 6
    assert visit.shown.equals(before)
    visit.table._selected(SimpleNamespace(new=["x", None, 10**9, -1, 1]))
    assert visit.rectangles.selected == [1]


def test_a_name_can_be_edited_and_is_made_safe(visit) -> None:
    visit.edit(0, "box", "<i>Centre</i>")
    assert visit.shown["box"][0] == "‹i›Centre‹/i›"


def test_deleting_and_a_row_that_is_gone(visit) -> None:
    click = SimpleNamespace(row=0, column=DELETE)
    visit.table._clicked(click)
    assert list(visit.shown["box"]) == ["Q2"]
    visit.table._clicked(SimpleNamespace(row=5, column=DELETE))
    assert len(visit.said) == 1
    visit.table._clicked(SimpleNamespace(row=0, column="true"))
    assert len(visit.shown) == 1


def test_selecting_a_row_reaches_the_rectangles_and_survives_new_answers(visit) -> None:
    visit.table.widget.selection = [1]
    assert visit.rectangles.selected == [1]
    visit.release = HTF(epsilon=2.0).release(visit.matrix, rng=2)
    visit.show()
    assert visit.table.widget.selection == [1]


def test_the_click_that_deletes_a_row_does_not_select_the_next_one(visit) -> None:
    visit.table._clicked(SimpleNamespace(row=0, column=DELETE))
    visit.table.widget.selection = [0]
    assert visit.rectangles.selected == []
    assert visit.table.widget.selection == []
    visit.table.widget.selection = [0]
    assert visit.rectangles.selected == [0]


def test_when_rows_stay_only_changed_cells_are_sent(visit, monkeypatch) -> None:
    sent = []
    patch = visit.table.widget.patch
    monkeypatch.setattr(
        visit.table.widget, "patch", lambda changes: (sent.append(changes), patch(changes))
    )
    visit.release = HTF(epsilon=2.0).release(visit.matrix, rng=2)
    visit.show()
    assert "private" in sent[0]
    assert not {"true", "box", "west km"} & set(sent[0])
    sent.clear()
    visit.show()
    assert not sent


def test_texts_stay_texts_in_a_table_that_began_without_rows(visit) -> None:
    # The formats are chosen before there is a row, when a column of names has no type yet.
    formats = visit.table.widget.formatters
    for name in ("box", "95 % of the noise"):
        assert type(formats[name]).__name__ == "StringFormatter"


def test_a_matrix_without_a_place_is_typed_in_cells() -> None:
    visit = Visit(Grid.cells((20, 30)))
    assert "west cells" in visit.shown.columns
    visit.edit(0, "west cells", 3)
    assert visit.rectangles.boxes[0, 0] == 3


def test_the_unit_follows_the_city(visit) -> None:
    visit.rectangles.reset(Grid.cells((8, 8)))
    visit.table.reset()
    visit.matrix = FrequencyMatrix.from_array(np.ones((8, 8), int))
    visit.release = HTF(epsilon=1.0).release(visit.matrix, rng=2)
    visit.show()
    assert "west cells" in visit.shown.columns
    assert "west cells" in visit.table.widget.editors


def test_where_nothing_is_the_relative_error_is_unknown() -> None:
    grid = Grid.cells((8, 8))
    rectangles = Rectangles(grid)
    rectangles.add((0, 0, 1, 1))
    one = np.ones(1)
    frame = table_frame(rectangles, BoxAnswers(0 * one, one, one, np.ones(1, int)))
    assert np.isnan(frame["error %"][0])
