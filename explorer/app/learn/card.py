"""A lesson as a card: its words at the left, its experiment at the right."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, Protocol

import panel as pn

from explorer.app.curator.data import CityData
from explorer.app.kit.navigation import Link
from explorer.app.learn.averaging import AveragingExperiment
from explorer.app.learn.emptiness import EmptinessExperiment
from explorer.app.learn.experiment import Experiment
from explorer.app.learn.guide import Guide
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


_ROW = """
:host { container: lesson / inline-size; }
@media print { :host { display: block !important; } }
"""


class Bench(Protocol):
    """What is in a card: an experiment, or a link to a screen."""

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
        self.experiment: Bench
        if lesson.scenario is not None:
            self.experiment = ScenarioLink(lesson.scenario, links)
        else:
            settings = EXPERIMENTS[lesson.experiment](**lesson.settings)
            self.experiment = KINDS[lesson.experiment](settings, refused, phone=phone)
        self.guide = Guide(lesson, place, moved, step)
        self.view = pn.Row(
            self.guide.view,
            pn.Column(
                self.experiment.view,
                sizing_mode="stretch_width",
                styles={"flex": "1 1 400px", "min-width": "0"},
                margin=0,
            ),
            sizing_mode="stretch_width",
            styles={"flex-wrap": "wrap", "gap": "8px 28px", "align-items": "flex-start"},
            # The guide asks how wide this is, and not the window: a notebook's cell is narrower.
            stylesheets=[_ROW],
            margin=0,
        )

    @property
    def answer(self) -> Any:
        """Where the answer is once it was asked for."""
        return self.guide.answer

    @property
    def reveal(self) -> Any:
        """The button that shows the answer."""
        return self.guide.reveal

    @property
    def answered(self) -> bool:
        """Whether the answer is on the page."""
        return self.guide.answered

    def use(self, data: CityData) -> None:
        """Do the experiment on a city."""
        self.experiment.use(data)

    def close(self) -> None:
        """Another lesson is opened, or the visit has ended."""
        self.experiment.close()
