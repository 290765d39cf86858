"""The lower half of Compare: a sweep's controls, error curves, candlesticks, ranking."""

from __future__ import annotations

import html
import io
from collections.abc import Callable
from typing import Any

import panel as pn

from explorer.app.compare import findings as sentences
from explorer.app.compare.findings import Findings, Question, find
from explorer.app.compare.sweep import (
    DRAWN,
    FIXED,
    KEPT,
    Kept,
    Order,
    Sweep,
    asked,
    saved_table,
    series_of,
)
from explorer.app.curator.data import CityData
from explorer.app.kit import ui
from explorer.app.kit.bound import Tied
from explorer.app.kit.html import html_pane, put, section
from explorer.app.kit.later import when_loaded
from explorer.app.kit.prose import column
from explorer.app.kit.words import words
from explorer.app.state import EPSILONS, CompareState
from explorer.app.work.job import Job
from explorer.errors import InputError
from explorer.evaluate import plan
from explorer.grid.range_queries import Queries
from explorer.mechanisms import all_mechanisms
from explorer.views.charts import Candlesticks, ErrorCurves
from explorer.views.tables import details, progress

_SMALL: dict[str, Any] = {"size": "small", "margin": (0, 8, 4, 0)}


class SweepControls:
    """Mechanisms, questions, metric, epsilon, repetitions; start, cancel, save; progress.

    Parameters
    ----------
    state : CompareState
    refused : shows a sentence
    start, cancel : called by the buttons
    saved : returns the file of results
    """

    def __init__(
        self,
        state: CompareState,
        refused: Callable[[str], None],
        start: Callable[[], None],
        cancel: Callable[[], None],
        saved: Callable[[], io.BytesIO],
    ) -> None:
        tied = Tied(state, refused)
        self.chosen = ui.CheckBoxGroup(
            label="Mechanisms in the sweep",
            options={mechanism.title: key for key, mechanism in all_mechanisms().items()},
            value=list(state.chosen),
            inline=True,
            size="small",
            sizing_mode="stretch_width",
            margin=(0, 0, 4, 0),
        )
        self._sides = tied.switch("with_sides", margin=(0, 0, 4, 0))
        self.begin = ui.Button(
            label="Start the sweep", on_click=lambda _e: start(), color="primary", **_SMALL
        )
        self.cancel = ui.Button(
            label="Cancel", variant="outlined", on_click=lambda _e: cancel(), **_SMALL
        )
        self.save = ui.FileDownload(
            label="Save the results",
            filename="sweep.csv",
            callback=saved,
            variant="outlined",
            disabled=True,
            **_SMALL,
        )
        self._progress = html_pane(margin=(4, 0, 8, 0))
        self.view = column(
            tied.tie(self.chosen, "chosen"),
            self._sides,
            tied.switch("with_named", margin=(0, 0, 4, 0)),
            ui.wrapping(
                tied.choose("workload", **_field(230)),
                tied.choose("metric", **_field(330)),
                tied.choose("at", **_field(130)),
                tied.slide("seeds", **_field(170)),
            ),
            ui.wrapping(self.begin, self.cancel, self.save),
            self._progress,
        )

    def sides(self, a: str, b: str) -> None:
        """Say which mechanisms A and B are."""
        label = f"A ({a}) and B ({b}) as they are set"
        if self._sides.label != label:
            self._sides.label = label

    def show(self, sweep: Sweep, has_results: bool = False) -> None:
        """Show how far the sweep is, and offer what can be done now."""
        self.begin.disabled, self.cancel.disabled = sweep.job.busy, not sweep.job.busy
        text = phase_text(sweep, has_results)
        if sweep.job.busy:
            put(self._progress, progress("Progress of the sweep", sweep.done, sweep.asked, text))
        else:
            put(self._progress, f'<p class="quiet" role="status">{text}</p>')


def phase_text(sweep: Sweep, has_results: bool = False) -> str:
    """What the sweep is doing, in words; ``has_results`` where results are shown."""
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


def _field(width: int) -> dict[str, Any]:
    """Size of a field that shrinks on a phone; a fixed width would push the whole page wider."""
    return {
        "sizing_mode": "stretch_width",
        "styles": {"flex": f"1 1 {width}px", "max-width": f"{width}px"},
        "margin": (4, 16, 4, 0),
    }


#: What the visitor looks at: the city on screen, and the boxes and polygons of the table.
Source = Callable[[], tuple[CityData, Queries]]


class SweepView:
    """Starts and stops the session's sweep and shows what is known.

    Parameters
    ----------
    state : CompareState
    source : returns city, boxes and polygons; raises InputError while there is no city
    refused : shows a sentence
    cache : where results are
    """

    def __init__(
        self,
        state: CompareState,
        source: Source,
        refused: Callable[[str], None],
        cache: Kept = KEPT,
    ) -> None:
        self._state, self._source, self._refused, self._kept = state, source, refused, cache
        self.sweep = Sweep(self._swept, refused, cache)
        self.findings: Findings | None = None
        self.worker = Job(self._find, self._show, refused, take=self._question)
        self.curves, self.sticks = ErrorCurves(EPSILONS), Candlesticks()
        self.controls = SweepControls(state, refused, self.start, self.sweep.cancel, self._saved)
        self._said = {name: html_pane(margin=(4, 0)) for name in ("curves", "sticks", "rank")}
        self._twins = {name: html_pane(margin=(2, 0, 0, 0)) for name in ("curves", "sticks")}
        self._ranking = html_pane()
        # Empty axes say nothing: they appear with the first results.
        self._results = column(
            ui.wrapping(
                self._card("Curves", "curves", self.curves.figure),
                self._card("Candlesticks", "sticks", self.sticks.figure),
                gap="12px 24px",
            ),
            section("Ranking", words("compare")["Ranking"]),
            self._said["rank"],
            self._ranking,
            visible=False,
        )
        self.view = column(
            section("Error against epsilon", words("compare")["Sweep"]),
            self.controls.view,
            self._results,
        )
        watched = ["chosen", "with_sides", "with_named", "workload", "metric", "at", "seeds"]
        state.param.watch(lambda *_: self.refresh(), watched)
        self.controls.show(self.sweep)

    def refresh(self) -> None:
        """Show what is known for the present choices; nothing is drawn."""
        self.controls.sides(*(side.kind.title for side in self._state.sides))
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

    def _card(self, title: str, name: str, figure: Any) -> Any:
        """A chart with its words; the sentence and the numbers are below it."""
        about = html_pane(f'<p class="help">{words("compare")[title]}</p>')
        about.visible = self._state.explain
        self._state.param.watch(lambda event: about.param.update(visible=event.new), "explain")
        return column(
            html_pane(f"<h3>{title}</h3>", margin=(4, 0, 4, 0)),
            about,
            pn.pane.Bokeh(figure, sizing_mode="stretch_width", margin=0),
            self._said[name],
            self._twins[name],
            styles={"flex": "1 1 440px", "min-width": "0"},
        )

    # From choices to findings.

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

    def _order(self) -> Order:
        data, boxes = self._source()
        state = self._state
        if state.workload == DRAWN and not len(boxes):
            raise InputError("Draw a box on the map first: the sweep asks about your boxes.")
        mechanisms = [series.mechanism for series in series_of(state)]
        if not mechanisms:
            raise InputError("No mechanism is in the sweep: tick one, or A and B.")
        # All questions are asked at once: a release costs more than its answers.
        workloads = asked(data.grid, boxes, [*FIXED, DRAWN])
        required = [workload for workload in workloads if workload.name in (*FIXED, state.workload)]
        return Order(data.matrix, plan(mechanisms, EPSILONS, state.seeds), workloads, required)

    def _show(self, findings: Findings) -> None:
        self.findings = findings
        summaries = {
            "curves": sentences.about_curves(findings),
            "sticks": sentences.about_sticks(findings),
        }
        self.curves.show(findings.curves, sentences.curve_title(findings), summaries["curves"])
        self.sticks.show(findings.sticks, sentences.stick_title(findings), summaries["sticks"])
        for name, text in summaries.items():
            put(self._said[name], f'<p class="summary">{html.escape(text)}</p>')
        put(self._said["rank"], sentences.about_ranking(findings))
        put(
            self._twins["curves"], details("Numbers of the curves", sentences.curve_table(findings))
        )
        sticks = sentences.stick_table(findings)
        put(self._twins["sticks"], details("Numbers of the candlesticks", sticks))
        ranking = sentences.ranking_table(findings), details("Bias", sentences.bias_table(findings))
        put(self._ranking, "".join(ranking) if findings.ranks else "")
        self._results.visible = bool(findings.curves)
        self.controls.save.disabled = not findings.curves
        self.controls.show(self.sweep, bool(findings.curves))

    # The sweep.

    def _swept(self) -> None:
        """Something is new in the sweep."""
        self.controls.show(self.sweep, self._results.visible)
        self.refresh()

    def _saved(self) -> io.BytesIO:
        """All results of the present choices, as `evaluate` writes them."""
        data, boxes = self._source()
        tasks = plan([s.mechanism for s in series_of(self._state)], EPSILONS, self._state.seeds)
        workloads = asked(data.grid, boxes, [*FIXED, DRAWN])
        table = saved_table(self._kept, data, tasks, workloads)
        return io.BytesIO(table.to_csv(index=False).encode())
