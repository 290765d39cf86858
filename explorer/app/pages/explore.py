"""Explore: from a city's points to a private map that can be questioned."""

from __future__ import annotations

import html
import io
import tempfile
from collections.abc import Callable
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import panel as pn

from explorer import cities
from explorer.app import ui
from explorer.app.background import Background
from explorer.app.data import (
    CityData,
    is_loaded,
    load_city,
    own_city,
    prepared,
    same_extent,
)
from explorer.app.drawer import Drawer
from explorer.app.exchange import BoxExchange
from explorer.app.figures import answer_boxes, figures, summary
from explorer.app.maps import MapPair, MapTools
from explorer.app.message import MessageArea
from explorer.app.navigation import header
from explorer.app.rectangles import Rectangles, was_dragged
from explorer.app.screen import Job, Look, Screen, compute
from explorer.app.state import ExploreState
from explorer.app.table import BoxTable
from explorer.app.theme import CSS, THEME
from explorer.app.upload import OwnPoints, UploadForm
from explorer.app.words import words
from explorer.app.worker import LatestWorker, Superseded, held
from explorer.errors import InputError
from explorer.grid import Grid
from explorer.matrix import FrequencyMatrix
from explorer.views.markup import figures_strip, ledger_bar, safe_text
from explorer.views.viewport import Viewport

TITLE = "Private map explorer"
#: The city key of what a visitor or a notebook brought along.
OWN = "yours"


class Explore(pn.viewable.Viewer):
    """The Explore page, for a server or a notebook cell. Curator mode: it shows exact counts.

    Parameters
    ----------
    city : str, FrequencyMatrix or None
        A key of `explorer.cities.cities()`, or counts of your own.
    **choices
        First settings: ``mechanism``, ``epsilon``, ``side``, ``scale``, ... (see `ExploreState`).

    Examples
    --------
    As the last line of a notebook cell it shows itself; in a script for ``panel serve``,
    ``Explore("madeup").servable()`` makes it a page.
    """

    def __init__(self, city: str | FrequencyMatrix | None = None, **choices: Any) -> None:
        super().__init__()
        pn.extension("tabulator", notifications=False)
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
        self.rectangles = Rectangles(Grid.cells((1, 1)))
        self.screen: Screen | None = None
        self.maps: MapPair | None = None
        self._data: CityData | None = None
        self._own: OwnPoints | None = None
        self._computed: Screen | None = None
        self._asked: Viewport | None = None
        # A release-grade drawing has a number; 0 stands for a preview.
        self._drawing = self._drawings = self._version = 0
        self.message = MessageArea()
        self.background = Background(self.message)
        self.worker = LatestWorker(
            self._job, self._compute, self._publish, self.message.refuse, self._slow
        )
        self._build(catalogue)
        self._watch()
        pn.state.on_session_destroyed(lambda _context: self.worker.close())
        if isinstance(city, FrequencyMatrix):
            self._use(own_city(city))
        elif pn.state.curdoc is None or is_loaded(key, self.state.side):
            self._use(load_city(key, self.state.side))
        else:
            pn.state.onload(self._load)

    def draw_release(self) -> None:
        """Draw once with release-grade noise; the picture stays until a setting changes."""
        self._drawings += 1
        self._drawing = self._drawings
        self.worker.request()

    def page(self, links: bool = False) -> Any:
        """The page with bar, drawer and theme toggle; ``links`` to the server's other pages."""
        return ui.Page(
            title="Explore" if self.phone and links else TITLE,
            header=header("Explore", links, self.phone),
            sidebar=[self.drawer.view],
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
            pn.Column(self.drawer.view, width=300, margin=0),
            self.body,
            sizing_mode="stretch_width",
        )

    # Building the page once.

    def _build(self, catalogue: dict[str, str]) -> None:
        refuse = self.message.refuse
        upload = UploadForm(self.background.run, self._use_own, refuse)
        actions: dict[str, Callable[..., Any]] = {
            "changed": self._settings_changed,
            "draw": self.draw_release,
            "save": self._saved,
            "refused": refuse,
        }
        self.drawer = Drawer(self.state, actions, catalogue, upload.view)
        tools = MapTools(self.state, self._zoom, refuse, phone=self.phone)
        self.table = BoxTable(
            self.rectangles, self._boxes_changed, self._highlight, refuse, phone=self.phone
        )
        self.exchange = BoxExchange(self.rectangles, self._add_box, self._boxes_changed, refuse)
        self._strip = _html(f'<h1 class="visually-hidden">{TITLE}</h1>')
        self._summary, self._ledger = _html(margin=(6, 0, 10, 0)), _html(margin=(4, 0, 0, 0))
        self._map_holder = pn.Column(sizing_mode="stretch_width", margin=0)
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
            _section("Boxes", words("explore")["Boxes"]),
            self.exchange.view,
            self.table.widget,
            _section("Ledger", words("explore")["Ledger"]),
            self._ledger,
            sizing_mode="stretch_width",
            margin=(10, 16, 24, 16),
        )

    def _watch(self) -> None:
        watch = self.state.param.watch
        watch(self._settings_changed, ["mechanism", "epsilon"])
        watch(self._new_dice, ["seed"])
        watch(lambda *_: self.worker.request(), ["right", "scale", "scale_from", "truth"])
        watch(self._restyle, ["palette", "partition", "partition_over", "drag"])
        watch(lambda *_: self._load(), ["city", "side"])

    # What a visitor does.

    def _settings_changed(self, *_events: Any) -> None:
        """Something a release depends on: back to a preview, with new dice unless frozen."""
        if self.state.frozen:
            self._new_dice()
        else:
            self.state.roll()

    def _new_dice(self, *_events: Any) -> None:
        self._drawing = 0
        self._version += 1
        self.worker.request()

    def _saved(self) -> io.BytesIO:
        """The release on screen as a GeoParquet file; a preview is not handed out."""
        if self.screen is None or self.screen.release.preview:
            raise InputError("A preview is not private: draw a release first.")
        with tempfile.TemporaryDirectory(prefix="explorer-") as folder:
            path = Path(folder) / "release.parquet"
            self.screen.release.save(path)
            return io.BytesIO(path.read_bytes())

    def _restyle(self, *_events: Any) -> None:
        if self.maps is not None and self.screen is not None:
            self.maps.restyle()
            self.maps.caption(self.screen)

    def _zoom(self, factor: float) -> None:
        if self.maps is not None:
            self.maps.zoom(factor)
            self.worker.request()

    def _viewed(self) -> None:
        """A pan, zoom or resize; both maps report it, and loading reports it several times."""
        if self.maps is not None and self.maps.viewport() != self._asked:
            self.worker.request()

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
        """Maps first, then the numbers; both in one message."""

        def show() -> None:
            self._highlight()
            self._numbers()

        held(pn.state.curdoc, show)

    def _highlight(self) -> None:
        if self.maps is not None:
            chosen = self.rectangles
            self.maps.highlight(chosen.boxes, chosen.names, chosen.selected)

    # From choices to a picture.

    def _job(self) -> Job:
        if self._data is None or self.maps is None:
            raise InputError("The city is still being read: wait a moment.")
        state = self.state
        self._asked = self.maps.viewport()
        return Job(
            data=self._data,
            mechanism=state.instance(),
            seed=None if self._drawing else state.seed,
            draw=self._drawing,
            view=self._asked,
            look=Look(state.right, state.scale, state.scale_from, state.truth == "points"),
            boxes=self.rectangles.boxes,
            previous=self._computed,
        )

    def _compute(self, job: Job) -> Screen:
        """In the worker's thread. A preview that is not wanted any more stops half-way."""
        version = self._version

        def progress(_done: float) -> None:
            if job.draw == 0 and version != self._version:
                raise Superseded

        # Kept here and not when shown: a drawing must not be repeated because a zoom came between.
        self._computed = compute(job, progress)
        return self._computed

    def _publish(self, screen: Screen) -> None:
        if screen.data is not self._data or self.maps is None:
            return
        self.screen = screen
        doc = pn.state.curdoc
        held(doc, partial(self.maps.show, screen))
        if doc is None or doc.session_context is None:
            self._rest()
        else:
            doc.add_next_tick_callback(partial(held, doc, self._rest))

    def _rest(self) -> None:
        """What is read after the maps: titles, figures, table, ledger."""
        if self.maps is None or self.screen is None:
            return
        self.maps.caption(self.screen)
        _set(self._ledger, ledger_bar(self.screen.release.stages()))
        self.drawer.save.visible = not self.screen.release.preview
        self.drawer.parameters.show_facts(self.screen.release.facts)
        self._numbers()

    def _numbers(self) -> None:
        screen = self.screen
        if screen is None:
            return
        if not np.array_equal(screen.boxes, self.rectangles.boxes):
            boxes = self.rectangles.boxes
            answers = answer_boxes(screen.release, screen.data.matrix, boxes)
            self.screen = screen = replace(screen, answers=answers, boxes=boxes)
        release, answers = screen.release, screen.answers
        strip = figures_strip(figures(release, answers, screen.error, screen.seconds))
        _set(self._strip, f'<h1 class="visually-hidden">{TITLE}</h1>{strip}')
        sentence = summary(screen.title, screen.data.title, release, answers)
        _set(self._summary, f'<p class="summary" role="status">{html.escape(sentence)}</p>')
        self.table.show(answers)

    def _slow(self, busy: bool) -> None:
        if self.maps is not None and self.screen is not None:
            self.maps.caption(self.screen, busy=busy)

    # Cities.

    def _load(self) -> None:
        key, side = self.state.city, self.state.side
        if key != OWN and is_loaded(key, side):
            self._use(load_city(key, side))
            return
        if key == OWN:
            work = partial(_count_own, self._own, side)
        else:
            work = partial(load_city, key, side)
        title = next((t for t, k in self.drawer.city.options.items() if k == key), key)
        self.background.run(work, self._use, f"Reading {title} …", self._back)

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
        if self.maps is None or not same_extent(self.maps.grid, data.grid):
            self.rectangles.reset(data.grid)
            self.maps = MapPair(self.state, data.grid, self._viewed, self._drawn)
            self._map_holder.objects = [self.maps.view]
            self.table.reset()
            self.exchange.reset()
        else:
            self.maps.grid = self.rectangles.grid = data.grid
        self._drawing = 0
        self._highlight()
        if self.screen is None:
            self.worker.run_now()
        else:
            self.worker.request()

    def _back(self) -> None:
        """A city could not be read: the choice goes back to the one on screen."""
        if self._data is not None:
            self.drawer.city.value, self.drawer.side.value = self._data.city


def _count_own(own: OwnPoints | None, side: int) -> CityData:
    if own is None:
        raise InputError("There are no points of your own yet: load a file first.")
    grid = own.grid(side)
    data = prepared(own.title, own.points, grid.count(own.points))
    data.city = (OWN, side)
    return data


def _section(title: str, text: str) -> Any:
    return _html(f"<h2>{title}</h2><p>{text}</p>", margin=(14, 0, 4, 0))


def _html(text: str = "", margin: Any = 0) -> Any:
    return pn.pane.HTML(text, stylesheets=[CSS], sizing_mode="stretch_width", margin=margin)


def _set(pane: Any, text: str) -> None:
    if pane.object != text:
        pane.object = text
