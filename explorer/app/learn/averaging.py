"""Averaging: redraw and redraw, watch the average close in and the ledger grow."""

from __future__ import annotations

from typing import Any

import numpy as np

from explorer.app.curator.setting_fields import actions
from explorer.app.kit.html import put
from explorer.app.kit.prose import pane, signed
from explorer.app.learn.experiment import explained
from explorer.app.learn.started import StartedExperiment
from explorer.errors import InputError
from explorer.mechanisms import mechanism
from explorer.teaching.averaging import Attack, attack, redraws_to_know
from explorer.teaching.places import on_map, people_in
from explorer.teaching.previews import answers, taught
from explorer.views.markup import figures_strip
from explorer.views.tables import Cell, details, number, table
from explorer.views.teaching.average import AverageChart
from explorer.views.teaching.frame import FIRST, SECOND, TRUTH

MOST = 5000


class AveragingExperiment(StartedExperiment):
    """Buttons that redraw, a chart of the average, both ledgers."""

    title = "The same question to many fresh maps"
    WORK = "Redraws"

    def build(self) -> None:
        """Controls, map, chart."""
        controls = self.controls
        self.where = self.choose(box=True)
        self.chart = AverageChart()
        self.found: Attack | None = None
        self.true = 0.0
        self.ledger = pane()
        self.plot = explained(
            [
                (FIRST, "dot", "answer of one redraw"),
                (FIRST, "line", "average so far, with its 95 % band"),
                (SECOND, "line", "one release, asked again and again"),
                (TRUTH, "dash", "the truth"),
            ],
            self.chart.figure,
        )
        self.lay_out(
            self.where.view,
            [
                [
                    controls.mechanism(),
                    controls.number("epsilon"),
                    actions(
                        self.button("Redraw once", lambda: self.start(1), strong=True),
                        self.button("10 times", lambda: self.start(10)),
                        self.button("100 times", lambda: self.start(100)),
                        self.button("1,000 times", lambda: self.start(1000)),
                        self.button("Start over", self.begin),
                        self.running.cancel_button,
                    ),
                ]
            ],
            [self.running.status, self.said, self.plot, self.ledger, self.figures, self.twin],
        )

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
        if self.running.running:
            self.refused("Maps are being drawn: wait for them, or cancel.")
            return
        before = 0 if self.found is None else len(self.found)
        if before + times > MOST:
            self.refused(f"That would be more than {MOST:,} maps: start over first.")
            return
        box = on_map(settings.box, data.grid)

        def work(progress: Any, cancel: Any) -> np.ndarray:
            mechanism = taught(settings.mechanism, settings.epsilon)
            seeds = range(before, before + times)
            private = answers(
                mechanism, data.matrix, [box], seeds, cancel=cancel, progress=progress
            )
            return private[:, 0]

        self.running.start(work)

    def show(self, answers: np.ndarray) -> None:
        """Add answers (n,) of new maps to those before."""
        old = np.zeros(0) if self.found is None else self.found.answers
        epsilon = self.settings.epsilon
        try:
            self.found = drawn = attack(np.concatenate([old, answers]), epsilon)
        except InputError as error:
            self.refused(str(error))
            return
        spoken = _sentence(drawn, self.true, mechanism(self.settings.mechanism).title)
        self.chart.show(drawn.answers, drawn.mean, drawn.error, self.true, spoken)
        put(self.ledger, ledgers(len(drawn), epsilon, drawn.spent))
        twin = details("Numbers of the chart", _table(drawn, self.true))
        self.result(spoken, _figures(drawn, self.true), twin)


def many(n: int, noun: str) -> str:
    """So many of something.

    >>> many(1, "redraw"), many(1101, "redraw")
    ('1 redraw', '1,101 redraws')
    """
    return f"{n:,} {noun}{'' if n == 1 else 's'}"


def _sentence(attack: Attack, true: float, title: str) -> str:
    n, first = len(attack), float(attack.answers[0])
    if n == 1:
        return (
            f"One map by {title}: {first:,.0f} people, {signed(first - true)} off. Ask it again as "
            "often as you like, and it says the same."
        )
    off, error = float(attack.mean[-1]) - true, float(attack.error[-1])
    sentence = (
        f"The average of {n:,} redraws is {signed(off, 1)} off, with a standard error of "
        f"{error:,.1f}; the first map alone is {signed(first - true)} off, however often it is "
        f"asked. The redraws spent epsilon {attack.spent:g} together."
    )
    if n >= 10 and abs(off) > 4 * error:
        return (
            f"{sentence} What is left is no noise: people lie unevenly inside leaves that the box "
            "cuts through, and no average takes that away."
        )
    if n >= 10:
        needed = redraws_to_know(float(attack.error[-1]) * np.sqrt(n))
        return f"{sentence} After about {needed:,} redraws, rounding would give the exact count."
    return sentence


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
    count = n if n <= 60 else 1
    pieces = "".join('<i style="flex:1 1 0"></i>' for _ in range(count))
    share, redraws = 100 / n, many(n, "redraw")
    return (
        '<div class="spent" role="img" aria-label="'
        f"Epsilon spent: {redraws} {spent:g}, one release asked {n:,} × {epsilon:g}"
        '">'
        f'<div class="row"><span>{redraws}: epsilon <b>{spent:g}</b></span>'
        f'<span class="rail">{pieces}</span></div>'
        f'<div class="row kept"><span>one release, asked {n:,} ×: <b>{epsilon:g}</b></span>'
        f'<span class="rail"><i style="width:{share:.4g}%"></i></span></div></div>'
    )


def _table(attack: Attack, true: float) -> str:
    n = len(attack)
    at = np.unique(np.geomspace(1, n, 12).round().astype(int)) - 1
    rows = [
        [
            Cell(f"{i + 1:,}"),
            Cell(f"{attack.mean[i]:,.1f}"),
            Cell(signed(float(attack.mean[i]) - true, 1)),
            Cell(number(float(attack.error[i]))),
        ]
        for i in at
    ]
    columns = [
        ("redraws", "maps drawn so far"),
        ("average", "of their answers"),
        ("off by", "average minus truth"),
        ("standard error", "falls as one over the root of the redraws"),
    ]
    return table("The average after so many redraws", columns, rows)
