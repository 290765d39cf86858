"""Averaging: redraw and redraw, watch the average close in and the ledger grow."""

from __future__ import annotations

from functools import partial
from typing import Any

import numpy as np

from explorer.app.kit.html import put
from explorer.app.kit.numbers import many, signed
from explorer.app.kit.prose import pane, text_table
from explorer.app.kit.words import sentence
from explorer.app.learn.experiment import StartedExperiment, explained
from explorer.errors import InputError
from explorer.mechanisms import mechanism
from explorer.teaching.averaging import Attack, attack, redraws_to_know
from explorer.teaching.places import on_map, people_in
from explorer.teaching.previews import answers, taught
from explorer.views.figures import FIRST, SECOND, TRUTH
from explorer.views.lesson_charts import AverageChart
from explorer.views.markup import figures_strip
from explorer.views.tables import details, number

MOST = 5000
_BUTTONS = {10: "10 times", 100: "100 times", 1000: "1,000 times"}


class AveragingExperiment(StartedExperiment):
    """Buttons that redraw, a chart of the average, both ledgers."""

    title = "The same question to many fresh maps"
    WORK = "Redraws"

    def build(self) -> None:
        """Controls, map, chart."""
        controls = self.controls
        self.where, self.chart, self.ledger = self.choose(box=True), AverageChart(), pane()
        self.found: Attack | None = None
        self.true = 0.0
        plot = explained(
            [
                (FIRST, "dot", "answer of one redraw"),
                (FIRST, "line", "average so far, with its 95 % band"),
                (SECOND, "line", "one release, asked again and again"),
                (TRUTH, "dash", "the truth"),
            ],
            self.chart.figure,
        )
        buttons = self.run_buttons(
            self.button("Redraw once", lambda: self.start(1), strong=True),
            *(self.button(text, partial(self.start, n)) for n, text in _BUTTONS.items()),
            self.button("Start over", self.begin),
        )
        row = [controls.mechanism(), controls.number("epsilon"), buttons]
        self.lay_results_out(self.where.view, [row], self.ledger, plot=plot)

    def begin(self) -> None:
        """Forget all redraws."""
        self.true = people_in(self.ready().matrix, self.settings.box)
        super().begin()
        self.found = None
        put(self.ledger, "")
        self.chart.clear("No map has been drawn yet")

    def before(self) -> str:
        """The truth."""
        return f"Truly {self.true:,.0f} people are in the box. No map has been drawn yet."

    def start(self, times: int) -> None:
        """Draw so many more maps."""
        data, settings = self.ready(), self.settings.copy()
        if self.running.job.busy:
            self.refused("Maps are being drawn: wait for them, or cancel.")
            return
        before = 0 if self.found is None else len(self.found)
        if before + times > MOST:
            self.refused(f"That would be more than {MOST:,} maps: start over first.")
            return
        box = on_map(settings.box, data.grid)
        seeds = range(before, before + times)

        def work(progress: Any, cancel: Any) -> np.ndarray:
            kind = taught(settings.mechanism, settings.epsilon)
            told = {"cancel": cancel, "progress": progress}
            return answers(kind, data.matrix, [box], seeds, **told)[:, 0]

        self.running.start(work)

    def show(self, answers: np.ndarray) -> None:
        """Add answers (n,) of new maps to those before."""
        old = np.zeros(0) if self.found is None else self.found.answers
        epsilon, true = self.settings.epsilon, self.true
        try:
            self.found = drawn = attack(np.concatenate([old, answers]), epsilon)
        except InputError as error:
            self.refused(str(error))
            return
        spoken = _sentence(drawn, true, mechanism(self.settings.mechanism).title)
        self.chart.show(drawn.answers, drawn.mean, drawn.error, true, spoken)
        put(self.ledger, ledgers(len(drawn), epsilon, drawn.spent))
        twin = details("Numbers of the chart", _table(drawn, true))
        self.result(spoken, _figures(drawn, true), twin)


def _sentence(attack: Attack, true: float, title: str) -> str:
    n, error = len(attack), float(attack.error[-1])
    off = float(attack.mean[-1]) - true
    return sentence(
        *("learn", "One redraw" if n == 1 else "The average of redraws"),
        n=n,
        first=attack.answers[0],
        truth=true,
        title=title,
        off=off,
        error=error,
        spent=attack.spent,
        uneven=n >= 10 and abs(off) > 4 * error,
        needed=redraws_to_know(error * np.sqrt(n)) if n >= 10 else 0,
    )


def _figures(attack: Attack, true: float) -> str:
    error = attack.error[-1]
    return figures_strip(
        [
            ("Redraws", f"{len(attack):,}"),
            ("True count", f"{true:,.0f}"),
            ("Average", f"{attack.mean[-1]:,.1f}"),
            ("Off by", signed(float(attack.mean[-1]) - true, 1)),
            ("Standard error", "–" if np.isnan(error) else f"{error:,.1f}"),
            ("Epsilon spent", f"{attack.spent:g}"),
        ]
    )


def ledgers(n: int, epsilon: float, spent: float) -> str:
    """What n redraws cost next to what n questions to one release cost."""
    # A piece for each redraw while there is space for them; the lengths are always in proportion.
    pieces = '<i style="flex:1 1 0"></i>' * (n if n <= 60 else 1)
    redraws = many(n, "redraw")
    return (
        '<div class="spent" role="img" aria-label="'
        f"Epsilon spent: {redraws} {spent:g}, one release asked {n:,} × {epsilon:g}"
        '">'
        f'<div class="row"><span>{redraws}: epsilon <b>{spent:g}</b></span>'
        f'<span class="rail">{pieces}</span></div>'
        f'<div class="row kept"><span>one release, asked {n:,} ×: <b>{epsilon:g}</b></span>'
        f'<span class="rail"><i style="width:{100 / n:.4g}%"></i></span></div></div>'
    )


def _table(attack: Attack, true: float) -> str:
    at = np.unique(np.geomspace(1, len(attack), 12).round().astype(int)) - 1
    rows = [
        [f"{i + 1:,}", f"{mean:,.1f}", signed(float(mean) - true, 1), number(float(error))]
        for i, mean, error in zip(at, attack.mean[at], attack.error[at], strict=True)
    ]
    columns = {
        "redraws": "maps drawn so far",
        "average": "of their answers",
        "off by": "average minus truth",
        "standard error": "falls as one over the root of the redraws",
    }
    return text_table("The average after so many redraws", columns, rows)
