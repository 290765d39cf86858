"""A table of text and numbers: a real HTML table in the browser, its values kept on the server."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any, Literal, TypeGuard

import numpy as np
import pandas as pd
import param
from panel.custom import JSComponent

from explorer.app.kit.theme import TABLE_CSS

#: Characters of a text that is typed into a cell.
_LONGEST = 1000


@dataclass(frozen=True, kw_only=True)
class TableColumn:
    """How a column of a `Table` looks.

    Parameters
    ----------
    name : of its values
    title : in the header; the name without one
    kind : "number", "text", or "markup" for HTML that holds no text of a person or a file
    decimals, sign : of numbers, whether those above 0 have a plus
    width : least pixels
    align : "left" or "right"
    about : shown when the pointer rests on the title
    rank : columns of the highest rank leave first where there is no space; 0 never leaves
    edit, step : whether it takes entries, and by how much the arrow keys change a number
    """

    name: str
    title: str = ""
    kind: Literal["number", "text", "markup"] = "text"
    decimals: int = 0
    sign: bool = False
    width: int = 60
    align: Literal["left", "right"] = "right"
    about: str = ""
    rank: int = 0
    edit: bool = False
    step: float = 0.1
    hidden: bool = False
    sortable: bool = False


class Table(JSComponent):
    """A table whose rows can be selected, clicked, edited and deleted; see ``table.js``.

    A browser only sends messages about what a person did. Messages that fit no row or column are
    refused with a sentence.

    Parameters
    ----------
    layout : sequence of TableColumn
    edited : takes row, column name and entry (str, float or None)
    chosen : takes the selected rows
    clicked, deleted : take a row
    refused : shows a sentence
    """

    label = param.String(doc="What it is called for a screen reader.")
    empty = param.String(doc="What stands in a table without rows.")
    scrolls = param.Boolean(doc="Scroll sideways where there is no room, or hide columns.")
    selectable = param.Boolean(doc="Whether rows can be selected.")
    clickable = param.Boolean(doc="Whether a click on a row means something else.")
    deletable = param.Boolean(doc="Whether each row has a button that deletes it.")
    columns = param.List(doc="What a browser shows, see TableColumn.")
    rows = param.List(doc="Values, a list for each of the columns.")
    selected = param.List(doc="Numbers of the selected rows.")
    revision = param.Integer(doc="Another one shows all values anew, over what was typed.")

    _esm = Path(__file__).with_name("table.js")

    def __init__(
        self,
        layout: Sequence[TableColumn],
        *,
        refused: Callable[[str], None],
        edited: Callable[[int, str, Any], None] | None = None,
        chosen: Callable[[list[int]], None] | None = None,
        clicked: Callable[[int], None] | None = None,
        deleted: Callable[[int], None] | None = None,
        **params: Any,
    ) -> None:
        acts = {"selectable": chosen, "clickable": clicked, "deletable": deleted}
        looks = {"sizing_mode": "stretch_width", "min_height": 120, "stylesheets": [TABLE_CSS]}
        can = {name: act is not None for name, act in acts.items()}
        super().__init__(**{**looks, **can, **params})
        self._refused, self._edited, self._chosen = refused, edited, chosen
        self._by_row = {"click": clicked, "delete": deleted}
        self._layout, self._entered = tuple(layout), False
        self._selection: list[int] = []
        self._values: dict[str, list[Any]] = {column.name: [] for column in layout}
        self._send()
        self.on_msg(self._received)

    @property
    def value(self) -> pd.DataFrame:
        """What is shown, a column for each that is sent."""
        return pd.DataFrame(self._values)

    @property
    def selection(self) -> list[int]:
        """Numbers of the selected rows."""
        return list(self._selection)

    def lay_out(self, layout: Sequence[TableColumn]) -> None:
        """Show other columns; those without values come with the next `put`."""
        self._layout = tuple(layout)
        self._send()

    def put(self, values: Mapping[str, Any]) -> None:
        """Show other values, a sequence of n for each column by its name.

        Columns without values are not sent.
        """
        self._values = {
            name: column.tolist() if isinstance(column, np.ndarray | pd.Series) else list(column)
            for name, column in values.items()
        }
        self._send()

    def highlight(self, rows: Sequence[int]) -> None:
        """Mark rows as selected."""
        self._selection = list(rows)
        self.selected = list(rows)

    def restore(self) -> None:
        """Show the values that count over what was typed, and the selection."""
        self.revision += 1

    def _send(self) -> None:
        layout = [column for column in self._layout if column.name in self._values]
        columns = [{**asdict(column), "title": column.title or column.name} for column in layout]
        entered, self._entered = self._entered, False
        self.param.update(
            columns=columns,
            rows=[self._values[column.name] for column in layout],
            revision=self.revision + entered,
        )

    def _received(self, event: Any) -> None:
        """Do what a message of a browser says."""
        message = event.data if isinstance(event.data, dict) else {}
        kind, row = message.get("kind"), message.get("row")
        count = len(next(iter(self._values.values()), ()))

        def known(row: Any) -> TypeGuard[int]:
            return type(row) is int and 0 <= row < count

        if kind == "select" and self._chosen is not None:
            rows = message.get("rows")
            if isinstance(rows, list) and all(map(known, rows)):
                self._selection = self.selected = rows
                self._chosen(rows)
                return
        elif kind == "edit" and self._edited is not None and known(row):
            column, value = message.get("column"), message.get("value")
            edits = any(spec.name == column and spec.edit for spec in self._layout)
            number = isinstance(value, int | float) and not isinstance(value, bool)
            text = isinstance(value, str) and len(value) <= _LONGEST
            if edits and (number or text or value is None):
                self._entered = True
                self._edited(row, str(column), value)
                return
        else:
            act = self._by_row.get(kind) if isinstance(kind, str) else None
            if act is not None and known(row):
                act(row)
                return
        self.restore()
        self._refused("The table did not take that: type a number, or a name in its column.")
