"""The table of boxes: what the maps show of them, in numbers one can edit."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping
from typing import Any, ClassVar

import numpy as np
import pandas as pd
import panel as pn
import param
from bokeh.models.widgets.tables import NumberFormatter, StringFormatter

from explorer.app.boxes.answers import BoxAnswers
from explorer.app.boxes.rectangles import EDGES, Rectangles
from explorer.app.kit import ui
from explorer.app.kit.theme import TABLE_CSS
from explorer.app.state.numbers import finite
from explorer.errors import InputError
from explorer.grid.grid import Grid
from explorer.views.error_bar import error_bar

DELETE = "delete"
_CROSS = (
    '<svg width="14" height="14" viewBox="0 0 14 14" role="img" aria-label="Delete this box">'
    '<path d="M2 2 L12 12 M12 2 L2 12" stroke="currentColor" stroke-width="2"/></svg>'
)
CAUSES = "noise + uniformity"
_ABOUT_CAUSES = "Blue: what the noise did. Orange: people lie unevenly inside leaves cut through."
_FIXED = ("true", "private", "difference", CAUSES, "error %", "95 % of the noise", "leaves")

# Pixels of the columns: on a small laptop they leave the button its place and show millions.
_WIDTHS = (56, 60, 69, 58, 67, 78, 78, 72, 126, 56, 164, 116)


def edge_unit(grid: Grid) -> tuple[str, float]:
    """Name of the unit in which edges are typed, and how many grid units it has."""
    return ("km", 1000.0) if grid.unit == "m" else ("cells", 1.0)


def table_frame(rectangles: Rectangles, answers: BoxAnswers) -> pd.DataFrame:
    """Rows of the table: name, four edges (km or cells), and the two answers side by side.

    Intervals without a closed form begin with ≈ until they have been simulated.
    """
    unit, size = edge_unit(rectangles.grid)
    edges = rectangles.boxes / size
    about = "" if answers.exact or answers.reach is not None else "≈ "
    columns: dict[str, Any] = {"box": list(rectangles.names)}
    columns |= {f"{edge} {unit}": edges[:, i].round(4) for i, edge in enumerate(EDGES)}
    columns |= {
        "true": answers.true.round(1),
        "private": answers.private.round(1),
        "difference": answers.difference.round(1),
        CAUSES: [
            error_bar(*parts) for parts in zip(answers.noise, answers.uniformity, strict=True)
        ],
        "error %": answers.relative.round(3),
        "95 % of the noise": [
            f"{about}{low:,.0f} to {high:,.0f}" for low, high in zip(*answers.interval, strict=True)
        ],
        "leaves": [f"{each:,} of {_total(answers.leaves)}" for each in answers.touched],
    }
    return pd.DataFrame(columns)


class _Growing(ui.Table):
    """A table whose columns share the width of the window in proportion to their least widths.

    Panel offers fixed widths or equal ones, and none at all for a column of buttons.
    """

    least = param.Dict(default={}, doc="Least pixels of a column, by its name.")
    _rename: ClassVar[Mapping[str, str | None]] = {"least": None}

    def _config_columns(self, column_objs: Any) -> Any:
        specs = super()._config_columns(column_objs)
        for spec in specs:
            least = self.least.get(spec.get("field"))
            if least:
                # Few parts: what a whole number of pixels for each part leaves goes to the button.
                spec.update(minWidth=least, widthGrow=round(least / 20))
        return specs


class BoxTable:
    """Tabulator view of the rectangles; `Rectangles` stays the only truth.

    Parameters
    ----------
    rectangles : Rectangles
    moved : called after an edit or a deletion, to redraw and answer anew
    highlighted : called after a change of selection
    refused : shows a sentence when an edit cannot be used
    """

    #: Names of the columns that are answers and cannot be edited.
    answered: tuple[str, ...] = _FIXED

    def __init__(
        self,
        rectangles: Rectangles,
        moved: Callable[[], None],
        highlighted: Callable[[], None],
        refused: Callable[[str], None],
        *,
        phone: bool = False,
    ) -> None:
        self._rectangles, self._moved = rectangles, moved
        self._highlighted, self._refused = highlighted, refused
        self._unit = edge_unit(rectangles.grid)[0]
        self._phone = phone
        self._quiet = False
        # Row and moment of the last deletion, see `_selected`.
        self._deleted = (-1, 0.0)
        empty = self._frame(Rectangles(rectangles.grid), self._nothing())
        self.widget = _Growing(
            empty,
            show_index=False,
            # On a phone twelve columns would shrink to two letters each: scroll sideways instead.
            layout="fit_data_table" if phone else "fit_columns",
            frozen_columns=["box"] if phone else [],
            selectable=True,
            buttons={DELETE: _CROSS},
            titles={DELETE: "delete"},
            header_tooltips={CAUSES: _ABOUT_CAUSES},
            configuration={
                "columnDefaults": {"headerSort": False, "minWidth": 36},
                "placeholder": "No boxes yet.",
            },
            sizing_mode="stretch_width",
            min_height=120,
            max_height=460,
            margin=(4, 0),
            stylesheets=[TABLE_CSS],
            **self._columns(),
        )
        self.widget.refused = refused
        self.widget.on_edit(self._edited)
        self.widget.on_click(self._clicked)
        self.widget.param.watch(self._selected, "selection")

    def reset(self) -> None:
        """Show the rectangles of another grid, whose unit may differ."""
        self._unit = edge_unit(self._rectangles.grid)[0]
        self.widget.param.update(**self._columns())

    def show(self, answers: Any) -> None:
        """Show rectangles and answers; only cells that changed are sent when rows stayed."""
        frame, shown = self._frame(self._rectangles, answers), self.widget.value
        if list(shown.columns) != list(frame.columns) or len(shown) != len(frame):
            self.widget.value = frame
        else:
            self._patch(frame, shown)
        if self.widget.selection != self._rectangles.selected:
            self._quiet = True
            self.widget.selection = list(self._rectangles.selected)
            self._quiet = False

    def _patch(self, frame: pd.DataFrame, shown: pd.DataFrame) -> None:
        patches = {}
        for name in frame.columns:
            new, old = frame[name], shown[name]
            moved = np.flatnonzero(~((new == old) | (new.isna() & old.isna())).to_numpy())
            if len(moved):
                patches[name] = [(int(i), _plain(new.iloc[i])) for i in moved]
        if patches:
            self.widget.patch(patches)

    def _frame(self, rectangles: Rectangles, answers: Any) -> pd.DataFrame:
        """The rows to show."""
        return table_frame(rectangles, answers)

    def _nothing(self) -> Any:
        """Answers to no rectangle."""
        none = np.zeros(0)
        return BoxAnswers(none, none, none, none.astype(np.int64))

    def _formats(self) -> dict[str, Any]:
        """Formats of the answers."""
        whole = NumberFormatter(format="0,0", nan_format="–")
        return {
            "true": whole,
            "private": whole,
            "difference": NumberFormatter(format="+0,0", nan_format="–"),
            "error %": NumberFormatter(format="+0,0.00", nan_format="–"),
            CAUSES: {"type": "html"},
            "95 % of the noise": StringFormatter(),
            "leaves": StringFormatter(),
        }

    def _widths(self, edges: list[str]) -> dict[str, int]:
        """Pixels of columns, by name."""
        columns = ["box", *edges, *self.answered]
        return dict(zip(columns, _WIDTHS, strict=True)) if self._phone else {}

    def _least(self, edges: list[str]) -> dict[str, int]:
        """The least pixels of columns that grow with the window, by name."""
        columns = ["box", *edges, *self.answered]
        return {} if self._phone else dict(zip(columns, _WIDTHS, strict=True))

    def _columns(self) -> dict[str, Any]:
        """Editors, formats and alignment by column name."""
        edges = [f"{edge} {self._unit}" for edge in EDGES]
        place = NumberFormatter(format="0.00" if self._unit == "km" else "0.0")
        right = dict.fromkeys([*edges, *self.answered], "right")
        sides = {**right, "box": "left", DELETE: "center"}
        return {
            "editors": {
                "box": "input",
                **{name: {"type": "number", "step": 0.1} for name in edges},
                **dict.fromkeys(self.answered),
            },
            # Texts are said to be texts: a table without rows takes an empty column for numbers.
            "formatters": {
                "box": StringFormatter(),
                **dict.fromkeys(edges, place),
                **self._formats(),
            },
            "text_align": sides,
            "header_align": sides,
            "widths": self._widths(edges),
            "least": self._least(edges),
        }

    def _edited(self, event: Any) -> None:
        """Take an edited cell over, or put the old value back and say why."""
        row, column = event.row, str(event.column)
        edge = column.removesuffix(f" {self._unit}")
        try:
            if column == "box":
                self._rectangles.rename(row, str(event.value or ""))
            elif edge in EDGES:
                size = edge_unit(self._rectangles.grid)[1]
                self._rectangles.edit(row, edge, finite(event.value, "An edge") * size)
            else:
                raise InputError("Only names and edges can be edited; answers follow from them.")
        except InputError as error:
            self._refused(str(error))
        self._moved()

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


def _plain(value: Any) -> Any:
    return value.item() if isinstance(value, np.generic) else value
