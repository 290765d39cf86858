"""Explore: from a city's points to a private map that can be questioned."""

from __future__ import annotations

from functools import cached_property
from typing import Any

from explorer.app.boxes.released import ReleasePage, is_release
from explorer.app.curator.answers import COLUMNS
from explorer.app.curator.data import CityData
from explorer.app.curator.parameters import help_pane
from explorer.app.curator.runs import Runs
from explorer.app.curator.screen import compute
from explorer.app.explore.gallery import GalleryPanel
from explorer.app.explore.leaf import LeafInspector
from explorer.app.explore.partition import PartitionPanel
from explorer.app.explore.replay import Replay
from explorer.app.explore.saves import Saves
from explorer.app.kit.html import section
from explorer.app.kit.words import words
from explorer.app.mappage.drawer import DrawerSpec
from explorer.app.mappage.maps import MapPair, same_ground
from explorer.app.mappage.page import MapPage
from explorer.app.mappage.readout import MapReadout
from explorer.app.mappage.spec import PageSpec
from explorer.app.state import ExploreState
from explorer.errors import InputError


def _maps(page: Explore, data: CityData) -> MapPair:
    return MapPair(page.state, data.grid, page.drawing.viewed, page.drawn, page.tapped)


SPEC = PageSpec(
    key="explore",
    title="Private map explorer",
    choices=ExploreState,
    compute=compute,
    maps=_maps,
    fits=same_ground,
    looks=("right", "colour", "scale", "scale_from", "truth"),
    styles=("palette", "partition", "partition_over", "drag"),
    columns=COLUMNS,
    views=("Truth", "Private"),
    private=1,
    drawer=DrawerSpec(
        first=[("right", "Right map")],
        look=[
            *(("colour", "Coloured by"), ("scale", "Colour scale"), ("palette", "Colours")),
            *(("partition", "Partition"), ("partition_over", "Outlines"), ("truth", "Left map")),
            *(("scale_from", "Colour range"), ("base_map", "Base map")),
        ],
    ),
    readout=MapReadout,
    below=lambda read, text: [
        read.key,
        read.summary,
        section("Boxes", text["Boxes"]),
        read.causes.view,
        read.about_bars,
        section("Ledger", text["Ledger"]),
        read.ledger,
    ],
    panels={
        "Leaf": lambda page: page.leaf,
        "Leaves": lambda page: PartitionPanel(page.parts, page.look_at),
        "Replay": lambda page: Replay(page.parts),
        "Runs": lambda page: Runs(page.parts),
        "Gallery": lambda page: GalleryPanel(page.parts),
    },
    lead="Drag a box: both counts stand at it.",
    files="boxes, answers, maps, a report",
    warmed=({"right": "difference"}, {"right": "private"}),
)


class Explore(MapPage):
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

    spec = SPEC

    @cached_property
    def leaf(self) -> LeafInspector:
        """Why one area ended, made when it is first looked at."""
        return LeafInspector(self.parts)

    def tapped(self, x: Any, y: Any) -> None:
        """A map was clicked; nothing happens before the panel was opened."""
        if "leaf" in self.__dict__:
            self.leaf.tapped(x, y)

    def look_at(self, x: float, y: float, width: float) -> None:
        """Zoom to a place that a panel has found."""
        if self.maps is not None:
            self.maps.ranges.look_at(x, y, width)
            self.drawing.request()

    def files(self) -> list[Any]:
        saves = Saves(self.parts, lambda: self.screen, lambda: self.answers)
        return [help_pane(words(self.KEY)["Save"]), saves.view]
