"""The left column of a lesson: what it is for, one step at a time, the question, the answer."""

from __future__ import annotations

import html
from collections.abc import Callable

import panel as pn

from explorer.app.curator.setting_fields import button
from explorer.app.kit.html import put
from explorer.app.kit.prose import LEARN_CSS, pane
from explorer.teaching import Lesson
from explorer.views.markup import safe_text
from explorer.views.teaching.prose import prose, steps

#: Where there is space for both, the guide stays next to the experiment while that is scrolled.
_BESIDE = """
@container lesson (min-width: 740px) {
  :host { flex: 0 0 320px !important; max-width: 320px; position: sticky; top: 0;
    max-height: calc(100vh - 64px); overflow-y: auto; }
}
@media print {
  :host { position: static !important; max-height: none !important; overflow: visible !important;
    flex: 1 1 100% !important; max-width: none !important; }
}
"""
_STEPS = """
@media screen { .steps .later { display: none; } }
.steps { min-height: 84px; }
.steps ol { padding-left: 22px; }
.sheet { display: none; }
@media print {
  .sheet { display: block; }
  .sheet i { display: block; height: 30px; border-bottom: 1px solid #888888; }
  .count { display: none; }
}
"""


class Guide:
    """A lesson's words.

    Parameters
    ----------
    lesson : Lesson
    place : its number and how many there are
    step : the step to begin with, from 0
    moved : called with the step, and whether the answer was shown, whenever one of them changes
    """

    def __init__(
        self,
        lesson: Lesson,
        place: tuple[int, int],
        moved: Callable[[int, bool], None],
        step: int = 0,
    ) -> None:
        self.lesson, self._moved = lesson, moved
        self.count = steps(lesson.steps, 0)[1]
        self.step = min(max(step, 0), max(self.count - 1, 0))
        self._steps = pane(margin=(6, 0, 2, 0), css=[LEARN_CSS, _STEPS])
        self.back = button("Step back", lambda: self.go(self.step - 1))
        self.next = button("Next step", lambda: self.go(self.step + 1), strong=True)
        ways = pn.Row(self.back, self.next, visible=self.count > 1, margin=(0, 0, 6, 0))
        self.reveal = button("Show the answer", self._toggle)
        self.answer = pane(margin=(6, 0))
        sheet = f'<div class="sheet">{"<i></i>" * 6}</div>'
        question = f"{_words('Question', lesson.question)}{sheet}"
        self.view = pn.Column(
            pane(_head(lesson, place)),
            self._steps,
            ways,
            pane(question, (4, 0), css=[LEARN_CSS, _STEPS]),
            self.reveal,
            self.answer,
            sizing_mode="stretch_width",
            styles={"flex": "1 1 100%", "min-width": "0"},
            stylesheets=[_BESIDE],
            margin=0,
        )
        self._show()

    @property
    def answered(self) -> bool:
        """Whether the answer is on the page."""
        return bool(self.answer.object)

    def go(self, step: int) -> None:
        """Show another step."""
        if 0 <= step < self.count and step != self.step:
            self.step = step
            self._show()
            self._moved(step, self.answered)

    def _show(self) -> None:
        text, count = steps(self.lesson.steps, self.step)
        of = f' <small class="count">{self.step + 1} of {count}</small>' if count > 1 else ""
        put(self._steps, f'<h3>Steps{of}</h3><div class="prose steps" role="status">{text}</div>')
        self.back.disabled, self.next.disabled = self.step == 0, self.step >= count - 1

    def _toggle(self) -> None:
        # Not merely hidden: until it is asked for, the answer is not sent at all.
        words = _words("Answer", self.lesson.answer)
        text = f'<div class="answer" role="status">{words}</div>'
        put(self.answer, "" if self.answered else text)
        self.reveal.label = "Hide the answer" if self.answered else "Show the answer"
        self._moved(self.step, self.answered)


def _head(lesson: Lesson, place: tuple[int, int]) -> str:
    minutes = f"{lesson.minutes} minute{'s' if lesson.minutes > 1 else ''}"
    return (
        f'<p class="kicker">Lesson {place[0]} of {place[1]} · {minutes}</p>'
        f'<h2 class="lesson">{html.escape(safe_text(lesson.title))}</h2>'
        f'<p class="goal">Goal: {html.escape(safe_text(lesson.goal, 300))}</p>'
    )


def _words(heading: str, text: str) -> str:
    return f'<h3>{heading}</h3><div class="prose">{prose(text)}</div>'
