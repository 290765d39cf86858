"""The panel that compares all algorithms on the people of a screen, in the background."""

from __future__ import annotations

import math

from explorer.app.curator.comparing import ComparingPanel, Order
from explorer.app.curator.screen import Screen
from explorer.app.federated.comparison import RUNS, Comparison, compare
from explorer.app.federated.round_sentences import size
from explorer.app.federated.screen import chosen
from explorer.app.work.job import Run, patient
from explorer.federated.mechanism import Federated
from explorer.views.tables import Cell, table


class AlgorithmsPanel(ComparingPanel):
    """Other ways to ask the same people."""

    START = "Compare algorithms"
    DONE = "of the algorithms are done"
    POOL = patient(1, "algorithms")

    def compare(self, order: Order, run: Run) -> Comparison:
        """A few previews of each, held against the truth."""
        return compare(order, run)

    def chosen(self, screen: Screen) -> Federated:
        """The mechanism as its release says it."""
        return chosen(screen)

    def sentence(self, comparison: Comparison) -> str:
        """Which is best, and by how much."""
        return sentence(comparison)

    def table(self, comparison: Comparison) -> str:
        """Errors and bytes, a row for each."""
        return algorithms_table(comparison)


def sentence(comparison: Comparison) -> str:
    """Which private one is best, and what Algorithm 2 as printed is next to it."""
    rows = [row for row in comparison.rows if math.isfinite(row.mse) and row.key != "sampling"]
    if not rows:
        return "None of them could be drawn with these settings."
    best, mechanism = rows[0], comparison.order.chosen
    text = (
        f"{comparison.order.data.title}, epsilon {mechanism.epsilon:.4g}: “{best.title}” has the "
        f"least squared error, and one person sends {size(best.sent)} for it"
    )
    printed = next((row for row in rows if row.key == "paper"), None)
    if printed is not None and printed is not best and best.mse > 0:
        text += f"; “{printed.title}” has {printed.mse / best.mse:.3g} times that error"
    return f"{text}."


def algorithms_table(comparison: Comparison) -> str:
    """A row for each algorithm, from the best to the worst."""
    rows = comparison.rows
    private = [row for row in rows if row.key != "sampling" and math.isfinite(row.mse)]
    least = min((row.mse for row in private), default=math.nan)
    cells = []
    for row in rows:
        out = not math.isfinite(row.mse)
        quiet = f"left out: {row.said}" if out else ""
        if row.key == "sampling" and not out:
            quiet = "not private"
        cells.append(
            [
                Cell(row.title, quiet=quiet),
                Cell("–" if out else f"{row.mse * 1e11:.3g}", best=row.mse == least),
                Cell("–" if out else f"{row.l1:.2f}"),
                Cell("–" if out else str(row.rounds)),
                Cell("–" if out else f"{row.numbers:,}"),
                Cell("–" if out or not row.sent else size(row.sent)),
            ]
        )
    columns = [
        ("algorithm", "how rounds follow each other"),
        ("MSE, 1e-11", "mean squared error of the shares of people in cells"),
        ("L1/N", "people that all cells are off together, over the number of people"),
        ("rounds", ""),
        ("numbers", "that one person sends in all, at most"),
        ("sends", "bytes of one person in all, at most"),
    ]
    caption = f"Means of {RUNS} previews with the settings on the left; nothing is booked."
    return table(caption, columns, cells)
