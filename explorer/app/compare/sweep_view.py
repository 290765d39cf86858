"""The lower half of Compare: controls of a sweep, error curves, candlesticks, ranking."""

from __future__ import annotations

import html
import io
from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np
import panel as pn
from numpy.typing import NDArray

from explorer.app import ui
from explorer.app.compare import sentences
from explorer.app.compare.findings import Findings, Question, find
from explorer.app.compare.kept import KEPT, Kept
from explorer.app.compare.measures import DRAWN, FIXED, METRICS, WORKLOADS, asked
from explorer.app.compare.saved import saved_table
from explorer.app.compare.series import series_of
from explorer.app.compare.state import EPSILONS, MOST_SEEDS, CompareState
from explorer.app.compare.sweep import Order, Sweep
from explorer.app.data import CityData
from explorer.app.pieces import html_pane, put, section
from explorer.app.tied import Tied
from explorer.app.words import words
from explorer.app.worker import LatestWorker, held
from explorer.errors import InputError
from explorer.evaluate import Workload, plan
from explorer.mechanisms import mechanisms
from explorer.views.charts import Candlesticks, ErrorCurves
from explorer.views.tables import details, progress

#: What the visitor looks at: the city on screen and the boxes (n, 4) of the table.
Source = Callable[[], tuple[CityData, NDArray[np.float64]]]
_SMALL: dict[str, Any] = {"size": "small", "margin": (0, 8, 4, 0)}
_FIELD: dict[str, Any] = {"sizing_mode": "fixed", "margin": (4, 16, 4, 0)}
_CARD = {"flex": "1 1 440px", "min-width": "0"}


class SweepView:
    """Starts and stops the session's sweep and shows what is known.

    Parameters
    ----------
    state : CompareState
    source : returns city and boxes; raises InputError while there is none
    refused : shows a sentence
    kept : where results are
    """

    def __init__(
        self,
        state: CompareState,
        source: Source,
        refused: Callable[[str], None],
        kept: Kept = KEPT,
    ) -> None:
        self._state, self._source, self._refused, self._kept = state, source, refused, kept
        self.sweep = Sweep(self._swept, kept)
        self.findings: Findings | None = None
        self.worker = LatestWorker(
            self._question, partial(_find, kept), self._publish, refused, lambda _busy: None
        )
        self.curves, self.sticks = ErrorCurves(EPSILONS), Candlesticks()
        self._said = {name: html_pane(margin=(4, 0)) for name in ("curves", "sticks", "rank")}
        self._twins = {name: html_pane(margin=(2, 0, 0, 0)) for name in ("curves", "sticks")}
        self._ranking = html_pane()
        self._progress = html_pane(margin=(4, 0, 8, 0))
        self.view = pn.Column(
            section("Error against epsilon", words("compare")["Sweep"]),
            self._controls(Tied(state, refused)),
            self._progress,
            ui.wrapping(
                self._card("Curves", "curves", self.curves.figure),
                self._card("Candlesticks", "sticks", self.sticks.figure),
                gap="12px 24px",
            ),
            section("Ranking", words("compare")["Ranking"]),
            self._said["rank"],
            self._ranking,
            sizing_mode="stretch_width",
            margin=0,
        )
        watched = ["chosen", "workload", "metric", "at", "seeds"]
        state.param.watch(lambda *_: self.refresh(), watched)
        self._show_phase()

    def refresh(self) -> None:
        """Show what is known for the present choices; nothing is drawn."""
        self.worker.request()

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
        self.sweep.cancel()
        self.worker.close()

    # Building.

    def _controls(self, tied: Tied) -> Any:
        state = self._state
        titles = {each.title: key for key, each in mechanisms().items()}
        self.chosen = tied.tie(
            ui.CheckBoxGroup(
                label="Mechanisms in the sweep",
                options=titles,
                value=list(state.chosen),
                inline=True,
                size="small",
                sizing_mode="stretch_width",
                margin=(0, 0, 4, 0),
            ),
            "chosen",
        )
        fields = [
            tied.choose("workload", "Questions", _turned(WORKLOADS), width=230, **_FIELD),
            tied.choose("metric", "Error measured as", _turned(METRICS), width=330, **_FIELD),
            tied.choose(
                "at", "At epsilon", {f"{each:g}": each for each in EPSILONS}, width=110, **_FIELD
            ),
            tied.tie(
                ui.IntSlider(
                    label="Dice per point",
                    start=2,
                    end=MOST_SEEDS,
                    value=state.seeds,
                    size="small",
                    width=150,
                    **_FIELD,
                ),
                "seeds",
            ),
        ]
        self.begin = ui.Button(
            label="Start the sweep", on_click=lambda _e: self.start(), color="primary", **_SMALL
        )
        self.cancel = ui.Button(
            label="Cancel",
            variant="outlined",
            on_click=lambda _e: self._cancelled(),
            disabled=True,
            **_SMALL,
        )
        self.save = ui.FileDownload(
            label="Save the results",
            filename="sweep.csv",
            callback=self._saved,
            variant="outlined",
            **_SMALL,
        )
        return pn.Column(
            self.chosen,
            ui.wrapping(*fields),
            ui.wrapping(self.begin, self.cancel, self.save),
            sizing_mode="stretch_width",
            margin=0,
        )

    def _card(self, title: str, name: str, figure: Any) -> Any:
        head = html_pane(f"<h3>{title}</h3>", margin=(4, 0, 4, 0))
        about = html_pane(f'<p class="help">{words("compare")[title]}</p>', visible=False)
        self._state.param.watch(lambda event: about.param.update(visible=event.new), "explain")
        about.visible = self._state.explain
        chart = pn.pane.Bokeh(figure, sizing_mode="stretch_width", margin=0)
        return pn.Column(
            head,
            about,
            chart,
            self._said[name],
            self._twins[name],
            styles=_CARD,
            sizing_mode="stretch_width",
            margin=0,
        )

    # From choices to findings.

    def _question(self) -> Question:
        data, boxes = self._source()
        state = self._state
        found = asked(data.grid, boxes, [state.workload])
        return Question(
            data.matrix,
            series_of(state),
            EPSILONS,
            state.seeds,
            found[0] if found else None,
            state.metric,
            state.at,
        )

    def _order(self) -> Order:
        data, boxes = self._source()
        state = self._state
        if state.workload == DRAWN and not len(boxes):
            raise InputError("There is no box to ask about: draw one on a map first.")
        made = [each.mechanism for each in series_of(state)]
        # All questions are asked at once: a release costs more than its answers.
        workloads: list[Workload] = asked(data.grid, boxes, [*FIXED, DRAWN])
        wanted = [each for each in workloads if each.name in (*FIXED, state.workload)]
        return Order(data.matrix, plan(made, EPSILONS, state.seeds), workloads, wanted)

    def _publish(self, found: Findings) -> None:
        self.findings = found
        held(pn.state.curdoc, partial(self._show, found))

    def _show(self, found: Findings) -> None:
        said = {
            "curves": sentences.about_curves(found),
            "sticks": sentences.about_sticks(found),
        }
        self.curves.show(found.curves, sentences.curve_title(found), said["curves"])
        self.sticks.show(found.sticks, sentences.stick_title(found), said["sticks"])
        for name, text in said.items():
            put(self._said[name], f'<p class="summary">{html.escape(text)}</p>')
        put(self._said["rank"], sentences.about_ranking(found))
        self.save.disabled = not found.curves
        tables = {
            "curves": sentences.curve_table(found) if found.curves else "",
            "sticks": sentences.stick_table(found) if found.sticks else "",
        }
        for name, table in tables.items():
            title = "Numbers of the curves" if name == "curves" else "Numbers of the candlesticks"
            put(self._twins[name], details(title, table) if table else "")
        put(self._ranking, sentences.ranking_table(found) if found.ranks else "")

    # The sweep.

    def _swept(self) -> None:
        """Something is new in the sweep."""
        held(pn.state.curdoc, self._show_phase)
        self.refresh()

    def _cancelled(self) -> None:
        self.sweep.cancel()
        self._show_phase()

    def _show_phase(self) -> None:
        sweep = self.sweep
        self.begin.disabled = sweep.running
        self.cancel.disabled = not sweep.running or sweep.phase == "stopping"
        if sweep.phase == "failed":
            self._refused(sweep.sentence)
        text = phase_text(sweep)
        if sweep.running:
            put(self._progress, progress("Progress of the sweep", sweep.done, sweep.asked, text))
        else:
            put(self._progress, f'<p class="quiet" role="status">{text}</p>')

    def _saved(self) -> io.BytesIO:
        """All results of the present choices, as `evaluate` writes them."""
        data, boxes = self._source()
        tasks = plan([s.mechanism for s in series_of(self._state)], EPSILONS, self._state.seeds)
        workloads = asked(data.grid, boxes, [*FIXED, DRAWN])
        table = saved_table(self._kept, data, tasks, workloads)
        return io.BytesIO(table.to_csv(index=False).encode())


def phase_text(sweep: Sweep) -> str:
    """What the sweep is doing, in words."""
    count = f"{sweep.done:,} of {sweep.asked:,} releases"
    left = sweep.seconds_left()
    return {
        "idle": "No sweep has been started. Its results are compared with the truth: curator mode.",
        "waiting": "Waiting for its turn, or starting …",
        "running": count + ("" if left is None else f", about {left:,.0f} s left"),
        "stopping": f"{count}; stopping …",
        "finished": f"Finished: {count}. Previews, compared with the truth: curator mode.",
        "cancelled": f"Cancelled after {count}; what is finished stays.",
        "failed": f"Stopped after {count}.",
    }[sweep.phase]


def _find(kept: Kept, question: Question) -> Findings:
    return find(question, kept)


def _turned(names: dict[str, str]) -> dict[str, str]:
    """Titles to values, as a menu takes them."""
    return {title: name for name, title in names.items()}
