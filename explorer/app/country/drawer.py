"""The left drawer of Country: what is counted, and how the areas are drawn."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, ClassVar

from explorer.app.country.data import CountryData
from explorer.app.curator.drawn_drawer import DrawnDrawer
from explorer.app.kit import ui
from explorer.app.kit.theme import SPOKEN_LABEL
from explorer.scenario.choices import LOWEST


class CountryDrawer(DrawnDrawer):
    """All controls of the Country page; parameters as of `DrawnDrawer`."""

    WORDS: ClassVar[str] = "country"
    OWN: ClassVar[str] = "Cells and own country"
    FILES: ClassVar[Mapping[str, str]] = {
        **DrawnDrawer.FILES,
        "Save as GeoPackage, a layer per level": "release.gpkg",
    }

    def data(self) -> list[Any]:
        """Country and level."""
        (chosen,) = self.mechanisms
        # There is one mechanism; its settings and the mechanisms inside are below.
        chosen.menu.visible = False
        menu = ui.Select(
            label=self.state.param.level.label,
            options={"lowest": LOWEST},
            value=LOWEST,
            **ui.WIDE,
        )
        self.level = self.tied.tie(menu, "level")
        #: Above the maps: it is what a visitor changes most.
        self.shows = self.tied.choose(
            "shows",
            sizing_mode=None,
            margin=0,
            styles={"flex": "0 1 250px"},
            stylesheets=[SPOKEN_LABEL],
        )
        return ["About", self.city, "Country", self.level, "Areas on the map"]

    def grid(self) -> list[Any]:
        """Cells, and what is protected."""
        return [self.side, "Cells", self.bound, "What is protected", self.counted]

    def look(self) -> list[Any]:
        """What the colours of the maps represent."""
        choose, switch = self.tied.choose, self.tied.switch
        return [
            *(choose("per"), "Colours show"),
            *(switch("partition"), "Partition", self.base_map(), "Base map"),
            *(choose("scale"), "Colour scale", choose("palette")),
        ]

    def use(self, data: Any) -> None:
        """Offer the levels that these areas have."""
        assert isinstance(data, CountryData)
        *upper, lowest = data.areas.levels
        levels = {name: depth for depth, name in enumerate(upper, 1)}
        # The lowest of all countries has one value, so that another country need not change it.
        level = LOWEST if self.state.level > len(upper) else self.state.level
        self.level.param.update(options={"whole": 0, **levels, lowest: LOWEST}, value=level)
        # The same value under another name is not sent by itself.
        self.level.param.trigger("value")
        # Counts that were brought along have the cells they have.
        self.side.visible = data.city[1] != 0
        self.bound.visible = data.has_users
        self.say_counted(data)
