"""The table of boxes: what the maps show of them, in numbers one can edit."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from explorer.app.boxes.answers import COLUMNS, Column
from explorer.app.boxes.rectangles import EDGES, Rectangles
from explorer.app.kit import ui
from explorer.app.kit.attempts import Attempts
from explorer.app.kit.later import after
from explorer.app.kit.numbers import finite
from explorer.app.kit.table import Table, TableColumn
from explorer.errors import InputError
from explorer.grid.grid import Grid

ANYWHERE = "anywhere"
#: What a column of answers and a column of the widget have in common.
_LOOKS = ("name", "kind", "decimals", "sign", "width", "about")
_NUMBER = re.compile(r"[-+]?\d+(?:\.\d+)?")


def edge_unit(grid: Grid) -> tuple[str, float]:
    """Name of the unit in which edges are typed, and how many grid units it has."""
    return ("km", 1000.0) if grid.unit == "m" else ("cells", 1.0)


class _EdgeColumns:
    """Four columns of numbers where there is one map; with several one column for each place."""

    def __init__(self, rectangles: Rectangles) -> None:
        self._rectangles = rectangles
        self._units = [edge_unit(grid) for grid in rectangles.grids]
        self._by_edge: dict[str, str] = {}
        self._by_place: dict[str, int] = {}
        if len(self._units) == 1:
            self._by_edge = {f"{edge} {self._units[0][0]}": edge for edge in EDGES}
        else:
            self._by_place = {
                f"{place}: W, S … E, N {unit}": number
                for number, (place, (unit, _)) in enumerate(
                    zip(rectangles.places, self._units, strict=True)
                )
            }

    def layout(self, *, hidden: bool) -> list[TableColumn]:
        """How the columns look; a person edits them."""
        decimals = 1 if self._units[0][0] == "cells" else 2
        edges = [
            TableColumn(
                name=name, kind="number", decimals=decimals, width=60, edit=True, hidden=hidden
            )
            for name in self._by_edge
        ]
        return edges + [
            TableColumn(name=name, width=130, edit=True, hidden=hidden) for name in self._by_place
        ]

    def values(self) -> dict[str, Any]:
        """What is in each column, by its name."""
        chosen = self._rectangles
        rows = chosen.boxes.reshape(len(chosen), len(chosen.grids), 4)
        values: dict[str, Any] = {
            name: (rows[:, 0, EDGES.index(edge)] / self._units[0][1]).round(4)
            for name, edge in self._by_edge.items()
        }
        for name, place in self._by_place.items():
            values[name] = [_edges_text(box / self._units[place][1]) for box in rows[:, place]]
        return values

    def edit(self, row: int, name: str, value: Any) -> None:
        """Take what was typed into a column of a row; InputError for what is no edge or box."""
        if name in self._by_edge:
            edge = finite(value, "An edge") * self._units[0][1]
            self._rectangles.edit(row, self._by_edge[name], edge)
            return
        place = self._by_place[name]
        unit, size = self._units[place]
        text = "" if value is None else str(value).strip()[:200]
        if text == self.values()[name][row]:
            # Left as it stood: what is shown has fewer digits than the box.
            return
        if text.lower() in ("", "-", "–", ANYWHERE):
            self._rectangles.clear(row, place)
            return
        numbers = [float(match) for match in _NUMBER.findall(text.replace("−", "-"))]
        if len(numbers) != 4:
            raise InputError(
                f"A box is west, south, east, north in {unit}, such as 1, 2, 3.5, 4; or type "
                f"{ANYWHERE}."
            )
        self._rectangles.move(row, [number * size for number in numbers], place)


def _edges_text(box: NDArray[np.float64]) -> str:
    """A box in the unit of its column; a gap asks about anywhere.

    >>> _edges_text(np.array([-1.5, 2, 3, 4.25])), _edges_text(np.full(4, np.nan))
    ('-1.5, 2.0 … 3.0, 4.2', 'anywhere')
    """
    if np.isnan(box).all():
        return ANYWHERE
    west, south, east, north = (f"{edge:.1f}" for edge in box)
    return f"{west}, {south} … {east}, {north}"


class BoxTable:
    """Table of the rectangles; `Rectangles` stays the only truth.

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
        self._edges, self._exact, self._attempts = _EdgeColumns(rectangles), True, Attempts()
        #: Shows the columns that say where a box is: most people move boxes on the map.
        self.edit_places = ui.Switch(label="Edit places", value=False, size="small", margin=(0, 8))
        self.edit_places.refused = refused
        self.widget = Table(
            self._layout(),
            refused=refused,
            edited=self._edited,
            chosen=self._chosen,
            deleted=self._deleted,
            label="Table of boxes",
            empty="No boxes yet.",
            max_height=460,
            margin=(2, 0, 4, 0),
        )
        self.edit_places.param.watch(lambda *_: self.widget.lay_out(self._layout()), "value")

    def reset(self, columns: Sequence[Column] | None = None) -> None:
        """Show the rectangles of another grid, whose unit may differ, or other answers."""
        self.columns = self.columns if columns is None else columns
        self._edges = _EdgeColumns(self._rectangles)
        self.widget.lay_out(self._layout())

    def show_exact(self, visible: bool) -> None:
        """Send the columns that say something of exact counts with the next answers, or none."""
        self._exact = visible
        if not visible:
            exact = [column.name for column in self.columns if column.exact]
            self.widget.put(self.widget.value.drop(columns=exact, errors="ignore"))

    def show(self, answers: Any) -> None:
        """Show rectangles and answers."""
        columns = [column for column in self.columns if self._exact or not column.exact]
        values = {column.name: column.values(answers) for column in columns}
        names = {"box": self._rectangles.names}
        self.widget.put({**names, **self._edges.values(), **values})
        if self.widget.selection != self._rectangles.selected:
            self.widget.highlight(self._rectangles.selected)

    def _layout(self) -> list[TableColumn]:
        """Name, edges, and answers, of which the last ones leave first."""
        # On a small laptop names leave the button its place.
        name = TableColumn(name="box", width=74, align="left", edit=True)
        edges = self._edges.layout(hidden=not self.edit_places.value)
        answers = [
            TableColumn(
                rank=rank,
                **{name: getattr(column, name) for name in _LOOKS},
            )
            for rank, column in enumerate(self.columns)
        ]
        return [name, *edges, *answers]

    def _edited(self, row: int, column: str, value: Any) -> None:
        """Take an edited cell over, or put the old value back and say why."""
        with self._attempts.another():
            try:
                if column == "box":
                    self._rectangles.rename(row, str(value or ""))
                else:
                    self._edges.edit(row, column, value)
            except InputError as error:
                self._refused(str(error))
                self.widget.restore()
                self._mark()
        self._moved()

    def _mark(self) -> None:
        """A red rim, until the next edit or for a moment."""
        unmark = partial(setattr, self.widget, "css_classes", [])
        self.widget.css_classes = ["refused"]
        self._attempts.at_next(unmark)
        after(ui.MARKED, unmark)

    def _deleted(self, row: int) -> None:
        try:
            self._rectangles.remove(row)
        except InputError as error:
            self._refused(str(error))
        self._moved()

    def _chosen(self, rows: list[int]) -> None:
        self._rectangles.select(rows)
        self._highlighted()
