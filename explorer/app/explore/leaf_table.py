"""The table of leaves in the partition inspector."""

from __future__ import annotations

from collections.abc import Callable

from explorer.app.kit.table import Table, TableColumn


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
