"""Explore: from a city's points to a private map that can be questioned."""

from __future__ import annotations

import html
from collections.abc import Callable
from dataclasses import replace
from functools import partial
from typing import Any

import numpy as np
import panel as pn

from explorer.app.boxes.exchange import BoxExchange
from explorer.app.boxes.rectangles import Rectangles, was_dragged
from explorer.app.boxes.table import BoxTable
from explorer.app.curator.answers import COLUMNS, BoxAnswers, answer_boxes
from explorer.app.curator.causes import CausesFinder, Question
from explorer.app.curator.data import (
    CityData,
    heat_of,
    is_loaded,
    load_city,
    own_city,
    prepared,
    same_extent,
)
from explorer.app.curator.drawing import Flow
from explorer.app.curator.error_bars import SIMULATED, ErrorBars
from explorer.app.curator.figures import key_figures, summary
from explorer.app.curator.maps import MapPair
from explorer.app.curator.release_button import Desk
from explorer.app.curator.scenarios import Scenarios
from explorer.app.curator.screen import Screen
from explorer.app.curator.start import Opening
from explorer.app.curator.upload import OwnPoints, UploadForm
from explorer.app.explore.drawer import Drawer
from explorer.app.explore.explain import Closer, CloserPanel, Later
from explorer.app.explore.leaf import LeafInspector
from explorer.app.explore.replay import Replay
from explorer.app.explore.runs import Runs
from explorer.app.kit import ui
from explorer.app.kit.maps import MapTools
from explorer.app.kit.message import MessageArea
from explorer.app.kit.navigation import header
from explorer.app.kit.theme import CSS, THEME
from explorer.app.kit.words import words
from explorer.app.state.explore import ExploreState, put_place
from explorer.app.work.background import Background
from explorer.app.work.worker import held
from explorer.cities import catalogue as cities
from explorer.errors import InputError
from explorer.grid.grid import Grid
from explorer.points.matrix import FrequencyMatrix
from explorer.scenario import Scenario
from explorer.views.markup import figures_strip, ledger_bar, safe_text

TITLE = "Private map explorer"
#: The city key of what a visitor or a notebook brought along.
OWN = "yours"


class Explore(pn.viewable.Viewer):
    """The Explore page, for a server or a notebook cell. Curator mode: it shows exact counts.

    Parameters
    ----------
    city : str, FrequencyMatrix or None
        A key of `explorer.cities.catalogue.cities()`, or counts of your own.
    scenario : Scenario, optional
        What to begin with, in place of city and settings; a link in the address goes before it.
    **choices
        First settings: ``mechanism``, ``epsilon``, ``side``, ``scale``, ... (see `ExploreState`).

    Examples
    --------
    As the last line of a notebook cell it shows itself; in a script for ``panel serve``,
    ``Explore("madeup").servable()`` makes it a page.
    """

    def __init__(
        self,
        city: str | FrequencyMatrix | None = None,
        scenario: Scenario | None = None,
        **choices: Any,
    ) -> None:
        super().__init__()
        pn.extension("tabulator", notifications=False)
        opening = Opening.of(scenario)
        city, choices = opening.city(city), opening.choices(choices)
        self.phone = "Mobile" in pn.state.headers.get("User-Agent", "")
        if self.phone:
            choices = {"drag": "scroll", **choices}
        catalogue = {each.title: key for key, each in cities.cities().items()}
        own = isinstance(city, FrequencyMatrix)
        key = OWN if own else str(city or next(iter(catalogue.values())))
        if own:
            catalogue["Your own counts"] = OWN
        elif key not in catalogue.values():
            raise InputError(
                f"There is no city {key[:40]!r}: choose one of {', '.join(catalogue)}."
            )
        self.state = ExploreState(city=key, **choices)
        # Until the city has been read, its public extent says what boxes are measured in.
        first = Grid.cells((1, 1)) if own else cities.cities()[key].grid()
        self.rectangles = Rectangles(first)
        self.screen: Screen | None = None
        self.maps: MapPair | None = None
        self._data: CityData | None = None
        self._own: OwnPoints | None = None
        self._going_back = False
        self._brought = own_city(city) if isinstance(city, FrequencyMatrix) else None
        self.message = MessageArea()
        self.background = Background(self.message)
        self.flow = Flow(
            self.state, self.rectangles, self._publish, self.message.refuse, self._slow
        )
        self.desk = Desk(self.state, self.flow, self.message)
        self._build(catalogue)
        self.scenarios = Scenarios(
            *("explore", self.state, self.rectangles, self.message, opening),
            city=lambda: self._data,
            released=lambda: self.screen is not None and not self.screen.release.preview,
            taken=self._scenario_taken,
        )
        self._watch()
        pn.state.on_session_destroyed(lambda _context: self._close())
        if self._brought is not None:
            self._use(self._brought)
        elif pn.state.curdoc is None or is_loaded(*self.state.place):
            self._use(load_city(*self.state.place))
        else:
            pn.state.onload(self._load)

    def draw_release(self) -> None:
        """Draw once with release-grade noise, and book it in the ledger.

        The picture stays until a setting changes; the release is kept until the next draw.
        """
        self.flow.draw()

    def page(self, links: bool = False) -> Any:
        """The page with bar, drawer and theme toggle; ``links`` to the server's other pages."""
        self.scenarios.serve(links)
        return ui.Page(
            title="Explore" if self.phone and links else TITLE,
            header=header("Explore", links, self.phone),
            sidebar=[self.scenarios.view, self.drawer.view],
            main=[self.body],
            sidebar_width=288,
            sidebar_open=not self.phone,
            sidebar_resizable=False,
            theme_config=THEME,
            dark_theme=pn.config.theme != "default" or "theme" not in pn.state.session_args,
        )

    def servable(self, title: str = TITLE, **kwargs: Any) -> Explore:
        """Make this the page of a script run by ``panel serve``."""
        self.page().servable(title=title, **kwargs)
        return self

    def __panel__(self) -> Any:
        return pn.Row(
            pn.Column(self.scenarios.view, self.drawer.view, width=300, margin=0),
            self.body,
            sizing_mode="stretch_width",
        )

    # Building the page once.

    def _build(self, catalogue: dict[str, str]) -> None:
        refuse = self.message.refuse
        upload = UploadForm(self.background.run, self._use_own, refuse)
        actions: dict[str, Callable[..., Any]] = {
            "changed": self._settings_changed,
            "draw": self.desk.press,
            "save": self.desk.saved,
            "again": self._again,
            "refused": refuse,
        }
        self.drawer = Drawer(self.state, actions, catalogue, upload.view)
        tools = MapTools(self.state, self._zoom, refuse, phone=self.phone)
        changed, highlight = self._boxes_changed, self._highlight
        self.table = BoxTable(
            self.rectangles, changed, highlight, refuse, COLUMNS, phone=self.phone
        )
        self.exchange = BoxExchange(self.rectangles, self._add_box, self._boxes_changed, refuse)
        self._strip = _html(f'<h1 class="visually-hidden">{TITLE}</h1>')
        self._summary, self._ledger = _html(margin=(6, 0, 10, 0)), _html(margin=(4, 0, 0, 0))
        self._map_holder = pn.Column(sizing_mode="stretch_width", margin=0)
        self.leaf = LeafInspector(lambda: self.maps, refuse)
        self.causes = CausesFinder(self._question, self._mark, self._causes_known, refuse)
        self.error_bars = ErrorBars(self._numbers)
        self._about_bars = _html(f'<p class="quiet">{SIMULATED}</p>')
        panels: dict[str, CloserPanel] = {"Leaf": self.leaf}
        panels["Replay"] = Later(lambda: Replay(self.rectangles, lambda: self.maps, refuse))
        panels["Runs"] = Later(lambda: Runs(self.rectangles, lambda: self.maps, refuse))
        self.closer = Closer(panels, words("closer"), refuse, self._make_room)
        strip = pn.Column(
            self._strip, styles={"flex": "1 1 460px"}, sizing_mode="stretch_width", margin=0
        )
        top = ui.wrapping(
            strip,
            tools.view,
            gap="6px 16px",
            margin=(0, 0, 8, 0),
        )
        self.body = pn.Column(
            self.message.view,
            top,
            self._map_holder,
            self._summary,
            self.closer.view,
            _section("Boxes", words("explore")["Boxes"]),
            self.exchange.view,
            self.table.widget,
            self.causes.view,
            self._about_bars,
            _section("Ledger", words("explore")["Ledger"]),
            self._ledger,
            sizing_mode="stretch_width",
            margin=(10, 16, 24, 16),
        )

    def _watch(self) -> None:
        watch = self.state.param.watch
        watch(self._settings_changed, ["mechanism", "epsilon"])
        watch(lambda *_: self.flow.preview(), ["seed"])
        watch(lambda *_: self.flow.request(), ["right", "scale", "scale_from", "truth"])
        watch(self._restyle, ["palette", "partition", "partition_over", "drag"])
        watch(lambda *_: self._load(), ["city", "side", "bound"])

    # What a visitor does.

    def _settings_changed(self, *_events: Any) -> None:
        """Something a release depends on: back to a preview, with new dice unless frozen."""
        if self.state.frozen:
            self.flow.preview()
        else:
            self.state.roll()

    def _scenario_taken(self) -> None:
        """The choices are those of a scenario: a preview of it, with its controls and boxes."""
        self.drawer.parameters.rebuild()
        if self._data is not None:
            self.flow.preview()
        self._boxes_changed()

    def _again(self) -> None:
        """Show the kept release with the city and the settings that it was drawn from."""

        def use(data: CityData) -> None:
            if data is not self._data:
                self._use(data)
            self._back()

        try:
            self.desk.show_again(use)
        except InputError as error:
            self.message.refuse(str(error))
        self.drawer.parameters.rebuild()

    def _restyle(self, *_events: Any) -> None:
        if self.maps is not None and self.screen is not None:
            self.maps.restyle()
            self.maps.caption(self.screen)

    def _zoom(self, factor: float) -> None:
        if self.maps is not None:
            self.maps.zoom(factor)
            self.flow.request()

    def _drawn(self, box: tuple[float, float, float, float]) -> None:
        """A dragged rectangle; a click without a drag is not one."""
        if self.maps is None or not was_dragged(box, self.maps.viewport()):
            return
        try:
            self.rectangles.add(box)
        except InputError as error:
            self.message.refuse(str(error))
        self._boxes_changed()

    def _add_box(self) -> None:
        if self.maps is not None:
            self.rectangles.add_middle(self.maps.ranges.bounds)
            self._boxes_changed()

    def _boxes_changed(self) -> None:
        """Maps first; the table, which takes a browser longer, in the next message."""
        self._highlight()
        self._soon(self._numbers)
        self.scenarios.follow()

    def _highlight(self) -> None:
        if self.maps is not None:
            chosen = self.rectangles
            self.maps.highlight(chosen.boxes, chosen.names, chosen.selected)
            self.closer.selected()
            self.causes.follow()

    # From choices to a picture.

    def _publish(self, screen: Screen) -> None:
        self.desk.arrived(screen)
        self._offer(screen)
        if screen.data is not self._data or self.maps is None:
            return
        self.screen = screen
        held(pn.state.curdoc, partial(self.maps.show, screen))
        self._soon(self._rest)

    def _offer(self, screen: Screen) -> None:
        """Offer to save the kept release, and to show it where a preview is on screen."""
        kept = self.flow.drawn is not None
        self.drawer.save.visible = kept
        self.drawer.again.visible = kept and screen.release.preview

    @staticmethod
    def _soon(action: Callable[[], None]) -> None:
        """Do ``action`` in the next turn of the loop, in one message of its own."""
        doc = pn.state.curdoc
        if doc is None or doc.session_context is None:
            action()
        else:
            doc.add_next_tick_callback(partial(held, doc, action))

    def _rest(self) -> None:
        """What is read after the maps: titles, figures, table, ledger."""
        if self.maps is None or self.screen is None:
            return
        self.maps.caption(self.screen)
        _set(self._ledger, ledger_bar(self.screen.release.stages()))
        self.drawer.parameters.show_facts(self.screen.release.facts)
        self._numbers()
        self.closer.show(self.screen)
        self.scenarios.follow()

    def _numbers(self) -> None:
        screen = self.screen
        if screen is None:
            return
        if not np.array_equal(screen.boxes, self.rectangles.boxes):
            boxes = self.rectangles.boxes
            answers = answer_boxes(screen.release, screen.data.matrix, boxes)
            self.screen = screen = replace(screen, answers=answers, boxes=boxes)
        self.screen = screen = self.error_bars.complete(self.causes.complete(screen))
        self._about_bars.visible = not screen.answers.exact
        release, answers = screen.release, screen.answers
        strip = figures_strip(key_figures(release, answers, screen.error, screen.seconds))
        _set(self._strip, f'<h1 class="visually-hidden">{TITLE}</h1>{strip}')
        sentence = summary(screen.title, screen.data.title, release, answers)
        _set(self._summary, f'<p class="summary" role="status">{html.escape(sentence)}</p>')
        self.table.show(answers)
        self.causes.follow()
        self.error_bars.want(screen)

    def _question(self) -> Question | None:
        """What the finder of causes is to look at."""
        if self.screen is None or not np.array_equal(self.screen.boxes, self.rectangles.boxes):
            return None
        chosen = self.rectangles
        return Question(self.screen, tuple(chosen.names), tuple(chosen.selected))

    def _make_room(self, room: bool) -> None:
        if self.maps is not None:
            self.maps.make_room(room)

    def _mark(self, leaves: np.ndarray) -> None:
        if self.maps is not None:
            self.maps.mark(leaves)

    def _causes_known(self, screen: Screen, answers: BoxAnswers) -> None:
        """The answers of the boxes on screen, with the causes of their errors told apart."""
        if self.screen is not None and self.screen.release is screen.release:
            self.screen = self.error_bars.complete(replace(self.screen, answers=answers))
            self.table.show(self.screen.answers)

    def _slow(self, busy: bool) -> None:
        if self.maps is not None and self.screen is not None:
            self.maps.caption(self.screen, busy=busy)

    # Cities.

    def _load(self) -> None:
        if self._going_back:
            self.background.cancel()
            return
        place = key, side, bound = self.state.place
        brought = self._brought if key == OWN and self._own is None else None
        if brought is not None or (key != OWN and is_loaded(*place)):
            # Whatever is still being read was chosen before this.
            self.background.cancel()
            data = brought or load_city(*place)
            if data is not self._data:
                self._use(data)
            return
        if key == OWN:
            work = partial(_count_own, self._own, side, bound)
        else:
            work = partial(load_city, *place)
        title = next((t for t, k in self.drawer.city.options.items() if k == key), key)
        done = partial(self._arrived, place)
        self.background.run(work, done, f"Reading {title} …", self._back)

    def _arrived(self, place: tuple[str, int, int], data: CityData) -> None:
        """Use what was read, unless something else has been chosen meanwhile."""
        if place == self.state.place:
            self._use(data)

    def _use_own(self, own: OwnPoints) -> None:
        """Show points that were uploaded; they exist in this session only."""
        self._own = own
        if own.points.notes:
            self.message.inform(safe_text(" ".join(own.points.notes), 600))
        self.drawer.city.options = {**self.drawer.city.options, own.title: OWN}
        if self.state.city == OWN:
            self._load()
        else:
            self.drawer.city.value = OWN

    def _use(self, data: CityData) -> None:
        """Show a city; another extent gets new maps and starts with the two example boxes."""
        self._data = data
        # Counts without points have the cells they have.
        self.drawer.side.visible = data.heat is not None
        self.drawer.bound.visible = data.has_users
        if self.maps is None or not same_extent(self.maps.grid, data.grid):
            self.rectangles.reset(data.grid)
            self.closer.close()
            self.maps = MapPair(
                self.state, data.grid, self.flow.viewed, self._drawn, self.leaf.tapped
            )
            self._map_holder.objects = [self.maps.view]
            self.table.reset()
            self.exchange.reset()
        else:
            self.maps.grid = self.rectangles.grid = data.grid
        self.scenarios.place(data)
        self.flow.use(data, self.maps.viewport)
        self._highlight()
        if self.screen is None:
            self.flow.run_now()
        else:
            self.flow.request()

    def _close(self) -> None:
        """The session has ended."""
        self.flow.close()
        self.error_bars.close()

    def _back(self) -> None:
        """The choice goes back to the city on screen, such as when another cannot be read."""
        if self._data is None:
            return
        self._going_back = True
        put_place(self.state, self._data.city)
        self._going_back = False


def _count_own(own: OwnPoints | None, side: int, bound: int) -> CityData:
    if own is None:
        raise InputError("There are no points of your own yet: load a file first.")
    grid = own.grid(side)
    bound = bound if own.points.user is not None else 0
    matrix, placed = own.points.place_on(grid, bound or None)
    data = prepared(own.title, own.points, matrix, heat_of(placed, grid))
    data.city = (OWN, side, bound)
    return data


def _section(title: str, text: str) -> Any:
    return _html(f"<h2>{title}</h2><p>{text}</p>", margin=(14, 0, 4, 0))


def _html(text: str = "", margin: Any = 0) -> Any:
    return pn.pane.HTML(text, stylesheets=[CSS], sizing_mode="stretch_width", margin=margin)


def _set(pane: Any, text: str) -> None:
    if pane.object != text:
        pane.object = text
