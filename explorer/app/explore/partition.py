"""The partition inspector: all leaves as a table, filtered by ranges that the map outlines."""

from __future__ import annotations

import html
import io
import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np
import pandas as pd
import panel as pn
from numpy.typing import NDArray

from explorer.app.curator.panel import ReleasePanel, panel_button
from explorer.app.curator.parts import PageParts
from explorer.app.curator.screen import Screen
from explorer.app.kit import ui
from explorer.app.kit.html import html_pane, put
from explorer.app.kit.numbers import finite
from explorer.app.kit.prose import column
from explorer.app.kit.table import Table, TableColumn
from explorer.errors import InputError
from explorer.grid.grid import Grid
from explorer.inspection import decision
from explorer.inspection.leaves import LeafTable, Span, read_span
from explorer.views.histogram import Bins, Histogram, value

#: Rows of a page: a browser never holds more of a million leaves.
PAGE = 50
#: Outlines on a map that a browser draws without a pause.
MOST_OUTLINED = 3_000
#: Columns that have a histogram.
BRUSHED = ("cells", "private")


@dataclass(frozen=True, eq=False)
class Known:
    """What no filter changes: the leaves of a release and the bins of their columns."""

    table: LeafTable
    bins: Mapping[str, Bins]

    @classmethod
    def of(cls, screen: Screen) -> Known:
        """Of the release on a screen."""
        table = LeafTable.of(screen.release, screen.data.matrix)
        return cls(table, {name: Bins.of(table.columns[name]) for name in BRUSHED})


@dataclass(frozen=True, eq=False)
class Asked:
    """A question: which leaves, in which order, which page; ``known`` if asked about before."""

    screen: Screen
    known: Known | None
    spans: Mapping[str, Span]
    by: str
    down: bool
    page: int


@dataclass(frozen=True, eq=False)
class LeafRows:
    """The answer.

    Attributes
    ----------
    rows : (k,) all chosen leaves in order, positions among the leaves
    page, pages : which page, from 0, and how many there are
    shown : (at most `PAGE`,) those of the page
    frame : what the table shows of them
    tops : how many chosen leaves are in each bin of a histogram, (bins,)
    outlined : (at most `MOST_OUTLINED`, 4) edges of chosen leaves, none where all are chosen
    """

    screen: Screen
    known: Known
    rows: NDArray[np.int64]
    page: int
    pages: int
    shown: NDArray[np.int64]
    frame: pd.DataFrame
    tops: Mapping[str, NDArray[np.float64]]
    outlined: NDArray[np.float64]


def find_rows(query: Asked) -> LeafRows:
    """Filter, sort, and describe one page; in a thread."""
    all_leaves = query.known
    if all_leaves is None or all_leaves.table.release is not query.screen.release:
        all_leaves = Known.of(query.screen)
    table = all_leaves.table
    rows = table.ordered(table.where(query.spans), query.by, query.down)
    pages = max(-(-len(rows) // PAGE), 1)
    page = min(max(query.page, 0), pages - 1)
    page_rows = rows[page * PAGE : (page + 1) * PAGE]
    some = rows[: MOST_OUTLINED if len(rows) < len(table) else 0]
    return LeafRows(
        screen=query.screen,
        known=all_leaves,
        rows=rows,
        page=page,
        pages=pages,
        shown=page_rows,
        frame=frame_of(table, page_rows),
        tops={name: all_leaves.bins[name].count(table.columns[name][rows]) for name in BRUSHED},
        outlined=query.screen.leaves.boxes[some],
    )


def frame_of(table: LeafTable, rows: NDArray[np.int64]) -> pd.DataFrame:
    """The table's rows for the leaves at ``rows``, with why each ended."""
    release, columns = table.release, table.columns
    nodes = release.tree.leaves[rows]
    sides = release.upper[rows] - release.lower[rows]
    data: dict[str, Any] = {"leaf": columns["leaf"][rows]}
    data["size"] = [_size(rows, cols, release.grid) for rows, cols in sides.tolist()]
    data["depth"] = columns["depth"][rows]
    names = ("private", "true", "error", "noise")
    data |= {name: columns[name][rows].round(1) for name in names}
    data["cells"] = columns["cells"][rows]
    data["why it ended"] = [decision(release, node).verdict for node in nodes.tolist()]
    return pd.DataFrame(data)


def _size(rows: int, cols: int, grid: Grid) -> str:
    width, height = cols * grid.cell_width, rows * grid.cell_height
    if grid.crs is None:
        return f"{width:,.0f} × {height:,.0f} cells"
    if max(width, height) >= 1000:
        return f"{width / 1000:,.2f} × {height / 1000:,.2f} km"
    return f"{width:,.0f} × {height:,.0f} m"


def leaf_table(clicked: Callable[[int], None], refused: Callable[[str], None]) -> Table:
    """A table without rows yet; ``clicked`` takes a row, ``refused`` shows a sentence."""
    # A narrow dock has no space for all of them: those of the highest rank leave first. Sorting is
    # left to the panel: sorting a page would look like sorting all leaves.
    columns = [
        TableColumn(name="leaf", kind="number", width=66),
        TableColumn(name="size", width=122, rank=5, align="left"),
        TableColumn(name="depth", kind="number", width=58, rank=4),
        TableColumn(name="private", kind="number", decimals=1, width=80, rank=1),
        TableColumn(name="true", kind="number", width=72, rank=2),
        TableColumn(name="error", kind="number", decimals=1, sign=True, width=80, rank=3),
        TableColumn(name="noise", title="noise sd", kind="number", decimals=1, width=74, rank=6),
        TableColumn(name="cells", kind="number", width=74, rank=7),
        TableColumn(name="why it ended", width=210, rank=8, align="left"),
    ]
    return Table(
        columns,
        clicked=clicked,
        refused=refused,
        label="Table of leaves",
        empty="No leaf is in all of these ranges.",
        max_height=320,
        margin=(4, 0),
    )


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
            column(
                pn.pane.Bokeh(histogram.figure, sizing_mode="stretch_width", margin=0),
                styles={"flex": "1 1 240px", "min-width": "0"},
            )
            for histogram in self.histograms.values()
        ]
        self.view = column(
            ui.wrapping(*charts, gap="4px 16px"),
            ui.wrapping(*self.filters.values(), self.order, self.down, gap="8px", margin=(4, 0)),
            self._note,
            self.said,
            self.table,
            ui.wrapping(self.all, self.back, self.forth, self.entry, *self.saves, gap="6px 8px"),
            margin=(4, 0),
        )

    def show(self, screen: Screen) -> None:
        if self._screen is not None and self._screen.data.grid != screen.data.grid:
            self._empty()
        for save in self.saves:
            save.visible = screen.data.grid.crs is not None
        if self._known(screen) and self.found is not None:
            # It was shut, or a pan came: the outlines may be gone.
            self._outline(self.found)
        super().show(screen)

    def hide(self) -> None:
        super().hide()
        self.found = None
        maps = self._maps()
        if maps is not None:
            maps.choose(np.zeros((0, 4)))
            maps.outline(None)

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
