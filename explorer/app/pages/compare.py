"""Compare: two mechanisms on one city, and how errors fall with epsilon."""

from __future__ import annotations

import html
from collections.abc import Callable
from dataclasses import replace
from functools import partial
from typing import Any

import numpy as np
import panel as pn
from numpy.typing import NDArray

from explorer import cities
from explorer.app import ui
from explorer.app.background import Background
from explorer.app.compare.drawer import CompareDrawer
from explorer.app.compare.maps import PrivatePair
from explorer.app.compare.pair import Pair, compute_pair, score, why
from explorer.app.compare.small import SmallJob, SmallMaps, SmallScreen, compute_small
from explorer.app.compare.state import FOUR, CompareState, Side
from explorer.app.compare.sweep_view import SweepView
from explorer.app.compare.table import BothTable
from explorer.app.data import CityData, is_loaded, load_city, own_city, same_extent
from explorer.app.exchange import BoxExchange
from explorer.app.figures import answer_boxes
from explorer.app.maps import CURATOR, MapTools
from explorer.app.message import MessageArea
from explorer.app.navigation import header
from explorer.app.pieces import html_pane, put, section
from explorer.app.rectangles import Rectangles, was_dragged
from explorer.app.screen import Job, Look
from explorer.app.theme import THEME
from explorer.app.words import words
from explorer.app.worker import LatestWorker, Superseded, held
from explorer.errors import InputError
from explorer.grid import Grid
from explorer.matrix import FrequencyMatrix
from explorer.views.markup import ledger_bar
from explorer.views.viewport import Viewport

TITLE = "Compare mechanisms"
OWN = "yours"


class Compare(pn.viewable.Viewer):
    """The Compare page, for a server or a notebook cell. Curator mode: it shows exact counts.

    Everything on it is a preview: reproducible dice, nothing to publish.

    Parameters
    ----------
    city : str, FrequencyMatrix or None
        A key of `explorer.cities.cities()`, or counts of your own.
    a, b : str or Mechanism, optional
        The two mechanisms, by name or with settings; HTF and Mosaic without them.
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
        **choices: Any,
    ) -> None:
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
        self.state = CompareState(a, b, city=key, **choices)
        self.rectangles = Rectangles(Grid.cells((1, 1)))
        self.pair: Pair | None = None
        self.maps: PrivatePair | None = None
        self.small: SmallMaps | None = None
        self._own = own_city(city) if isinstance(city, FrequencyMatrix) else None
        self._data: CityData | None = None
        self._computed: Pair | None = None
        self._small_screen: SmallScreen | None = None
        self._asked: Viewport | None = None
        self._version = 0
        self.message = MessageArea()
        self.background = Background(self.message)
        refuse = self.message.refuse
        self.worker = LatestWorker(self._jobs, self._compute, self._publish, refuse, self._slow)
        self.small_worker = LatestWorker(
            self._small_job, self._compute_small, self._publish_small, refuse, lambda _busy: None
        )
        self._build(catalogue)
        self._watch()
        pn.state.on_session_destroyed(lambda _context: self._close())
        if self._own is not None:
            self._use(self._own)
        elif pn.state.curdoc is None or is_loaded(key, self.state.side):
            self._use(load_city(key, self.state.side))
        else:
            pn.state.onload(self._load)

    def page(self, links: bool = False) -> Any:
        """The page with bar, drawer and theme toggle; ``links`` to the server's other pages."""
        return ui.Page(
            title="Compare" if self.phone else TITLE,
            header=header("Compare", links, self.phone),
            sidebar=[self.drawer.view],
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
            pn.Column(self.drawer.view, width=300, margin=0),
            self.body,
            sizing_mode="stretch_width",
        )

    # Building the page once.

    def _build(self, catalogue: dict[str, str]) -> None:
        refuse = self.message.refuse
        self.drawer = CompareDrawer(self.state, self._settings_changed, refuse, catalogue)
        tools = MapTools(self.state, self._zoom, refuse, phone=self.phone)
        self.table = BothTable(
            self.rectangles, self._boxes_changed, self._highlight, refuse, phone=self.phone
        )
        self.exchange = BoxExchange(self.rectangles, self._add_box, self._boxes_changed, refuse)
        self.sweep = SweepView(self.state, self._source, refuse)
        about = f"The same city, epsilon, dice and boxes; {CURATOR}."
        head = html_pane(f'<h1 class="visually-hidden">{TITLE}</h1><p class="summary">{about}</p>')
        self._maps, self._small = (
            pn.Column(sizing_mode="stretch_width", margin=0) for _ in range(2)
        )
        self._why, self._score = html_pane(margin=(8, 0, 6, 0)), html_pane(margin=(4, 0))
        self._ledgers = html_pane(margin=(4, 0, 0, 0))
        text = words("compare")
        self.body = pn.Column(
            self.message.view,
            ui.wrapping(
                pn.Column(
                    head, styles={"flex": "1 1 380px"}, sizing_mode="stretch_width", margin=0
                ),
                tools.view,
                gap="6px 16px",
                margin=(0, 0, 6, 0),
            ),
            self._maps,
            self._why,
            section("Boxes", text["Boxes"]),
            self._score,
            self.exchange.view,
            self.table.widget,
            section("Budget", text["Budget"]),
            self._ledgers,
            section("Four epsilons", text["Four epsilons"]),
            self._small,
            self.sweep.view,
            sizing_mode="stretch_width",
            margin=(10, 16, 24, 16),
        )

    def _watch(self) -> None:
        state, watch = self.state, self.state.param.watch
        watch(self._settings_changed, ["mechanism", "epsilon"])
        state.b.param.watch(self._settings_changed, ["mechanism"])
        watch(self._new_dice, ["seed"])
        watch(lambda *_: self._request(), ["right", "scale"])
        watch(self._restyle, ["palette", "partition", "drag"])
        watch(lambda *_: self._load(), ["city", "side"])

    # What a visitor does.

    def _settings_changed(self, *_events: Any) -> None:
        """Something a map depends on; with dice that are not frozen they are thrown again."""
        if self.state.frozen:
            self._new_dice()
        else:
            self.state.roll()

    def _new_dice(self, *_events: Any) -> None:
        self._version += 1
        self._request()
        self.sweep.refresh()

    def _request(self) -> None:
        self.worker.request()
        self.small_worker.request()

    def _restyle(self, *_events: Any) -> None:
        if self.maps is not None and self.small is not None and self.pair is not None:
            self.maps.restyle()
            self.maps.caption(self.pair)
            self.small.restyle()

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
        self.sweep.boxes_changed()

    def _highlight(self) -> None:
        if self.maps is not None:
            chosen = self.rectangles
            self.maps.boxes.show(chosen.boxes, chosen.names, chosen.selected)

    def _source(self) -> tuple[CityData, NDArray[np.float64]]:
        return self._known(), self.rectangles.boxes

    def _known(self) -> CityData:
        if self._data is None or self.maps is None:
            raise InputError("The city is still being read: wait a moment.")
        return self._data

    # From choices to pictures.

    def _jobs(self) -> tuple[Job, Job]:
        data, state = self._known(), self.state
        assert self.maps is not None
        self._asked = self.maps.viewport()
        job = Job(
            data=data,
            mechanism=state.instance(),
            seed=state.seed,
            draw=0,
            view=self._asked,
            look=Look(state.right, state.scale, "data", points=False),
            boxes=self.rectangles.boxes,
            previous=None if self._computed is None else self._computed.a,
        )
        last = None if self._computed is None else self._computed.b
        return job, replace(job, mechanism=state.b.instance(), previous=last)

    def _compute(self, jobs: tuple[Job, Job]) -> Pair:
        """In the worker's thread; a picture that is not wanted any more stops half-way."""
        self._computed = compute_pair(jobs, self._still_wanted(self._version))
        return self._computed

    def _still_wanted(self, version: int) -> Callable[[float], None]:
        def progress(_done: float) -> None:
            if version != self._version:
                raise Superseded

        return progress

    def _publish(self, pair: Pair) -> None:
        if pair.a.data is not self._data or self.maps is None:
            return
        self.pair = pair
        doc = pn.state.curdoc
        held(doc, partial(self.maps.show, pair))
        if doc is None or doc.session_context is None:
            self._rest()
        else:
            doc.add_next_tick_callback(partial(held, doc, self._rest))

    def _rest(self) -> None:
        """What is read after the maps: titles, figures, sentences, table, ledgers."""
        if self.maps is None or self.pair is None:
            return
        bars = [
            f"<div><h3>{letter}: {screen.title}</h3>{ledger_bar(screen.release.stages())}</div>"
            for letter, screen in (("A", self.pair.a), ("B", self.pair.b))
        ]
        put(self._ledgers, f'<div class="beside">{"".join(bars)}</div>')
        for side, screen in zip(self.drawer.sides, (self.pair.a, self.pair.b), strict=True):
            side.settings.show_facts(screen.release.facts)
        self._numbers()

    def _numbers(self) -> None:
        pair = self.pair
        if pair is None or self.maps is None:
            return
        boxes = self.rectangles.boxes
        if not np.array_equal(pair.a.boxes, boxes):
            a, b = (
                replace(s, answers=answer_boxes(s.release, s.data.matrix, boxes), boxes=boxes)
                for s in (pair.a, pair.b)
            )
            self.pair = pair = Pair(a, b)
        self.maps.caption(pair)
        put(self._why, f'<p class="summary" role="status">{html.escape(why(pair))}</p>')
        put(self._score, f'<p class="summary">{html.escape(score(pair))}</p>')
        self.table.show(pair.answers)

    def _slow(self, busy: bool) -> None:
        if self.maps is not None and self.pair is not None:
            self.maps.caption(self.pair, busy=busy)

    def _small_job(self) -> SmallJob:
        data, state = self._known(), self.state
        made = [
            type(each)(epsilon=epsilon, **{name: getattr(each, name) for name in each.tunables()})
            for each in (state.instance(), state.b.instance())
            for epsilon in FOUR
        ]
        look = Look(state.right, state.scale, "data", points=False)
        return SmallJob(data, made, state.seed, look, self._small_screen)

    def _compute_small(self, job: SmallJob) -> SmallScreen:
        return compute_small(job, self._still_wanted(self._version))

    def _publish_small(self, screen: SmallScreen) -> None:
        self._small_screen = screen
        if screen.data is self._data and self.small is not None:
            held(pn.state.curdoc, partial(self.small.show, screen))

    # Cities.

    def _load(self) -> None:
        key, side = self.state.city, self.state.side
        if self._own is not None and key == OWN:
            self._use(self._own)
        elif is_loaded(key, side):
            self._use(load_city(key, side))
        else:
            title = next((t for t, k in self.drawer.city.options.items() if k == key), key)
            work = partial(load_city, key, side)
            self.background.run(work, self._use, f"Reading {title} …", self._back)

    def _use(self, data: CityData) -> None:
        """Show a city; another extent gets new maps and starts with the two example boxes."""
        self._data = data
        self._version += 1
        if self.maps is None or not same_extent(self.maps.grid, data.grid):
            self.rectangles.reset(data.grid)
            self.maps = PrivatePair(self.state, data.grid, self._viewed, self._drawn)
            self.small = SmallMaps(self.state, data.grid, len(FOUR))
            self._maps.objects, self._small.objects = [self.maps.view], [self.small.view]
            self.table.reset()
            self.exchange.reset()
        else:
            self.maps.grid = self.rectangles.grid = data.grid
        self._highlight()
        if self.pair is None:
            self.worker.run_now()
        else:
            self.worker.request()
        self.small_worker.request()
        self.sweep.refresh()

    def _back(self) -> None:
        """A city could not be read: the choice goes back to the one on screen."""
        if self._data is not None:
            self.drawer.city.value, self.drawer.side.value = self._data.city

    def _close(self) -> None:
        self.worker.close()
        self.small_worker.close()
        self.sweep.close()
