"""Runs: "what if we had released again?", as dots next to the truth and one by one on the map."""

from __future__ import annotations

import html
import threading
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import panel as pn
from numpy.typing import NDArray

from explorer.app.boxes.rectangles import Chosen, chosen
from explorer.app.curator.panel import PlayedPanel, panel_button
from explorer.app.curator.parts import PageParts
from explorer.app.kit import ui
from explorer.app.kit.html import html_pane, put
from explorer.app.kit.numbers import share
from explorer.app.kit.prose import column
from explorer.app.work.job import Job, Run, patient
from explorer.errors import InputError
from explorer.evaluate.repeats import ErrorParts, Spread, one_run, repeats
from explorer.grid.range_queries import Queries, edges_and_shapes, same_shape
from explorer.mechanisms import Mechanism, mechanism, rebuild
from explorer.points.truth import exact
from explorer.releases.release import Release
from explorer.views.answer_charts import AnswerDots, Dots, dots_legend
from explorer.views.tables import Cell, progress, table

Floats = NDArray[np.float64]
#: At most so many boxes are shown, each with a figure of its own.
MOST_BOXES = 5
FEWEST, MOST, USUAL = 10, 200, 50
# One run at a time in this server: visitors take turns run by run, and the maps keep a processor.
_TURN = threading.Lock()
_POOL = patient(64, "runs")


@dataclass(frozen=True, eq=False)
class Order:
    """What to draw and what to ask.

    Attributes
    ----------
    data : with a ``title`` and a ``matrix``, of the page's own kind
    key : what the runs depend on; equal keys mean equal data and settings
    boxes : (n, 4) all boxes there were, in grid units; of k places (n, k, 4) with gaps NaN
    true : (n,) their true answers
    inside : how counts are spread inside leaves; the mechanism's way without
    answers : of the finished runs, (n,) each, in the order of drawing
    """

    data: Any
    mechanism: Mechanism
    key: tuple[Any, ...]
    boxes: Queries
    true: Floats
    runs: int
    inside: str | None
    answers: list[Floats]

    @property
    def settings(self) -> str:
        """Mechanism and epsilon, in words."""
        return f"{mechanism(self.mechanism.key).title} with epsilon {self.mechanism.epsilon:.4g}"


@dataclass(frozen=True, eq=False)
class RunsView:
    """What the panel shows; it is filled in the worker's thread.

    Attributes
    ----------
    screen : of the page's own kind, with a ``release`` and `paint`
    answers : (runs, n) those of the runs that are finished
    stale : whether the settings have changed since the runs were ordered
    shown : the run on the maps, from 0; None for the page's own
    release, painted : that run, and what the screen's `paint` made of it
    names, dots, spread : one entry for each chosen box that the runs were asked about
    missing : names of chosen boxes that they were not asked about
    """

    screen: Any
    order: Order | None
    chosen: Chosen
    answers: Floats
    shown: int | None
    stale: bool
    previous: RunsView | None = None
    release: Release | None = None
    painted: tuple[Any, ...] | None = None
    missing: tuple[str, ...] = ()
    names: tuple[str, ...] = ()
    dots: tuple[Dots, ...] = ()
    spread: Spread | None = None
    parts: ErrorParts | None = None


def _key_of(screen: Any) -> tuple[object, ...]:
    """What runs of this screen depend on: data and settings, and not the seed."""
    return *screen.key[:2], screen.release.inside


def _filled(view: RunsView) -> RunsView:
    """Find the chosen boxes among those asked, summarise, draw the run that is on the map."""
    order, screen = view.order, view.screen
    if order is None:
        return replace(view, previous=None)
    rows, matched = _matches(view.chosen, order.boxes)
    names = np.array(view.chosen.names, dtype=str)
    view = replace(_painted(view, order), missing=tuple(map(str, names[~matched])), previous=None)
    if not len(rows) or not len(view.answers):
        return view
    true, answers = order.true[rows], view.answers[:, rows]
    own = screen.release.answer(order.boxes[rows]).value
    return replace(
        view,
        names=tuple(map(str, names[matched])),
        dots=tuple(
            Dots(answers[:, i], float(true[i]), float(own[i]), view.shown) for i in range(len(rows))
        ),
        spread=Spread.of(answers, true),
        parts=ErrorParts.of(answers, true) if len(answers) > 1 else None,
    )


def _matches(chosen: Chosen, boxes: Queries) -> tuple[NDArray[np.int64], NDArray[np.bool_]]:
    """Rows of an order's boxes for the chosen ones, and which of these it has: the same edges."""
    n = len(chosen)
    if not n or not len(boxes):
        return np.zeros(0, dtype=np.int64), np.zeros(n, dtype=bool)
    edges, its = edges_and_shapes(chosen.boxes)
    ordered, theirs = edges_and_shapes(boxes)
    edges, ordered = edges.reshape(n, 1, -1), ordered.reshape(1, len(ordered), -1)
    # NaN represents anywhere, which is the same as anywhere.
    same = ((edges == ordered) | (np.isnan(edges) & np.isnan(ordered))).all(axis=2)
    for row, other in np.argwhere(same):
        same[row, other] = same_shape(its[row], theirs[other])
    matched = same.any(axis=1)
    return same.argmax(axis=1)[matched], matched


def _painted(view: RunsView, order: Order) -> RunsView:
    """The run again, from its own seed: to keep two hundred maps would cost more than this."""
    run, old = view.shown, view.previous
    if run is None or view.stale:
        return view
    if old is None or old.release is None or (old.order, old.shown) != (order, run):
        release = one_run(order.data.matrix, order.mechanism, run, order.inside)
    elif old.screen is view.screen:
        return replace(view, release=old.release, painted=old.painted)
    else:
        release = old.release
    return replace(view, release=release, painted=view.screen.paint(release))


def _draw(order: Order, run: Run) -> None:
    """Draw run after run. In a thread: touches no widget."""
    drawn = repeats(order.data.matrix, order.mechanism, order.boxes, order.runs, order.inside)
    while True:
        with _TURN:
            one = next(drawn, None)
        # What was under way when it was stopped does not count: the numbers do not move.
        if one is None or run.cancelled.is_set():
            return
        order.answers.append(one)
        run.tell(len(order.answers) / order.runs)


class Runs(PlayedPanel[RunsView]):
    """The panel."""

    def __init__(self, parts: PageParts) -> None:
        super().__init__(_filled, parts, "Play the runs on the map")
        self._view: RunsView | None = None
        self._order: Order | None = None
        # The run on the map, from 1; 0 is the map itself.
        self._run = 0
        self._work: Job[None] = Job(
            _draw, lambda _none: None, self._refused, changed=self._worked, pool=_POOL
        )
        small: dict[str, Any] = {"size": "small", "margin": (0, 12), "sizing_mode": "stretch_width"}
        self.number = ui.IntSlider(
            label="Number of runs", start=FEWEST, end=MOST, step=10, value=USUAL,
            styles={"flex": "0 1 220px"}, **small,
        )  # fmt: skip
        ui.bind(self.number, self._numbered, self._refused)
        self.go = panel_button("Draw previews", self._start, "contained")
        self.stop = panel_button("Stop", lambda _event: self._work.cancel())
        self.stop.disabled = True
        self._progress = html_pane(margin=(0, 0, 8, 0), styles={"flex": "1 1 240px"})
        self.run = ui.IntSlider(
            label="Run on the map", start=0, end=1, value=0, disabled=True,
            styles={"flex": "1 1 220px"}, **small,
        )  # fmt: skip
        ui.bind(self.run, self._slid, self._refused)
        self.figures = [AnswerDots() for _ in range(MOST_BOXES)]
        self._heads = [html_pane() for _ in self.figures]
        self._cards = [
            column(
                head,
                pn.pane.Bokeh(dots.figure, sizing_mode="stretch_width", margin=0),
                styles={"flex": "1 1 380px", "min-width": "0"},
                visible=False,
            )
            for head, dots in zip(self._heads, self.figures, strict=True)
        ]
        self._notices, self._summary, self._price, self._table = (
            html_pane(margin=(4, 0)) for _ in range(4)
        )
        # Empty axes say nothing: they appear with the first runs.
        self._results = column(
            ui.wrapping(self.play, self.pace, self.run, gap="6px 8px", margin=(6, 0)),
            self._summary,
            self._price,
            html_pane(dots_legend()),
            ui.wrapping(*self._cards, gap="4px 24px"),
            self._table,
            visible=False,
        )
        self.view = column(
            ui.wrapping(self.number, self.go, self.stop, self._progress, gap="6px 8px"),
            self._notices,
            self._results,
            margin=(4, 0),
        )

    @property
    def _done(self) -> int:
        """Number of finished runs."""
        return 0 if self._order is None else len(self._order.answers)

    def show(self, screen: Any) -> None:
        """Look at another screen; runs of other settings stop and are marked as old."""
        self._screen = screen
        if self._order is not None and self._order.key != _key_of(screen):
            self._work.cancel()
        if self._view is None or self._view.screen.release is not screen.release:
            self.player.stop()
            self._run = 0
        self._draw()

    def hide(self) -> None:
        """Stop, and give the map back; what is drawn stays for the next look."""
        super().hide()
        self._work.cancel()
        self._run = 0

    def _start(self, _event: Any = None) -> None:
        screen = self._screen
        if screen is None:
            return
        boxes = self._rectangles.boxes
        if not len(boxes):
            self._refused("Draw a box on the map first: the runs ask about your boxes.")
            return
        self.player.stop()
        self._run = 0
        data, release = screen.data, screen.release
        # Answers of its own: a thread still busy with an earlier order adds nothing here.
        self._order = Order(
            data,
            rebuild(release),
            _key_of(screen),
            boxes,
            exact(data.matrix, boxes),
            int(self.number.value),
            release.inside,
            [],
        )
        self._work.ask(self._order)

    def _numbered(self, runs: int) -> None:
        if not FEWEST <= runs <= MOST:
            raise InputError(f"The number of runs goes from {FEWEST} to {MOST}.")

    def _slid(self, run: int) -> None:
        if run == self._run:
            return
        if not 0 <= run <= self._done:
            raise InputError(f"{self._done} runs have been drawn: choose one of them.")
        self.player.stop()
        self._run = run
        self._draw()

    def _rewind(self) -> None:
        if self._run >= self._done:
            self._run = 0

    def _next(self) -> bool:
        """The next run on the map; waits for one that is still being drawn."""
        if self._screen is None:
            return False
        if self._drawing or (self._work.busy and self._run >= self._done):
            return True
        if self._run >= self._done:
            return False
        self._run += 1
        self._draw()
        return self._run < self._done or self._work.busy

    def _worked(self) -> None:
        if self._screen is not None:
            self._draw()

    def _question(self, screen: Any) -> RunsView:
        order = self._order
        # A copy: the thread may add one meanwhile.
        drawn, n = ([], 0) if order is None else (list(order.answers), len(order.boxes))
        return RunsView(
            screen,
            order,
            chosen(self._rectangles, MOST_BOXES),
            np.array(drawn).reshape(len(drawn), n),
            self._run - 1 if self._run else None,
            order is not None and order.key != _key_of(screen),
            self._view,
        )

    def _show(self, view: RunsView) -> None:
        old, self._view = self._view, view
        self._show_map(view, old)
        running = self._work.busy
        self.go.label = "Draw again" if self._done else "Draw previews"
        self.go.disabled, self.stop.disabled = running, not running
        put(self._progress, self._about_progress() if view.order is not None else "")
        put(self._notices, _notices(view))
        self._results.visible = view.spread is not None
        self.play.disabled = view.stale
        end = 0 if view.stale else len(view.answers)
        self.run.param.update(end=max(end, 1), value=self._run, disabled=end == 0)
        summary = html.escape(_about_runs(view))
        put(self._summary, f'<p class="summary" role="status">{summary}</p>')
        put(self._price, f"<p>{html.escape(_about_price(view))}</p>")
        put(self._table, _runs_table(view))
        for i, card in enumerate(self._cards):
            card.visible = i < len(view.names)
            if card.visible:
                put(self._heads[i], f"<h3>{html.escape(view.names[i])}</h3>")
                self.figures[i].show(view.dots[i], _about_dots(i, view))

    def _show_map(self, view: RunsView, old: RunsView | None) -> None:
        maps = self._maps()
        if maps is None:
            return
        if view.painted is None or view.order is None or view.shown is None:
            maps.uncover()
        elif old is None or old.painted is not view.painted:
            run = f"Run {view.shown + 1} of {view.order.runs}"
            maps.cover(*view.painted, f"{run}: a preview with other random noise, not private")

    def _about_progress(self) -> str:
        """A bar while runs are drawn, and what became of them."""
        done, runs = self._done, 0 if self._order is None else self._order.runs
        stopped = f"Stopped after {done} of {runs} previews"
        text = {
            "idle": "Nothing has been drawn yet.",
            "finished": f"{runs} previews, all drawn",
            "cancelled": stopped,
            "failed": stopped,
        }.get(self._work.phase, f"{done} of {runs} previews")
        return progress("Previews drawn", done, runs, text)


def _about_runs(view: RunsView) -> str:
    """How often the answers were close to the truth, in one sentence."""
    if view.order is None or view.spread is None:
        return ""
    close = [
        f"in {share(part)} of the runs for {name}"
        for name, part in zip(view.names, view.spread.within_5, strict=True)
        if not np.isnan(part)
    ]
    n = len(view.answers)
    text = (
        f"{n} preview{'' if n == 1 else 's'} by {view.order.settings}, each with other random noise"
    )
    if not close:
        return f"{text}; no box has anyone in it."
    return f"{text}: the answer is within 5 % of the truth {', '.join(close)}."


def _about_price(view: RunsView) -> str:
    """Why this was free, and what releases would have cost."""
    n = len(view.answers)
    if view.order is None or not n:
        return ""
    return (
        "They cost nothing only because they are previews and not releases: "
        f"to release {n} times would cost epsilon {n * view.order.mechanism.epsilon:.4g}."
    )


def _about_dots(i: int, view: RunsView) -> str:
    """One figure, read out."""
    name, spread = view.names[i], view.spread
    if spread is None:
        return f"{name}: no runs yet"
    return (
        f"Answers to {name} in {len(view.answers)} previews: median {spread.median[i]:,.0f}, "
        f"95 % from {spread.low[i]:,.0f} to {spread.high[i]:,.0f}, true {view.dots[i].true:,.0f}, "
        f"your map {view.dots[i].here:,.0f}"
    )


def _runs_table(view: RunsView) -> str:
    """The same as the dots, in numbers."""
    spread = view.spread
    if spread is None:
        return ""
    columns = [
        ("box", ""),
        ("true", "exact count of all records"),
        ("your map", "private answer of the map that the page shows"),
        ("median", "of the runs"),
        ("95 % of the runs", "quantiles 2.5 % and 97.5 % of the runs"),
        ("within 5 %", "part of the runs off by at most 5 % of the truth"),
        ("within 10 %", "part of the runs off by at most 10 % of the truth"),
        ("bias", "part of the squared error that is the same in every run: not noise"),
    ]
    rows = [
        [
            name,
            f"{round(float(view.dots[i].true)):,}",
            f"{round(float(view.dots[i].here)):,}",
            f"{round(float(spread.median[i])):,}",
            f"{round(spread.low[i]):,} to {round(spread.high[i]):,}",
            share(spread.within_5[i]),
            share(spread.within_10[i]),
            "–" if view.parts is None else share(float(view.parts.share[i])),
        ]
        for i, name in enumerate(view.names)
    ]
    cells = [[Cell(text) for text in row] for row in rows]
    return table("Answers of the previews in numbers.", columns, cells)


def _notices(view: RunsView) -> str:
    """What to know before reading the numbers, as HTML: old settings, boxes that are missing."""
    order, sentences = view.order, []
    if order is not None and view.stale:
        sentences.append(
            f"These runs are of old settings ({order.settings}, {order.data.title}): run again for "
            "the present ones."
        )
    if order is not None and view.missing:
        names = ", ".join(view.missing)
        sentences.append(f"Not asked in these runs: {names}. Run again to include them.")
    if view.chosen.sentence:
        sentences.append(view.chosen.sentence)
    return "".join(
        f'<p class="{"notice" if i == 0 and view.stale else "quiet"}">{html.escape(text)}</p>'
        for i, text in enumerate(sentences)
    )
