"""The frame of a page with one mechanism: previews that follow the choices, drawn releases."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from functools import cached_property, partial
from typing import TYPE_CHECKING, Any, ClassVar

import panel as pn

from explorer.app.curator.drawing import Drawing
from explorer.app.curator.drawn_drawer import DrawnDrawer
from explorer.app.curator.explain import Explain, Panel
from explorer.app.curator.map_page import MapPage
from explorer.app.curator.own import OwnPoints
from explorer.app.curator.parts import PageParts
from explorer.app.curator.readout import Readout
from explorer.app.curator.start import OWN
from explorer.app.curator.upload import UploadForm
from explorer.app.kit import ui
from explorer.app.kit.html import html_pane
from explorer.app.kit.map_parts import Tag
from explorer.app.kit.maps import docked, holder
from explorer.app.kit.words import words
from explorer.app.work.document import held, soon
from explorer.errors import InputError
from explorer.grid.range_queries import Queries, same_questions
from explorer.mechanisms import Mechanism
from explorer.views.markup import safe_text

if TYPE_CHECKING:
    import pandas as pd


class DrawnPage(MapPage):
    """A page whose maps show a preview of the choices, or the kept release.

    A page names its ``Upload``, ``Controls`` and ``Text``, and says how its screens are drawn,
    which panels are below its maps, what is to be read in which order, and what maps its data
    get. Screens, data and maps are of its own kind.
    """

    #: The form for data of one's own, the drawer, and what is read next to the maps.
    Upload: ClassVar[type[UploadForm]]
    Controls: ClassVar[type[DrawnDrawer]]
    Text: ClassVar[type[Readout]]
    #: What the strip of panels is called, for a screen reader.
    MORE: ClassVar[str] = "Explain this map"
    #: The first sentence of a page whose maps do not begin with one of their own.
    LEAD: ClassVar[str] = ""
    drawer: DrawnDrawer
    readout: Readout
    #: How own data were read, said once they are on the page: reading ends with an empty message.
    _untold: str = ""

    # What a page says of itself.

    @abstractmethod
    def new_drawing(self, parts: PageParts) -> Drawing:
        """What turns choices into screens, with `publish` and `slow` of this page."""

    @abstractmethod
    def panels(self, parts: PageParts) -> Mapping[str, Panel | Callable[[], Panel]]:
        """The panels below the maps, by their keys."""

    @abstractmethod
    def above(self) -> list[Any]:
        """What is above the maps; the first of it says what to do, or what was found."""

    @abstractmethod
    def below(self, text: Mapping[str, str]) -> list[Any]:
        """What is read below the table of boxes; ``text`` are the words of the page."""

    @abstractmethod
    def is_elsewhere(self, data: Any) -> bool:
        """Whether ``data`` need other maps than those that are there."""

    @abstractmethod
    def new_maps(self, data: Any) -> Any:
        """Maps for ``data``."""

    @abstractmethod
    def recount(self, data: Any) -> None:
        """The maps stay, with other cells."""

    # What all of them do.

    @property
    def screen(self) -> Any:
        """What is on the maps; None before there is something."""
        return self.readout.screen

    @property
    def mechanism(self) -> Mechanism:
        """The chosen mechanism with its epsilon and settings."""
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
        """Make drawer, maps, panels and text."""
        self.drawing = self.new_drawing(parts)
        self.drawer = self.Controls(
            *(parts, self.drawing, self.settings_changed, self._again),
            lambda: self.upload.view,
        )
        self.readout = self.Text(parts, self.table)
        text = words(self.KEY)
        self.explain = Explain(
            self.panels(parts),
            {**words("explain"), **text},
            parts.refuse,
            self.make_room,
            title=self.MORE,
        )
        tabs = ui.wrapping(self.explain.choice, self.readout.strip, gap="4px 16px")
        self._map_holder = holder()
        dock = [tabs, self.explain.holder, self.table.widget, self.exchange.view]
        if parts.phone:
            # The answers first: a screen below the map they are not seen.
            dock = [self.table.widget, tabs, self.explain.holder, self.exchange.view]
        self.body = pn.Column(
            self.message.view,
            *self.above(),
            docked(self._map_holder, *dock, *self.below(text)),
            sizing_mode="stretch_width",
            margin=(6, 16, 24, 16),
        )

    @cached_property
    def upload(self) -> UploadForm:
        """The form for data of one's own, made when its section is first opened."""
        units = self.state.param.bound.get_range()
        form = self.Upload(self._reading.run, self._use_own, self.parts.refuse, units)
        ui.bind(form.population, self._rename_own, self.parts.refuse)
        return form

    def head(self, *lead: Any) -> Any:
        """The first sentence, and next to it the tools of the maps."""
        title = f'<h1 class="visually-hidden">{self.TITLE}</h1>'
        panes = lead or [html_pane(f'<p class="lead">{self.LEAD}</p>')]
        first = pn.Column(
            html_pane(title),
            *panes,
            sizing_mode="stretch_width",
            margin=0,
            styles={"flex": "1 1 220px", "align-self": "center"},
        )
        return ui.wrapping(first, self.tools.view, gap="4px 16px", margin=(0, 0, 4, 0))

    def close(self) -> None:
        """Stop whatever runs: the visit has ended."""
        self.drawing.close()
        self.readout.close()

    def outdated(self) -> None:
        """Back to a preview, of the present settings."""
        self.drawing.preview()

    def request(self) -> None:
        """The same release, drawn in another way."""
        self.drawing.request()

    def restyle(self) -> None:
        """Another style of the maps that are there."""
        if self.maps is not None:
            self.maps.restyle()
            self.explain.restyle()
        screen = self.shown()
        if screen is not None:
            self.caption(screen)

    def zoom(self, factor: float) -> None:
        """Zoom all maps, below 1 inwards; 0 shows the whole maps again."""
        if self.maps is not None:
            self.maps.zoom(factor)
            self.drawing.request()

    def highlight(self) -> None:
        """Show boxes and selected rows on the maps, in the text and in the panel below."""
        if self.maps is not None:
            super().highlight()
            self.explain.selected()
            self.readout.selected()

    def answer(self) -> None:
        """Show boxes on the maps, with their answers."""
        super().answer()
        self.readout.meet()

    def numbers(self) -> None:
        """Show the answers of the boxes."""
        self.readout.numbers()

    def tags(self, boxes: Queries, names: Sequence[str]) -> list[list[Tag]]:
        """Tags of boxes of one's own on each map in turn."""
        return self.readout.tags(boxes, names)

    def _show_truth(self) -> None:
        if not self.parts.truth:
            self.readout.hide_truth()
        self.explain.show_truth(self.parts.truth)
        super()._show_truth()

    def released(self) -> bool:
        """Whether a drawn release is on the screen."""
        return self.screen is not None and not self.screen.release.preview

    def poster(self) -> str:
        """The release that is on the screen; of a preview nothing."""
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
        """What is above and below the maps."""
        self.maps.caption(screen, busy=busy)

    def shown(self) -> Any:
        """The screen that is on the maps; None where there is none, or no maps."""
        return None if self.maps is None else self.screen

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

    # Data of one's own.

    def _use_own(self, own_data: OwnPoints[Any]) -> None:
        """Show data that were uploaded; they exist in this session only."""
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
        """Show data; those of another place get new maps."""
        elsewhere = self.is_elsewhere(data)
        self.place_boxes(data, elsewhere)
        if elsewhere:
            self.explain.close()
            self.parts.maps = self.new_maps(data)
            self.maps.on_cover = partial(soon, self.readout.covered)
            self.let_edit()
            self.maps.stand_in(self._map_holder)
        else:
            self.recount(data)
        self.drawing.use(data, self.maps.seen)
        self.highlight()
        if self.screen is None:
            self.drawing.run_now()
        else:
            self.drawing.request()
        if self._untold and data.city[0] == OWN:
            self.message.inform(self._untold)
            self._untold = ""
