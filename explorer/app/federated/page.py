"""Federated: people keep their places; a server adds masked vectors, and a map grows by rounds."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import partial
from typing import Any, Self

from explorer.app.curator.answers import COLUMNS
from explorer.app.curator.city_page import CityPage
from explorer.app.curator.drawing import Drawing
from explorer.app.curator.explain import Panel
from explorer.app.curator.parts import PageParts
from explorer.app.curator.upload import UploadForm
from explorer.app.federated.compared import AlgorithmsPanel
from explorer.app.federated.drawer import FederatedDrawer
from explorer.app.federated.failing import FailingPanel
from explorer.app.federated.maps import RoundMaps
from explorer.app.federated.readout import FederatedReadout
from explorer.app.federated.rounds import RoundsPanel
from explorer.app.federated.screen import FederatedDrawing, compute
from explorer.app.federated.server_saw import ServerSawPanel
from explorer.app.federated.smooth_panel import SmoothPanel
from explorer.app.federated.thresholds import ThresholdsPanel
from explorer.app.kit.html import section
from explorer.app.kit.navigation import Link
from explorer.app.state import FederatedState
from explorer.scenario import Scenario
from explorer.scenario.choices import GRID_SIDES


class Federated(CityPage):
    """The Federated page, for a server or a notebook cell. Curator mode: it shows exact counts.

    Parameters
    ----------
    city : optional
        A key of `explorer.cities.catalogue.cities()`; counts of your own, a `FrequencyMatrix` or an
        array; or points (file, frame, `read_points`) with an ``extent``. Each record
        of counts is one person.
    scenario : Scenario, optional
        What to begin with, in place of city and settings; a link in the address goes before it.
    links : sequence of Link
        The server's pages.
    extent, user, boxes, keep, height, controls
        Of points and of a notebook's cell, see `CuratorPage`.
    **choices
        First settings: ``epsilon``, ``people``, ``shard``, ``algorithm``, ... (see
        `FederatedState` and `explorer.Federated`).

    Examples
    --------
    As the last line of a notebook cell it shows itself; in a script for ``panel serve``,
    ``Federated("madeup").servable()`` makes it a page.
    """

    KEY = "federated"
    TITLE = "Federated map explorer"
    State = FederatedState
    columns = COLUMNS
    MAPS, PRIVATE = ("Truth", "Private"), 1
    LOOKS = ("right", "scale", "truth")
    STYLES = ("palette", "partition", "drag")
    MORE = "How it was made"
    Upload, Controls, Text = UploadForm, FederatedDrawer, FederatedReadout
    #: The panel that is open at first.
    FIRST = "Rounds"
    drawer: FederatedDrawer
    readout: FederatedReadout
    _seen = False

    @classmethod
    def served(
        cls,
        links: Sequence[Link],
        *,
        city: Any = None,
        scenario: Scenario | None = None,
        **begin: Any,
    ) -> Self:
        """The page of one visitor, on the grid that the server was started with."""
        return super().served(links, city=city, scenario=scenario, **_grid(begin))

    @classmethod
    def warm(cls, **begin: Any) -> None:
        """Read the city, compile, and draw the preview that every page begins with."""
        cls(begin.get("city"), **_grid(begin)).page()

    def new_drawing(self, parts: PageParts) -> Drawing:
        """Screens of two maps."""
        return FederatedDrawing(parts, self.publish, self.slow, compute)

    def panels(self, parts: PageParts) -> dict[str, Panel | Callable[[], Panel]]:
        """Rounds, one person's part, thresholds, dropouts, all algorithms, a smooth map."""
        return {
            "Rounds": partial(RoundsPanel, parts),
            "Server": partial(ServerSawPanel, parts),
            "Thresholds": partial(ThresholdsPanel, parts),
            "Failing": partial(FailingPanel, parts),
            "Algorithms": partial(AlgorithmsPanel, parts),
            "Smooth": partial(SmoothPanel, parts),
        }

    def above(self) -> list[Any]:
        """The first sentence."""
        return [self.head(self.readout.summary)]

    def below(self, text: Mapping[str, str]) -> list[Any]:
        """What maps and table say, the ledger."""
        read = self.readout
        return [
            read.about,
            section("Boxes", text["Boxes"]),
            read.causes.view,
            section("Ledger", text["Ledger"]),
            read.ledger,
        ]

    def new_maps(self, data: Any) -> RoundMaps:
        """Two linked maps."""
        acts = self.drawing.viewed, self.drawn
        return RoundMaps(self.explain.beside, self.state, data.grid, *acts)

    def show(self, data: Any) -> None:
        """Show data; at first sight with the rounds below."""
        super().show(data)
        if not self._seen:
            self._seen = True
            self.explain.choice.value = self.FIRST


def _grid(begin: Mapping[str, Any]) -> dict[str, Any]:
    """The side of the cells among what a server begins with."""
    side = begin.get("side")
    return {"side": side} if side in GRID_SIDES else {}
