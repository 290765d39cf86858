"""The table of all areas on the map: the same numbers, to be sorted, read out and clicked."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pandas as pd

from explorer.app.country.data import CountryData
from explorer.app.country.screen import CountryScreen
from explorer.app.kit.table import Table, TableColumn

_COLUMNS = (
    TableColumn(name="area", width=130, align="left", sortable=True),
    TableColumn(name="inside", width=186, align="left", sortable=True),
    *(
        TableColumn(
            name=name,
            kind="number",
            decimals=decimals,
            sign=sign,
            width=80,
            about=about,
            sortable=True,
        )
        for name, decimals, sign, about in (
            ("private", 0, False, ""),
            ("±", 1, False, "Half of the 95 % interval of the noise."),
            ("true", 0, False, ""),
            ("difference", 0, True, ""),
            ("error %", 2, True, "Difference in percent of the true count."),
        )
    ),
)
_EXACT = ["true", "difference", "error %"]


class AreaTable:
    """A row for each area on the map; where it has no space it scrolls sideways.

    Parameters
    ----------
    chosen : called with the node of a row that was clicked
    refused : shows a sentence
    """

    def __init__(self, chosen: Callable[[int], None], refused: Callable[[str], None]) -> None:
        self._chosen = chosen
        self._nodes = np.zeros(0, dtype=np.int64)
        self.widget = Table(
            _COLUMNS,
            clicked=self._clicked,
            refused=refused,
            label="Table of areas",
            empty="No areas yet.",
            scrolls=True,
            max_height=420,
            margin=(4, 0),
        )

    def hide_truth(self) -> None:
        """Take the columns that say something of exact counts away."""
        self.widget.put(self.widget.value.drop(columns=_EXACT, errors="ignore"))

    def show(self, screen: CountryScreen, exact: bool = True) -> None:
        """Show the areas of a screen."""
        self._nodes = screen.outlined.nodes
        frame = rows(screen)
        self.widget.put(frame if exact else frame.drop(columns=_EXACT))

    def _clicked(self, row: int) -> None:
        self._chosen(int(self._nodes[row]))


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
    """The areas that one is in, without repeating a name."""
    above = [data.names[area] for area in data.path(node)[1:-1]]
    return ", ".join(dict.fromkeys(reversed(above)))
