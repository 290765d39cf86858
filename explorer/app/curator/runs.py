"""Runs: "what if we had released again?", as dots next to the truth and one by one on the map."""

from __future__ import annotations

import html
from typing import Any

import panel as pn

from explorer.app.curator import runs_sentences as say
from explorer.app.curator.chosen import chosen
from explorer.app.curator.panel import PlayedPanel, panel_button
from explorer.app.curator.parts import PageParts
from explorer.app.curator.runs_view import RunsView, ViewJob, compute_view, key_of
from explorer.app.curator.runs_work import Order, RunsWork
from explorer.app.kit import ui
from explorer.app.kit.html import html_pane, put
from explorer.errors import InputError
from explorer.mechanisms import rebuild
from explorer.points.truth import exact
from explorer.views.dots import AnswerDots, legend

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
        put(self._progress, say.about_progress(self.work) if view.order is not None else "")
        put(self._notices, say.notices(view))
        self._results.visible = view.spread is not None
        self.play.disabled = view.stale
        end = 0 if view.stale else view.runs
        self.run.param.update(end=max(end, 1), value=self._run, disabled=end == 0)
        put(self._said, f'<p class="summary" role="status">{html.escape(say.about_runs(view))}</p>')
        put(self._price, f"<p>{html.escape(say.about_price(view))}</p>")
        put(self._table, say.runs_table(view))
        for i, card in enumerate(self._cards):
            card.visible = i < len(view.names)
            if card.visible:
                put(self._heads[i], f"<h3>{html.escape(view.names[i])}</h3>")
                self.figures[i].show(view.dots[i], say.about_dots(view.names[i], i, view))

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
