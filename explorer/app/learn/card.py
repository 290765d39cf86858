"""A lesson as a card: its words at the left, its experiment at the right."""

from __future__ import annotations

import html
from collections.abc import Callable, Sequence
from importlib import import_module
from typing import Any, Protocol

import panel as pn

from explorer.app.curator.data import CityData
from explorer.app.curator.setting_fields import button
from explorer.app.kit.html import put
from explorer.app.kit.navigation import Link
from explorer.app.kit.numbers import many
from explorer.app.kit.prose import LEARN_CSS, column, pane, side_by_side
from explorer.scenario import Scenario
from explorer.teaching import EXPERIMENTS, Lesson
from explorer.views.markup import safe_text
from explorer.views.texts import prose, steps

_ROW = """
:host { container: lesson / inline-size; }
@media print { :host { display: block !important; } }
"""
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


class ScenarioLink:
    """A link that opens a scenario on its own page.

    Parameters
    ----------
    scenario : Scenario
    links : the server's pages; without them there is no page to lead to
    """

    def __init__(self, scenario: Scenario, links: Sequence[Link] = ()) -> None:
        there = next((link for link in links if link.key == scenario.page), None)
        page = scenario.page.capitalize() if there is None else there.title
        epsilon = f"{scenario.city}, epsilon {scenario.epsilon:g}"
        text = html.escape(scenario.title or f"{page} with {epsilon}")
        about = f"<p>{html.escape(scenario.about)}</p>" if scenario.about else ""
        link = f"Open this on the {page} page: {text}"
        if there is not None:
            address = f"./{there.address}?s={scenario.to_link()}"
            link = f'<a href="{address}" target="_blank" rel="noopener">Open {page}: {text}</a>'
        self.view = column(pane(f"<h3>On the {page} page</h3>{about}<p class='finding'>{link}</p>"))

    def use(self, _data: object) -> None:
        """The scenario names its own city."""

    def close(self) -> None:
        """Nothing runs here."""


class Guide:
    """A lesson's words.

    Parameters
    ----------
    lesson : Lesson
    place : its number and how many there are
    moved : called with the step, and whether the answer was shown, whenever one of them changes
    step : the step to begin with, from 0
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
        css = [LEARN_CSS, _STEPS]
        self._steps = pane(margin=(6, 0, 2, 0), css=css)
        self.back = button("Step back", lambda: self.go(self.step - 1))
        self.next = button("Next step", lambda: self.go(self.step + 1), strong=True)
        ways = pn.Row(self.back, self.next, visible=self.count > 1, margin=(0, 0, 6, 0))
        self.reveal = button("Show the answer", self._toggle)
        self.answer = pane(margin=(6, 0))
        sheet = f'<div class="sheet">{"<i></i>" * 6}</div>'
        question = pane(f"{_words('Question', lesson.question)}{sheet}", (4, 0), css=css)
        parts = [pane(_head(lesson, place)), self._steps, ways, question, self.reveal, self.answer]
        self.view = column(*parts, flex="1 1 100%", stylesheets=[_BESIDE])
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
    minutes = many(lesson.minutes, "minute")
    return (
        f'<p class="kicker">Lesson {place[0]} of {place[1]} · {minutes}</p>'
        f'<h2 class="lesson">{html.escape(safe_text(lesson.title))}</h2>'
        f'<p class="goal">Goal: {html.escape(safe_text(lesson.goal, 300))}</p>'
    )


def _words(heading: str, text: str) -> str:
    return f'<h3>{heading}</h3><div class="prose">{prose(text)}</div>'


class Bench(Protocol):
    """What is in a card: an experiment, or a link to a screen."""

    view: Any

    def use(self, data: CityData) -> None:
        """Take a city."""

    def close(self) -> None:
        """Stop whatever runs."""


def experiment(lesson: Lesson, refused: Callable[[str], None], phone: bool) -> Bench:
    """The experiment of a lesson; its module, named as its key, is loaded when it is first seen."""
    module = import_module(f"explorer.app.learn.{lesson.experiment}")
    kind = getattr(module, f"{lesson.experiment.capitalize()}Experiment")
    bench: Bench = kind(EXPERIMENTS[lesson.experiment](**lesson.settings), refused, phone=phone)
    return bench


class LessonCard:
    """One lesson on the page.

    Parameters
    ----------
    lesson : Lesson
    place : its number and how many there are
    refused : shows a sentence
    links : the server's pages
    phone : whether the page is on a phone
    moved : called with the step that is shown, and whether the answer is
    step : the step to begin with, from 0
    """

    def __init__(
        self,
        lesson: Lesson,
        place: tuple[int, int],
        refused: Callable[[str], None],
        *,
        links: Sequence[Link],
        phone: bool,
        moved: Callable[[int, bool], None],
        step: int = 0,
    ) -> None:
        self.lesson = lesson
        self.experiment = (
            experiment(lesson, refused, phone)
            if lesson.scenario is None
            else ScenarioLink(lesson.scenario, links)
        )
        self.guide = Guide(lesson, place, moved, step)
        bench = column(self.experiment.view, flex="1 1 400px")
        # The guide asks how wide this is, and not the window: a notebook's cell is narrower.
        self.view = side_by_side(self.guide.view, bench, gap="8px 28px", stylesheets=[_ROW])
        self.use, self.close = self.experiment.use, self.experiment.close
