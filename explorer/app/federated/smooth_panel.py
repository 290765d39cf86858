"""The panel that asks whether rounds pay: on this city, and on as many people spread smoothly."""

from __future__ import annotations

import html
from typing import Any

import panel as pn

from explorer.app.curator.comparing import ComparingPanel, Order
from explorer.app.curator.parts import PageParts
from explorer.app.curator.screen import Screen
from explorer.app.federated.screen import chosen
from explorer.app.federated.smooth import Asked, CityOrSmooth, Held, hold
from explorer.app.kit import ui
from explorer.app.kit.html import html_pane, put
from explorer.app.work.job import Run, patient
from explorer.federated.mechanism import Federated
from explorer.grid.grid import Grid
from explorer.views import palette
from explorer.views.small import SmallMap
from explorer.views.tables import Cell, table

#: A ratio of errors so near to 1 is no difference.
_ALIKE = 0.1
_WAYS = ("true", "refined by rounds", "the best even grid, asked once")


class SmoothPanel(ComparingPanel):
    """Two rows of small maps, a sentence with both ratios, a table of all even grids.

    It begins by itself when it is first opened: one click.
    """

    START = "Compare again"
    DONE = "is done"
    POOL = patient(1, "smooth")

    def __init__(self, parts: PageParts) -> None:
        super().__init__(parts)
        self._state = parts.state
        self._begun = False
        self._grid: Grid | None = None
        self.maps: list[SmallMap] = []
        self._pictures = pn.Column(sizing_mode="stretch_width", margin=(4, 0))
        self.view.insert(3, self._pictures)

    def show(self, screen: Screen) -> None:
        """Look at another screen; the first one is compared without being asked to."""
        super().show(screen)
        if not self._begun:
            self._begun = True
            self._start()

    def hide(self) -> None:
        """Stop work; what was not finished begins anew at the next look."""
        self._begun = self.found is not None
        super().hide()

    def restyle(self) -> None:
        """Other colours have been chosen."""
        for small_map in self.maps:
            small_map.recolour(palette.PALETTES[self._state.palette])

    def compare(self, order: Order, run: Run) -> CityOrSmooth:
        """Both maps, asked in both ways."""
        return hold(order, run)

    def chosen(self, screen: Screen) -> Federated:
        """The mechanism as its release says it."""
        return chosen(screen)

    def sentence(self, result: CityOrSmooth) -> str:
        """Whether refining pays, with both ratios."""
        return sentence(result)

    def table(self, result: CityOrSmooth) -> str:
        """A row for each way, map by map."""
        return ways_table(result)

    def _done(self, result: Any) -> None:
        self._lay_out(result)
        super()._done(result)

    def _lay_out(self, result: CityOrSmooth) -> None:
        """Small maps for a grid, built once, and what is on them."""
        if self._grid != result.grid:
            self._grid = result.grid
            self.maps = [SmallMap(result.grid.bounds, "Small map") for _ in range(6)]
            self._captions = [html_pane(margin=(2, 0, 0, 0)) for _ in self.maps]
            self._titles = [html_pane(margin=(8, 0, 2, 0)) for _ in range(2)]
            self.restyle()
            cards = [self._card(i, result.grid) for i in range(6)]
            self._pictures.objects = [
                part
                for row in range(2)
                for part in (
                    self._titles[row],
                    ui.wrapping(*cards[3 * row : 3 * row + 3], gap="8px 12px"),
                )
            ]
        for row, people_map in enumerate((result.city, result.smooth)):
            put(self._titles[row], f"<h3>{html.escape(people_map.title)}</h3>")
            for i, (picture, caption) in enumerate(_told(people_map), 3 * row):
                put(self._captions[i], f"<p>{caption}</p>")
                self.maps[i].show(picture, f"{people_map.title}: {caption}")

    def _card(self, i: int, grid: Grid) -> Any:
        plot = pn.pane.Bokeh(
            self.maps[i].figure,
            sizing_mode="scale_width",
            aspect_ratio=grid.width / grid.height,
            margin=0,
        )
        return pn.Column(
            plot,
            self._captions[i],
            styles={"flex": "1 1 90px", "max-width": "240px"},
            sizing_mode="stretch_width",
            margin=0,
        )


def _told(people_map: Held) -> list[tuple[Any, str]]:
    """The pictures of a map with their words."""
    best = people_map.best
    return [
        (people_map.true, _WAYS[0]),
        (people_map.refined.picture, f"{_WAYS[1]}: MSE {_mse(people_map.refined)}"),
        (best.picture, f"{_WAYS[2]}: MSE {_mse(best)}"),
    ]


def _mse(answers: Asked) -> str:
    return f"{answers.mse * 1e11:.3g}e-11"


def _cells(answers: Asked) -> str:
    side = 1 << answers.level
    return f"{side} × {side}"


def sentence(result: CityOrSmooth) -> str:
    """How an even grid does against rounds, on the city and on the smooth map.

    An even grid's level is chosen with the truth at hand, so it is the hardest rival there is.
    """
    city, smooth = result.city, result.smooth
    return (
        f"{city.title}, epsilon {result.order.chosen.epsilon:.4g}: the best even grid "
        f"({_cells(city.best)}) has {city.ratio:.2f} times the squared error of refining by "
        f"rounds. With as many people spread smoothly, the best one ({_cells(smooth.best)}) has "
        f"{smooth.ratio:.2f} times that of rounds. {_verdict(city.ratio, smooth.ratio)}"
    )


def _verdict(city: float, smooth: float) -> str:
    """Where rounds win, in words that the ratios bear out."""
    here, there = _wins(city), _wins(smooth)
    if here == there:
        return f"On both maps refining {here}."
    return f"So refining {here} on the city, and {there} on the smooth map."


def _wins(ratio: float) -> str:
    if ratio > 1 + _ALIKE:
        return "wins"
    return "loses" if ratio < 1 - _ALIKE else "makes no difference"


def ways_table(result: CityOrSmooth) -> str:
    """Rounds and every even grid, on the city and on the smooth map side by side."""
    columns = [
        ("way", "by rounds, or all cells of an even grid at once"),
        ("numbers", "that one person sends at most, on the city"),
        ("MSE, city", "1e-11: mean squared error of the shares of people in cells"),
        ("L1/N, city", "people that all cells are off together, over the number of people"),
        ("MSE, smooth", "as for the city"),
        ("L1/N, smooth", "as for the city"),
    ]
    pairs = [
        (result.city.refined, result.smooth.refined),
        *zip(result.city.even, result.smooth.even, strict=True),
    ]
    least = [min(pair[k].mse for pair in pairs) for k in range(2)]
    rows = []
    for here, there in pairs:
        title = f"Even grid, {_cells(here)}" if here.level else "Refined by rounds"
        row = [Cell(title), Cell(f"{here.numbers:,}")]
        for answers, best in zip((here, there), least, strict=True):
            row += [
                Cell(f"{answers.mse * 1e11:.3g}", best=answers.mse == best),
                Cell(f"{answers.l1:.2f}"),
            ]
        rows.append(row)
    return table("The least error of each map in bold; nothing is booked.", columns, rows)
