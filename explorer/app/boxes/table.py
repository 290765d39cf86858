"""The table of boxes: what the maps show of them, in numbers one can edit."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np
import pandas as pd
import panel as pn
from bokeh.models.widgets.tables import StringFormatter

from explorer.app.boxes.answers import PrivateAnswers
from explorer.app.boxes.chips import count
from explorer.app.boxes.edges import EdgeColumns
from explorer.app.boxes.rectangles import Rectangles
from explorer.app.kit import ui
from explorer.app.kit.attempts import Attempts
from explorer.app.kit.growing_table import NARROW, GrowingTable
from explorer.app.kit.later import after
from explorer.app.kit.number_columns import number_format
from explorer.app.kit.theme import TABLE_CSS
from explorer.errors import InputError

DELETE = "delete"
_CROSS = (
    '<svg width="14" height="14" viewBox="0 0 14 14" role="img" aria-label="Delete this box">'
    '<path d="M2 2 L12 12 M12 2 L2 12" stroke="currentColor" stroke-width="2"/></svg>'
)
#: Pixels of the column of names: on a small laptop it leaves the button its place.
_NAME_WIDTH = 56


@dataclass(frozen=True)
class Column:
    """A column of answers, which nobody can edit.

    Parameters
    ----------
    name : its title
    values : the answers' values for it, one a row
    format : makes its format; a format belongs to one page
    width : pixels, at least
    about : shown when the pointer rests on the title
    exact : whether it says something of exact counts
    """

    name: str
    values: Callable[[Any], Any]
    format: Callable[[], Any]
    width: int
    about: str = ""
    exact: bool = False


def _ranges(answers: PrivateAnswers) -> list[str]:
    """Intervals without a closed form begin with ≈ until they have been simulated."""
    about = "" if answers.exact or answers.half_width is not None else "≈ "
    return [
        f"{about}{count(low)} to {count(high)}" for low, high in zip(*answers.interval, strict=True)
    ]


WHOLE = number_format
PRIVATE = Column("private", lambda answers: answers.private.round(), WHOLE, 78)
RANGE = Column("range of the noise (95 %)", _ranges, StringFormatter, 164)
LEAVES = Column(
    "leaves",
    lambda answers: [f"{each:,} of {_total(answers.leaves)}" for each in answers.touched],
    StringFormatter,
    116,
)
#: What a release alone says of a box.
COLUMNS = (PRIVATE, RANGE, LEAVES)


def table_frame(rectangles: Rectangles, answers: Any, columns: Sequence[Column]) -> pd.DataFrame:
    """Rows of the table: name, where the box is, and columns of answers.

    ``answers`` is None for a table without rows.
    """
    return pd.DataFrame(_values(rectangles, answers, columns))


def _values(
    rectangles: Rectangles, answers: Any, columns: Sequence[Column]
) -> dict[str, list[Any]]:
    """What stands in each column, by its name."""
    found: dict[str, Any] = {"box": rectangles.names, **EdgeColumns(rectangles).values()}
    for column in columns:
        found[column.name] = [] if answers is None else column.values(answers)
    return {
        name: values.tolist() if isinstance(values, np.ndarray) else list(values)
        for name, values in found.items()
    }


class BoxTable:
    """Tabulator view of the rectangles; `Rectangles` stays the only truth.

    Parameters
    ----------
    rectangles : Rectangles
    moved : called after an edit or a deletion, to redraw and answer anew
    highlighted : called after a change of selection
    refused : shows a sentence when an edit cannot be used
    columns : what it says of each box
    """

    def __init__(
        self,
        rectangles: Rectangles,
        moved: Callable[[], None],
        highlighted: Callable[[], None],
        refused: Callable[[str], None],
        columns: Sequence[Column] = COLUMNS,
    ) -> None:
        self._rectangles, self._moved = rectangles, moved
        self._highlighted, self._refused = highlighted, refused
        self.columns = columns
        self._edges = EdgeColumns(rectangles)
        self._quiet, self._exact = False, True
        self._attempts = Attempts()
        # Row and moment of the last deletion, see `_selected`.
        self._deleted = (-1, 0.0)
        #: Shows the columns that say where a box is: most people move boxes on the map.
        self.edit_places = ui.Switch(label="Edit places", value=False, size="small", margin=(0, 8))
        self.edit_places.refused = refused
        self.edit_places.param.watch(lambda *_: self._show_places(), "value")
        none = Rectangles(*rectangles.grids, places=rectangles.places)
        self.widget = GrowingTable(
            table_frame(none, None, columns),
            show_index=False,
            layout="fit_columns",
            selectable=True,
            buttons={DELETE: _CROSS},
            titles={DELETE: "delete"},
            configuration={
                "columnDefaults": {"headerSort": False, "headerWordWrap": True, "minWidth": 36},
                **NARROW,
                "placeholder": "No boxes yet.",
                # Panel does that, too.
                "autoResize": False,
                # Tab leaves a cell as it leaves any field: Tabulator's own use of it is a trap.
                "keybindings": {"navNext": False, "navPrev": False},
            },
            sizing_mode="stretch_width",
            min_height=120,
            max_height=460,
            margin=(2, 0, 4, 0),
            stylesheets=[TABLE_CSS],
            **self._looks(),
        )
        self.widget.refused = refused
        self.widget.on_edit(self._edited)
        self.widget.on_click(self._clicked)
        self.widget.param.watch(self._selected, "selection")

    def reset(self, columns: Sequence[Column] | None = None) -> None:
        """Show the rectangles of another grid, whose unit may differ, or other answers."""
        self.columns = self.columns if columns is None else columns
        self._edges = EdgeColumns(self._rectangles)
        self.widget.param.update(**self._looks())

    def show_exact(self, shown: bool) -> None:
        """Send the columns that say something of exact counts with the next answers, or none."""
        self._exact = shown
        if not shown:
            away = [each.name for each in self.columns if each.exact]
            self.widget.value = self.widget.value.drop(columns=away, errors="ignore")

    @property
    def _sent(self) -> list[Column]:
        """The columns of answers that may be sent."""
        return [each for each in self.columns if self._exact or not each.exact]

    def _hidden(self) -> list[str]:
        return [] if self.edit_places.value else self._edges.names

    def _show_places(self) -> None:
        self.widget.hidden_columns = self._hidden()

    def show(self, answers: Any) -> None:
        """Show rectangles and answers; only cells that changed are sent when rows stayed."""
        new, shown = _values(self._rectangles, answers, self._sent), self.widget.value
        frame = pd.DataFrame(new)
        if len(frame) == len(shown) and frame.dtypes.equals(shown.dtypes):
            # What a visitor has typed stands in the frame, too.
            cells = {name: _others(new[name], shown[name].tolist()) for name in new}
            self.widget.put_cells(frame, {name: each for name, each in cells.items() if each})
        else:
            self.widget.value = frame
        if self.widget.selection != self._rectangles.selected:
            self._quiet = True
            self.widget.selection = list(self._rectangles.selected)
            self._quiet = False

    def _looks(self) -> dict[str, Any]:
        """Editors, formats, alignment and widths by column name."""
        edges, answers = self._edges.names, [each.name for each in self.columns]
        sides = {**dict.fromkeys([*edges, *answers], "right"), "box": "left", DELETE: "center"}
        least = [_NAME_WIDTH, *self._edges.widths]
        widths = dict(
            zip(
                ["box", *edges, *answers],
                [*least, *(each.width for each in self.columns)],
                strict=True,
            )
        )
        return {
            "editors": {
                "box": "input",
                **self._edges.editors(),
                **dict.fromkeys(answers),
            },
            # Texts are said to be texts: a table without rows takes an empty column for numbers.
            "formatters": {
                "box": StringFormatter(),
                **self._edges.formatters(),
                **{each.name: each.format() for each in self.columns},
            },
            "text_align": sides,
            "header_align": sides,
            "least": widths,
            "ranks": {name: rank for rank, name in enumerate(answers)},
            "hidden_columns": self._hidden(),
            "header_tooltips": {each.name: each.about for each in self.columns if each.about},
        }

    def _edited(self, event: Any) -> None:
        """Take an edited cell over, or put the old value back and say why."""
        row, column = event.row, str(event.column)
        with self._attempts.another():
            try:
                if column == "box":
                    self._rectangles.rename(row, str(event.value or ""))
                elif column not in self._edges:
                    raise InputError("Only names and edges can be edited; answers follow.")
                else:
                    self._edges.edit(row, column, event.value)
            except InputError as error:
                self._refused(str(error))
                self._mark()
        self._moved()

    def _mark(self) -> None:
        """A red rim, until the next edit or for a moment."""
        unmark = partial(setattr, self.widget, "css_classes", [])
        self.widget.css_classes = ["refused"]
        self._attempts.at_next(unmark)
        after(ui.MARKED, unmark)

    def _clicked(self, event: Any) -> None:
        if event.column != DELETE:
            return
        self._deleted = (event.row, time.monotonic())
        try:
            self._rectangles.remove(event.row)
        except InputError as error:
            self._refused(str(error))
        self._moved()

    def _selected(self, event: Any) -> None:
        if self._quiet:
            return
        row, moment = self._deleted
        if event.new == [row] and time.monotonic() - moment < 1:
            # The click that deleted a row also selects it; by now another row stands there.
            self._deleted = (-1, 0.0)
            self._quiet = True
            self.widget.selection = []
            self._quiet = False
            return
        self._rectangles.select(event.new)
        # Tabulator reports a selection without the document's lock.
        pn.state.execute(self._highlighted, schedule=True)


def _total(leaves: int) -> str:
    """A number of leaves; the strip above the maps has all digits of a long one.

    >>> [_total(n) for n in (7_414, 101_761, 1_048_576)]
    ['7,414', '102 k', '1.05 M']
    """
    if leaves >= 1_000_000:
        return f"{leaves / 1e6:.2f} M"
    return f"{leaves / 1e3:.0f} k" if leaves >= 100_000 else f"{leaves:,}"


def _others(new: Sequence[Any], old: Sequence[Any]) -> list[tuple[int, Any]]:
    """Row and value of the cells that are other ones than before; nan is nan."""
    return [
        (row, value)
        for row, (value, before) in enumerate(zip(new, old, strict=True))
        if value != before and (value == value or before == before)
    ]
