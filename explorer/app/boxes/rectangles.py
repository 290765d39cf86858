"""The rectangles of one visitor: the only truth; table and maps are views of it."""

from __future__ import annotations

import math
import re
from collections.abc import Sequence
from contextlib import suppress
from typing import Any

import numpy as np
from numpy.typing import NDArray

from explorer.app.state.numbers import finite
from explorer.errors import InputError
from explorer.grid.grid import Grid
from explorer.scenario import MOST_BOXES as MOST_RECTANGLES
from explorer.scenario import NAME_LENGTH, example_boxes, rounded
from explorer.scenario.parts import DECIMALS
from explorer.views.markup import safe_text
from explorer.views.viewport import Viewport

__all__ = ["EDGES", "MOST_RECTANGLES", "NAME_LENGTH", "Rectangles", "was_dragged"]

_NUMBERED = re.compile(r"Q\d+")
EDGES = ("west", "south", "east", "north")


def was_dragged(box: Sequence[Any], view: Viewport) -> bool:
    """Whether a browser's rectangle (x0, y0, x1, y1) is one: a click without a drag is not."""
    if not all(isinstance(edge, int | float) for edge in box):
        return False
    try:
        x0, y0, x1, y1 = (finite(edge, "An edge") for edge in box)
    except InputError:
        return False
    return bool((x1 - x0) * view.pixels_per_x >= 3 and (y1 - y0) * view.pixels_per_y >= 3)


class Rectangles:
    """Named rectangles on a grid, in its unit (metres or cells), to a thousandth of it.

    Every change is checked and clipped to the grid; what cannot be used raises InputError and
    changes nothing. Edges are rounded here, so that a scenario, which keeps them rounded, gets the
    very same answers.
    """

    def __init__(self, grid: Grid) -> None:
        self.grid = grid
        self._boxes = np.zeros((0, 4))
        self.names: list[str] = []
        self.selected: list[int] = []

    def __len__(self) -> int:
        return len(self.names)

    @property
    def boxes(self) -> NDArray[np.float64]:
        """A copy of the rectangles, (n, 4) x0, y0, x1, y1."""
        return self._boxes.copy()

    def reset(self, grid: Grid) -> None:
        """Start anew on another grid, with two examples: a district and a fringe."""
        self.__init__(grid)  # type: ignore[misc]
        for box in example_boxes(grid):
            self.add(box.edges)

    def replace(self, boxes: Sequence[Sequence[float]], names: Sequence[str]) -> int:
        """Put ``boxes`` in place of all others; returns how many of them lie on the map."""
        self.__init__(self.grid)  # type: ignore[misc]
        for box, name in zip(boxes, names, strict=True):
            with suppress(InputError):
                self.add(box, name)
        return len(self)

    def add(self, box: Sequence[float], name: str = "") -> int:
        """Add a rectangle (x0, y0, x1, y1); returns its row."""
        if len(self) >= MOST_RECTANGLES:
            raise InputError(
                f"There are {MOST_RECTANGLES} boxes already: delete some before adding more."
            )
        checked = self._checked(box)
        self._boxes = np.vstack([self._boxes, checked])
        self.names.append(self._name(name))
        return len(self) - 1

    def add_many(self, boxes: NDArray[np.float64], names: Sequence[str]) -> int:
        """Add all of (n, 4) ``boxes`` or none; returns how many."""
        before = self._boxes, list(self.names)
        try:
            for box, name in zip(boxes, names, strict=True):
                self.add(box, name)
        except InputError:
            self._boxes, self.names = before
            raise
        return len(boxes)

    def add_middle(self, view: Sequence[float]) -> int:
        """Add a rectangle in the middle of a view (x0, y0, x1, y1), a quarter of its sides."""
        x0, y0, x1, y1 = view
        cx, cy, w, h = (x0 + x1) / 2, (y0 + y1) / 2, (x1 - x0) / 8, (y1 - y0) / 8
        return self.add((cx - w, cy - h, cx + w, cy + h))

    def edit(self, row: int, edge: str, value: float) -> None:
        """Move one edge ("west", "south", "east", "north") of a row to ``value``."""
        self._known(row)
        box = list(self._boxes[row])
        box[EDGES.index(edge)] = value
        self._boxes = self._boxes.copy()
        self._boxes[row] = self._checked(box)

    def rename(self, row: int, name: str) -> None:
        """Give a row another name."""
        self._known(row)
        self.names[row] = self._name(name, ignore=row)

    def remove(self, row: int) -> None:
        """Delete a row; the selection is cleared, since rows have moved."""
        self._known(row)
        self._boxes = np.delete(self._boxes, row, axis=0)
        del self.names[row]
        self.selected = []

    def select(self, rows: Sequence[Any]) -> None:
        """Highlight rows; rows that do not exist are ignored."""
        self.selected = [row for row in rows if isinstance(row, int) and 0 <= row < len(self)]

    def _known(self, row: int) -> None:
        if not 0 <= row < len(self):
            raise InputError("This row does not exist any more.")

    def _name(self, name: str, ignore: int = -1) -> str:
        clean = safe_text(name, NAME_LENGTH)
        taken = {other for i, other in enumerate(self.names) if i != ignore}
        # A file without names numbers its boxes from Q1, as this page does: number them on.
        if clean and not (clean in taken and _NUMBERED.fullmatch(clean)):
            return clean
        return next(f"Q{k}" for k in range(1, MOST_RECTANGLES + 2) if f"Q{k}" not in taken)

    def _checked(self, box: Sequence[float]) -> NDArray[np.float64]:
        try:
            west, south, east, north = box
        except (TypeError, ValueError) as error:
            raise InputError("A box has four edges: west, south, east, north.") from error
        x0, y0, x1, y1 = (
            rounded(finite(edge, "An edge of the box")) for edge in (west, south, east, north)
        )
        if x0 >= x1:
            raise InputError("West must be smaller than east: the box was left as it was.")
        if y0 >= y1:
            raise InputError("South must be smaller than north: the box was left as it was.")
        parts = 10**DECIMALS
        gx0, gy0 = (math.ceil(edge * parts) / parts for edge in self.grid.bounds[:2])
        gx1, gy1 = (math.floor(edge * parts) / parts for edge in self.grid.bounds[2:])
        clipped = (max(x0, gx0), max(y0, gy0), min(x1, gx1), min(y1, gy1))
        if clipped[0] >= clipped[2] or clipped[1] >= clipped[3]:
            raise InputError("This box lies outside the map: give edges within it.")
        return np.array(clipped)
