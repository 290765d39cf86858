"""The table of all areas on the map: the same numbers, to be sorted, read out and clicked."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np
import pandas as pd
from bokeh.models.widgets.tables import StringFormatter

from explorer.app.country.data import CountryData
from explorer.app.country.screen import CountryScreen
from explorer.app.kit import ui
from explorer.app.kit.number_columns import number_format
from explorer.app.kit.theme import TABLE_CSS

_WHOLE = number_format
_SIGNED = partial(number_format, sign=True)
_ERROR = partial(number_format, 2, sign=True)
_COLUMNS: dict[str, Any] = {
    "area": StringFormatter,
    "inside": StringFormatter,
    "private": _WHOLE,
    "±": partial(number_format, 1),
    "true": _WHOLE,
    "difference": _SIGNED,
    "error %": _ERROR,
}
_EXACT = ["true", "difference", "error %"]
_WIDTHS = dict(zip(_COLUMNS, ("18%", "26%", *["11.2%"] * 5), strict=True))


class AreaTable:
    """A row for each area on the map.

    Parameters
    ----------
    chosen : called with the node of a row that was clicked
    refused : shows a sentence
    phone : whether it scrolls sideways in place of sharing the width
    """

    def __init__(
        self,
        chosen: Callable[[int], None],
        refused: Callable[[str], None],
        *,
        phone: bool = False,
    ) -> None:
        self._chosen = chosen
        self._nodes = np.zeros(0, dtype=np.int64)
        numbers = [name for name in _COLUMNS if name not in ("area", "inside")]
        sides = {**dict.fromkeys(numbers, "right"), "area": "left", "inside": "left"}
        self.widget = ui.Table(
            pd.DataFrame({name: [] for name in _COLUMNS}),
            show_index=False,
            disabled=True,
            selectable=False,
            layout="fit_data_table" if phone else "fit_columns",
            frozen_columns=["area"] if phone else [],
            formatters={name: make() for name, make in _COLUMNS.items()},
            text_align=sides,
            header_align=sides,
            header_tooltips={
                "±": "Half of the 95 % interval of the noise.",
                "error %": "Difference in percent of the true count.",
            },
            # Of the whole: names are longer than numbers.
            widths={} if phone else _WIDTHS,
            configuration={
                "columnDefaults": {"headerWordWrap": True, "minWidth": 48},
                "placeholder": "No areas yet.",
            },
            # It scrolls: pages would put buttons into the grid, which screen readers refuse.
            sizing_mode="stretch_width",
            min_height=120,
            max_height=420,
            margin=(4, 0),
            stylesheets=[TABLE_CSS],
        )
        self.widget.refused = refused
        self.widget.on_click(self._clicked)

    def hide_truth(self) -> None:
        """Take the columns that say something of exact counts away."""
        self.widget.value = self.widget.value.drop(columns=_EXACT, errors="ignore")

    def show(self, screen: CountryScreen, exact: bool = True) -> None:
        """Show the areas of a screen; those of another level begin anew."""
        frame = rows(screen) if exact else rows(screen).drop(columns=_EXACT)
        if np.array_equal(self._nodes, screen.outlined.nodes) and len(self.widget.value):
            old = self.widget.value
            if old.equals(frame):
                return
        self._nodes = screen.outlined.nodes
        self.widget.value = frame

    def _clicked(self, event: Any) -> None:
        if 0 <= event.row < len(self._nodes):
            self._chosen(int(self._nodes[event.row]))


def rows(screen: CountryScreen) -> pd.DataFrame:
    """A row for each area on the map."""
    data, nodes = screen.data, screen.outlined.nodes
    private, true = screen.private[nodes], screen.true[nodes]
    with np.errstate(divide="ignore", invalid="ignore"):
        error = np.where(true > 0, 100 * (private - true) / true, np.nan)
    return pd.DataFrame(
        {
            "area": [data.names[n] for n in nodes],
            "inside": [_inside(data, int(n)) for n in nodes],
            "private": private.round(),
            "±": screen.half[nodes].round(2),
            "true": true,
            "difference": private.round() - true.round(),
            "error %": error.round(3),
        }
    )


def _inside(data: CountryData, node: int) -> str:
    """The areas that one lies in, without repeating a name."""
    above = [data.names[each] for each in data.path(node)[1:-1]]
    return ", ".join(dict.fromkeys(reversed(above)))
