"""The class on a projector: how to join, the question, the answers; no truth until it is shown."""

from __future__ import annotations

import html
from collections.abc import Callable

import panel as pn

from explorer.app.classroom.look import class_pane
from explorer.app.classroom.sentences import about_question, locator, many
from explorer.app.classroom.teacher import address_of
from explorer.app.kit.html import put
from explorer.app.kit.prose import chart_pane, column
from explorer.app.kit.reach import qr_code
from explorer.app.work.timing import Throttle
from explorer.teaching.classroom import ClassRoom, Snapshot
from explorer.teaching.codes import spaced
from explorer.views.teaching.pooled import Bars, PooledChart, pooled_legend

#: Seconds between two showings; pixels of the chart, and of its figures for the last row.
GAP, HEIGHT, TYPE = 0.5, 500, "22px"


class ProjectorView:
    """What a projector shows of one class. It gets what participants get, and nothing more.

    Parameters
    ----------
    room : ClassRoom
    base : address of the server for others, "" where there is none
    why_not : why there is none
    ended : called when the class is over
    told : called with whether the truth is on the screen

    Raises
    ------
    InputError
        When there are too many projectors or the class is over.
    """

    def __init__(
        self,
        room: ClassRoom,
        base: str,
        why_not: str,
        ended: Callable[[], None],
        *,
        told: Callable[[bool], None],
    ) -> None:
        self.room = room
        self._base, self._why_not, self._ended, self._told = base, why_not, ended, told
        self.chart = PooledChart(HEIGHT, TYPE)
        self.way, self.text = class_pane(_way(room, base, why_not)), class_pane()
        self.way.styles = {"flex": "1 1 300px", "max-width": "420px"}
        self.key = class_pane()
        self._chart = chart_pane(self.chart.figure)
        answers = pn.Column(
            self.text,
            self._chart,
            self.key,
            sizing_mode="stretch_width",
            styles={"flex": "3 1 560px", "min-width": "0"},
            margin=0,
        )
        self.view = column(
            pn.Row(
                self.way,
                answers,
                sizing_mode="stretch_width",
                styles={"flex-wrap": "wrap", "gap": "16px 40px", "align-items": "flex-start"},
                margin=0,
            )
        )
        self._pulse = Throttle(self.show, GAP)
        self._number = room.project(self._pulse)
        self.show()

    def show(self) -> None:
        """Show what the class does."""
        look = self.room.look()
        if look.closed:
            self._ended()
            return
        self._told(look.revealed and look.question is not None)
        put(self.text, _said(look))
        summary = look.summary
        self._chart.visible = summary is not None
        put(self.key, "" if summary is None else pooled_legend(truth=look.revealed, own=False))
        if summary is None:
            self.chart.clear("Nobody has answered yet.")
            return
        true, theory = (summary.true, summary.theory) if look.revealed else (float("nan"),) * 2
        spoken = f"Histogram of {many(summary.answers, 'answer')}"
        self.chart.show(Bars(summary.edges, summary.counts, true, theory), spoken)

    def close(self) -> None:
        """Leave: the visit has ended."""
        self._pulse.close()
        self.room.leave(self._number)


def _way(room: ClassRoom, base: str, why_not: str) -> str:
    """How to come in: code, picture, address."""
    code = f'<p class="lead">Class code</p><p class="code wall">{spaced(room.code)}</p>'
    if not base:
        return f'<div class="projector">{code}<p class="lead">{html.escape(why_not)}</p></div>'
    picture = qr_code(address_of(base, room))
    return (
        f'<div class="projector">{code}{picture}'
        f'<p class="lead">or open <b>{html.escape(base)}/class</b> and type the code</p></div>'
    )


def _said(look: Snapshot) -> str:
    there = f'<p class="lead">{many(look.present, "participant")} in the class'
    if look.question is None:
        return f'<div class="projector">{there}. The question will appear here.</p></div>'
    summary = look.summary
    answers = "no answer yet" if summary is None else many(summary.answers, "answer")
    truth = f", true count {summary.true:,.0f}" if summary is not None and look.revealed else ""
    mean = f", mean {summary.mean:,.0f}" if summary is not None else ""
    question = html.escape(about_question(look.question))
    return (
        f'<div class="projector"><div class="asked">{locator(look.question)}'
        f'<div><p class="lead">{question}</p></div></div>'
        f'{there}</p><p class="count" role="status">{answers}{mean}{truth}</p></div>'
    )
