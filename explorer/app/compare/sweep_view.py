"""The lower half of Compare: a sweep's controls, error curves, candlesticks, ranking."""

from __future__ import annotations

import html
import io
from collections.abc import Callable
from typing import Any

import panel as pn

from explorer.app.compare import findings as say
from explorer.app.compare.findings import Findings, Question, find
from explorer.app.compare.sweep import (
    DRAWN,
    FIXED,
    KEPT,
    Kept,
    Order,
    Sweep,
    asked,
    series_of,
)
from explorer.app.curator.data import CityData
from explorer.app.curator.setting_fields import Controls, field
from explorer.app.kit import ui
from explorer.app.kit.html import html_pane, put, section
from explorer.app.kit.later import when_loaded
from explorer.app.kit.prose import column
from explorer.app.kit.words import words
from explorer.app.state import CompareState
from explorer.app.work.job import Job
from explorer.errors import InputError
from explorer.evaluate import Task, plan
from explorer.grid.range_queries import Queries
from explorer.mechanisms import all_mechanisms
from explorer.scenario.choices import EPSILONS
from explorer.views.charts import Candlesticks, ErrorCurves
from explorer.views.tables import details, progress


class SweepView:
    """Starts and stops the session's sweep and shows what is known.

    Parameters
    ----------
    state : CompareState
    source : returns the city on screen, and the boxes and polygons of the table; raises InputError
        while there is no city
    refused : shows a sentence
    cache : where results are
    """

    def __init__(
        self,
        state: CompareState,
        source: Callable[[], tuple[CityData, Queries]],
        refused: Callable[[str], None],
        cache: Kept = KEPT,
    ) -> None:
        self._state, self._source, self._refused, self._kept = state, source, refused, cache
        self.sweep = Sweep(self._swept, refused, cache)
        self.findings: Findings | None = None
        self.worker = Job(self._find, self._show, refused, take=self._question)
        self.curves, self.sticks = ErrorCurves(EPSILONS), Candlesticks()
        self._sentences = {name: html_pane(margin=(4, 0)) for name in ("curves", "sticks", "rank")}
        self._numbers = {name: html_pane(margin=(2, 0, 0, 0)) for name in ("curves", "sticks")}
        self._ranking = html_pane()
        # Empty axes say nothing: they appear with the first results.
        self._results = column(
            ui.wrapping(
                self._card("Curves", "curves", self.curves.figure),
                self._card("Candlesticks", "sticks", self.sticks.figure),
                gap="12px 24px",
            ),
            section("Ranking", words("compare")["Ranking"]),
            self._sentences["rank"],
            self._ranking,
            visible=False,
        )
        heading = section("Error against epsilon", words("compare")["Sweep"])
        self.view = column(heading, self._controls(), self._results)
        watched = ["chosen", "with_sides", "with_named", "workload", "metric", "at", "seeds"]
        state.param.watch(lambda *_: self.refresh(), watched)
        self._show_progress()

    def _controls(self) -> Any:
        """Mechanisms, questions, metric, epsilon, repetitions; start, cancel, save; progress."""
        controls = Controls(self._state, self._refused)
        small: dict[str, Any] = {"size": "small", "margin": (0, 8, 4, 0)}
        self._begin = ui.Button(
            label="Start the sweep", on_click=lambda _e: self.start(), color="primary", **small
        )
        self._cancel = ui.Button(
            label="Cancel", variant="outlined", on_click=lambda _e: self.sweep.cancel(), **small
        )
        self._save = ui.FileDownload(
            label="Save the results",
            filename="sweep.csv",
            callback=self._saved,
            variant="outlined",
            disabled=True,
            **small,
        )
        self._progress = html_pane(margin=(4, 0, 8, 0))
        self._sides = controls.switch("with_sides", margin=(0, 0, 4, 0))
        return column(
            controls.several("chosen", {m.title: key for key, m in all_mechanisms().items()}),
            self._sides,
            controls.switch("with_named", margin=(0, 0, 4, 0)),
            ui.wrapping(
                controls.select("workload", width=230),
                controls.select("metric", width=330),
                controls.select("at", width=130),
                controls.slide("seeds", **field(170)),
            ),
            ui.wrapping(self._begin, self._cancel, self._save),
            self._progress,
        )

    def _card(self, title: str, name: str, figure: Any) -> Any:
        """A chart with its words; the sentence and the numbers are below it."""
        about = html_pane(f'<p class="help">{words("compare")[title]}</p>')
        about.visible = self._state.explain
        self._state.param.watch(lambda event: about.param.update(visible=event.new), "explain")
        return column(
            html_pane(f"<h3>{title}</h3>", margin=(4, 0, 4, 0)),
            about,
            pn.pane.Bokeh(figure, sizing_mode="stretch_width", margin=0),
            self._sentences[name],
            self._numbers[name],
            styles={"flex": "1 1 440px", "min-width": "0"},
        )

    def refresh(self) -> None:
        """Show what is known for the present choices; nothing is drawn."""
        a, b = (side.kind.title for side in self._state.sides)
        label = f"A ({a}) and B ({b}) as they are set"
        if self._sides.label != label:
            self._sides.label = label
        when_loaded(self.worker.ask)

    def boxes_changed(self) -> None:
        """The boxes of the table are other ones."""
        if self._state.workload == DRAWN:
            self.refresh()

    def start(self) -> None:
        """Draw what the present choices lack."""
        try:
            self.sweep.start(self._order())
        except InputError as error:
            self._refused(str(error))

    def close(self) -> None:
        """The session has ended."""
        self.sweep.job.close()
        self.worker.close()

    def _question(self) -> Question:
        data, boxes = self._source()
        state = self._state
        workloads = asked(data.grid, boxes, [state.workload])
        return Question(
            data.matrix,
            series_of(state),
            EPSILONS,
            state.seeds,
            workloads[0] if workloads else None,
            state.metric,
            state.at,
        )

    def _find(self, question: Question) -> Findings:
        return find(question, self._kept, self.findings)

    def _tasks(self) -> list[Task]:
        mechanisms = [series.mechanism for series in series_of(self._state)]
        return plan(mechanisms, EPSILONS, self._state.seeds)

    def _order(self) -> Order:
        data, boxes = self._source()
        chosen = self._state.workload
        if chosen == DRAWN and not len(boxes):
            raise InputError("Draw a box on the map first: the sweep asks about your boxes.")
        tasks = self._tasks()
        if not tasks:
            raise InputError("No mechanism is in the sweep: tick one, or A and B.")
        # All questions are asked at once: a release costs more than its answers.
        workloads = asked(data.grid, boxes, [*FIXED, DRAWN])
        required = [workload for workload in workloads if workload.name in (*FIXED, chosen)]
        return Order(data.matrix, tasks, workloads, required)

    def _saved(self) -> io.BytesIO:
        """All results of the present choices, as `evaluate` writes them."""
        data, boxes = self._source()
        workloads = asked(data.grid, boxes, [*FIXED, DRAWN])
        table = self._kept.table(data, self._tasks(), workloads)
        return io.BytesIO(table.to_csv(index=False).encode())

    def _swept(self) -> None:
        """Something is new in the sweep."""
        self._show_progress()
        self.refresh()

    def _show_progress(self) -> None:
        """Show how far the sweep is, and offer what can be done now."""
        sweep, busy = self.sweep, self.sweep.job.busy
        self._begin.disabled, self._cancel.disabled = busy, not busy
        text = _phase_text(sweep, self._results.visible)
        if busy:
            put(self._progress, progress("Progress of the sweep", sweep.done, sweep.asked, text))
        else:
            put(self._progress, f'<p class="quiet" role="status">{text}</p>')

    def _show(self, findings: Findings) -> None:
        self.findings = findings
        curves, sticks = say.about_curves(findings), say.about_sticks(findings)
        self.curves.show(findings.curves, say.curve_title(findings), curves)
        self.sticks.show(findings.sticks, say.stick_title(findings), sticks)
        put(self._sentences["curves"], f'<p class="summary">{html.escape(curves)}</p>')
        put(self._sentences["sticks"], f'<p class="summary">{html.escape(sticks)}</p>')
        put(self._sentences["rank"], say.about_ranking(findings))
        numbers = details("Numbers of the curves", say.curve_table(findings))
        put(self._numbers["curves"], numbers)
        numbers = details("Numbers of the candlesticks", say.stick_table(findings))
        put(self._numbers["sticks"], numbers)
        ranking = say.ranking_table(findings) + details("Bias", say.bias_table(findings))
        put(self._ranking, ranking if findings.ranks else "")
        self._results.visible = bool(findings.curves)
        self._save.disabled = not findings.curves
        self._show_progress()


def _phase_text(sweep: Sweep, has_results: bool) -> str:
    """What the sweep is doing, in words."""
    count = f"{sweep.done:,} of {sweep.asked:,} releases"
    left = sweep.job.progress[1]
    running = "; starting …" if not sweep.done else "" if left is None else f", about {left:,.0f} s"
    idle = "Results of an earlier sweep are shown." if has_results else "No sweep has been started."
    return {
        "idle": f"{idle} Results hold exact errors: do not share them.",
        "waiting": "Waiting for its turn …",
        "running": count + running + (" left" if left is not None and sweep.done else ""),
        "finished": f"Finished: {count}. Previews; the errors are exact: do not share them.",
        "cancelled": f"Cancelled after {count}; what is finished stays.",
        "failed": f"Stopped after {count}.",
    }[sweep.phase]
