"""A lesson as a card: goal, minutes, steps, experiment, question, an answer to be asked for."""

from __future__ import annotations

import html
from collections.abc import Callable, Sequence
from typing import Any, Protocol

from explorer.app.curator.data import CityData
from explorer.app.curator.setting_fields import button
from explorer.app.kit.html import put
from explorer.app.kit.navigation import Link
from explorer.app.kit.prose import column, pane
from explorer.app.learn.averaging import AveragingExperiment
from explorer.app.learn.emptiness import EmptinessExperiment
from explorer.app.learn.experiment import Experiment
from explorer.app.learn.lottery import LotteryExperiment
from explorer.app.learn.neighbours import NeighboursExperiment
from explorer.app.learn.postprocessing import PostprocessingExperiment
from explorer.app.learn.ranking import RankingExperiment
from explorer.app.learn.refinement import RefinementExperiment
from explorer.app.learn.scenario import ScenarioLink
from explorer.app.learn.threshold import ThresholdExperiment
from explorer.app.learn.tolerance import ToleranceExperiment
from explorer.app.learn.trust import TrustExperiment
from explorer.teaching import EXPERIMENTS, Lesson
from explorer.views.markup import safe_text
from explorer.views.teaching.prose import prose

KINDS: dict[str, type[Experiment]] = {
    "neighbours": NeighboursExperiment,
    "averaging": AveragingExperiment,
    "tolerance": ToleranceExperiment,
    "threshold": ThresholdExperiment,
    "ranking": RankingExperiment,
    "postprocessing": PostprocessingExperiment,
    "emptiness": EmptinessExperiment,
    "lottery": LotteryExperiment,
    "trust": TrustExperiment,
    "refinement": RefinementExperiment,
}


class Bench(Protocol):
    """What stands in a card: an experiment, or a link to a screen."""

    view: Any

    def use(self, data: CityData) -> None:
        """Take a city."""

    def close(self) -> None:
        """Stop whatever runs."""


class LessonCard:
    """One lesson on the page.

    Parameters
    ----------
    lesson : Lesson
    place : its number and how many there are
    refused : shows a sentence
    links : the server's pages
    phone : whether the page is on a phone
    """

    def __init__(
        self,
        lesson: Lesson,
        place: tuple[int, int],
        refused: Callable[[str], None],
        *,
        links: Sequence[Link],
        phone: bool,
    ) -> None:
        self.lesson = lesson
        self.experiment: Bench
        if lesson.scenario is not None:
            self.experiment = ScenarioLink(lesson.scenario, links)
        else:
            settings = EXPERIMENTS[lesson.experiment](**lesson.settings)
            self.experiment = KINDS[lesson.experiment](settings, refused, phone=phone)
        self.reveal = button("Show the answer", self._toggle, strong=True)
        self.answer = pane(margin=(6, 0))
        self.view = column(
            pane(_head(lesson, place)),
            pane(_words("Steps", lesson.steps), margin=(8, 0, 4, 0)),
            column(self.experiment.view, margin=(8, 0)),
            pane(_words("Question", lesson.question), margin=(8, 0, 4, 0)),
            self.reveal,
            self.answer,
        )

    @property
    def answered(self) -> bool:
        """Whether the answer is on the page."""
        return bool(self.answer.object)

    def use(self, data: CityData) -> None:
        """Do the experiment on a city."""
        self.experiment.use(data)

    def close(self) -> None:
        """Another lesson is opened, or the visit has ended."""
        self.experiment.close()

    def _toggle(self) -> None:
        # Not merely hidden: until it is asked for, the answer is not sent at all.
        words = _words("Answer", self.lesson.answer)
        text = f'<div class="answer" role="status">{words}</div>'
        put(self.answer, "" if self.answered else text)
        self.reveal.label = "Hide the answer" if self.answered else "Show the answer"


def _head(lesson: Lesson, place: tuple[int, int]) -> str:
    minutes = f"{lesson.minutes} minute{'s' if lesson.minutes > 1 else ''}"
    return (
        f'<p class="kicker">Lesson {place[0]} of {place[1]} · {minutes}</p>'
        f'<h2 class="lesson">{html.escape(safe_text(lesson.title))}</h2>'
        f'<p class="goal">Goal: {html.escape(safe_text(lesson.goal, 300))}</p>'
    )


def _words(heading: str, text: str) -> str:
    return f'<h3>{heading}</h3><div class="prose">{prose(text)}</div>'
