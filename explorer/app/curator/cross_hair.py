"""A cross-hair through the same place of all maps, and what each of them says there."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
from bokeh.models import CrosshairTool, Span

from explorer.app.kit import ui
from explorer.app.kit.numbers import finite
from explorer.app.work.document import soon
from explorer.errors import InputError
from explorer.grid.grid import Grid
from explorer.views import palette
from explorer.views.gestures import Pointer

#: The key, see `Keys`.
READ = "c"


class CrossHair:
    """Off until someone asks: every move of the pointer is then answered, the last one of many.

    Parameters
    ----------
    ask : from a place x, y in grid units to what is next to the title of each map
    """

    def __init__(self, ask: Callable[[float, float], Sequence[str]]) -> None:
        self._ask = ask
        self.on = False
        self._maps: Any = None
        self._tools: list[CrosshairTool] = []
        self._place: tuple[Any, Any] | None = None
        self._waits = False
        self.pointer = Pointer(self._moved)
        self.button = ui.Button(
            label="Read cells",
            variant="text",
            size="small",
            margin=(0, 0, 0, 4),
            on_click=lambda _event: self.toggle(),
        )

    def take(self, maps: Any) -> None:
        """Other maps are on the page."""
        self._maps = maps
        across, up = (
            Span(dimension=name, line_color=palette.HOVER, line_width=1)
            for name in ("width", "height")
        )
        self._tools = [CrosshairTool(overlay=(across, up)) for _ in maps.views]
        for view in maps.views:
            self.pointer.listen_on(view.figure)
        if self.on:
            self._switch()

    def pressed(self, key: str) -> bool:
        """Take a key; returns whether it was `READ`."""
        if key == READ:
            self.toggle()
        return key == READ

    def toggle(self) -> None:
        """Begin to read, or end."""
        self.on = not self.on
        self.button.label = "Stop reading" if self.on else "Read cells"
        if self._maps is not None:
            self._switch()

    def _switch(self) -> None:
        for view, tool in zip(self._maps.views, self._tools, strict=True):
            others = [other for other in view.figure.tools if other is not tool]
            view.figure.tools = [*others, tool] if self.on else others
        self.pointer.switch(self.on)
        if not self.on:
            self._maps.read(None)
        self._maps.push()

    def _moved(self, x: Any, y: Any) -> None:
        """The pointer is at a place of a map, or with None has left it."""
        if not self.on:
            return
        self._place = None if x is None else (x, y)
        if not self._waits:
            self._waits = True
            soon(self._say)

    def _say(self) -> None:
        self._waits = False
        if self._place is None or not self.on:
            self._maps.read(None)
            return
        try:
            x, y = (finite(coordinate, "A place") for coordinate in self._place)
        except InputError:
            return
        self._maps.read(self._ask(x, y))


def cell_at(grid: Grid, x: float, y: float) -> tuple[int, int] | None:
    """Row and column of the cell that holds a place in grid units; None outside the grid."""
    x0, y0, x1, y1 = grid.bounds
    if not (x0 <= x < x1 and y0 <= y < y1):
        return None
    row, column = int((y - y0) / grid.cell_height), int((x - x0) / grid.cell_width)
    return min(row, grid.shape[0] - 1), min(column, grid.shape[1] - 1)


def read_cell(data: Any, releases: Sequence[Any], x: float, y: float) -> tuple[int, list[float]]:
    """The true count of the cell that holds a place, and what each release says of it.

    Raises
    ------
    InputError
        For a place outside the grid.
    """
    grid = data.grid
    index = cell_at(grid, x, y)
    if index is None:
        raise InputError("This place lies outside the map.")
    row, column = index
    cell = np.array([[[row, column], [row + 1, column + 1]]], dtype=float)
    box = grid.from_cells(cell)
    private = [float(release.answer(box).value[0]) for release in releases]
    return int(data.every.counts[row, column]), private
