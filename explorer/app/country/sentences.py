"""What is said of areas: sentences of the chosen one, tables of those around it and on the map."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from explorer.app.country.data import CountryData
from explorer.app.country.maps import level_name
from explorer.app.country.screen import CountryScreen
from explorer.app.kit.numbers import percent
from explorer.app.kit.table import Table, TableColumn
from explorer.views.tables import Cell, table

Floats = NDArray[np.float64]

#: So many areas inside the chosen one are in its table; all of a level are in the one below.
_MOST = 40


def answer(screen: CountryScreen, exact: bool = True) -> str:
    """One sentence that states the numbers of the chosen area; without ``exact`` released ones."""
    data, node = screen.data, screen.node
    private, half, true = _numbers(screen, node)
    text = (
        f"{spoken(data, node)}: private {_whole(private)} (95 %: {_whole(private - half)} to "
        f"{_whole(private + half)})"
    )
    if not exact:
        return f"{text}."
    text += f", truly {true:,}"
    if data.counted is not None:
        text += f" of which {data.counted[node]:,} are counted"
    off = relative(private, true)
    return f"{text}." if np.isnan(off) else f"{text}, off by {_off(off)}."


def about(screen: CountryScreen, exact: bool = True) -> str:
    """What the release is, and how far the areas of the level on the map are off.

    Without ``exact`` the first alone.
    """
    data, release = screen.data, screen.release
    kind = "a preview by" if release.preview else "a release by"
    record = "record" if release.unit == "point" else "person"
    maps = sum(inner is not None for inner in release.maps)
    text = (
        f"{data.title}: {kind} {screen.title} with epsilon {release.epsilon:.4g} per {record}: "
        f"counts of {len(data.areas.parent):,} areas and {maps:,} maps inside them"
    )
    off = median_error(screen) if exact else np.nan
    if not np.isnan(off):
        where = level_name(data, screen.level)
        text += f"; half of the areas on the map ({where}) are off by less than {percent(off)}"
    return f"{text}."


def key_figures(screen: CountryScreen) -> list[tuple[str, str]]:
    """Label and value of the strip above the maps: the chosen area first."""
    private, half, true = _numbers(screen, screen.node)
    return [
        ("Private", _whole(private)),
        ("± (95 %)", _whole(half)),
        ("True", f"{true:,}"),
        ("Off by", _off(relative(private, true))),
        ("Median area error", percent(median_error(screen))),
        ("Epsilon", f"{screen.release.epsilon:.4g}"),
    ]


def relative(private: float, true: float) -> float:
    """Difference in percent of the truth; NaN where the truth is 0."""
    return 100 * (private - true) / true if true else float("nan")


def median_error(screen: CountryScreen) -> float:
    """Median error of the areas on the map in percent; NaN where no one is."""
    nodes = screen.outlined.nodes
    nodes = nodes[screen.true[nodes] > 0]
    if len(nodes) == 0:
        return float("nan")
    off = np.abs(screen.private[nodes] - screen.true[nodes]) / screen.true[nodes]
    return float(100 * np.median(off))


def spoken(data: CountryData, node: int) -> str:
    """An area with the areas that it is in.

    The whole is called by its title.
    """
    path = data.path(node)
    return " > ".join(data.names[area] for area in path[1:]) or data.names[0]


def family_table(screen: CountryScreen, exact: bool = True) -> str:
    """The areas around the chosen one, the area itself, and the areas in it.

    Without ``exact`` there are released numbers alone.
    """
    data, node = screen.data, screen.node
    path = data.path(node)
    children = data.areas.children(node)
    order = children[np.argsort(-screen.private[children], kind="stable")]
    rows = []
    for depth, area in enumerate(path):
        rows.append(_row(screen, area, depth, chosen=area == node))
    rows += [_row(screen, int(area), len(path)) for area in order[:_MOST]]
    caption = f"{data.names[node]}: the areas it lies in"
    if len(children):
        more = f", the largest {_MOST}" if len(children) > _MOST else ""
        caption += f", and the {len(children):,} areas in it{more}"
    counted = [] if data.counted is None else [("counted", "of the true ones, under the bound")]
    columns = [
        ("area", "each one inside the one above it"),
        ("level", "column of the boundaries"),
        ("private", "the released count"),
        ("±", "half of the 95 % interval of the noise"),
        ("true", "exact: for the curator only"),
        *counted,
        ("error", "difference in percent of the true count"),
    ]
    if not exact:
        # Up to the interval.
        columns, rows = columns[:4], [row[:4] for row in rows]
    return table(f"{caption}.", columns, rows)


def _row(screen: CountryScreen, node: int, depth: int, chosen: bool = False) -> list[Cell]:
    data = screen.data
    private, half, true = _numbers(screen, node)
    name = Cell("\u2003" * depth + data.names[node], best=chosen)
    return [
        name,
        Cell(level_name(data, int(data.areas.level[node]))),
        Cell(_whole(private), best=chosen),
        Cell(_whole(half)),
        Cell(f"{true:,}"),
        *([] if data.counted is None else [Cell(f"{data.counted[node]:,}")]),
        Cell(signed_percent(relative(private, true))),
    ]


def signed_percent(value: float) -> str:
    """A percentage with its sign.

    >>> signed_percent(1.5), signed_percent(-0.3), signed_percent(float("nan"))
    ('+1.50 %', '−0.30 %', '–')
    """
    if np.isnan(value):
        return "–"
    return f"{'−' if value < 0 else '+'}{percent(abs(value))}"


def _off(error: float) -> str:
    # The smallest that is not written as none.
    return "below 0.001 %" if 0 < abs(error) < 0.001 else percent(abs(error))


def _numbers(screen: CountryScreen, node: int) -> tuple[float, float, int]:
    return float(screen.private[node]), float(screen.half[node]), int(screen.true[node])


def _whole(value: float) -> str:
    # A noise below one half must not read "-0".
    return f"{round(value):,}".replace("-", "−")


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
    above = [data.names[area] for area in data.path(node)[1:-1]]
    return ", ".join(dict.fromkeys(reversed(above)))
