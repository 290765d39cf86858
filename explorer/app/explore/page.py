"""Explore: from a city's points to a private map that can be questioned."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

import panel as pn

from explorer.app.curator.answers import COLUMNS
from explorer.app.curator.data import CityData, heat_of, prepared, same_extent
from explorer.app.curator.drawing import Drawing
from explorer.app.curator.explain import Explain, Panel
from explorer.app.curator.map_page import MapPage
from explorer.app.curator.maps import MapPair
from explorer.app.curator.page import Place
from explorer.app.curator.parts import PageParts
from explorer.app.curator.runs import Runs
from explorer.app.curator.screen import Screen
from explorer.app.curator.start import OWN
from explorer.app.curator.upload import OwnPoints, UploadForm
from explorer.app.explore.drawer import ExploreDrawer
from explorer.app.explore.leaf import LeafInspector
from explorer.app.explore.readout import Readout
from explorer.app.explore.replay import Replay
from explorer.app.kit import ui
from explorer.app.kit.html import section
from explorer.app.kit.words import words
from explorer.app.state.explore import ExploreState
from explorer.app.work.document import held, soon
from explorer.errors import InputError
from explorer.points.points import Points
from explorer.views.markup import safe_text


class Explore(MapPage):
    """The Explore page, for a server or a notebook cell. Curator mode: it shows exact counts.

    Parameters
    ----------
    city : str, FrequencyMatrix or None
        A key of `explorer.cities.catalogue.cities()`, or counts of your own.
    scenario : Scenario, optional
        What to begin with, in place of city and settings; a link in the address goes before it.
    links : sequence of Link
        The server's pages.
    **choices
        First settings: ``mechanism``, ``epsilon``, ``side``, ``scale``, ... (see `ExploreState`).

    Examples
    --------
    As the last line of a notebook cell it shows itself; in a script for ``panel serve``,
    ``Explore("madeup").servable()`` makes it a page.
    """

    KEY = "explore"
    TITLE = "Private map explorer"
    State = ExploreState
    columns = COLUMNS
    LOOKS = ("right", "scale", "scale_from", "truth")
    STYLES = ("palette", "partition", "partition_over", "drag")
    drawer: ExploreDrawer
    _own: OwnPoints[Points] | None = None

    @classmethod
    def warm(cls, **begin: Any) -> None:
        """Read the city and compile what its maps need."""
        page = cls(**begin)
        for view in ("difference", "private"):
            page.state.put(right=view)
        page.page()

    @property
    def screen(self) -> Screen | None:
        """What is on the maps."""
        return self.readout.screen

    def compose(self, parts: PageParts) -> None:
        """Make drawer, pictures, panels and text."""
        self.drawing = Drawing(parts, self._publish, self._slow)
        self.upload = UploadForm(self._reading.run, self._use_own, parts.refuse)
        self.drawer = ExploreDrawer(
            parts, self.drawing, self.settings_changed, self._again, self.upload.view
        )
        self.readout = Readout(parts, self.table, self.TITLE)
        self.leaf = LeafInspector(parts.shown_maps, parts.refuse)
        panel = (parts.rectangles, parts.shown_maps, parts.refuse)
        panels: dict[str, Panel | Callable[[], Panel]] = {
            "Leaf": self.leaf,
            "Replay": partial(Replay, *panel),
            "Runs": partial(Runs, *panel),
        }
        self.explain = Explain(panels, words("explain"), parts.refuse, self.make_room)
        self._map_holder = pn.Column(sizing_mode="stretch_width", margin=0)
        text, read = words("explore"), self.readout
        self.body = pn.Column(
            self.message.view,
            ui.wrapping(read.strip, self.tools.view, gap="6px 16px", margin=(0, 0, 8, 0)),
            self._map_holder,
            read.summary,
            self.explain.view,
            section("Boxes", text["Boxes"]),
            self.exchange.view,
            self.table.widget,
            read.causes.view,
            read.about_bars,
            section("Ledger", text["Ledger"]),
            read.ledger,
            sizing_mode="stretch_width",
            margin=(10, 16, 24, 16),
        )

    def close(self) -> None:
        """Stop whatever runs: the visit has ended."""
        self.drawing.close()
        self.readout.close()

    # After a change.

    def outdated(self) -> None:
        """Back to a preview, of the present settings."""
        self.drawing.preview()

    def request(self) -> None:
        """The same release, drawn in another way."""
        self.drawing.request()

    def restyle(self) -> None:
        """Another style of the maps that are there."""
        if self.maps is not None and self.screen is not None:
            self.maps.restyle()
            self.maps.caption(self.screen)

    def zoom(self, factor: float) -> None:
        """Zoom both maps, below 1 inwards; 0 shows the whole map again."""
        if self.maps is not None:
            self.maps.zoom(factor)
            self.drawing.request()

    def highlight(self) -> None:
        """Show boxes and selected rows on the maps and in the panel below them."""
        if self.maps is not None:
            super().highlight()
            self.explain.selected()
            self.readout.causes.follow()

    def numbers(self) -> None:
        """Show the answers of the boxes."""
        self.readout.numbers()

    def released(self) -> bool:
        """Whether a drawn release is on the screen."""
        return self.screen is not None and not self.screen.release.preview

    # From choices to a picture.

    def _publish(self, screen: Screen) -> None:
        self.drawer.offer(screen)
        if screen.data is self.parts.data and self.maps is not None:
            self.readout.screen = screen
            held(pn.state.curdoc, partial(self.maps.show, screen))
            soon(self._rest)

    def _rest(self) -> None:
        """What is read after the maps."""
        if self.maps is None or self.screen is None:
            return
        self.maps.caption(self.screen)
        self.drawer.mechanisms[0].settings.show_facts(self.screen.release.facts)
        self.readout.show(self.screen)
        self.explain.show(self.screen)
        self.scenarios.follow()

    def _slow(self, busy: bool) -> None:
        if self.maps is not None and self.screen is not None:
            self.maps.caption(self.screen, busy=busy)

    def _again(self) -> None:
        """Show the kept release with the city and the settings that it was drawn from."""

        def use(data: CityData) -> None:
            if data is not self.parts.data:
                self._use(data)
            self._back()

        try:
            self.drawing.again(use)
        except InputError as error:
            self.parts.refuse(str(error))
        self.drawer.rebuild()

    # Cities.

    def at_hand(self, place: Place) -> CityData | None:
        """The city if it is there at once; uploaded points are counted anew on each grid."""
        uploaded = place[0] == OWN and self._own is not None
        return None if uploaded else super().at_hand(place)

    def read(self, place: Place) -> CityData:
        """The city, or the visitor's own points on a grid."""
        own, (key, side, bound) = self._own, place
        if key != OWN:
            return super().read(place)
        if own is None:
            raise InputError("There are no points of your own yet: load a file first.")
        bound = bound if own.points.user is not None else 0
        grid = own.grid(side)
        matrix, placed = own.points.place_on(grid, bound or None)
        data = prepared(own.title, own.points, matrix, heat_of(placed, grid))
        data.city = (OWN, side, bound)
        return data

    def _use_own(self, own: OwnPoints[Points]) -> None:
        """Show points that were uploaded; they exist in this session only."""
        self._own = own
        if own.points.notes:
            self.message.inform(safe_text(" ".join(own.points.notes), 600))
        self.parts.catalogue[own.title] = OWN
        self.drawer.city.options = dict(self.parts.catalogue)
        if self.state.city == OWN:
            self.look_for_city()
        else:
            self.drawer.city.value = OWN

    def show(self, data: CityData) -> None:
        """Show a city; another extent gets new maps."""
        elsewhere = self.maps is None or not same_extent(self.maps.grid, data.grid)
        self.place_boxes(data, elsewhere)
        if elsewhere:
            self.explain.close()
            self.parts.maps = MapPair(
                self.state, data.grid, self.drawing.viewed, self.drawn, self.leaf.tapped
            )
            self._map_holder.objects = [self.maps.view]
        else:
            self.maps.grid = data.grid
        self.drawing.use(data, self.maps.viewport)
        self.highlight()
        if self.screen is None:
            self.drawing.run_now()
        else:
            self.drawing.request()
