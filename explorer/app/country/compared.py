"""The panel that compares ways to release a country, in the background."""

from __future__ import annotations

import math

from explorer.app.country.comparison import LEAST, RUNS, Comparison, compare
from explorer.app.country.maps import level_name
from explorer.app.country.screen import CountryScreen
from explorer.app.curator.comparing import ComparingPanel, Order
from explorer.app.kit.numbers import percent
from explorer.app.work.job import Run, patient
from explorer.country.mechanism import Country
from explorer.views.tables import Cell
from explorer.views.tables import table as html_table


class WaysPanel(ComparingPanel):
    """Other ways to spend one budget on a country."""

    START = "Compare architectures"
    DONE = "of the previews are drawn"
    POOL = patient(1, "countries")

    def compare(self, order: Order, run: Run) -> Comparison:
        """A few previews of each, held against the truth."""
        return compare(order, run)

    def chosen(self, screen: CountryScreen) -> Country:
        """The mechanism as its release says it."""
        release = screen.release
        return Country(epsilon=release.epsilon, **release.parameters)

    def sentence(self, comparison: Comparison) -> str:
        """Which is best, and by how much."""
        return sentence(comparison)

    def table(self, comparison: Comparison) -> str:
        """Mean relative errors, a row for each."""
        return table(comparison)


def sentence(comparison: Comparison) -> str:
    """Which way is best for the lowest areas."""
    rows = [row for row in comparison.rows if math.isfinite(row.lowest)]
    if not rows:
        return "None of them could be drawn with these settings."
    data, epsilon = comparison.order.data, comparison.order.chosen.epsilon
    lowest = data.areas.levels[-1]
    text = (
        f"{data.title}, epsilon {epsilon:.4g}: the areas of the level {lowest} are off least by "
        f"“{rows[0].title}” ({percent(100 * rows[0].lowest)})"
    )
    if len(rows) > 1 and rows[0].lowest > 0:
        times = rows[-1].lowest / rows[0].lowest
        text += f"; “{rows[-1].title}” has {times:.3g} times its error"
    return f"{text}."


def table(comparison: Comparison) -> str:
    """Mean relative errors: a row for each way, a column for each level."""
    data = comparison.order.data
    levels = range(len(data.areas.levels) + 1)
    best = [
        min((row.errors[i] for row in comparison.rows if math.isfinite(row.errors[i])), default=0.0)
        for i in levels
    ]
    rows = []
    for row in comparison.rows:
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
