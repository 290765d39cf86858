"""Compare: two mechanisms on one city, and how errors fall with epsilon."""

from __future__ import annotations

import html
from dataclasses import replace
from functools import partial
from typing import Any

import numpy as np
import panel as pn
from numpy.typing import NDArray

from explorer.app.boxes.exchange import BoxExchange
from explorer.app.boxes.rectangles import Rectangles, was_dragged
from explorer.app.boxes.table import BoxTable
from explorer.app.compare.drawer import CompareDrawer
from explorer.app.compare.pair import Pair, score, why
from explorer.app.compare.stage import Box, Stage
from explorer.app.compare.sweep_view import SweepView
from explorer.app.compare.table import COLUMNS
from explorer.app.curator.answers import answer_boxes
from explorer.app.curator.data import CityData, is_loaded, load_city, own_city
from explorer.app.curator.scenarios import Scenarios
from explorer.app.curator.start import Opening
from explorer.app.kit import ui
from explorer.app.kit.html import html_pane, put, section
from explorer.app.kit.labels import CURATOR
from explorer.app.kit.maps import MapTools
from explorer.app.kit.message import MessageArea
from explorer.app.kit.navigation import header
from explorer.app.kit.theme import THEME
from explorer.app.kit.words import words
from explorer.app.state.compare import CompareState, Side
from explorer.app.state.explore import put_place
from explorer.app.work.background import Background
from explorer.app.work.worker import soon
from explorer.cities import catalogue as cities
from explorer.errors import InputError
from explorer.grid.grid import Grid
from explorer.points.matrix import FrequencyMatrix
from explorer.scenario import Scenario
from explorer.views.markup import ledger_bar

TITLE = "Compare mechanisms"
#: The city key of what a notebook brought along.
OWN = "yours"


class Compare(pn.viewable.Viewer):
    """The Compare page, for a server or a notebook cell. Curator mode: it shows exact counts.

    Everything on it is a preview: reproducible dice, nothing to publish.

    Parameters
    ----------
    city : str, FrequencyMatrix or None
        A key of `explorer.cities.catalogue.cities()`, or counts of your own.
    a, b : str or Mechanism, optional
        The two mechanisms, by name or with settings; HTF and Mosaic without them.
    scenario : Scenario, optional
        What to begin with, in place of the rest; a link in the address goes before it.
    **choices
        First settings: ``epsilon``, ``side``, ``chosen``, ``seeds``, ... (see `CompareState`).

    Examples
    --------
    ``Compare("madeup", a="ag", b=HTF(T=5), epsilon=0.5)`` as the last line of a notebook cell
    shows itself; in a script for ``panel serve``, ``Compare().servable()`` makes it a page.
    """

    def __init__(
        self,
        city: str | FrequencyMatrix | None = None,
        a: Side | None = None,
        b: Side | None = None,
        scenario: Scenario | None = None,
        **choices: Any,
    ) -> None:
        super().__init__()
        pn.extension("tabulator", notifications=False)
        opening = Opening.of(scenario)
        city = opening.city(city)
        a, b, choices = opening.sides(a, b, choices)
        self.phone = "Mobile" in pn.state.headers.get("User-Agent", "")
        if self.phone:
            choices = {"drag": "scroll", **choices}
        catalogue = {each.title: key for key, each in cities.cities().items()}
        self._own = own_city(city) if isinstance(city, FrequencyMatrix) else None
        key = str(city or next(iter(catalogue.values()))) if self._own is None else OWN
        if self._own is not None:
            catalogue["Your own counts"] = OWN
        elif key not in catalogue.values():
            raise InputError(
                f"There is no city {key[:40]!r}: choose one of {', '.join(catalogue)}."
            )
        self.state = CompareState(a, b, city=key, **choices)
        # Until the city has been read, its public extent says what boxes are measured in.
        first = Grid.cells((1, 1)) if self._own is not None else cities.cities()[key].grid()
        self.rectangles = Rectangles(first)
        self._going_back = False
        self.message = MessageArea()
        self.background = Background(self.message)
        self._build(catalogue)
        self.scenarios = Scenarios(
            *("compare", self.state, self.rectangles, self.message, opening),
            city=lambda: self.stage.data,
            released=lambda: False,
            taken=self._scenario_taken,
        )
        self._watch()
        pn.state.on_session_destroyed(lambda _context: self._close())
        if self._own is not None:
            self._use(self._own)
        elif pn.state.curdoc is None or is_loaded(*self.state.place):
            self._use(load_city(*self.state.place))
        else:
            pn.state.onload(self._load)

    @property
    def pair(self) -> Pair | None:
        """What is on the two maps."""
        return self.stage.pair

    def page(self, links: bool = False) -> Any:
        """The page with bar, drawer and theme toggle; ``links`` to the server's other pages."""
        self.scenarios.serve(links)
        return ui.Page(
            title="Compare" if self.phone else TITLE,
            header=header("Compare", links, self.phone),
            sidebar=[self.scenarios.view, self.drawer.view],
            main=[self.body],
            sidebar_width=288,
            sidebar_open=not self.phone,
            sidebar_resizable=False,
            theme_config=THEME,
            dark_theme=pn.config.theme != "default" or "theme" not in pn.state.session_args,
        )

    def servable(self, title: str = TITLE, **kwargs: Any) -> Compare:
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
        refuse, text = self.message.refuse, words("compare")
        self.stage = Stage(
            self.state, lambda: self.rectangles.boxes, self._drawn, self._rest, refuse
        )
        self.drawer = CompareDrawer(self.state, self._settings_changed, refuse, catalogue)
        tools = MapTools(self.state, self.stage.zoom, refuse, phone=self.phone)
        changed, highlight = self._boxes_changed, self._highlight
        self.table = BoxTable(
            self.rectangles, changed, highlight, refuse, COLUMNS, phone=self.phone
        )
        self.exchange = BoxExchange(self.rectangles, self._add_box, self._boxes_changed, refuse)
        self.sweep = SweepView(self.state, self._source, refuse)
        about = f"The same city, epsilon, random noise and boxes. {CURATOR.capitalize()}."
        head = pn.Column(
            html_pane(f'<h1 class="visually-hidden">{TITLE}</h1><p class="summary">{about}</p>'),
            styles={"flex": "1 1 380px"},
            sizing_mode="stretch_width",
            margin=0,
        )
        self._why, self._score = html_pane(margin=(8, 0, 6, 0)), html_pane(margin=(4, 0))
        self._ledgers = html_pane(margin=(4, 0, 0, 0))
        self.body = pn.Column(
            self.message.view,
            ui.wrapping(head, tools.view, gap="6px 16px", margin=(0, 0, 6, 0)),
            self.stage.view,
            self._why,
            section("Boxes", text["Boxes"]),
            self._score,
            self.exchange.view,
            self.table.widget,
            section("Budget", text["Budget"]),
            self._ledgers,
            section("Four epsilons", text["Four epsilons"]),
            self.stage.small_view,
            self.sweep.view,
            sizing_mode="stretch_width",
            margin=(10, 16, 24, 16),
        )

    def _watch(self) -> None:
        state, watch = self.state, self.state.param.watch
        watch(self._settings_changed, ["mechanism", "epsilon"])
        state.b.param.watch(self._settings_changed, ["mechanism"])
        watch(lambda *_: self.stage.outdated(), ["seed"])
        watch(lambda *_: self.stage.request(), ["right", "scale"])
        watch(lambda *_: self.stage.restyle(), ["palette", "partition", "drag"])
        watch(lambda *_: self._load(), ["city", "side", "bound"])

    # What a visitor does.

    def _settings_changed(self, *_events: Any) -> None:
        """Something a map depends on; dice that are not frozen are thrown again."""
        if self.state.frozen:
            self.stage.outdated()
        else:
            self.state.roll()
        self.sweep.refresh()

    def _scenario_taken(self) -> None:
        """The choices are those of a scenario: show them, its boxes and their controls."""
        for side in self.drawer.sides:
            side.rebuild()
        if self.stage.data is not None:
            self.stage.outdated()
        self._boxes_changed()
        self.sweep.refresh()

    def _drawn(self, box: Box) -> None:
        """A dragged rectangle; a click without a drag is not one."""
        if self.stage.maps is None or not was_dragged(box, self.stage.maps.viewport()):
            return
        try:
            self.rectangles.add(box)
        except InputError as error:
            self.message.refuse(str(error))
        self._boxes_changed()

    def _add_box(self) -> None:
        if self.stage.maps is not None:
            self.rectangles.add_middle(self.stage.maps.ranges.bounds)
            self._boxes_changed()

    def _boxes_changed(self) -> None:
        """Maps first; the table, which takes a browser longer, in the next message."""
        self._highlight()
        soon(self._numbers)
        self.sweep.boxes_changed()
        self.scenarios.follow()

    def _highlight(self) -> None:
        if self.stage.maps is not None:
            chosen = self.rectangles
            self.stage.maps.highlight(chosen.boxes, chosen.names, chosen.selected)

    def _source(self) -> tuple[CityData, NDArray[np.float64]]:
        return self.stage.known(), self.rectangles.boxes

    # What is read beside the maps.

    def _rest(self) -> None:
        """Ledgers, facts, titles, sentences, table."""
        pair = self.pair
        if pair is None:
            return
        bars = [
            f"<div><h3>{letter}: {screen.title}</h3>{ledger_bar(screen.release.stages())}</div>"
            for letter, screen in (("A", pair.a), ("B", pair.b))
        ]
        put(self._ledgers, f'<div class="beside">{"".join(bars)}</div>')
        for side, screen in zip(self.drawer.sides, (pair.a, pair.b), strict=True):
            side.settings.show_facts(screen.release.facts)
        self._numbers()
        self.scenarios.follow()

    def _numbers(self) -> None:
        pair, maps = self.pair, self.stage.maps
        if pair is None or maps is None:
            return
        boxes = self.rectangles.boxes
        if not np.array_equal(pair.a.boxes, boxes):
            a, b = (
                replace(s, answers=answer_boxes(s.release, s.data.matrix, boxes), boxes=boxes)
                for s in (pair.a, pair.b)
            )
            self.stage.pair = pair = Pair(a, b)
        maps.caption(pair)
        put(self._why, f'<p class="summary" role="status">{html.escape(why(pair))}</p>')
        put(self._score, f'<p class="summary">{html.escape(score(pair))}</p>')
        self.table.show(pair.answers)

    # Cities.

    def _load(self) -> None:
        if self._going_back:
            self.background.cancel()
            return
        place = key, *_ = self.state.place
        own = self._own if key == OWN else None
        if own is not None or is_loaded(*place):
            # Whatever is still being read was chosen before this.
            self.background.cancel()
            data = own or load_city(*place)
            if data is not self.stage.data:
                self._use(data)
            return
        title = next((t for t, k in self.drawer.city.options.items() if k == key), key)
        done = partial(self._arrived, place)
        self.background.run(partial(load_city, *place), done, f"Reading {title} …", self._back)

    def _arrived(self, place: tuple[str, int, int], data: CityData) -> None:
        """Use what was read, unless something else has been chosen meanwhile."""
        if place == self.state.place:
            self._use(data)

    def _use(self, data: CityData) -> None:
        """Show a city; another extent starts with the two example boxes."""
        # Counts without points have the cells they have.
        self.drawer.side.visible = data.heat is not None
        self.drawer.bound.visible = data.has_users
        if self.stage.use(data):
            self.rectangles.reset(data.grid)
            self.table.reset()
            self.exchange.reset()
        else:
            self.rectangles.grid = data.grid
        self.scenarios.place(data)
        self._highlight()
        self.stage.begin()
        self.sweep.refresh()

    def _back(self) -> None:
        """A city could not be read: the choice goes back to the one on screen."""
        if self.stage.data is None:
            return
        self._going_back = True
        put_place(self.state, self.stage.data.city)
        self._going_back = False

    def _close(self) -> None:
        self.stage.close()
        self.sweep.close()
