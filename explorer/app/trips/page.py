"""Trips: how many go from here, via there, to there, on one map for each place."""

from __future__ import annotations

import html
import re
from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import partial
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from explorer.app.boxes.answers import LEAVES, RANGE, Column, PrivateAnswers
from explorer.app.boxes.rectangles import was_dragged
from explorer.app.boxes.table import BoxTable
from explorer.app.curator.answers import CAUSES, COLUMNS, ERROR, BoxAnswers, under_bound
from explorer.app.curator.explain import OFF
from explorer.app.curator.own import (
    MOST_ROWS,
    OwnPoints,
    UploadForm,
    as_read,
    known_name,
    own_points,
)
from explorer.app.curator.panel import ComparingPanel
from explorer.app.curator.parts import PageParts
from explorer.app.curator.runs import Runs
from explorer.app.curator.start import OWN
from explorer.app.kit import ui
from explorer.app.kit.html import html_pane, put, section
from explorer.app.kit.words import words
from explorer.app.mappage.city_page import Place, Source
from explorer.app.mappage.drawer import DrawerSpec, DrawnDrawer
from explorer.app.mappage.page import MapPage
from explorer.app.mappage.readout import ForBoxes, Readout
from explorer.app.mappage.spec import PageSpec
from explorer.app.state import TripsState
from explorer.app.trips.built import Built
from explorer.app.trips.comparison import MECHANISM_COMPARISON
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
        return answer_trips(screen.release, screen.data, boxes)

    def complete(self, screen: TripScreen) -> TripScreen:
        return self.causes.complete(screen)

    def want(self, screen: TripScreen) -> None:
        self.causes.want(screen)

    def shows(self, screen: TripScreen) -> Sequence[str]:
        return [screen.look.shows] * len(screen.data.names)

    def figures(self, screen: TripScreen) -> Sequence[tuple[str, str]]:
        return key_figures(screen, screen.answers)

    def fits(self, screen: TripScreen | None) -> bool:
        return screen is not None and screen.data is self._parts.data

    def tell(self, screen: TripScreen) -> None:
        about_bars = words("trips")["Noise alone" if screen.answers.exact else "Intervals"]
        put(self.about_bars, f'<p class="quiet">{about_bars}</p>')
        self.selected()

    @property
    def quoting(self) -> Sequence[Any]:
        return (*super().quoting, self.answer, self.about)

    def selected(self) -> None:
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
        super().close()
        self.causes.close()


def _use(drawer: DrawnDrawer, data: TripData) -> None:
    key, *_, places = data.city
    menu = drawer.control("places")
    menu.options = places_of(key, places)
    menu.value = places
    menu.visible = len(menu.options) > 1


def _offer(drawer: DrawnDrawer, screen: TripScreen) -> None:
    """How counts lie inside a leaf is chosen only while there are maps of places."""
    drawer.control("spread").visible = screen.drawn.maps is not None


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
        self.places = ui.TextInput(label="Places (o, s1, s2, .., d)", value="o,d", **wide)
        return [self.places]

    def reader(self) -> Callable[..., Any]:
        fields = {"user": self.user_column, "weight": self.weight_column}
        fields |= {"crs": self.crs, "layer": self.layer}
        columns = {role: field.value.strip() or None for role, field in fields.items()}
        return partial(_read, places=self.places.value.strip() or "o,d", columns=columns)

    def ask_for_columns(self) -> None:
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


def _points(source: Any, extent: Any, user: str | None) -> OwnPoints[Any]:
    read = partial(as_read, kind=ReadTrips, user=user, read=partial(read_trips, places=None))
    return own_points(source, extent, read, "trips")


def _count(own_data: OwnPoints[ReadTrips], place: Place) -> TripData:
    _, side, bound, _ = place
    return counted(own_data, (OWN, side, bound, ",".join(own_data.points.places)))


def _fits(maps: TripMaps, data: TripData) -> bool:
    # Names and boxes belong to their places.
    return same_places(tuple(maps.grids), data.grids) and maps.names == data.names


def _maps(page: Trips, data: TripData) -> TripMaps:
    return TripMaps(
        page.state, data, page.drawing.viewed, lambda place, box: page.drawn(box, place)
    )


SPEC = PageSpec(
    key="trips",
    title="Private trips explorer",
    choices=TripsState,
    source=Source(
        lambda: {trip_set.title: key for key, trip_set in trip_sets().items()},
        find,
        is_loaded,
        load_trips,
        lambda source, _extent: own_trips(source) if isinstance(source, TripMatrix) else None,
        _points,
        _count,
    ),
    place=("city", "side", "bound", "places"),
    compute=compute,
    look=TripLook.of,
    maps=_maps,
    fits=_fits,
    looks=("shows", "focus", "spread", "scale", "scale_from", "partition"),
    columns=COUNTS,
    # As many as a trip may have; a page takes those of its trips when they have been read.
    boxes=("from", "to"),
    polygons=False,
    drawer=DrawerSpec(
        own="Grid and own trips",
        before=["About"],
        data=[("city", "Trips"), ("places", "Places")],
        first=[("shows", "Maps show"), ("focus", "Maps count")],
        look=[
            *(("spread", "Inside a leaf"), ("partition", "Partition"), ("scale", "Colour scale")),
            *(("palette", "Colours"), ("scale_from", "Colour range"), ("base_map", "Base map")),
        ],
        record="trip",
        made={
            "places": lambda drawer: drawer.tied.choose(
                "places", places_of(drawer.state.city, drawer.state.places)
            )
        },
        use=_use,
        offer=_offer,
    ),
    upload=TripUploadForm,
    readout=TripReadout,
    above=lambda page: [page.head(page.readout.answer)],
    below=lambda read, text: [
        read.key,
        read.about,
        section("Boxes", text["Boxes"]),
        read.about_bars,
        section("Ledger", text["Ledger"]),
        read.ledger,
    ],
    panels={
        "Flows": lambda page: FlowPanel(page.parts, page.setting_taken),
        "Built": lambda page: Built(page.parts),
        "Runs": lambda page: Runs(page.parts),
        "Compared": lambda page: ComparingPanel(page.parts, MECHANISM_COMPARISON),
    },
    more="More about these trips",
    # What the server was told about maps of a city is not for this page.
    begins=lambda begin: {"city": begin.get("city") if begin.get("city") in trip_sets() else None},
)


class Trips(MapPage):
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

    spec = SPEC

    @classmethod
    def warm(cls, **begin: Any) -> None:
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

    # What a visitor does.

    def drawn(self, box: Sequence[Any], place: int = 0) -> None:
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
        super().highlight()
        screen = None if self.maps is None else self.screen
        if screen is not None and TripLook.of(self.parts).row != screen.look.row:
            self.request()

    def boxes_changed(self) -> None:
        # Without a server the answers are there at once, and the screen then has these boxes.
        screen, boxes = self.screen, self.rectangles.boxes
        if len(boxes) and not self.rectangles.selected:
            # The chosen row was deleted: the one that the sentence is about is highlighted.
            self.rectangles.select([0], held=False)
        super().boxes_changed()
        if screen is not None and not np.array_equal(screen.boxes, boxes, equal_nan=True):
            self.request()

    def caption(self, screen: TripScreen, busy: bool = False) -> None:
        row, names = screen.look.row, self.rectangles.names
        name = names[row] if row is not None and row < len(names) else ""
        self.maps.caption(screen, name, busy)

    def setting_taken(self) -> None:
        self.drawer.rebuild()
        self.settings_changed()

    # Trips.

    def look_for_city(self) -> None:
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

    def own_choices(self, own_data: OwnPoints[ReadTrips]) -> dict[str, Any]:
        return {**super().own_choices(own_data), "places": ",".join(own_data.points.places)}

    def grids(self, data: Any) -> tuple[Grid, ...]:
        return tuple(data.grids)

    def place_boxes(self, data: Any, elsewhere: bool) -> None:
        if elsewhere:
            self.rectangles.places = data.names
        super().place_boxes(data, elsewhere)
        if elsewhere:
            self.rectangles.select([0], held=False)

    def columns_of(self, data: TripData) -> Any:
        counts = data.matrix.unit == "point"
        return COUNTS if counts else SHARES if data.matrix.unclipped is None else BOUNDED
