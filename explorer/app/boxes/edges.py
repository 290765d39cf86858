"""Columns of a table of boxes that say where a box is: four edges, or one text for each place."""

from __future__ import annotations

import re
from typing import Any

import numpy as np
from numpy.typing import NDArray

from explorer.app.boxes.rectangles import EDGES, Rectangles
from explorer.app.kit.numbers import finite
from explorer.app.kit.table import TableColumn
from explorer.errors import InputError
from explorer.grid.grid import Grid

ANYWHERE = "anywhere"
_NUMBER = re.compile(r"[-+]?\d+(?:\.\d+)?")


def edge_unit(grid: Grid) -> tuple[str, float]:
    """Name of the unit in which edges are typed, and how many grid units it has."""
    return ("km", 1000.0) if grid.unit == "m" else ("cells", 1.0)


class EdgeColumns:
    """Four columns of numbers where there is one map; with several one column for each place.

    Parameters
    ----------
    rectangles : Rectangles
    """

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

    def __contains__(self, name: str) -> bool:
        return name in self.names

    @property
    def names(self) -> list[str]:
        """Titles of the columns."""
        return [*self._by_edge, *self._by_place]

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
            values[name] = [_said(box / self._units[place][1]) for box in rows[:, place]]
        return values

    def edit(self, row: int, name: str, value: Any) -> None:
        """Take what was typed into a column of a row.

        Raises
        ------
        InputError
            For what is no edge or no box.
        """
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


def _said(box: NDArray[np.float64]) -> str:
    """A box in the unit of its column; a gap asks about anywhere.

    >>> _said(np.array([-1.5, 2, 3, 4.25])), _said(np.full(4, np.nan))
    ('-1.5, 2.0 … 3.0, 4.2', 'anywhere')
    """
    if np.isnan(box).all():
        return ANYWHERE
    west, south, east, north = (f"{edge:.1f}" for edge in box)
    return f"{west}, {south} … {east}, {north}"
