"""Country: areas inside each other, private against true, and a map inside each."""

from __future__ import annotations

import html
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from explorer.app.boxes.answers import LEAVES
from explorer.app.boxes.rectangles import was_dragged
from explorer.app.boxes.table import BoxTable
from explorer.app.country.budget import BudgetPanel
from explorer.app.country.comparison import WAY_COMPARISON
from explorer.app.country.data import (
    CountryData,
    OwnCountry,
    counted,
    is_loaded,
    load_country,
    own_country,
)
from explorer.app.country.maps import CountryMaps
from explorer.app.country.screen import AreaLook, CountryScreen, answer_country, compute
from explorer.app.country.sentences import AreaTable, about, answer, family_table, key_figures
from explorer.app.curator.answers import CAUSES, COLUMNS, BoxAnswers
from explorer.app.curator.own import MOST_BYTES, OwnPoints, UploadForm, as_read, read_upload
from explorer.app.curator.panel import ComparingPanel
from explorer.app.curator.parts import PageParts
from explorer.app.kit import ui
from explorer.app.kit.html import html_pane, put, section
from explorer.app.kit.numbers import finite
from explorer.app.kit.theme import SPOKEN_LABEL
from explorer.app.mappage.city_page import Place, Source
from explorer.app.mappage.drawer import SAVED, DrawerSpec, DrawnDrawer
from explorer.app.mappage.page import MapPage
from explorer.app.mappage.readout import GivenBars, Readout
from explorer.app.mappage.spec import PageSpec
from explorer.app.state import CountryState
from explorer.cities.countries import countries, find
from explorer.errors import InputError
from explorer.grid.areas.areas import Areas
from explorer.grid.areas.foreign import foreign_areas
from explorer.grid.containers import LAYERS
from explorer.grid.values import shown
from explorer.points.area_counts import AreaCounts
from explorer.points.points import Points, read_points
from explorer.queries.boxes import Box
from explorer.scenario.choices import LOWEST
from explorer.views.markup import ledger_bar

# Which part of an error is noise is not known of areas that are answered by their own counts.
BOXES = tuple(column for column in COLUMNS if column not in (LEAVES, CAUSES))


#: A menu of more is no menu: beyond it, it has the chosen area's neighbours alone.
_MOST = 700


class AreaPicker:
    """The menu of areas and two buttons.

    Parameters
    ----------
    choose : called with a node
    closer : called to show the chosen area larger
    refused : shows a sentence
    """

    def __init__(
        self,
        choose: Callable[[int], None],
        closer: Callable[[], None],
        refused: Callable[[str], None],
    ) -> None:
        self._choose = choose
        self._about: tuple[Any, ...] = ()
        self._parent = -1
        # Widths as styles: Panel adds fixed ones up, and a phone's page would be that wide.
        self.menu = ui.Select(
            label="Area", options={}, size="small", margin=0, styles={"flex": "0 1 290px"}
        )
        ui.bind(self.menu, self._picked, refused)
        self.up = self._button("One level up", self._upwards)
        self.closer = self._button("Zoom to it", closer)
        self.view = ui.wrapping(self.menu, self.up, self.closer, gap="6px 10px")
        self.view.styles = {**self.view.styles, "flex": "1 1 460px"}

    def show(self, screen: CountryScreen) -> None:
        data, node = screen.data, screen.node
        about = data, screen.level, node
        if about != self._about:
            self._about = about
            options = areas_of(data, screen.level, node)
            self.menu.param.update(options=options, value=node)
        self._parent = int(data.areas.parent[node])
        self.up.disabled = self._parent < 0

    def _picked(self, node: Any) -> None:
        if isinstance(node, int) and self._about and node != self._about[2]:
            self._choose(node)

    def _upwards(self) -> None:
        if self._parent >= 0:
            self._choose(self._parent)

    @staticmethod
    def _button(label: str, do: Callable[[], None]) -> Any:
        return ui.Button(
            label=label, variant="outlined", size="small", margin=0, on_click=lambda _event: do()
        )


def areas_of(data: CountryData, level: int, node: int) -> dict[str, int]:
    """Names and nodes for a menu: the path of the chosen area, then the areas of a level."""
    nodes = data.on_level(level).tolist()
    if len(nodes) > _MOST:
        nodes = data.areas.children(int(data.areas.parent[node])).tolist()
    result: dict[str, int] = {}
    for area in [*data.path(node), *sorted(nodes, key=lambda n: data.names[n].lower())]:
        if area not in result.values():
            result[_named(data, area, result)] = area
    return result


def _named(data: CountryData, node: int, menu: dict[str, int]) -> str:
    name = data.names[node]
    above = data.path(node)[1:-1]
    if above and data.names[above[-1]] != name:
        name = f"{name} ({data.names[above[-1]]})"
    while name in menu:
        name += "\u2009"
    return name


class CountryReadout(Readout):
    """Numbers and sentences about a country; parameters as of `Readout`."""

    screen: CountryScreen | None

    def __init__(self, parts: PageParts, table: BoxTable) -> None:
        super().__init__(parts, table)
        # Its intervals follow from one linear form over all draws.
        self.error_bars = GivenBars(self.numbers)
        self.answer = html_pane()
        self.about = html_pane(margin=(4, 0, 8, 0))
        self.family = html_pane(margin=(4, 0))
        # Next to the maps where so much space is left.
        self.family.styles = {"flex": "1 1 400px", "min-width": "0"}
        self.picker = AreaPicker(self._choose, self._closer, parts.refuse)
        self.areas = AreaTable(self._choose, parts.refuse)
        #: Set by the page: shows the chosen area larger.
        self.closer: Callable[[], None] = lambda: None

    def show(self, screen: CountryScreen) -> None:
        self.screen = screen
        put(self.ledger, ledger_bar([(row.stage, row.epsilon) for row in screen.release.ledger]))
        self.picker.show(screen)
        self.numbers()

    def ask(self, screen: CountryScreen, boxes: NDArray[np.float64]) -> BoxAnswers:
        return answer_country(screen.release, screen.data, boxes)

    def complete(self, screen: CountryScreen) -> CountryScreen:
        return screen

    def want(self, screen: CountryScreen) -> None:
        """Nothing is looked for."""

    def fits(self, screen: CountryScreen | None) -> bool:
        return screen is not None and screen.data is self._parts.data

    def shows(self, screen: CountryScreen) -> Sequence[str]:
        return [screen.look.shows] * 2

    def figures(self, screen: CountryScreen) -> Sequence[tuple[str, str]]:
        return key_figures(screen)

    def tell(self, screen: CountryScreen) -> None:
        text = html.escape(answer(screen, self.truth))
        put(self.answer, f'<p class="summary" role="status"><b>{text}</b></p>')
        put(self.about, f'<p class="quiet">{html.escape(about(screen, self.truth))}</p>')
        self.areas.show(screen, self.truth)
        put(self.family, family_table(screen, self.truth))
        # A grid without rows is none to a screen reader.
        self._table.widget.visible = len(screen.boxes) > 0

    @property
    def quoting(self) -> Sequence[Any]:
        return (*super().quoting, self.answer, self.about, self.family)

    def hide_truth(self) -> None:
        super().hide_truth()
        self.areas.hide_truth()

    def selected(self) -> None:
        """Boxes have no sentences of their own."""

    def _choose(self, node: int) -> None:
        self._parts.state.put(area=self._parts.data.areas.paths[node])

    def _closer(self) -> None:
        self.closer()


def _level(drawer: DrawnDrawer) -> Any:
    label = drawer.state.param.level.label
    menu = ui.Select(label=label, options={"lowest": LOWEST}, value=LOWEST, **ui.WIDE)
    return drawer.tied.tie(menu, "level")


def _shows(drawer: DrawnDrawer) -> Any:
    look = {"styles": {"flex": "0 1 250px"}, "stylesheets": [SPOKEN_LABEL]}
    return drawer.tied.choose("shows", sizing_mode=None, margin=0, **look)


def _use(drawer: DrawnDrawer, data: CountryData) -> None:
    *upper, lowest = data.areas.levels
    levels = {name: depth for depth, name in enumerate(upper, 1)}
    # The lowest of all countries has one value, so that another country need not change it.
    level = LOWEST if drawer.state.level > len(upper) else drawer.state.level
    menu = drawer.control("level")
    menu.param.update(options={"whole": 0, **levels, lowest: LOWEST}, value=level)
    # The same value under another name is not sent by itself.
    menu.param.trigger("value")


#: What boundaries are read from.
ENDINGS = (*LAYERS, ".parquet", ".geoparquet", ".zip")


class CountryUploadForm(UploadForm):
    """The form for a visitor's own boundaries and points."""

    WHAT: ClassVar[str] = "points"
    CHOOSE: ClassVar[str] = "Choose points"

    def extent(self, wide: dict[str, Any]) -> list[Any]:
        self.boundaries = ui.Upload(
            MOST_BYTES,
            label="Choose boundaries",
            accept=",".join(ENDINGS),
            uploaded_label="{filename} received",
            variant="outlined",
            **wide,
        )
        self.boundaries.refused = self._refused
        self.levels = ui.TextInput(
            label="Columns of the levels, coarsest first", value="country,region,district", **wide
        )
        return [self.boundaries, self.levels]

    def in_order(self, file: Any, place: list[Any]) -> list[Any]:
        return [*place, file]

    def order(self, data: bytes, name: str) -> Callable[..., OwnPoints[Any]]:
        """What reads both files, one after the other; takes how, as `read_apart`.

        Raises
        ------
        InputError
            Where no boundaries have been chosen.
        """
        content, file = self.boundaries.value, self.boundaries.filename
        if not content:
            raise InputError("No boundaries have been chosen: choose their file first.")
        levels = [part.strip() for part in self.levels.value.split(",") if part.strip()]
        columns = self.named_columns()

        def work(**how: Any) -> OwnPoints[Any]:
            areas = read_areas(content, str(file), levels, **how)
            try:
                points = read_upload(data, name, *columns, **how)
            except InputError:
                self.ask_for_columns()
                raise
            return OwnCountry(points, "Your country", areas=areas)

        return work

    def loaded(self, own_data: OwnPoints[Any]) -> None:
        self.boundaries.clear()
        super().loaded(own_data)


def read_areas(data: bytes, filename: str, levels: list[str], **how: Any) -> Areas:
    """Read uploaded boundaries, in a process of their own.

    Raises
    ------
    InputError
        For another ending, and as `foreign_areas`.
    """
    ending = Path(filename).suffix.lower()
    if ending not in ENDINGS:
        raise InputError(
            f"Boundaries ending in {shown(ending)} are not read: give one of {', '.join(ENDINGS)}."
        )
    return foreign_areas(data, levels, **how)


def _points(source: Any, extent: Any, user: str | None) -> OwnPoints[Any]:
    if not isinstance(extent, Areas):
        raise InputError(
            "Points of a country are counted in areas: give "
            'extent=Areas.read("districts.gpkg", ["country", "region", "district"]).'
        )
    points = as_read(source, Points, user, read_points)
    return OwnCountry(points, "Your country", areas=extent)


def _count(own_data: OwnPoints[Any], place: Place) -> CountryData:
    if not isinstance(own_data, OwnCountry) or own_data.areas is None:
        raise InputError("There are no areas of your own yet: load their boundaries first.")
    data = counted(own_data.title, own_data.areas, own_data.points, place)
    if data.true[0] == 0:
        raise InputError(
            "None of your points lies in any of your areas: check that both files are about "
            "one place, and that longitude and latitude are not swapped."
        )
    return data


def _maps(page: Country, data: CountryData) -> CountryMaps:
    acts = page.drawing.viewed, page.drawn, page.tapped
    return CountryMaps(page.state, data, *acts, page.readout.family, phone=page.parts.phone)


def _above(page: Country) -> list[Any]:
    page.readout.closer = page.closer
    shows = page.readout.picker.view, page.drawer.control("shows")
    return [
        page.head(page.readout.answer),
        ui.wrapping(*shows, gap="6px 16px", margin=(0, 0, 6, 0)),
    ]


SPEC = PageSpec(
    key="country",
    title="Private country explorer",
    choices=CountryState,
    source=Source(
        lambda: {country.title: key for key, country in countries().items()},
        find,
        is_loaded,
        load_country,
        lambda source, _extent: own_country(source) if isinstance(source, AreaCounts) else None,
        _points,
        _count,
    ),
    compute=compute,
    look=AreaLook.of,
    maps=_maps,
    fits=lambda maps, data: data is maps.data,
    looks=("level", "area", "shows", "per", "scale", "partition"),
    columns=BOXES,
    drawer=DrawerSpec(
        own="Cells and own country",
        before=["About"],
        data=[("city", "Country"), ("level", "Areas on the map")],
        grid=[("side", "Cells"), ("bound", "What is protected")],
        look=[
            *(("per", "Colours show"), ("partition", "Partition"), ("base_map", "Base map")),
            *(("scale", "Colour scale"), ("palette", "")),
        ],
        files={**SAVED, "Save as GeoPackage, a layer per level": "release.gpkg"},
        made={"level": _level, "shows": _shows},
        use=_use,
    ),
    upload=CountryUploadForm,
    readout=CountryReadout,
    above=_above,
    below=lambda read, text: [
        read.about,
        section("Boxes", text["Boxes"]),
        section("Areas", text["Areas"]),
        read.areas.widget,
        section("Ledger", text["Ledger"]),
        read.ledger,
    ],
    panels={
        "Budget": lambda page: BudgetPanel(page.parts),
        "Ways": lambda page: ComparingPanel(page.parts, WAY_COMPARISON),
    },
    more="More about these areas",
    # What the server was told about maps of a city is not for this page.
    begins=lambda begin: {"city": begin.get("city") if begin.get("city") in countries() else None},
    warmed=({"shows": "difference"}, {"shows": "true"}, {"shows": "private"}),
)


class Country(MapPage):
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

    spec = SPEC

    # What a visitor does.

    def drawn(self, box: Sequence[Any], place: int = 0) -> None:
        if self.maps is None or not any(was_dragged(box, self.maps.viewport(n)) for n in (0, 1)):
            return
        try:
            self.rectangles.draw(box)
        except InputError as error:
            self.parts.refuse(str(error))
        self.boxes_changed()

    def tapped(self, x: Any, y: Any) -> None:
        try:
            x, y = finite(x, "A place"), finite(y, "A place")
        except InputError:
            return
        screen: CountryScreen | None = self.shown()
        area = None if screen is None else screen.outlined.at(x, y)
        if area is not None:
            self.choose(area)

    def choose(self, node: int) -> None:
        self.state.put(area=self.parts.data.areas.paths[node])

    def closer(self) -> None:
        """Show the chosen area as large as it goes, with finer outlines."""
        screen: CountryScreen | None = self.shown()
        if screen is not None:
            self.maps.zoom_to(tuple(screen.outlined.shapes.bounds[screen.node]))
            self.drawing.request()

    def request(self) -> None:
        if self.maps is not None:
            super().request()

    # Countries.

    def examples(self, data: CountryData) -> list[tuple[Box, ...]]:
        return [(box,) for box in data.examples]

    def place_boxes(self, data: Any, elsewhere: bool) -> None:
        if elsewhere and self.parts.maps is not None and not self.scenarios.awaits(data):
            self.state.put(area=None, level=LOWEST)
        super().place_boxes(data, elsewhere)
