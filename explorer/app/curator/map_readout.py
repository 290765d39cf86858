"""What is read next to two maps of a city: figures, summary, causes of errors, intervals."""

from __future__ import annotations

import html
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from explorer.app.boxes.table import BoxTable
from explorer.app.curator.answers import BoxAnswers, answer_boxes
from explorer.app.curator.causes import CausesFinder, Question
from explorer.app.curator.error_bars import SIMULATED
from explorer.app.curator.figures import key_figures, summary
from explorer.app.curator.parts import PageParts
from explorer.app.curator.price import counted_of_all
from explorer.app.curator.readout import Readout
from explorer.app.curator.screen import Screen
from explorer.app.kit.html import html_pane, put
from explorer.grid.range_queries import Queries, same_questions


class MapReadout(Readout):
    """Numbers and sentences about two maps; parameters as of `Readout`."""

    screen: Screen | None

    def __init__(self, parts: PageParts, table: BoxTable) -> None:
        super().__init__(parts, table)
        self.summary = html_pane(margin=(4, 0))
        self.about_bars = html_pane(f'<p class="quiet">{SIMULATED}</p>')
        self.causes = CausesFinder(self._question, self._mark, self._told, parts.refuse)

    def ask(self, screen: Screen, boxes: Queries) -> BoxAnswers:
        """What both maps answer to other boxes."""
        return answer_boxes(screen.release, screen.data.matrix, boxes)

    def complete(self, screen: Screen) -> Screen:
        """The screen with both causes of its errors, where they are known."""
        return self.causes.complete(screen)

    def want(self, screen: Screen) -> None:
        """Ask for the causes where they are not."""
        self.causes.follow()

    def shows(self, screen: Screen) -> Sequence[str]:
        """Truth at the left; at the right what was chosen."""
        return "true", screen.look.right

    def figures(self, screen: Screen) -> Sequence[tuple[str, str]]:
        """Label and value of the strip above the maps."""
        return key_figures(screen.release, screen.answers, screen.error, screen.seconds)

    def tell(self, screen: Screen) -> None:
        """The summary, and how intervals are found where they have no formula."""
        release, answers = screen.release, screen.answers
        self.about_bars.visible = not answers.exact
        exact_answers, counted = None, ""
        if self.truth:
            exact_answers, counted = answers, counted_of_all(screen.data.matrix)
        sentence = html.escape(
            summary(screen.title, screen.data.title, release, exact_answers, counted)
        )
        put(self.summary, f'<p class="summary" role="status">{sentence}</p>')

    @property
    def quoting(self) -> Sequence[Any]:
        """The panes whose texts say something of exact counts."""
        return (*super().quoting, self.summary)

    def selected(self) -> None:
        """Leaves that other rows cut are marked."""
        self.causes.follow()

    def _question(self) -> Question | None:
        """What the finder of causes is to look at."""
        chosen = self._parts.rectangles
        if self.screen is None or not same_questions(self.screen.boxes, chosen.queries):
            return None
        return Question(self.screen, tuple(chosen.names), tuple(chosen.selected))

    def _mark(self, leaves: NDArray[np.float64]) -> None:
        if self._parts.maps is not None:
            self._parts.maps.mark(leaves)

    def _told(self, screen: Screen, answers: BoxAnswers) -> None:
        """The answers of the boxes on screen, with both causes of their errors."""
        if self.screen is not None and self.screen.release is screen.release:
            completed = self.error_bars.complete(replace(self.screen, answers=answers))
            self.screen = completed
            self._table.show(completed.answers)
