"""Explore: from a city's points to a private map that can be questioned."""

from __future__ import annotations

from base64 import b64encode
from collections.abc import Callable, Mapping
from functools import cached_property, partial
from pathlib import Path
from typing import Any, ClassVar

from explorer.app.boxes.released import ReleasePage, is_release
from explorer.app.curator.answers import COLUMNS
from explorer.app.curator.data import CityData
from explorer.app.curator.explain import Panel
from explorer.app.curator.own import UploadForm
from explorer.app.curator.parameters import help_pane
from explorer.app.curator.parts import PageParts
from explorer.app.curator.runs import Runs
from explorer.app.explore.gallery import GalleryPanel
from explorer.app.explore.leaf import LeafInspector
from explorer.app.explore.partition import PartitionPanel
from explorer.app.explore.replay import Replay
from explorer.app.explore.saves import Saves
from explorer.app.kit.html import html_pane, section
from explorer.app.kit.words import words
from explorer.app.mappage.drawer import DrawnDrawer
from explorer.app.mappage.drawing import Drawing
from explorer.app.mappage.maps import MapPair
from explorer.app.mappage.page import CityPage
from explorer.app.mappage.readout import MapReadout
from explorer.app.state import ExploreState
from explorer.errors import InputError


class ExploreDrawer(DrawnDrawer):
    """All controls of the Explore page; parameters as of `DrawnDrawer`."""

    WORDS: ClassVar[str] = "explore"
    OWN: ClassVar[str] = "Grid and own points"

    def data(self) -> list[Any]:
        """The city."""
        return ["About", "Figures", self.city, "City"]

    def grid(self) -> list[Any]:
        """Grid, and what is protected."""
        return [self.side, "Grid", self.bound, "What is protected", self.counted]

    def first(self) -> list[Any]:
        """What the right map shows."""
        return [self.tied.choose("right"), "Right map"]

    def look(self) -> list[Any]:
        """Colours, partition, the left map."""
        choose, switch = self.tied.choose, self.tied.switch
        return [
            *(choose("colour"), "Coloured by", choose("scale"), "Colour scale"),
            *(choose("palette"), "Colours", switch("partition"), "Partition"),
            *(choose("partition_over"), "Outlines", choose("truth"), "Left map"),
            *(choose("scale_from"), "Colour range", self.base_map(), "Base map"),
        ]


#: The private map with which the page of the made-up city begins, see `views.plotting.poster`.
KEPT_PICTURE = Path(__file__).with_name("made_up_city.png")
_KEPT = """<figure style="margin: 0">
<img src="data:image/png;base64,{png}" alt="Private map of a made-up city"
  style="width: 100%; max-width: 450px; image-rendering: pixelated">
<figcaption>A kept picture, not live: the private map of the made-up city. The live maps stand here
as soon as the program is compiled.</figcaption>
</figure>"""


class Explore(CityPage):
    """The Explore page, for a server or a notebook cell. Curator mode: it shows exact counts.

    Parameters
    ----------
    city : optional
        A key of `explorer.cities.catalogue.cities()`; counts of your own, a `FrequencyMatrix` or an
        array; or points (file, frame, `read_points`) with an ``extent``. A `Release` has a page
        of its own: its map and what it answers, without any truth.
    scenario : Scenario, optional
        What to begin with, in place of city and settings; a link in the address goes before it.
    links : sequence of Link
        The server's pages.
    extent, user, boxes, keep, height, controls
        Of points and of a notebook's cell, see `CuratorPage`.
    **choices
        First settings: ``mechanism``, ``epsilon``, ``side``, ``scale``, ... (see `ExploreState`).

    Examples
    --------
    As the last line of a notebook cell it shows itself; in a script for ``panel serve``,
    ``Explore("madeup").servable()`` makes it a page.
    """

    def __new__(cls, city: Any = None, *others: Any, **settings: Any) -> Any:
        """The page, or that of a release, which has no truth to be at the left."""
        if not is_release(city):
            return super().__new__(cls)
        wrong = [name for name in settings if name not in ("boxes", "keep", "height", "controls")]
        if wrong or others:
            raise InputError(
                f"A release is as it was drawn: leave {wrong[0] if wrong else 'the rest'} out."
            )
        return ReleasePage(city, **settings)

    KEY = "explore"
    TITLE = "Private map explorer"
    State = ExploreState
    columns = COLUMNS
    LOOKS = ("right", "colour", "scale", "scale_from", "truth")
    STYLES = ("palette", "partition", "partition_over", "drag")
    Upload, Controls, Text = UploadForm, ExploreDrawer, MapReadout
    MAPS, PRIVATE = ("Truth", "Private"), 1
    FILES = "boxes, answers, maps, a report"
    LEAD = "Drag a box: both counts stand at it."
    drawer: ExploreDrawer
    readout: MapReadout

    @classmethod
    def warm(cls, **begin: Any) -> None:
        """Read the city and compile what its maps need."""
        page = cls(**begin)
        for view in ("difference", "private"):
            page.state.put(right=view)
        page.page()

    def new_drawing(self, parts: PageParts) -> Drawing:
        """Screens of two maps."""
        return Drawing(parts, self.publish, self.slow)

    def panels(self, parts: PageParts) -> dict[str, Panel | Callable[[], Panel]]:
        """Why a leaf ended, all leaves, how the tree was built, other draws, all mechanisms."""
        return {
            "Leaf": lambda: self.leaf,
            "Leaves": partial(PartitionPanel, parts, self._look_at),
            "Replay": partial(Replay, parts),
            "Runs": partial(Runs, parts),
            "Gallery": partial(GalleryPanel, parts),
        }

    @cached_property
    def leaf(self) -> LeafInspector:
        """Why one area ended, made when it is first looked at."""
        return LeafInspector(self.parts)

    def _tapped(self, x: Any, y: Any) -> None:
        """A map was clicked; nothing happens before the panel was opened."""
        if "leaf" in self.__dict__:
            self.leaf.tapped(x, y)

    def _look_at(self, x: float, y: float, width: float) -> None:
        """Zoom to a place that a panel has found."""
        if self.maps is not None:
            self.maps.ranges.look_at(x, y, width)
            self.drawing.request()

    def above(self) -> list[Any]:
        """What to do."""
        return [self.head()]

    def below(self, text: Mapping[str, str]) -> list[Any]:
        """The summary, what the table says, the ledger."""
        read = self.readout
        return [
            read.key,
            read.summary,
            section("Boxes", text["Boxes"]),
            read.causes.view,
            read.about_bars,
            section("Ledger", text["Ledger"]),
            read.ledger,
        ]

    def show_kept_picture(self, place: tuple[Any, ...]) -> None:
        """The made-up city's private map as it was when the program was made, and that it is so."""
        if self.maps is None and place[0] == "madeup":
            png = b64encode(KEPT_PICTURE.read_bytes()).decode()
            self._map_holder.objects = [html_pane(_KEPT.format(png=png))]

    def files(self) -> list[Any]:
        """Answers, maps and a report, with the truth and without it."""
        saves = Saves(self.parts, lambda: self.screen, lambda: self.answers)
        return [help_pane(words(self.KEY)["Save"]), saves.view]

    def new_maps(self, data: CityData) -> MapPair:
        """Two linked maps."""
        return MapPair(self.state, data.grid, self.drawing.viewed, self.drawn, self._tapped)
