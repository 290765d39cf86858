"""A page with maps: boxes on them, previews that follow the choices, drawn releases."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Sequence
from dataclasses import replace
from functools import cached_property, partial
from typing import TYPE_CHECKING, Any, ClassVar, Self

import panel as pn

from explorer.app.boxes import frames
from explorer.app.boxes.editing import BoxEditing, show_on
from explorer.app.boxes.exchange import BoxExchange
from explorer.app.boxes.table import BoxTable
from explorer.app.curator.answers import answers_csv, under_bound
from explorer.app.curator.explain import Explain
from explorer.app.curator.history import History
from explorer.app.curator.own import OwnPoints, UploadForm
from explorer.app.curator.parts import PageParts
from explorer.app.curator.scenarios import Scenarios
from explorer.app.curator.start import OWN, Opening
from explorer.app.kit import ui
from explorer.app.kit.browser import Keys
from explorer.app.kit.html import html_pane
from explorer.app.kit.map_parts import Tag
from explorer.app.kit.map_tools import ZOOMS, MapTools
from explorer.app.kit.maps import docked, holder
from explorer.app.kit.navigation import Link
from explorer.app.kit.page import starts_dark
from explorer.app.kit.words import words
from explorer.app.mappage.city_page import CuratorPage
from explorer.app.mappage.drawer import Drawer, DrawnDrawer
from explorer.app.mappage.maps import CrossHair, read_cell
from explorer.app.mappage.presenting import Presenting, ThemedPalette
from explorer.app.mappage.spec import PageSpec
from explorer.app.work.document import held, soon
from explorer.errors import InputError
from explorer.grid.grid import Grid
from explorer.grid.range_queries import Queries, same_questions
from explorer.mechanisms import Mechanism
from explorer.points.truth import of_all_records
from explorer.queries.boxes import Box, example_rows
from explorer.scenario import Scenario
from explorer.views.markup import safe_text

if TYPE_CHECKING:
    import geopandas
    import pandas as pd


class BoxesPage(CuratorPage):
    """A page that shows maps of a city and answers boxes that are drawn on them.

    A page makes its drawer, its pictures and its ``body`` in `compose`, and says what is to be done
    after each kind of change.
    """

    DRAWER, SKETCHED = True, 2
    #: Columns of the table of boxes besides names and edges.
    columns: ClassVar[Any]
    #: Choices that need another picture, and those that need none.
    LOOKS: ClassVar[tuple[str, ...]] = ("right", "scale")
    STYLES: ClassVar[tuple[str, ...]] = ("palette", "partition", "drag")
    #: What two maps of one place are called where they can be shown one by one; else nothing.
    MAPS: ClassVar[tuple[str, ...]] = ()
    #: Which of them holds nothing exact, if the other does.
    PRIVATE: ClassVar[int | None] = None
    #: Whether polygons can be drawn: a row is about one map.
    POLYGONS: ClassVar[bool] = True
    #: What the section of files is about.
    FILES: ClassVar[str] = "boxes and answers"
    drawer: Drawer

    def begin(self, opening: Opening, city: str, choices: dict[str, Any]) -> Any:
        state = super().begin(opening, city, choices)
        chosen = "palette" in choices or opening.scenario is not None
        self._palette = ThemedPalette(state, starts_dark(), chosen)
        return state

    def themed(self, dark: bool) -> None:
        self._palette.follow(dark)

    def build(self, parts: PageParts) -> None:
        self.rectangles = parts.rectangles
        self.tools = MapTools(
            *(parts.state, self.zoom, parts.refuse),
            phone=parts.phone,
            polygons=self.POLYGONS,
            names=self.MAPS,
            arrange=self.arrange,
            alone=self.PRIVATE,
        )
        self.table = BoxTable(
            *(parts.rectangles, self.boxes_changed, self.highlight, parts.refuse, self.columns),
        )
        self.exchange = BoxExchange(
            *(parts.rectangles, self._add_box, self.boxes_changed, parts.refuse),
            step=self._step,
            answers=lambda: answers_csv(self.answers),
            beside=[self.table.edit_places],
            told=parts.message.inform,
            more=self.files,
            about=self.FILES,
        )
        parts.remembered.section("files", self.exchange.files)
        self.scenarios = Scenarios(self.KEY, parts, self._taken, self.released, self.story)
        self.presenting = Presenting(parts, self.tools, self._palette, self._presented)
        self.cross_hair = CrossHair(self.read_at)
        self.cross_hair.button.visible = bool(self.MAPS)
        self.tools.view.append(self.cross_hair.button)
        self.tools.view.extend([self.presenting.reveal, self.presenting.button])
        self.history = History(parts.state, parts.rectangles)
        self.keys = Keys(self.pressed)
        self.editing = BoxEditing(
            parts.rectangles,
            self.tags,
            self.boxes_changed,
            self._selected,
            parts.refuse,
        )
        self.compose(parts)
        self.body.append(self.scenarios.hidden)
        self.sidebar = [self.drawer.view, self.scenarios.view]
        watch = self.state.param.watch
        watch(lambda *_: self.settings_changed(), ["mechanism", "epsilon"])
        watch(lambda *_: self.outdated(), ["seed"])
        watch(lambda *_: self.request(), list(self.LOOKS))
        watch(lambda *_: self.restyle(), list(self.STYLES))
        watch(lambda *_: self._put_base(), ["base_map"])
        watch(lambda *_: self.history.note(), list(self.state.param))

    def take_screen(self, screen: Scenario) -> None:
        self.scenarios.open(screen)

    def page(self) -> ui.Page:
        self.scenarios.serve()
        # Not among the controls, which come later: keys count as soon as the page is there.
        self.body.extend([self.keys.view, self.presenting.view])
        return super().page()

    @property
    def maps(self) -> Any:
        """The maps on screen; None before there is a city."""
        return self.parts.maps

    # What a cell asks and says.

    @property
    def boxes(self) -> geopandas.GeoDataFrame:
        """Boxes and polygons, a row each, in longitude and latitude; a new table replaces all.

        Given are a GeoDataFrame or GeoSeries of polygons in any CRS, a file of them, or numbers
        (n, 4) x0, y0, x1, y1 in metres of the map; on a page of trips see `frames.read`.

        Raises
        ------
        InputError
            For what is no polygon on the map; the boxes then stay as they are.
        """
        return frames.to_frame(self.rectangles)

    @boxes.setter
    def boxes(self, queries: Any) -> None:
        self.parts.known()
        self.rectangles.put(*frames.read(queries, self.rectangles))
        self.boxes_changed()

    @property
    @abstractmethod
    def answers(self) -> pd.DataFrame:
        """True and private answers to the boxes, a row each: exact, so for the curator alone."""

    @property
    def settings(self) -> dict[str, Any]:
        """What is chosen, so that ``Page(data, **settings)`` opens with the same."""
        return self.state.as_choices()

    # What a page adds.

    @abstractmethod
    def compose(self, parts: PageParts) -> None:
        """Make ``drawer`` and ``body``."""

    @abstractmethod
    def outdated(self) -> None:
        """The maps on screen are of other settings: make new ones."""

    @abstractmethod
    def request(self) -> None:
        """The same releases, drawn in another way."""

    @abstractmethod
    def restyle(self) -> None:
        """Another style of the pictures that are there."""

    @abstractmethod
    def numbers(self) -> None:
        """Show the answers of the boxes."""

    @abstractmethod
    def zoom(self, factor: float) -> None:
        """Zoom all maps, below 1 inwards; 0 shows the whole map again."""

    def files(self) -> Sequence[Any]:
        """Further things to save than boxes and answers, made when their section is opened."""
        return ()

    def released(self) -> bool:
        return False

    # What a visitor does.

    def settings_changed(self) -> None:
        """Something a release depends on; noise that is not kept the same is drawn anew."""
        self.history.note()
        if self.state.frozen:
            self.outdated()
        else:
            self.state.roll()

    def drawn(self, box: Sequence[Any], place: int = 0) -> None:
        """A rectangle (x0, y0, x1, y1) was dragged on a map; a click without a drag is none."""
        self.editing.drawn(place, box)

    def let_edit(self) -> None:
        """Boxes on new maps can be moved, resized and selected, and say what they hold."""
        if self.maps is not None:
            self.editing.take(self.maps)
            self.maps.show_truth(self.parts.truth)
            # After the first picture: it does not wait for names.
            soon(self._put_base)
            if self.MAPS:
                self.maps.arrange(self.tools.shows.value)
                self.cross_hair.take(self.maps)

    def _put_base(self) -> None:
        if self.maps is not None and self.parts.data is not None:
            bases = self.parts.data.base_maps
            self.drawer.offer_base(any(base is not None for base in bases))
            if self.state.base_map:
                self.maps.base.put(bases)
            self.maps.base.switch(self.state.base_map)
            self.maps.push()

    @abstractmethod
    def tags(self, boxes: Queries, names: Sequence[str]) -> list[list[Tag]]:
        """Tags of boxes of one's own on each map in turn; none before there is a picture."""

    def _selected(self) -> None:
        held(pn.state.curdoc, self.highlight)
        soon(self.numbers)

    def pressed(self, key: str, far: bool) -> None:
        if self.presenting.pressed(key) or (self.MAPS and self.cross_hair.pressed(key)):
            return
        if key in ZOOMS:
            self.zoom(ZOOMS[key])
        elif key in ("mod+z", "mod+y", "mod+shift+z"):
            self._step(back=key == "mod+z")
        elif key == "Enter":
            # Where polygons are drawn it is the end of one.
            if self.state.drag != "polygon":
                self._add_box()
        else:
            self.editing.pressed(key, far)

    def read_at(self, x: float, y: float) -> Sequence[str]:
        """What each map says of the cell at a place; nothing on a page without such maps."""
        return ()

    def _presented(self) -> None:
        """The truth was hidden, or is shown again: tags say less, or more."""
        held(pn.state.curdoc, self._show_truth)

    def _show_truth(self) -> None:
        """Send what says something of exact counts, or replace what was sent of it."""
        truth = self.parts.truth
        self.show_badge(truth)
        self.table.show_exact(truth)
        if self.parts.data is not None:
            self.drawer.say_counted(self.parts.data)
        if self.maps is not None:
            self.maps.show_truth(truth)
            self.maps.forget_drafts()
        if not truth:
            self.message.close()
            for part in (self.body, *self.sidebar):
                for button in part.select(ui.FileDownload):
                    button.data = None
        self.highlight()
        self.numbers()
        self.request()

    def _step(self, back: bool) -> None:
        """Undo or redo one step of what was done to boxes and settings."""
        what = self.history.undo() if back else self.history.redo()
        if what:
            self.drawer.rebuild()
            if {"mechanisms", "seed"} & {*what}:
                self.outdated()
            self.boxes_changed()

    def highlight(self) -> None:
        if self.maps is not None:
            show_on(self.maps, self.rectangles)

    def arrange(self, how: str) -> None:
        """Show both maps, one of them, or one over the other; see `Maps.arrange`."""
        if self.maps is not None:
            self.maps.arrange(how)
            # Tags of maps that share a place say both answers.
            self.numbers()

    def answer(self) -> None:
        """Show boxes on the maps, with their answers where a page has them at once."""
        self.highlight()

    def make_room(self, room: bool) -> None:
        """A panel was opened below the maps, or shut."""
        if self.maps is not None:
            self.maps.make_room(room)

    def _add_box(self) -> None:
        if self.maps is not None:
            # Selected, so that the keys that move and delete a box act on it.
            self.rectangles.select([self.rectangles.add_middle(self.maps.ranges.bounds)])
            self.boxes_changed()

    def boxes_changed(self) -> None:
        """Maps first; the table, which takes a browser longer, in the next message."""
        self.history.note()
        held(pn.state.curdoc, self.answer)
        soon(self.numbers)
        self.scenarios.follow()

    def _taken(self) -> None:
        """The choices are those of a scenario: show its controls, its boxes and a preview of it."""
        self.drawer.rebuild()
        if self.parts.data is not None:
            self.outdated()
        self.boxes_changed()

    # Another city.

    def grids(self, data: Any) -> tuple[Grid, ...]:
        return (data.grid,)

    def columns_of(self, data: Any) -> Any:
        """Columns of the table of boxes; under a contribution bound errors have a third cause."""
        bounded = of_all_records(data.matrix) is not data.matrix
        return under_bound(self.columns) if bounded else self.columns

    def examples(self, data: Any) -> Sequence[Sequence[Box | None]]:
        """Rows of boxes on a map that is shown first, with a box for every place."""
        return example_rows(self.grids(data))

    def place_boxes(self, data: Any, elsewhere: bool) -> None:
        """Offer what the city has; ``elsewhere`` there are the first boxes, or a scenario's."""
        self.drawer.use(data)
        columns = self.columns_of(data)
        if elsewhere:
            self.rectangles.reset(*self.grids(data), examples=False)
            for row in self.examples(data):
                self.rectangles.add_row(row)
            self.table.reset(columns)
            self.exchange.reset()
            first_boxes, self._first_boxes = self._first_boxes, None
            if first_boxes is not None:
                self.rectangles.put(*frames.read(first_boxes, self.rectangles))
        else:
            self.rectangles.grids = self.grids(data)
            if columns != self.table.columns:
                self.table.reset(columns)
            soon(self._put_base)
        self.scenarios.place(data)
        self.history.reset()


class _FromSpec:
    """An attribute of a page class that is a field of its spec."""

    def __init__(self, name: str) -> None:
        self._name = name

    def __get__(self, page: Any, owner: type[MapPage]) -> Any:
        return getattr(owner.spec, self._name)


class MapPage(BoxesPage):
    """A page whose maps show a preview of the choices, or the kept release.

    It is what its ``spec`` says; what a visitor can do on one page only is in a subclass. Screens,
    data and maps are of the page's own kind.
    """

    spec: ClassVar[PageSpec]
    KEY: ClassVar[Any] = _FromSpec("key")
    TITLE: ClassVar[Any] = _FromSpec("title")
    State: ClassVar[Any] = _FromSpec("choices")
    PLACE: ClassVar[Any] = _FromSpec("place")
    source: ClassVar[Any] = _FromSpec("source")
    columns: ClassVar[Any] = _FromSpec("columns")
    LOOKS: ClassVar[Any] = _FromSpec("looks")
    STYLES: ClassVar[Any] = _FromSpec("styles")
    MAPS: ClassVar[Any] = _FromSpec("views")
    PRIVATE: ClassVar[Any] = _FromSpec("private")
    POLYGONS: ClassVar[Any] = _FromSpec("polygons")
    FILES: ClassVar[Any] = _FromSpec("files")
    places: ClassVar[Any] = _FromSpec("boxes")
    drawer: DrawnDrawer
    readout: Any
    #: How own data were read, said once they are on the page: reading ends with an empty message.
    _untold: str = ""

    @classmethod
    def served(
        cls,
        links: Sequence[Link],
        *,
        city: Any = None,
        scenario: Scenario | None = None,
        **begin: Any,
    ) -> Self:
        return super().served(links, scenario=scenario, **cls.spec.begins({"city": city, **begin}))

    @classmethod
    def warm(cls, **begin: Any) -> None:
        page = cls(**cls.spec.begins(begin))
        for choices in cls.spec.warmed:
            page.state.put(**choices)
        page.page()

    # What all of them do.

    @property
    def screen(self) -> Any:
        """What is on the maps; None before there is something."""
        return self.readout.screen

    @property
    def mechanism(self) -> Mechanism:
        result: Mechanism = self.state.instance()
        return result

    @property
    def release(self) -> Any:
        """The release on the maps, often a preview; None before there is one."""
        return None if self.screen is None else self.screen.release

    @property
    def answers(self) -> pd.DataFrame:
        """True and private answers to the boxes, a row each: exact, so for the curator alone.

        Returns
        -------
        DataFrame indexed by the names of the boxes
            true, private, noise_sd, low, high (95 % interval of the noise), error (private less
            true), from_noise and from_spread (nan where not known); in percent of all records on
            a page that shows shares.
        """
        screen = self.screen
        if screen is None:
            raise InputError("The page has no map yet: wait until it is shown.")
        boxes, names = self.rectangles.queries, self.rectangles.names
        same = same_questions(screen.boxes, boxes)
        answers = screen.answers if same else self.readout.ask(screen, boxes)
        return answers.to_frame(names)

    def compose(self, parts: PageParts) -> None:
        spec = self.spec
        self.drawing = spec.drawing(parts, self.publish, self.slow, spec.compute, spec.look)
        self.drawer = DrawnDrawer(
            *(spec.drawer, spec.key, parts, self.drawing, self.settings_changed, self._again),
            lambda: self.upload.view,
        )
        self.readout = spec.readout(parts, self.table)
        text = words(self.KEY)
        self.explain = Explain(
            {key: partial(panel, self) for key, panel in spec.panels.items()},
            {**words("explain"), **text},
            parts.refuse,
            self.make_room,
            title=spec.more,
        )
        tabs = ui.wrapping(self.explain.choice, self.readout.strip, gap="4px 16px")
        self._map_holder = holder()
        dock = [tabs, self.explain.holder, self.table.widget, self.exchange.view]
        if parts.phone:
            # The answers first: a screen below the map they are not seen.
            dock = [self.table.widget, tabs, self.explain.holder, self.exchange.view]
        self.body = pn.Column(
            self.message.view,
            *spec.above(self),
            docked(self._map_holder, *dock, *spec.below(self.readout, text)),
            sizing_mode="stretch_width",
            margin=(6, 16, 24, 16),
        )

    @cached_property
    def upload(self) -> UploadForm:
        """The form for data of one's own, made when its section is first opened."""
        units = self.state.param.bound.get_range()
        form = self.spec.upload(self._reading.run, self._use_own, self.parts.refuse, units)
        ui.bind(form.population, self._rename_own, self.parts.refuse)
        return form

    def head(self, *lead: Any) -> Any:
        """The first sentence, and next to it the tools of the maps."""
        title = f'<h1 class="visually-hidden">{self.TITLE}</h1>'
        panes = lead or [html_pane(f'<p class="lead">{self.spec.lead}</p>')]
        first = pn.Column(
            html_pane(title),
            *panes,
            sizing_mode="stretch_width",
            margin=0,
            styles={"flex": "1 1 220px", "align-self": "center"},
        )
        return ui.wrapping(first, self.tools.view, gap="4px 16px", margin=(0, 0, 4, 0))

    def close(self) -> None:
        self.drawing.close()
        self.readout.close()

    def outdated(self) -> None:
        self.drawing.preview()

    def request(self) -> None:
        self.drawing.request()

    def restyle(self) -> None:
        if self.maps is not None:
            self.maps.restyle()
            self.explain.restyle()
        screen = self.shown()
        if screen is not None:
            self.caption(screen)

    def zoom(self, factor: float) -> None:
        if self.maps is not None:
            self.maps.zoom(factor)
            self.drawing.request()

    def highlight(self) -> None:
        if self.maps is not None:
            super().highlight()
            self.explain.selected()
            self.readout.selected()

    def answer(self) -> None:
        super().answer()
        self.readout.meet()

    def numbers(self) -> None:
        self.readout.numbers()

    def tags(self, boxes: Queries, names: Sequence[str]) -> list[list[Tag]]:
        return self.readout.tags(boxes, names)

    def _show_truth(self) -> None:
        if not self.parts.truth:
            self.readout.hide_truth()
        self.explain.show_truth(self.parts.truth)
        super()._show_truth()

    def released(self) -> bool:
        return self.screen is not None and not self.screen.release.preview

    def poster(self) -> str:
        if self.screen is None or self.screen.release.preview:
            return super().poster()
        card: str = self.screen.release._repr_html_()
        return card

    def publish(self, screen: Any) -> None:
        """A screen has been computed: maps with their tags first, what is read after the last."""
        self.drawer.offer(screen)
        if screen.look.exact and not self.parts.truth:
            # It was asked for before exact counts were hidden: another one is on its way.
            return
        if screen.data is self.parts.data and self.maps is not None:
            self.readout.screen = screen
            held(pn.state.curdoc, partial(self._picture, screen))
            self.drawing.movement.shown(self._rest)

    def _picture(self, screen: Any) -> None:
        self.maps.show(screen)
        if self.readout.knows(screen):
            self.readout.tag(screen)

    def slow(self, busy: bool) -> None:
        """A picture takes long, or has come."""
        screen = self.shown()
        if screen is not None:
            self.caption(screen, busy)

    def caption(self, screen: Any, busy: bool = False) -> None:
        self.maps.caption(screen, busy=busy)

    def shown(self) -> Any:
        """The screen of the data that the maps are of; another may be on its way."""
        fits = self.maps is not None and self.readout.fits(self.screen)
        return self.screen if fits else None

    def _rest(self) -> None:
        """What is read after the maps."""
        screen = self.shown()
        if screen is None:
            return
        self.caption(screen)
        self.drawer.mechanisms[0].settings.show_facts(screen.release.facts)
        self.readout.show(screen)
        self.explain.show(screen)
        self.scenarios.follow()

    def _again(self) -> None:
        """Show the kept release with the data and the settings that it was drawn from."""

        def use(data: Any) -> None:
            if data is not self.parts.data:
                self._use(data)
            self._back()

        try:
            self.drawing.again(use)
        except InputError as error:
            self.parts.refuse(str(error))
        self.drawer.rebuild()

    def read_at(self, x: float, y: float) -> Sequence[str]:
        try:
            true, (private,) = read_cell(self.parts.known(), [self.release], x, y)
        except InputError:
            return "", ""
        true_text = f"{true:,} in this cell" if self.parts.truth else ""
        return true_text, f"{private:,.2f} in this cell"

    # Data of one's own.

    def _use_own(self, own_data: OwnPoints[Any]) -> None:
        self._own = own_data
        self.parts.own_population, self.parts.own_drawn = own_data.population, False
        self.parts.unread_users = []
        self._untold = safe_text(" ".join(own_data.notes), 600)
        self.parts.catalogue[own_data.title] = OWN
        self.drawer.city.options = dict(self.parts.catalogue)
        place = self.state.place
        self.state.put(city=OWN, **self.own_choices(own_data))
        if self.state.place == place:
            self.look_for_city()

    def _rename_own(self, name: str) -> None:
        """Another name for the people in the points on screen, until a release of them is drawn."""
        # A file that has been chosen and not loaded is what the name is for.
        if self._own is None or not self._own.file or self.upload.file.value:
            return
        named = replace(self._own, named=name)
        if named.population == self.parts.own_population:
            return
        if self.parts.own_drawn:
            raise InputError(
                f"A release of these points is booked on “{self.parts.own_population}”, so that "
                "name stays: another one is for another file, which is chosen first."
            )
        self._own, self.parts.own_population = named, named.population
        self.drawing.renamed()
        self.drawer.spent()

    # Other data.

    def show(self, data: Any) -> None:
        elsewhere = self.maps is None or not self.spec.fits(self.maps, data)
        self.place_boxes(data, elsewhere)
        if elsewhere:
            self.explain.close()
            self.parts.maps = self.spec.maps(self, data)
            self.maps.on_cover = partial(soon, self.readout.covered)
            self.let_edit()
            self.maps.stand_in(self._map_holder)
        else:
            # The same ground with other cells.
            self.maps.use(data)
        self.drawing.use(data, self.maps.seen)
        self.highlight()
        if self.screen is None:
            self.drawing.run_now()
        else:
            self.drawing.request()
        if self._untold and data.city[0] == OWN:
            self.message.inform(self._untold)
            self._untold = ""
