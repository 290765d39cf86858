"""Runs: "what if we had released again?", as dots next to the truth and one by one on the map."""

from __future__ import annotations

import html
import threading
from collections.abc import Callable
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
from explorer.app.work.job import Job, Run, patient
from explorer.errors import InputError
from explorer.evaluate.bias import ErrorParts
from explorer.evaluate.repeats import Spread, one_run, repeats
from explorer.grid.range_queries import Queries, edges_and_shapes, same_shape
from explorer.mechanisms import Mechanism, mechanism, rebuild
from explorer.points.truth import exact
from explorer.releases.release import Release
from explorer.views.dots import AnswerDots, Dots, legend
from explorer.views.tables import Cell, progress, table

Floats = NDArray[np.float64]
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
    """

    data: Any
    mechanism: Mechanism
    key: tuple[Any, ...]
    boxes: Queries
    true: Floats
    runs: int
    inside: str | None = None


class RunsWork:
    """The runs of one session.

    Parameters
    ----------
    changed : called when phase or progress are new
    refused : shows a sentence; what is finished stays
    """

    def __init__(self, changed: Callable[[], None], refused: Callable[[str], None]) -> None:
        self.job: Job[None] = Job(_draw, lambda _none: None, refused, changed=changed, pool=_POOL)
        self.order: Order | None = None
        self._answers: list[Floats] = []
        self.stop = self.job.cancel

    @property
    def done(self) -> int:
        """Number of finished runs."""
        return len(self._answers)

    def answers(self) -> Floats:
        """(runs, n) answers of the finished runs."""
        n = 0 if self.order is None else len(self.order.boxes)
        # A copy first: the thread may add one meanwhile.
        every = list(self._answers)
        return np.array(every).reshape(len(every), n)

    def start(self, order: Order) -> None:
        """Begin anew; without an event loop (a script, a test) it is finished on return."""
        # A list for each start: a thread still busy with an earlier one adds nothing here.
        self.order, self._answers = order, []
        self.job.ask((order, self._answers))


def _draw(task: tuple[Order, list[Floats]], run: Run) -> None:
    """Draw run after run. In a thread: touches no widget."""
    order, answers = task
    every = repeats(order.data.matrix, order.mechanism, order.boxes, order.runs, order.inside)
    while True:
        with _TURN:
            one = next(every, None)
        # What was under way when it was stopped does not count: the numbers do not move.
        if one is None or run.cancelled.is_set():
            return
        answers.append(one)
        run.tell(len(answers) / order.runs)


Rows = NDArray[np.int64]


@dataclass(frozen=True, eq=False)
class ViewJob:
    """One request: the chosen boxes in the runs there are, and a run for the maps or None.

    Its screen is of the page's own kind, with a ``release`` and `paint`.
    """

    screen: Any
    order: Order | None
    answers: Floats
    chosen: Chosen
    shown: int | None
    previous: RunsView | None = None


@dataclass(frozen=True, eq=False)
class Picture:
    """A run as it is on the maps: ``painted`` is what the screen's `paint` made of it."""

    screen: Any
    order: Order
    run: int
    release: Release
    painted: tuple[Any, ...]


@dataclass(frozen=True, eq=False)
class RunsView:
    """What the panel shows.

    Attributes
    ----------
    stale : whether the settings have changed since the runs were ordered
    runs : number of finished runs
    names, dots, spread : one entry for each chosen box that the runs were asked about
    missing : names of chosen boxes that they were not asked about
    """

    screen: Any
    order: Order | None
    stale: bool
    runs: int
    chosen: Chosen
    missing: tuple[str, ...]
    picture: Picture | None
    names: tuple[str, ...] = ()
    dots: tuple[Dots, ...] = ()
    spread: Spread | None = None
    parts: ErrorParts | None = None


def key_of(screen: Any) -> tuple[object, ...]:
    """What runs of this screen depend on: data and settings, and not the seed."""
    return *screen.key[:2], screen.release.inside


def compute_view(job: ViewJob) -> RunsView:
    """Find the chosen boxes among those asked, summarise, draw the run that is on the map."""
    order, screen = job.order, job.screen
    stale = order is not None and order.key != key_of(screen)
    rows, matched = _found(job)
    picture = None
    if order is not None and job.shown is not None and not stale:
        picture = _picture(job, order, job.shown)
    names = np.array(job.chosen.names, dtype=str)
    if order is None:
        matched[:] = True
    view = RunsView(
        screen,
        order,
        stale,
        len(job.answers),
        job.chosen,
        missing=tuple(map(str, names[~matched])),
        picture=picture,
    )
    if order is None or not len(rows) or not len(job.answers):
        return view
    true, answers = order.true[rows], job.answers[:, rows]
    here = screen.release.answer(order.boxes[rows]).value
    return replace(
        view,
        names=tuple(map(str, names[matched])),
        dots=tuple(
            Dots(answers[:, i], float(true[i]), float(here[i]), job.shown) for i in range(len(rows))
        ),
        spread=Spread.of(answers, true),
        parts=ErrorParts.of(answers, true) if len(answers) > 1 else None,
    )


def _found(job: ViewJob) -> tuple[Rows, NDArray[np.bool_]]:
    """Rows of the order for the chosen boxes, and which of these it has: the same edges."""
    n = len(job.chosen)
    if job.order is None or not n or not len(job.order.boxes):
        return np.zeros(0, dtype=np.int64), np.zeros(n, dtype=bool)
    chosen, its = edges_and_shapes(job.chosen.boxes)
    ordered, theirs = edges_and_shapes(job.order.boxes)
    chosen, ordered = chosen.reshape(n, 1, -1), ordered.reshape(1, len(ordered), -1)
    # NaN represents anywhere, which is the same as anywhere.
    same = ((chosen == ordered) | (np.isnan(chosen) & np.isnan(ordered))).all(axis=2)
    for row, column in np.argwhere(same):
        same[row, column] = same_shape(its[row], theirs[column])
    matched = same.any(axis=1)
    return same.argmax(axis=1)[matched], matched


def _picture(job: ViewJob, order: Order, run: int) -> Picture:
    """The run again, from its own seed: to keep two hundred maps would cost more than this."""
    screen = job.screen
    old = None if job.previous is None else job.previous.picture
    if old is not None and (old.order, old.run) == (order, run):
        if old.screen is screen:
            return old
        release = old.release
    else:
        release = one_run(order.data.matrix, order.mechanism, run, order.inside)
    return Picture(screen, order, run, release, screen.paint(release))


def settings(order: Order) -> str:
    """Mechanism and epsilon of an order."""
    instance = order.mechanism
    return f"{mechanism(instance.key).title} with epsilon {instance.epsilon:.4g}"


def about_runs(view: RunsView) -> str:
    """How often the answers were close to the truth, in one sentence."""
    if view.order is None or view.spread is None:
        return ""
    close = [
        f"in {share(part)} of the runs for {name}"
        for name, part in zip(view.names, view.spread.within_5, strict=True)
        if not np.isnan(part)
    ]
    runs = "1 preview" if view.runs == 1 else f"{view.runs} previews"
    text = f"{runs} by {settings(view.order)}, each with other random noise"
    if not close:
        return f"{text}; no box has anyone in it."
    return f"{text}: the answer is within 5 % of the truth {', '.join(close)}."


def about_price(view: RunsView) -> str:
    """Why this was free, and what releases would have cost."""
    if view.order is None or not view.runs:
        return ""
    cost = view.runs * view.order.mechanism.epsilon
    return (
        "They cost nothing only because they are previews and not releases: "
        f"to release {view.runs} times would cost epsilon {cost:.4g}."
    )


def about_dots(name: str, i: int, view: RunsView) -> str:
    """One figure, read out."""
    spread = view.spread
    if spread is None:
        return f"{name}: no runs yet"
    return (
        f"Answers to {name} in {view.runs} previews: median {spread.median[i]:,.0f}, "
        f"95 % from {spread.low[i]:,.0f} to {spread.high[i]:,.0f}, true {view.dots[i].true:,.0f}, "
        f"your map {view.dots[i].here:,.0f}"
    )


def runs_table(view: RunsView) -> str:
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
            Cell(name),
            _count(view.dots[i].true),
            _count(view.dots[i].here),
            _count(spread.median[i]),
            Cell(f"{round(spread.low[i]):,} to {round(spread.high[i]):,}"),
            Cell(share(spread.within_5[i])),
            Cell(share(spread.within_10[i])),
            Cell("–" if view.parts is None else share(float(view.parts.share[i]))),
        ]
        for i, name in enumerate(view.names)
    ]
    return table("Answers of the previews in numbers.", columns, rows)


def _count(value: float) -> Cell:
    return Cell(f"{round(float(value)):,}")


def about_progress(work: RunsWork) -> str:
    """A bar while runs are drawn, and what became of them."""
    runs = 0 if work.order is None else work.order.runs
    text = {
        "idle": "Nothing has been drawn yet.",
        "finished": f"{runs} previews, all drawn",
        "cancelled": f"Stopped after {work.done} of {runs} previews",
        "failed": f"Stopped after {work.done} of {runs} previews",
    }.get(work.job.phase, f"{work.done} of {runs} previews")
    return progress("Previews drawn", work.done, runs, text)


def notices(view: RunsView) -> str:
    """What to know before reading the numbers, as HTML: old settings, boxes that are missing."""
    sentences = []
    if view.stale and view.order is not None:
        sentences.append(
            f"These runs are of old settings ({settings(view.order)}, "
            f"{view.order.data.title}): run again for the present ones."
        )
    if view.missing and view.order is not None:
        names = ", ".join(view.missing)
        sentences.append(f"Not asked in these runs: {names}. Run again to include them.")
    if view.chosen.sentence:
        sentences.append(view.chosen.sentence)
    return "".join(
        f'<p class="{"notice" if i == 0 and view.stale else "quiet"}">{html.escape(text)}</p>'
        for i, text in enumerate(sentences)
    )


#: At most so many boxes are shown, each with a figure of its own.
MOST_BOXES = 5
FEWEST, MOST, USUAL = 10, 200, 50


class Runs(PlayedPanel[RunsView]):
    """The panel."""

    def __init__(self, parts: PageParts) -> None:
        super().__init__(compute_view, parts, "Play the runs on the map")
        self.runs_view: RunsView | None = None
        # The run on the map, from 1; 0 is the map itself.
        self._run = 0
        self.work = RunsWork(self._worked, self._refused)
        small: dict[str, Any] = {"size": "small", "margin": (0, 12), "sizing_mode": "stretch_width"}
        self.number = ui.IntSlider(
            label="Number of runs", start=FEWEST, end=MOST, step=10, value=USUAL,
            styles={"flex": "0 1 220px"}, **small,
        )  # fmt: skip
        ui.bind(self.number, self._numbered, self._refused)
        self.go = panel_button("Draw previews", self._start, "contained")
        self.stop = panel_button("Stop", lambda _event: self.work.stop())
        self.stop.disabled = True
        self._progress = html_pane(margin=(0, 0, 8, 0), styles={"flex": "1 1 240px"})
        self.run = ui.IntSlider(
            label="Run on the map", start=0, end=1, value=0, disabled=True,
            styles={"flex": "1 1 220px"}, **small,
        )  # fmt: skip
        ui.bind(self.run, self._slid, self._refused)
        self.figures = [AnswerDots() for _ in range(MOST_BOXES)]
        self._heads = [html_pane() for _ in self.figures]
        self._cards = [self._card(i) for i in range(MOST_BOXES)]
        self._notices, self._said, self._price, self._table = (
            html_pane(margin=(4, 0)) for _ in range(4)
        )
        # Empty axes say nothing: they appear with the first runs.
        self._results = pn.Column(
            ui.wrapping(self.play, self.pace, self.run, gap="6px 8px", margin=(6, 0)),
            self._said,
            self._price,
            html_pane(legend()),
            ui.wrapping(*self._cards, gap="4px 24px"),
            self._table,
            sizing_mode="stretch_width",
            margin=0,
            visible=False,
        )
        self.view = pn.Column(
            ui.wrapping(self.number, self.go, self.stop, self._progress, gap="6px 8px"),
            self._notices,
            self._results,
            sizing_mode="stretch_width",
            margin=(4, 0),
        )

    def _card(self, i: int) -> Any:
        return pn.Column(
            self._heads[i],
            pn.pane.Bokeh(self.figures[i].figure, sizing_mode="stretch_width", margin=0),
            styles={"flex": "1 1 380px", "min-width": "0"},
            sizing_mode="stretch_width",
            margin=0,
            visible=False,
        )

    # What the strip asks for.

    def show(self, screen: Any) -> None:
        """Look at another screen; runs of other settings stop and are marked as old."""
        self._screen = screen
        if self.work.order is not None and self.work.order.key != key_of(screen):
            self.work.stop()
        old = self.runs_view
        if old is None or old.screen.release is not screen.release:
            self.player.stop()
            self._run = 0
        self._draw()

    def hide(self) -> None:
        """Stop, and give the map back; what is drawn stays for the next look."""
        super().hide()
        self.work.stop()
        self._run = 0

    # What a visitor does.

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
        self.work.start(
            Order(
                screen.data,
                rebuild(screen.release),
                key_of(screen),
                boxes,
                exact(screen.data.matrix, boxes),
                int(self.number.value),
                screen.release.inside,
            )
        )

    def _numbered(self, runs: int) -> None:
        if not FEWEST <= runs <= MOST:
            raise InputError(f"The number of runs goes from {FEWEST} to {MOST}.")

    def _slid(self, run: int) -> None:
        if run == self._run:
            return
        if not 0 <= run <= self.work.done:
            raise InputError(f"{self.work.done} runs have been drawn: choose one of them.")
        self.player.stop()
        self._run = run
        self._draw()

    def _rewind(self) -> None:
        if self._run >= self.work.done:
            self._run = 0

    def _next(self) -> bool:
        """The next run on the map; waits for one that is still being drawn."""
        if self._screen is None:
            return False
        if self._drawing or (self.work.job.busy and self._run >= self.work.done):
            return True
        if self._run >= self.work.done:
            return False
        self._run += 1
        self._draw()
        return self._run < self.work.done or self.work.job.busy

    # From runs to figures.

    def _worked(self) -> None:
        """Something is new in the runs."""
        if self._screen is not None:
            self._draw()

    def _question(self, screen: Any) -> ViewJob:
        return ViewJob(
            screen,
            self.work.order,
            self.work.answers(),
            chosen(self._rectangles, MOST_BOXES),
            self._run - 1 if self._run else None,
            self.runs_view,
        )

    def _show(self, view: RunsView) -> None:
        old, self.runs_view = self.runs_view, view
        self._show_map(view, old)
        running = self.work.job.busy
        self.go.label = "Draw again" if self.work.done else "Draw previews"
        self.go.disabled, self.stop.disabled = running, not running
        put(self._progress, about_progress(self.work) if view.order is not None else "")
        put(self._notices, notices(view))
        self._results.visible = view.spread is not None
        self.play.disabled = view.stale
        end = 0 if view.stale else view.runs
        self.run.param.update(end=max(end, 1), value=self._run, disabled=end == 0)
        put(self._said, f'<p class="summary" role="status">{html.escape(about_runs(view))}</p>')
        put(self._price, f"<p>{html.escape(about_price(view))}</p>")
        put(self._table, runs_table(view))
        for i, card in enumerate(self._cards):
            card.visible = i < len(view.names)
            if card.visible:
                put(self._heads[i], f"<h3>{html.escape(view.names[i])}</h3>")
                self.figures[i].show(view.dots[i], about_dots(view.names[i], i, view))

    def _show_map(self, view: RunsView, old: RunsView | None) -> None:
        maps, picture = self._maps(), view.picture
        if maps is None:
            return
        if picture is None:
            maps.uncover()
        elif old is None or old.picture is not picture:
            runs = 0 if view.order is None else view.order.runs
            run = f"Run {picture.run + 1} of {runs}"
            text = f"{run}: a preview with other random noise, not private"
            maps.cover(*picture.painted, text)
