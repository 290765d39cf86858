"""The maps of the Country page: all areas of a level, and the map inside the chosen one."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from explorer.app.country.data import CountryData
from explorer.app.country.screen import CountryScreen, Sight
from explorer.app.curator.price import of_truth
from explorer.app.kit.labels import CURATOR, DRAWN, PREVIEW
from explorer.app.kit.map_parts import Box, MapSpec
from explorer.app.mappage.maps import SIDES, CoveredMaps
from explorer.app.state import CountryState
from explorer.views import palette
from explorer.views.choropleth import Border, Choropleth
from explorer.views.maps import LinkedRanges
from explorer.views.markup import count_bar, difference_bar
from explorer.views.scale import ColourScale
from explorer.views.viewport import Viewport

#: Pixels of the window's height next to the maps.
_TAKEN = 190
#: Pixels of width that both maps should have before the text next to them goes below.
_WIDE = 300
_NEIGHBOURS = "A box drawn here counts its neighbours in it, too"
_TOLD = "the tables give its numbers"


class CountryMaps(CoveredMaps):
    """Two maps in one plane: a box that is drawn on either is on both.

    Parameters
    ----------
    state : CountryState
    data : CountryData
    viewed : called after a pan, zoom or resize
    drawn : called with each dragged rectangle (x0, y0, x1, y1) in metres
    tapped : called with x, y of each click on the country, as the browser sent it
    beside : what is next to the maps where there is space, and below them where there is none
    phone : whether the page is as narrow as one map
    """

    def __init__(
        self,
        state: CountryState,
        data: CountryData,
        viewed: Callable[[], None],
        drawn: Callable[[Box], None],
        tapped: Callable[[Any, Any], None],
        beside: Any,
        *,
        phone: bool = False,
    ) -> None:
        self.data = data
        self._area = int(data.areas.lowest[0])
        whole = data.surroundings
        specs = [
            MapSpec(whole, "Map of all areas"),
            MapSpec(data.frame(self._area), "Map inside an area"),
        ]
        super().__init__(
            specs,
            viewed,
            lambda _place, box: drawn(box),
            taken=_TAKEN,
        )
        self._state = state
        self.country, self.inside = self.views
        self.country.show_partition(False)
        # One cell of sea far beyond the map: themes make the figure's own ground see-through.
        x0, y0, x1, y1 = whole.bounds
        wide, high = x1 - x0, y1 - y0
        sea = Viewport(x0 - wide, y0 - high, x1 + wide, y1 + high, 1, 1)
        self.country.show_image(np.zeros((1, 1), dtype=np.uint8), sea)
        # A click that makes a corner of a polygon chooses no area.
        sketch = self.country.sketch
        self.choropleth = Choropleth(
            self.country.figure, lambda x, y: None if sketch.on else tapped(x, y)
        )
        self.border = Border(self.inside.figure)
        self._cards = list(self.frame[0])
        self.put_beside(beside)
        self.restyle()

    @property
    def ranges(self) -> LinkedRanges:
        return self.all_ranges[1 if self._cards[1].visible else 0]

    def seen(self) -> Sight:
        return Sight(self.viewport(0), self.viewport(1), self._area)

    def focus(self, data: CountryData, node: int) -> None:
        """Turn the map inside to another area."""
        if node != self._area and data.is_lowest[node]:
            self._area = node
            self.grids[1] = data.frame(node)
            x0, y0, x1, y1 = self.grids[1].bounds
            ranges = self.all_ranges[1]
            for one, start, end in ((ranges.x, x0, x1), (ranges.y, y0, y1)):
                # First: a browser moves an end that is beyond the bounds of the area before.
                one.bounds = None
                one.update(start=start, end=end)

    def zoom_to(self, bounds: tuple[float, float, float, float]) -> None:
        """Show a rectangle of the country, with some space around it."""
        x0, y0, x1, y1 = bounds
        grid = self.grids[0]
        factor = 1.15 * max((x1 - x0) / grid.width, (y1 - y0) / grid.height)
        factor = min(max(factor, 0.002), 1.0)
        for one, middle, side in (
            (self.all_ranges[0].x, (x0 + x1) / 2, grid.width),
            (self.all_ranges[0].y, (y0 + y1) / 2, grid.height),
        ):
            one.update(start=middle - side * factor / 2, end=middle + side * factor / 2)

    def show(self, screen: CountryScreen) -> None:
        old: CountryScreen | None = self._shown
        if old is None or old.look.shows != screen.look.shows:
            self.restyle()
        self._shown = screen
        self.focus(screen.data, screen.node)
        self.choropleth.show(screen.outlined, screen.numbers)
        self.choropleth.chosen.show(screen.outlined.shapes, screen.node)
        inside = screen.inside
        if self._cards[1].visible != (inside is not None):
            self._cards[1].visible = inside is not None
            self._leave(self._left)
        if inside is not None:
            self.inside.show_image(inside.bytes, inside.view)
            self.show_partition(0, inside.partition, inside.view)
            self.inside.show_partition(screen.look.partition)
            self.border.show(inside.border, 0)
        self.push()

    def show_truth(self, visible: bool) -> None:
        super().show_truth(visible)
        screen: CountryScreen | None = self._shown
        exact = screen is not None and screen.look.exact
        self.choropleth.show_truth(visible, coloured=visible or not exact)
        if exact and not visible:
            self.inside.clear()

    def around(self, whole: str) -> dict[str, str]:
        return {"flex": "1 1 100%"}

    def _leave(self, below: str) -> None:
        super()._leave(below)
        n_visible = sum(card.visible for card in self.frame[0])
        self.frame.styles = {**self.frame.styles, "flex": f"1000 1 {_WIDE * n_visible}px"}

    def draw(self, *painted: Any) -> None:
        """No panel covers these maps."""

    def restyle(self) -> None:
        difference = self.truth and self._state.shows == "difference"
        colours = palette.DIFFERENCE if difference else palette.PALETTES[self._state.palette]
        self.choropleth.recolour(colours)
        # The sea, and the names on it.
        self.country.recolour([palette.ground_under(colours)] * 256)
        self.inside.recolour(colours)
        for view in self.views:
            view.drag(self._state.drag)
        self.push()

    def caption(self, screen: CountryScreen, busy: bool = False) -> None:
        look, data = screen.look, screen.data
        of = of_truth(data.matrix) if look.shows == "true" else ""
        shows = f"{look.shows.capitalize()}{of}"
        kind = PREVIEW if screen.release.preview else DRAWN
        if look.shows != "private":
            kind = CURATOR.capitalize()
        level = level_name(data, screen.level)
        name = data.names[screen.node]
        self.title(0, f"{shows}: {level}", f"<p>{'computing …' if busy else kind}</p>")
        self.title(1, f"{shows}: inside {name}", f"<p>{_NEIGHBOURS}</p>")
        self.country.describe(
            f"{shows} map of {data.title}, {len(screen.outlined.nodes)} areas; chosen is {name}; "
            f"{_TOLD}"
        )
        self.inside.describe(f"{shows} map inside {name}; {_TOLD}")
        unit = "records" if screen.ground is None else f"records per {screen.ground:,g} km²"
        self.explain(0, self._bar(unit, screen.scale, look.shows == "difference"))
        if screen.inside is not None:
            cell = f"{screen.inside.release.grid.cell_width:,.0f} m cell"
            inside = screen.inside.scale
            self.explain(1, self._bar(f"records per {cell}", inside, look.shows == "difference"))

    def _bar(self, unit: str, scale: ColourScale, difference: bool) -> str:
        if difference:
            return difference_bar(f"Private − true, {unit}", scale, SIDES)
        kind = {"log": "logarithmic", "linear": "linear"}[scale.kind]
        colours = palette.PALETTES[self._state.palette]
        return count_bar(unit.capitalize(), scale, colours, f"{kind}, from the release")


def level_name(data: CountryData, level: int) -> str:
    """What a level is called; "whole" is the one above all."""
    return data.areas.levels[level - 1] if level else "whole"
