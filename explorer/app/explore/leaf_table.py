"""The table of leaves in the partition inspector."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

import pandas as pd
from bokeh.models.widgets.tables import StringFormatter

from explorer.app.kit.growing_table import NARROW, GrowingTable
from explorer.app.kit.number_columns import number_format
from explorer.app.kit.theme import TABLE_CSS

_WHOLE = number_format
_TENTH = partial(number_format, 1)
#: Format, title and pixels, at least.
_COLUMNS: dict[str, tuple[Callable[[], Any], str, int]] = {
    "leaf": (_WHOLE, "leaf", 66),
    "size": (StringFormatter, "size", 122),
    "depth": (_WHOLE, "depth", 58),
    "private": (_TENTH, "private", 80),
    "true": (_WHOLE, "true", 72),
    "error": (partial(number_format, 1, sign=True), "error", 80),
    "noise": (_TENTH, "noise sd", 74),
    "cells": (_WHOLE, "cells", 74),
    "why it ended": (StringFormatter, "why it ended", 210),
}
#: A narrow dock has no room for all of them: the last of these leave first.
_RANKS = ("leaf", "private", "true", "error", "depth", "size", "noise", "cells", "why it ended")


def leaf_table(refused: Callable[[str], None]) -> GrowingTable:
    """A table without rows yet; ``refused`` shows a sentence."""
    sides = dict.fromkeys(_COLUMNS, "right") | {"size": "left", "why it ended": "left"}
    table = GrowingTable(
        pd.DataFrame({name: [] for name in _COLUMNS}),
        show_index=False,
        disabled=True,
        selectable=False,
        layout="fit_columns",
        formatters={name: each[0]() for name, each in _COLUMNS.items()},
        titles={name: each[1] for name, each in _COLUMNS.items()},
        least={name: each[2] for name, each in _COLUMNS.items()},
        ranks={name: rank for rank, name in enumerate(_RANKS)},
        text_align=sides,
        header_align=sides,
        configuration={
            # Sorting a page would look like sorting all leaves.
            "columnDefaults": {"headerWordWrap": True, "minWidth": 52, "headerSort": False},
            **NARROW,
            "placeholder": "No leaf is in all of these ranges.",
        },
        sizing_mode="stretch_width",
        min_height=120,
        max_height=320,
        margin=(4, 0),
        stylesheets=[TABLE_CSS],
    )
    table.refused = refused
    return table
