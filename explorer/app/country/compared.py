"""The panel that compares ways to release a country, in the background."""

from __future__ import annotations

import html
import math
from typing import Any

import panel as pn

from explorer.app.country.comparison import LEAST, RUNS, Comparison, Order, compare
from explorer.app.country.maps import level_name
from explorer.app.curator.panel import ExplainPanel, panel_button
from explorer.app.curator.parts import PageParts
from explorer.app.kit import ui
from explorer.app.kit.html import html_pane, put
from explorer.app.kit.numbers import percent
from explorer.app.work.job import Job, patient
from explorer.country.mechanism import Country
from explorer.views.tables import Cell
from explorer.views.tables import table as html_table

_POOL = patient(1, "countries")


class WaysPanel(ExplainPanel[Any]):
    """The panel; nothing is computed before its button is pressed."""

    def __init__(self, parts: PageParts) -> None:
        super().__init__(lambda question: question, parts)
        self._state = parts.state
        self.found: Comparison | None = None
        self.work: Job[Comparison] = Job(
            compare, self._done, self._refused, changed=self._progressed, pool=_POOL
        )
        self.go = panel_button("Compare architectures", self._start, "contained")
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
        """Boxes do not matter here."""

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
        if screen is not None:
            release = screen.release
            made = Country(epsilon=release.epsilon, **release.parameters)
            self.work.ask(Order(screen.data, made, screen.key[:2]))

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
            text = f"{part:.0%} of the previews are drawn{rest}."
        put(self._progress, f'<p class="quiet" role="status">{text}</p>' if text else "")

    def _write(self) -> None:
        self._progressed()
        found, screen = self.found, self._screen
        if found is None:
            return
        said = sentence(found)
        if screen is not None and found.order.key != screen.key[:2]:
            said = f"{said} The settings have changed since: compare again for the present ones."
        put(self._said, f'<p class="summary" role="status">{html.escape(said)}</p>')
        put(self._table, table(found))
        self.go.label = "Compare again"


def sentence(found: Comparison) -> str:
    """Which way is best for the lowest areas."""
    rows = [row for row in found.rows if math.isfinite(row.lowest)]
    if not rows:
        return "None of them could be drawn with these settings."
    data, epsilon = found.order.data, found.order.chosen.epsilon
    lowest = data.areas.levels[-1]
    said = (
        f"{data.title}, epsilon {epsilon:.4g}: the areas of the level {lowest} are off least by "
        f"“{rows[0].title}” ({percent(100 * rows[0].lowest)})"
    )
    if len(rows) > 1 and rows[0].lowest > 0:
        times = rows[-1].lowest / rows[0].lowest
        said += f"; “{rows[-1].title}” has {times:.3g} times its error"
    return f"{said}."


def table(found: Comparison) -> str:
    """Mean relative errors: a row for each way, a column for each level."""
    data = found.order.data
    levels = range(len(data.areas.levels) + 1)
    best = [
        min((row.errors[i] for row in found.rows if math.isfinite(row.errors[i])), default=0.0)
        for i in levels
    ]
    rows = []
    for row in found.rows:
        title = Cell(row.title, quiet=f"left out: {row.said}" if row.said else "")
        cells = [
            Cell(percent(100 * error), best=error == least)
            for error, least in zip(row.errors, best, strict=True)
        ]
        rows.append([title, *cells])
    columns = [("way", "how the budget is spent")]
    columns += [(level_name(data, level), "mean error of its areas") for level in levels]
    caption = (
        f"Mean error of areas, in percent of the true count (of at least {LEAST}), over {RUNS} "
        "previews."
    )
    return html_table(caption, columns, rows)
