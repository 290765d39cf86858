"""Country: areas inside each other, private against true, and a map inside each."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import partial
from typing import Any, Self

from explorer.app.boxes.rectangles import was_dragged
from explorer.app.country.boxes import BOXES
from explorer.app.country.budget import BudgetPanel
from explorer.app.country.compared import WaysPanel
from explorer.app.country.data import (
    CountryData,
    OwnCountry,
    counted,
    is_loaded,
    load_country,
    own_country,
)
from explorer.app.country.drawer import CountryDrawer
from explorer.app.country.maps import CountryMaps
from explorer.app.country.readout import CountryReadout
from explorer.app.country.screen import AreaLook, CountryScreen, compute
from explorer.app.country.upload import CountryUploadForm
from explorer.app.curator.drawing import Drawing
from explorer.app.curator.drawn_page import DrawnPage
from explorer.app.curator.explain import Panel
from explorer.app.curator.own import OwnPoints, as_read
from explorer.app.curator.page import Place
from explorer.app.curator.parts import PageParts
from explorer.app.kit import ui
from explorer.app.kit.html import section
from explorer.app.kit.navigation import Link
from explorer.app.kit.numbers import finite
from explorer.app.state import CountryState
from explorer.cities.countries import countries, find
from explorer.errors import InputError
from explorer.grid.areas.areas import Areas
from explorer.points.area_counts import AreaCounts
from explorer.points.points import Points, read_points
from explorer.queries.boxes import Box
from explorer.scenario import Scenario
from explorer.scenario.choices import LOWEST


class Country(DrawnPage):
    """The Country page, for a server or a notebook cell. Curator mode: it shows exact counts.

    Parameters
    ----------
    city : optional
        A key of `explorer.cities.countries.countries()`; counts of your own, an `AreaCounts`; or
        points with `Areas` as their ``extent``.
    scenario : Scenario, optional
        What to begin with, in place of country and settings; a link in the address goes before it.
    links : sequence of Link
        The server's pages.
    extent, user, boxes, keep, height, controls
        Of data of your own and of a notebook's cell, see `CuratorPage`.
    **choices
        First settings: ``epsilon``, ``level``, ``shows``, ``own_share``, ... (see `CountryState`).

    Examples
    --------
    As the last line of a notebook cell it shows itself; in a script for ``panel serve``,
    ``Country("nation").servable()`` makes it a page.
    """

    KEY = "country"
    TITLE = "Private country explorer"
    State = CountryState
    columns = BOXES
    LOOKS = ("level", "area", "shows", "per", "scale", "partition")
    STYLES = ("palette", "drag")
    MORE = "More about these areas"
    Upload, Controls, Text = CountryUploadForm, CountryDrawer, CountryReadout
    drawer: CountryDrawer
    readout: CountryReadout

    @classmethod
    def served(
        cls, links: Sequence[Link], *, city: Any = None, scenario: Scenario | None = None, **_: Any
    ) -> Self:
        """The page of one visitor; what the server was told about maps of a city is not for it."""
        return super().served(links, city=city if city in countries() else None, scenario=scenario)

    @classmethod
    def warm(cls, **begin: Any) -> None:
        """Read the country, compile, and draw the preview that every page begins with."""
        city = begin.get("city")
        page = cls(city if city in countries() else None)
        for view in ("difference", "true", "private"):
            page.state.put(shows=view)
        page.page()

    def new_drawing(self, parts: PageParts) -> Drawing:
        """Screens of all areas and of the map inside one."""
        return Drawing(parts, self.publish, self.slow, compute, AreaLook.of)

    def panels(self, parts: PageParts) -> dict[str, Panel | Callable[[], Panel]]:
        """Where the budget went, and what other architectures would do."""
        return {"Budget": partial(BudgetPanel, parts), "Ways": partial(WaysPanel, parts)}

    def above(self) -> list[Any]:
        """The chosen area, what is shown of all of them."""
        read = self.readout
        read.closer = self.closer
        return [
            self.head(read.answer),
            ui.wrapping(read.picker.view, self.drawer.shows, gap="6px 16px", margin=(0, 0, 6, 0)),
        ]

    def below(self, text: Mapping[str, str]) -> list[Any]:
        """What the maps say, all areas, the ledger."""
        read = self.readout
        return [
            read.about,
            section("Boxes", text["Boxes"]),
            section("Areas", text["Areas"]),
            read.areas.widget,
            section("Ledger", text["Ledger"]),
            read.ledger,
        ]

    # What a visitor does.

    def drawn(self, box: Sequence[Any], place: int = 0) -> None:
        """A rectangle was dragged on either map; both are in one plane."""
        if self.maps is None or not any(was_dragged(box, self.maps.viewport(n)) for n in (0, 1)):
            return
        try:
            self.rectangles.draw(box)
        except InputError as error:
            self.parts.refuse(str(error))
        self.boxes_changed()

    def tapped(self, x: Any, y: Any) -> None:
        """A click on the country chooses the area there."""
        try:
            x, y = finite(x, "A place"), finite(y, "A place")
        except InputError:
            return
        screen: CountryScreen | None = self.shown()
        area = None if screen is None else screen.outlined.at(x, y)
        if area is not None:
            self.choose(area)

    def choose(self, node: int) -> None:
        """Another area."""
        self.state.put(area=self.parts.data.areas.paths[node])

    def closer(self) -> None:
        """Show the chosen area as large as it goes, with finer outlines."""
        screen: CountryScreen | None = self.shown()
        if screen is not None:
            self.maps.zoom_to(tuple(screen.outlined.shapes.bounds[screen.node]))
            self.drawing.request()

    def request(self) -> None:
        """The same release, drawn in another way, once there is one."""
        if self.maps is not None:
            super().request()

    def shown(self) -> CountryScreen | None:
        """The screen, if it is of the country that the maps are of: another may be on its way."""
        screen: CountryScreen | None = super().shown()
        return screen if screen is not None and screen.data is self.parts.data else None

    # Countries.

    def counts_of(self, source: Any, extent: Any) -> Any:
        """Counts of areas that someone brought along."""
        return own_country(source) if isinstance(source, AreaCounts) else None

    def points_of(self, source: Any, extent: Any, user: str | None) -> OwnPoints[Any]:
        """Points that someone brought along, with the areas that they are counted in."""
        if not isinstance(extent, Areas):
            raise InputError(
                "Points of a country are counted in areas: give "
                'extent=Areas.read("districts.gpkg", ["country", "region", "district"]).'
            )
        points = as_read(source, Points, user, read_points)
        return OwnCountry(points, "Your country", areas=extent)

    def known(self, key: str) -> None:
        """Refuse a key that no country has."""
        find(key)

    def catalogue(self) -> dict[str, str]:
        """Title of each country to its key."""
        return {country.title: key for key, country in countries().items()}

    def is_loaded(self, place: Place) -> bool:
        """Whether `load` would answer at once."""
        return is_loaded(place)

    def load(self, place: Place) -> Any:
        """A country of the catalogue, however long that takes."""
        return load_country(place)

    def count_own(self, own_data: OwnPoints[Any], place: Place) -> CountryData:
        """A visitor's points in a visitor's areas."""
        if not isinstance(own_data, OwnCountry) or own_data.areas is None:
            raise InputError("There are no areas of your own yet: load their boundaries first.")
        data = counted(own_data.title, own_data.areas, own_data.points, place)
        if data.true[0] == 0:
            raise InputError(
                "None of your points lies in any of your areas: check that both files are about "
                "one place, and that longitude and latitude are not swapped."
            )
        return data

    def examples(self, data: CountryData) -> list[tuple[Box, ...]]:
        """In the middle of a country they would lie in the sea as often as not."""
        return [(box,) for box in data.examples]

    def place_boxes(self, data: Any, elsewhere: bool) -> None:
        """Another country: the page or a scenario chooses its area."""
        if elsewhere and self.parts.maps is not None and not self.scenarios.awaits(data):
            self.state.put(area=None, level=LOWEST)
        super().place_boxes(data, elsewhere)

    def is_elsewhere(self, data: CountryData) -> bool:
        """Other areas, or other cells of them."""
        return self.maps is None or data is not self.maps.data

    def new_maps(self, data: CountryData) -> CountryMaps:
        """Two maps in one plane."""
        acts = self.drawing.viewed, self._dragged, self.tapped
        beside = self.readout.family
        return CountryMaps(self.state, data, *acts, beside, phone=self.parts.phone)

    def recount(self, data: CountryData) -> None:
        """Maps of the same data stay as they are."""

    def _dragged(self, box: Any) -> None:
        self.drawn(box)
