"""Trips: how many go from here, via there, to there, on one map for each place."""

from __future__ import annotations

import html
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from functools import partial
from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import NDArray

from explorer.app.boxes.answers import LEAVES, RANGE, Column, PrivateAnswers
from explorer.app.boxes.rectangles import was_dragged
from explorer.app.boxes.table import BoxTable
from explorer.app.curator.answers import CAUSES, COLUMNS, ERROR, BoxAnswers, under_bound
from explorer.app.curator.explain import OFF, Panel
from explorer.app.curator.own import (
    MOST_ROWS,
    OwnPoints,
    UploadForm,
    as_read,
    known_name,
    own_points,
)
from explorer.app.curator.parts import PageParts
from explorer.app.curator.runs import Runs
from explorer.app.curator.start import OWN
from explorer.app.kit import ui
from explorer.app.kit.html import html_pane, put, section
from explorer.app.kit.navigation import Link
from explorer.app.kit.words import words
from explorer.app.mappage.city_page import Place
from explorer.app.mappage.drawer import DrawnDrawer
from explorer.app.mappage.drawing import Drawing
from explorer.app.mappage.page import DrawnPage
from explorer.app.mappage.readout import ForBoxes, Readout
from explorer.app.state import TripsState
from explorer.app.trips.built import Built
from explorer.app.trips.comparison import ComparedPanel
from explorer.app.trips.data import (
    TripData,
    counted,
    is_loaded,
    load_trips,
    own_trips,
    same_places,
)
from explorer.app.trips.flows import FlowPanel
from explorer.app.trips.maps import TripMaps
from explorer.app.trips.screen import TripLook, TripScreen, answer_trips, compute
from explorer.app.trips.sentences import about, answer, key_figures
from explorer.cities.trip_sets import find, said_places, trip_sets
from explorer.errors import InputError
from explorer.grid.grid import Grid
from explorer.inspection.errors import ErrorSplit, error_split
from explorer.mechanisms import mechanism
from explorer.releases.places import place_counts
from explorer.scenario import Scenario
from explorer.trips.matrix import TripMatrix
from explorer.trips.trips import Trips as ReadTrips
from explorer.trips.trips import foreign_trips, read_trips

# A row of three places needs the space; how many leaves there are is below the maps.
_WIDTHS = {"true": 62, "private": 64, "difference": 68, CAUSES.name: 116, "error %": 58}
_RANGE = "95 % range"
COUNTS = tuple(
    replace(column, name=_RANGE, width=118)
    if column is RANGE
    else replace(column, width=_WIDTHS.get(column.name, 124))
    for column in COLUMNS
    if column is not LEAVES
)


def _ranges(answers: PrivateAnswers) -> list[str]:
    about = "" if answers.exact or answers.half_width is not None else "≈ "
    ends = zip(*answers.interval, strict=True)
    return [f"{about}{low:.2f} to {high:.2f}".replace("-", "−") for low, high in ends]


SHARES = (
    Column("true %", lambda answers: answers.true.round(2), 64, decimals=2, exact=True),
    Column("private %", lambda answers: answers.private.round(2), 74, decimals=2),
    Column(
        "difference, points",
        lambda answers: answers.shown_difference(2),
        80,
        decimals=2,
        sign=True,
        about="Private less true share, in percentage points.",
        exact=True,
    ),
    ERROR,
    Column(_RANGE, _ranges, 130, "text"),
)
#: With the causes of errors, where it is known what the bound leaves out.
BOUNDED = under_bound((*SHARES[:3], replace(CAUSES, width=116), *SHARES[3:]))


class TripCauses(ForBoxes[ErrorSplit]):
    """Finds both causes of every row's error: every node is counted anew for it.

    Parameters
    ----------
    ready : called with the document's lock held when those of the present screen have come
    """

    def __init__(self, ready: Callable[[], None]) -> None:
        super().__init__(_split, ready, delay=0.4)

    def complete(self, screen: TripScreen) -> TripScreen:
        """The screen with both causes, where they are known."""
        split, answers = self.of(screen), screen.answers
        if split is None or answers.spread is not None:
            return screen
        spread = answers.private - split.noise * answers.scale
        return replace(screen, answers=replace(answers, spread=spread))


def _split(screen: TripScreen) -> ErrorSplit:
    return error_split(screen.data.matrix, screen.release, screen.boxes)


class TripReadout(Readout):
    """Numbers and sentences about the maps of places; parameters as of `Readout`."""

    screen: TripScreen | None

    def __init__(self, parts: PageParts, table: BoxTable) -> None:
        super().__init__(parts, table)
        # Two lines whatever it says: the maps below it must not jump from row to row.
        self.answer = html_pane(styles={"min-height": "40px"})
        self.about = html_pane(margin=(0, 0, 8, 0))
        self.about_bars = html_pane()
        self.causes = TripCauses(self.numbers)

    def ask(self, screen: TripScreen, boxes: NDArray[np.float64]) -> BoxAnswers:
        """What both sides answer to other rows."""
        return answer_trips(screen.release, screen.data, boxes)

    def complete(self, screen: TripScreen) -> TripScreen:
        """The screen with both causes of its errors, where they are known."""
        return self.causes.complete(screen)

    def want(self, screen: TripScreen) -> None:
        """Ask for the causes where they are not."""
        self.causes.want(screen)

    def shows(self, screen: TripScreen) -> Sequence[str]:
        """The same on the map of every place."""
        return [screen.look.shows] * len(screen.data.names)

    def figures(self, screen: TripScreen) -> Sequence[tuple[str, str]]:
        """Label and value of the strip above the maps."""
        return key_figures(screen, screen.answers)

    def fits(self, screen: TripScreen | None) -> bool:
        """Rows of other trips, whose screen is on its way, may have another number of places."""
        return screen is not None and screen.data is self._parts.data

    def tell(self, screen: TripScreen) -> None:
        """How intervals are found, and the sentences about the chosen row."""
        about_bars = words("trips")["Noise alone" if screen.answers.exact else "Intervals"]
        put(self.about_bars, f'<p class="quiet">{about_bars}</p>')
        self.selected()

    @property
    def quoting(self) -> Sequence[Any]:
        """The panes whose texts say something of exact counts."""
        return (*super().quoting, self.answer, self.about)

    def selected(self) -> None:
        """The sentence about the chosen row: another one may have been selected."""
        screen, chosen = self.screen, self._parts.rectangles
        if screen is None or not self.fits(screen):
            return
        row = (chosen.selected or [0])[0]
        text = words("trips")["No row"]
        if row < min(len(screen.boxes), len(chosen)):
            text = answer(screen, chosen.names[row], row, exact=self.truth)
        put(self.answer, f'<p class="summary" role="status">{html.escape(text)}</p>')
        put(self.about, f'<p class="quiet">{html.escape(about(screen, exact=self.truth))}</p>')

    def close(self) -> None:
        """The session has ended."""
        super().close()
        self.causes.close()


class TripsDrawer(DrawnDrawer):
    """All controls of the Trips page; parameters as of `DrawnDrawer`."""

    WORDS: ClassVar[str] = "trips"
    RECORD: ClassVar[str] = "trip"
    OWN: ClassVar[str] = "Grid and own trips"
    #: How counts lie inside a leaf, once "View" was opened; it is there while there are maps.
    spread: Any = None
    _has_maps = True

    def data(self) -> list[Any]:
        """Trips and their places."""
        self.places = self.tied.choose("places", places_of(self.state.city, self.state.places))
        return ["About", self.city, "Trips", self.places, "Places"]

    def grid(self) -> list[Any]:
        """Grids, and what is protected."""
        return [self.side, "Grid", self.bound, "What is protected", self.counted]

    def first(self) -> list[Any]:
        """What the maps show and count."""
        choose = self.tied.choose
        return [choose("shows"), "Maps show", choose("focus"), "Maps count"]

    def look(self) -> list[Any]:
        """How counts lie inside leaves, colours."""
        choose, switch = self.tied.choose, self.tied.switch
        self.spread = choose("spread", visible=self._has_maps)
        return [
            *(self.spread, "Inside a leaf", switch("partition"), "Partition"),
            *(choose("scale"), "Colour scale", choose("palette"), "Colours"),
            *(choose("scale_from"), "Colour range", self.base_map(), "Base map"),
        ]

    def use(self, data: Any) -> None:
        """Offer the choices that these trips have."""
        assert isinstance(data, TripData)
        key, *_, places = data.city
        self.places.options = places_of(key, places)
        self.places.value = places
        # Counts that were brought along have the cells and places they have.
        self.side.visible = data.city[1] != 0
        self.places.visible = len(self.places.options) > 1
        self.bound.visible = data.has_users
        self.say_counted(data)

    def offer(self, screen: Any) -> None:
        """Offer what fits the screen: to save the kept release, to show it, to spread counts."""
        super().offer(screen)
        self._has_maps = screen.drawn.maps is not None
        if self.spread is not None:
            self.spread.visible = self._has_maps


def places_of(key: str, present: str) -> dict[str, str]:
    """Lists of places that trips can be asked about, by their names on a menu."""
    try:
        choices = [",".join(places) for places in find(key).choices()]
    except InputError:
        choices = []
    choices += [present] * (present not in choices)
    return {said_places(choice.split(",")): choice for choice in choices}


_PLACE = re.compile(r"o|d|s[0-9]{1,2}")


class TripUploadForm(UploadForm):
    """The form for a visitor's own trips."""

    WHAT: ClassVar[str] = "trips"

    def columns(self, wide: dict[str, Any]) -> list[Any]:
        """Which places of a trip there are."""
        self.places = ui.TextInput(label="Places (o, s1, s2, .., d)", value="o,d", **wide)
        return [self.places]

    def reader(self) -> Callable[..., Any]:
        """What reads the file with the places that are named now."""
        fields = {"user": self.user_column, "weight": self.weight_column}
        fields |= {"crs": self.crs, "layer": self.layer}
        columns = {role: field.value.strip() or None for role, field in fields.items()}
        return partial(_read, places=self.places.value.strip() or "o,d", columns=columns)

    def ask_for_columns(self) -> None:
        """The places are in the open; the CRS or the layer may have to be named."""
        self.crs.visible = self.layer.visible = True


def _read(
    data: bytes, filename: str, places: str, columns: dict[str, Any], **how: Any
) -> ReadTrips:
    named = [part.strip() for part in places.split(",")]
    if len(named) < 2 or not all(map(_PLACE.fullmatch, named)):
        raise InputError(
            "A trip has two or more places here, called o, d and s1, s2, .. for stops: name them "
            "such as o,d or o,s1,d, and the columns of the file o_lon, o_lat and so on."
        )
    return foreign_trips(data, known_name(filename), named, columns, MOST_ROWS, **how)


class Trips(DrawnPage):
    """The Trips page, for a server or a notebook cell. Curator mode: it shows exact counts.

    Parameters
    ----------
    city : optional
        A key of `explorer.cities.trip_sets.trip_sets()`; counts of your own, a `TripMatrix`; or
        trips (file, frame, `read_trips`) with an ``extent`` for all of their places.
    scenario : Scenario, optional
        What to begin with, in place of trips and settings; a link in the address goes before it.
    links : sequence of Link
        The server's pages.
    extent, user, boxes, keep, height, controls
        Of data of your own and of a notebook's cell, see `CuratorPage`.
    **choices
        First settings: ``mechanism``, ``epsilon``, ``side``, ``places``, ... (see `TripsState`).

    Examples
    --------
    As the last line of a notebook cell it shows itself; in a script for ``panel serve``,
    ``Trips("madeup").servable()`` makes it a page.
    """

    KEY = "trips"
    TITLE = "Private trips explorer"
    State = TripsState
    PLACE = ("city", "side", "bound", "places")
    columns = COUNTS
    LOOKS = ("shows", "focus", "spread", "scale", "scale_from", "partition")
    STYLES = ("palette", "drag")
    POLYGONS = False
    # As many as a trip may have; a page takes those of its trips when they have been read.
    places = ("from", "to")
    MORE = "More about these trips"
    Upload, Controls, Text = TripUploadForm, TripsDrawer, TripReadout
    drawer: TripsDrawer
    readout: TripReadout

    @classmethod
    def served(
        cls, links: Sequence[Link], *, city: Any = None, scenario: Scenario | None = None, **_: Any
    ) -> Self:
        """The page of one visitor; what the server was told about maps of a city is not for it."""
        return super().served(links, city=city if city in trip_sets() else None, scenario=scenario)

    @classmethod
    def warm(cls, **begin: Any) -> None:
        """Read the trips and compile what their maps need."""
        city = begin.get("city")
        # A grid has intervals in closed form: none are simulated while no one looks.
        page = cls(city if city in trip_sets() else None, mechanism="eug")
        for view in ("difference", "true", "private"):
            page.state.put(shows=view)
        for panel in ("Flows", "Built", OFF):
            page.explain.choice.value = panel
        matrix = page.parts.data.matrix
        release = mechanism("gravity")(epsilon=1.0).release(matrix, rng=0)
        answer_trips(release, page.parts.data, page.rectangles.boxes)
        place_counts(release, 0)
        page.page()

    def new_drawing(self, parts: PageParts) -> Drawing:
        """Screens of one map for each place."""
        return Drawing(parts, self.publish, self.slow, compute, TripLook.of)

    def panels(self, parts: PageParts) -> dict[str, Panel | Callable[[], Panel]]:
        """Flows between zones, how the tree was cut, other draws, all mechanisms."""
        return {
            "Flows": partial(FlowPanel, parts, self._setting_taken),
            "Built": partial(Built, parts),
            "Runs": partial(Runs, parts),
            "Compared": partial(ComparedPanel, parts),
        }

    def above(self) -> list[Any]:
        """The answer of the chosen row."""
        return [self.head(self.readout.answer)]

    def below(self, text: Mapping[str, str]) -> list[Any]:
        """What the maps and the table say, the ledger."""
        read = self.readout
        return [
            read.key,
            read.about,
            section("Boxes", text["Boxes"]),
            read.about_bars,
            section("Ledger", text["Ledger"]),
            read.ledger,
        ]

    # What a visitor does.

    def drawn(self, box: Sequence[Any], place: int = 0) -> None:
        """A box was dragged: it fills the gap of the chosen row, or begins a row, now chosen."""
        if self.maps is None or not was_dragged(box, self.maps.viewport(place)):
            return
        try:
            self.rectangles.select([self.rectangles.draw(box, place)], held=False)
        except InputError as error:
            self.parts.refuse(str(error))
        self.boxes_changed()
        self.request()

    def _add_box(self) -> None:
        """A row with a box in the middle of the first map: the maps are about it at once."""
        super()._add_box()
        self.rectangles.select([len(self.rectangles) - 1], held=False)
        self.boxes_changed()

    def highlight(self) -> None:
        """Show the boxes; the maps are about the selected row."""
        super().highlight()
        screen = None if self.maps is None else self.screen
        if screen is not None and TripLook.of(self.parts).row != screen.look.row:
            self.request()

    def boxes_changed(self) -> None:
        """The maps are about one of the rows, so they change with it."""
        # Without a server the answers are there at once, and the screen then has these boxes.
        screen, boxes = self.screen, self.rectangles.boxes
        if len(boxes) and not self.rectangles.selected:
            # The chosen row was deleted: the one that the sentence is about is highlighted.
            self.rectangles.select([0], held=False)
        super().boxes_changed()
        if screen is not None and not np.array_equal(screen.boxes, boxes, equal_nan=True):
            self.request()

    def caption(self, screen: TripScreen, busy: bool = False) -> None:
        """Titles that name the row the maps are about."""
        row, names = screen.look.row, self.rectangles.names
        name = names[row] if row is not None and row < len(names) else ""
        self.maps.caption(screen, name, busy)

    def shown(self) -> TripScreen | None:
        """The screen, if it is of the trips that the maps are of: others may be on their way."""
        screen: TripScreen | None = super().shown()
        return screen if screen is not None and screen.data is self.parts.data else None

    def _setting_taken(self) -> None:
        """A panel has changed a setting of the mechanism."""
        self.drawer.rebuild()
        self.settings_changed()

    # Trips.

    def look_for_city(self) -> None:
        """Show the chosen trips; what they do not have of the choices for others is let go."""
        state, data = self.state, self.parts.data
        if data is not None and state.city not in (data.city[0], OWN):
            trip_set, (city, side, bound, places) = find(state.city), state.place
            fits = all(place in trip_set.places for place in places.split(","))
            target = (city, side, bound if trip_set.has_users else 0, places if fits else "o,d")
            if target != state.place:
                state.go(target)
                # Last: whatever is read begins with an empty message.
                self.message.inform(
                    f"{trip_set.title} has no such stop or does not say whose trips they are: the "
                    "places or what is protected have changed."
                )
                return
        super().look_for_city()

    def counts_of(self, source: Any, extent: Any) -> Any:
        """Counts of trips that someone brought along."""
        return own_trips(source) if isinstance(source, TripMatrix) else None

    def points_of(self, source: Any, extent: Any, user: str | None) -> OwnPoints[Any]:
        """Trips that someone brought along, with the extent of all their places."""

        def read(source: Any) -> ReadTrips:
            return as_read(source, ReadTrips, user, partial(read_trips, places=None))

        return own_points(source, extent, read, "trips")

    def known(self, key: str) -> None:
        """Refuse a key that no trips have."""
        find(key)

    def catalogue(self) -> dict[str, str]:
        """Title of each set of trips to its key."""
        return {trip_set.title: key for key, trip_set in trip_sets().items()}

    def is_loaded(self, place: Place) -> bool:
        """Whether `load` would answer at once."""
        return is_loaded(place)

    def load(self, place: Place) -> Any:
        """Trips of the catalogue, however long that takes."""
        return load_trips(place)

    def count_own(self, own_data: OwnPoints[ReadTrips], place: Place) -> TripData:
        """A visitor's trips on grids of the extent that was declared for them."""
        _, side, bound, _ = place
        return counted(own_data, (OWN, side, bound, ",".join(own_data.points.places)))

    def own_choices(self, own_data: OwnPoints[ReadTrips]) -> dict[str, Any]:
        """Their places, and single trips where no one knows whose they are."""
        return {**super().own_choices(own_data), "places": ",".join(own_data.points.places)}

    def grids(self, data: Any) -> tuple[Grid, ...]:
        """The grid of each place."""
        return tuple(data.grids)

    def show(self, data: Any) -> None:
        """Show trips: shares where persons are protected."""
        if self.is_elsewhere(data):
            self.rectangles.places = data.names
        super().show(data)

    def place_boxes(self, data: Any, elsewhere: bool) -> None:
        """Offer what the trips have; the maps are about the first row, and it is highlighted."""
        super().place_boxes(data, elsewhere)
        if elsewhere:
            self.rectangles.select([0], held=False)

    def columns_of(self, data: TripData) -> Any:
        """Shares where persons are protected."""
        counts = data.matrix.unit == "point"
        return COUNTS if counts else SHARES if data.matrix.unclipped is None else BOUNDED

    def is_elsewhere(self, data: TripData) -> bool:
        """Other places or another extent, or the same ground in another order."""
        maps = self.maps
        if maps is None or not same_places(tuple(maps.grids), data.grids):
            return True
        # Names and boxes belong to their places.
        return bool(maps.names != data.names)

    def new_maps(self, data: TripData) -> TripMaps:
        """One map for each place."""
        return TripMaps(self.state, data, self.drawing.viewed, self._dragged)

    def recount(self, data: TripData) -> None:
        """Other cells of the same extents."""
        self.maps.grids = list(data.grids)

    def _dragged(self, place: int, box: Any) -> None:
        self.drawn(box, place)
