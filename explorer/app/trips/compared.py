"""The panel that compares all mechanisms on the trips of the page, in the background."""

from __future__ import annotations

import html
import math

from explorer.app.curator.comparing import ComparingPanel, Order
from explorer.app.kit.numbers import percent
from explorer.app.trips.comparison import BOXES, KINDS, RUNS, Comparison, compare
from explorer.app.trips.screen import TripScreen
from explorer.app.work.job import Run, patient
from explorer.mechanisms import Mechanism, rebuild


class ComparedPanel(ComparingPanel):
    """All mechanisms that take trips."""

    START = "Compare all mechanisms"
    DONE = "of the mechanisms are done"
    POOL = patient(2, "comparison")

    def compare(self, order: Order, run: Run) -> Comparison:
        """A few previews of each, held against the truth."""
        return compare(order, run)

    def chosen(self, screen: TripScreen) -> Mechanism:
        """That of the release as it was drawn, however its counts are spread."""
        return rebuild(screen.drawn)

    def sentence(self, comparison: Comparison) -> str:
        """Which is best, and by how much."""
        return sentence(comparison)

    def table(self, comparison: Comparison) -> str:
        """Mean relative errors, a row for each."""
        return table(comparison)


def sentence(comparison: Comparison) -> str:
    """Which mechanism is best, and how far the one on screen is from it."""
    rows = [row for row in comparison.rows if math.isfinite(row.overall)]
    if not rows:
        return "No mechanism could be drawn with these settings."
    epsilon, data = comparison.order.chosen.epsilon, comparison.order.data
    text = f"{data.title}, epsilon {epsilon:.4g}: over all kinds {rows[0].title} is off least"
    if len(rows) > 1:
        times = rows[1].overall / rows[0].overall
        text += f", {rows[1].title} comes next with {times:.3g} times its error"
    chosen = next((row for row in rows if row.title == comparison.chosen), None)
    if chosen is not None and chosen is not rows[0] and chosen is not rows[min(1, len(rows) - 1)]:
        text += f"; {chosen.title} has {chosen.overall / rows[0].overall:.3g} times"
    bounded = data.matrix.unclipped is not None
    return f"{text}.{' Errors are against the trips that are counted.' if bounded else ''}"


def table(comparison: Comparison) -> str:
    """Mean relative errors, a row for each mechanism, a column for each kind of question."""
    kinds = "".join(f"<th scope='col'>{html.escape(kind)}</th>" for kind in KINDS.values())
    best = [
        min((row.errors[i] for row in comparison.rows if row.errors[i] >= 0), default=math.nan)
        for i in range(len(KINDS))
    ]
    rows, left_out = [], []
    for row in comparison.rows:
        if row.said:
            # Below the table: a sentence in a row would make it wider than the window.
            left_out.append(
                f"<p class='quiet'>{html.escape(f'{row.title}, left out: {row.said}')}</p>"
            )
            continue
        here = " (on the maps)" if row.title == comparison.chosen else ""
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
