"""What a visitor sets for a sweep, and the buttons that start, stop and save it."""

from __future__ import annotations

import io
from collections.abc import Callable
from typing import Any

import panel as pn

from explorer.app.compare.sweep import Sweep
from explorer.app.kit import ui
from explorer.app.kit.bound import Tied
from explorer.app.kit.html import html_pane, put
from explorer.app.state.compare import CompareState
from explorer.mechanisms import all_mechanisms
from explorer.views.tables import progress

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
        self.view = pn.Column(
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
            sizing_mode="stretch_width",
            margin=0,
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
