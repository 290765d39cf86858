"""The pooled answers as a page shows them: sentence, numbers, chart, tables."""

from __future__ import annotations

import html
import math

from explorer.app.classroom.look import class_pane
from explorer.app.classroom.sentences import (
    about_answers,
    about_question,
    answer_figures,
    answer_tables,
    locator,
)
from explorer.app.kit.html import put
from explorer.app.kit.prose import chart_pane, column, finding, pane
from explorer.teaching.classroom import Snapshot
from explorer.views.teaching.pooled import Bars, PooledChart, pooled_legend


class Result:
    """Question and answers of a class.

    Parameters
    ----------
    own : whether this screen has answers of its own
    """

    def __init__(self, *, own: bool) -> None:
        self._own = own
        self.chart = PooledChart()
        self.question = class_pane(margin=(6, 0, 8, 0))
        # One pane above the chart and one below: each that changes is work for every participant.
        self.above, self.tables = pane(margin=(4, 0)), pane(margin=(4, 0))
        self._chart = chart_pane(self.chart.figure)
        self.view = column(self.above, self._chart, self.tables)

    def show(
        self, look: Snapshot, *, truth: bool, own: tuple[float, ...] = (), said: str = ""
    ) -> None:
        """Show what a class shows; without ``truth`` nothing of it is sent.

        ``said`` is HTML about one's own answer, to be above all.
        """
        self._ask(look)
        summary = look.summary
        has_answers = summary is not None
        if self._chart.visible is not has_answers:
            self._chart.visible = self.tables.visible = has_answers
        if summary is None:
            waiting = "Nobody has answered yet." if look.question else "There is no question yet."
            put(self.above, said + finding(waiting))
            put(self.tables, "")
            self.chart.clear(waiting)
            return
        spoken = about_answers(summary, truth)
        key = pooled_legend(truth=truth, own=self._own)
        put(self.above, said + finding(spoken) + answer_figures(summary, truth) + key)
        put(self.tables, answer_tables(summary, truth))
        true, theory = (summary.true, summary.theory) if truth else (math.nan, math.nan)
        self.chart.show(Bars(summary.edges, summary.counts, true, theory, own), spoken)

    def _ask(self, look: Snapshot) -> None:
        if look.question is None:
            put(self.question, "")
            return
        text = html.escape(about_question(look.question))
        put(
            self.question,
            f'<div class="asked">{locator(look.question)}<div>'
            f'<h2>The question</h2><p class="finding">{text}</p></div></div>',
        )
