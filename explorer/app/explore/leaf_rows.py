"""What the partition inspector shows: filtered and sorted leaves, one page of them in words."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from explorer.app.curator.screen import Screen
from explorer.grid.grid import Grid
from explorer.inspection.decisions import decision
from explorer.inspection.leaves import LeafTable, Span
from explorer.views.histogram import Bins

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
    page : of how many ``pages``, from 0
    shown : (at most `PAGE`,) those of the page
    frame : what the table shows of them
    tops : how many chosen leaves are in each bin of a histogram, (bins,)
    outlined : (at most `MOST_OUTLINED`, 4) edges of chosen leaves, none where all are chosen
    """

    screen: Screen
    known: Known
    rows: NDArray[np.int64]
    page: int
    shown: NDArray[np.int64]
    frame: pd.DataFrame
    tops: Mapping[str, NDArray[np.float64]]
    outlined: NDArray[np.float64]

    @property
    def pages(self) -> int:
        """At least one."""
        return max(-(-len(self.rows) // PAGE), 1)


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
    """East to west by north to south, in the unit that reads best."""
    width, height = cols * grid.cell_width, rows * grid.cell_height
    if grid.crs is None:
        return f"{width:,.0f} × {height:,.0f} cells"
    if max(width, height) >= 1000:
        return f"{width / 1000:,.2f} × {height / 1000:,.2f} km"
    return f"{width:,.0f} × {height:,.0f} m"
