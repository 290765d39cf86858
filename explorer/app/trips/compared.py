"""The panel that compares all mechanisms on the trips of the page, in the background."""

from __future__ import annotations

import html
import math
from typing import Any

import panel as pn

from explorer.app.curator.panel import ExplainPanel, panel_button
from explorer.app.curator.parts import PageParts
from explorer.app.kit import ui
from explorer.app.kit.html import html_pane, put
from explorer.app.kit.numbers import percent
from explorer.app.trips.comparison import BOXES, KINDS, RUNS, Comparison, Order, compare
from explorer.app.work.job import Job, patient
from explorer.mechanisms import rebuild

_POOL = patient(2, "comparison")


class ComparedPanel(ExplainPanel[Any]):
    """The panel; nothing is computed before its button is pressed."""

    def __init__(self, parts: PageParts) -> None:
        super().__init__(lambda question: question, parts)
        self.found: Comparison | None = None
        self.work: Job[Comparison] = Job(
            compare, self._done, self._refused, changed=self._progressed, pool=_POOL
        )
        self.go = panel_button("Compare all mechanisms", self._start, "contained")
        self.stop = panel_button("Stop", lambda _event: self.work.cancel())
        self.stop.disabled = True
        self._progress, self._said, self._table = (html_pane(margin=(4, 0)) for _ in range(3))
        self.view = pn.Column(
            ui.wrapping(self.go, self.stop, gap="6px 8px"),
            self._progress,
            self._said,
            self._table,
            sizing_mode="stretch_width",
            margin=(4, 0),
        )

    def show(self, screen: Any) -> None:
        """Look at another screen; what was found of other settings stays, marked as such."""
        self._screen = screen
        self._write()

    def selected(self) -> None:
        """The rows of the table do not matter here."""

    def hide(self) -> None:
        """Stop work; what has been found stays for the next look."""
        self.work.cancel()
        self._screen = None

    def _question(self, screen: Any) -> Any:
        return screen

    def _show(self, found: Any) -> None:
        """Nothing is found but by the button."""

    def _start(self, _event: Any = None) -> None:
        screen = self._screen
        if screen is None:
            return
        self.work.ask(Order(screen.data, rebuild(screen.drawn), screen.key[:2]))

    def _done(self, found: Comparison) -> None:
        self.found = found
        self._write()

    def _progressed(self) -> None:
        running = self.work.busy
        self.go.disabled, self.stop.disabled = running, not running
        text = ""
        if running:
            part, left = self.work.progress
            rest = "" if left is None else f", about {left:.0f} s left"
            text = f"{part:.0%} of the mechanisms are done{rest}."
        put(self._progress, f'<p class="quiet" role="status">{text}</p>' if text else "")

    def _write(self) -> None:
        self._progressed()
        found, screen = self.found, self._screen
        if found is None:
            return
        stale = screen is not None and found.order.key != screen.key[:2]
        said = sentence(found)
        if stale:
            said = f"{said} The settings have changed since: compare again for the present ones."
        put(self._said, f'<p class="summary" role="status">{html.escape(said)}</p>')
        put(self._table, table(found))
        self.go.label = "Compare again"


def sentence(found: Comparison) -> str:
    """Which mechanism is best, and how far the one on screen is from it."""
    rows = [row for row in found.rows if math.isfinite(row.overall)]
    if not rows:
        return "No mechanism could be drawn with these settings."
    epsilon, data = found.order.chosen.epsilon, found.order.data
    said = f"{data.title}, epsilon {epsilon:.4g}: over all kinds {rows[0].title} is off least"
    if len(rows) > 1:
        times = rows[1].overall / rows[0].overall
        said += f", {rows[1].title} comes next with {times:.3g} times its error"
    chosen = next((row for row in rows if row.title == found.chosen), None)
    if chosen is not None and chosen is not rows[0] and chosen is not rows[min(1, len(rows) - 1)]:
        said += f"; {chosen.title} has {chosen.overall / rows[0].overall:.3g} times"
    return f"{said}."


def table(found: Comparison) -> str:
    """Mean relative errors, a row for each mechanism, a column for each kind of question."""
    kinds = "".join(f"<th scope='col'>{html.escape(kind)}</th>" for kind in KINDS.values())
    best = [
        min((row.errors[i] for row in found.rows if row.errors[i] >= 0), default=math.nan)
        for i in range(len(KINDS))
    ]
    rows, left_out = [], []
    for row in found.rows:
        if row.said:
            # Below the table: a sentence in a row would make it wider than the window.
            left_out.append(
                f"<p class='quiet'>{html.escape(f'{row.title}, left out: {row.said}')}</p>"
            )
            continue
        here = " (on the maps)" if row.title == found.chosen else ""
        cells = "".join(
            f"<td{' class=best' if error == least else ''}>{percent(100 * error)}</td>"
            for error, least in zip(row.errors, best, strict=True)
        )
        rows.append(f"<tr><th scope='row'>{html.escape(row.title + here)}</th>{cells}</tr>")
    return (
        f"<div class='scroll'><table class='numbers'><caption>Mean relative error (of at least 20 "
        f"trips) of {BOXES} questions each, mean of {RUNS} previews</caption><thead><tr>"
        f"<th scope='col'>mechanism</th>{kinds}</tr></thead><tbody>{''.join(rows)}</tbody>"
        f"</table></div>{''.join(left_out)}"
    )
