"""The partition inspector: all leaves as a table, filtered by ranges that the map outlines."""

from __future__ import annotations

import html
import io
import math
from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np
import panel as pn

from explorer.app.curator.panel import ReleasePanel, panel_button
from explorer.app.curator.parts import PageParts
from explorer.app.curator.screen import Screen
from explorer.app.explore.leaf_rows import (
    BRUSHED,
    MOST_OUTLINED,
    PAGE,
    Asked,
    LeafRows,
    find_rows,
)
from explorer.app.explore.leaf_table import leaf_table
from explorer.app.kit import ui
from explorer.app.kit.html import html_pane, put
from explorer.app.kit.numbers import finite
from explorer.errors import InputError
from explorer.inspection.leaves import Span, read_span
from explorer.views.histogram import Histogram, value

#: What can be filtered, and what it is sorted by.
FILTERS = {"cells": "Cells", "depth": "Depth", "private": "Private", "error": "Error"}
ORDERS = {
    "Number": "leaf",
    "Size": "cells",
    "Depth": "depth",
    "Private count": "private",
    "Noise sd": "noise",
    "True count": "true",
    "Error, by size": "error",
}
_AXES = {"cells": "cells of a leaf", "private": "private count of a leaf"}
#: A leaf is shown with so much around it, and never fewer cells to a side.
_AROUND, _FEWEST = 5, 24


class PartitionPanel(ReleasePanel[LeafRows]):
    """The panel.

    Parameters
    ----------
    parts : of the page
    look_at : called with x, y and the width of a view, in grid units
    """

    def __init__(self, parts: PageParts, look_at: Callable[[float, float, float], None]) -> None:
        super().__init__(find_rows, parts)
        self._look_at = look_at
        self._spans: dict[str, Span] = {}
        self._page = 0
        # Fields of a fixed width would make the row, and with it the panel, as wide as all of them.
        plain: dict[str, Any] = {"size": "small", "margin": 0}
        small: dict[str, Any] = {**plain, "sizing_mode": "stretch_width"}
        self.filters = {
            name: ui.TextInput(
                label=f"{title} range",
                value="",
                placeholder="3 to 7",
                styles={"flex": "1 1 110px", "min-width": "0"},
                **small,
            )
            for name, title in FILTERS.items()
        }
        for name, field in self.filters.items():
            ui.bind(field, partial(self._filtered, name), self._tell)
        self.order = ui.Select(
            label="Sort by",
            options=ORDERS,
            value="leaf",
            styles={"flex": "1 1 130px", "min-width": "0"},
            **small,
        )
        ui.bind(self.order, lambda _: self._again(), self._tell)
        self.down = ui.Switch(label="Largest first", value=False, **plain)
        ui.bind(self.down, lambda _: self._again(), self._tell)
        self.histograms = {
            name: Histogram(title, partial(self._brushed, name)) for name, title in _AXES.items()
        }
        self.entry = ui.TextInput(
            label="Go to leaf number",
            value="",
            styles={"flex": "0 1 150px", "min-width": "0"},
            **small,
        )
        ui.bind(self.entry, self._typed, self._tell)
        self.back = panel_button(f"Previous {PAGE}", lambda _: self._turn(-1), "text")
        self.forth = panel_button(f"Next {PAGE}", lambda _: self._turn(1), "text")
        self.all = panel_button("All leaves", lambda _: self._clear(), "text")
        self.saves = [
            ui.FileDownload(
                # Anyone who finds the file must see what is in it.
                filename=f"leaves{'.exact' if exact else ''}.geojson",
                label="Save leaves with truth" if exact else "Save leaves",
                callback=partial(self._saved, exact),
                variant="outlined",
                **plain,
            )
            for exact in (False, True)
        ]
        self._note, self.said = html_pane(), html_pane(margin=(4, 0))
        self.table = leaf_table(self._clicked, self._tell)
        charts = [
            pn.Column(
                pn.pane.Bokeh(histogram.figure, sizing_mode="stretch_width", margin=0),
                sizing_mode="stretch_width",
                margin=0,
                styles={"flex": "1 1 240px", "min-width": "0"},
            )
            for histogram in self.histograms.values()
        ]
        self.view = pn.Column(
            ui.wrapping(*charts, gap="4px 16px"),
            ui.wrapping(*self.filters.values(), self.order, self.down, gap="8px", margin=(4, 0)),
            self._note,
            self.said,
            self.table,
            ui.wrapping(self.all, self.back, self.forth, self.entry, *self.saves, gap="6px 8px"),
            sizing_mode="stretch_width",
            margin=(4, 0),
        )

    # What the strip asks for.

    def show(self, screen: Screen) -> None:
        """Look at another screen; ranges of another place are forgotten."""
        if self._screen is not None and self._screen.data.grid != screen.data.grid:
            self._empty()
        for save in self.saves:
            save.visible = screen.data.grid.crs is not None
        if self._known(screen) and self.found is not None:
            # It was shut, or a pan came: the outlines may be gone.
            self._outline(self.found)
        super().show(screen)

    def hide(self) -> None:
        """Take the outlines off the maps."""
        super().hide()
        self.found = None
        maps = self._maps()
        if maps is not None:
            maps.choose(np.zeros((0, 4)))
            maps.outline(None)

    # What a visitor does.

    def _filtered(self, name: str, text: str) -> None:
        span = read_span(text)
        if span is None:
            self._spans.pop(name, None)
        else:
            self._spans[name] = span
        self._again()

    def _brushed(self, name: str, start: Any, end: Any) -> None:
        """A range was dragged in a histogram: it becomes the filter's text."""
        try:
            low, high = sorted(
                value(max(min(finite(bound, "A range"), 12.0), -12.0)) for bound in (start, end)
            )
        except InputError as error:
            self._tell(str(error))
            return
        if name == "cells":
            low, high = math.ceil(low), max(math.floor(high), math.ceil(low))
            self.filters[name].value = f"{low} to {high}"
        else:
            self.filters[name].value = f"{low:.1f} to {high:.1f}"

    def _again(self) -> None:
        self._page = 0
        self._tell("")
        self._ask()

    def _turn(self, by: int) -> None:
        self._page = max(self._page + by, 0)
        self._ask()

    def _ask(self) -> None:
        if self._screen is not None:
            self._draw()

    def _clear(self) -> None:
        self._empty()
        self._again()

    def _empty(self) -> None:
        self._spans.clear()
        self._page = 0
        for field in self.filters.values():
            field.value = ""

    def _clicked(self, row: int) -> None:
        if self.found is not None and row < len(self.found.shown):
            self.go_to(int(self.found.shown[row]))

    def _typed(self, text: str) -> None:
        if self._screen is None or not text.strip():
            return
        leaves, number = self._screen.release.n_leaves, text.strip().replace(",", "")
        if not (number.isdecimal() and len(number) < 12 and 1 <= int(number) <= leaves):
            raise InputError(f"Give a leaf number from 1 to {leaves:,}.")
        self.go_to(int(number) - 1)

    def go_to(self, leaf: int) -> None:
        """Zoom the maps to a leaf, by its position among the leaves, and outline it."""
        screen, maps = self._screen, self._maps()
        if screen is None or maps is None:
            return
        grid = screen.data.grid
        x0, y0, x1, y1 = screen.leaves.boxes[leaf].tolist()
        around = max(_AROUND * max(x1 - x0, y1 - y0), _FEWEST * grid.cell_width)
        maps.outline((x0, y0, x1, y1))
        self._look_at((x0 + x1) / 2, (y0 + y1) / 2, min(around, grid.width))

    def _saved(self, exact: bool) -> io.BytesIO:
        try:
            if self.found is None:
                raise InputError("The leaves are still being read: wait a moment.")
            text = self.found.known.table.geojson(self.found.rows, exact=exact)
            return io.BytesIO(text.encode())
        except InputError as error:
            self._refused(str(error))
            return io.BytesIO(b"")

    # Showing.

    def _tell(self, sentence: str) -> None:
        text = html.escape(sentence)
        put(self._note, f'<p class="notice" role="alert">{text}</p>' if text else "")

    def _question(self, screen: Screen) -> Asked:
        all_leaves = None if self.found is None else self.found.known
        spans = dict(self._spans)
        return Asked(screen, all_leaves, spans, self.order.value, self.down.value, self._page)

    def _show(self, leaf_rows: LeafRows) -> None:
        self.found, self._page = leaf_rows, leaf_rows.page
        self.table.put(leaf_rows.frame)
        put(self.said, f'<p class="summary" role="status">{html.escape(_summary(leaf_rows))}</p>')
        self.back.disabled = leaf_rows.page == 0
        self.forth.disabled = leaf_rows.page >= leaf_rows.pages - 1
        for name in BRUSHED:
            bins, tops = leaf_rows.known.bins[name], leaf_rows.tops[name]
            low, high = _extremes(leaf_rows, name)
            spoken = f"Histogram of {_AXES[name]}: from {low} to {high}; {int(tops.sum()):,} chosen"
            self.histograms[name].show(bins, tops, spoken)
        self._outline(leaf_rows)

    def _outline(self, leaf_rows: LeafRows) -> None:
        maps = self._maps()
        if maps is not None:
            maps.choose(leaf_rows.outlined)


def _extremes(leaf_rows: LeafRows, name: str) -> tuple[str, str]:
    values = leaf_rows.known.table.columns[name]
    return f"{values.min():,.0f}", f"{values.max():,.0f}"


def _summary(leaf_rows: LeafRows) -> str:
    """How many leaves are chosen, what they hold, and which of them are shown."""
    table, rows = leaf_rows.known.table, leaf_rows.rows
    if not len(rows):
        return f"None of the {len(table):,} leaves is in all of these ranges."
    which = f"All {len(table):,} leaves"
    if len(rows) < len(table):
        which = f"{len(rows):,} of {len(table):,} leaves"
    count, cells = table.columns["private"][rows].sum(), table.columns["cells"]
    sentence = f"{which}: {cells[rows].sum() / cells.sum():.1%} of the map, {count:,.0f} private."
    first = leaf_rows.page * PAGE
    sentence += f" Rows {first + 1:,} to {first + len(leaf_rows.shown):,}."
    if MOST_OUTLINED < len(rows) < len(table):
        sentence += f" The first {MOST_OUTLINED:,} are outlined."
    return sentence
