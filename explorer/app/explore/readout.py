"""What is read beside the maps of Explore: figures, summary, table of boxes, causes, ledger."""

from __future__ import annotations

import html
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from explorer.app.boxes.table import BoxTable
from explorer.app.curator.answers import BoxAnswers, answer_boxes
from explorer.app.curator.causes import CausesFinder, Question
from explorer.app.curator.error_bars import SIMULATED, ErrorBars
from explorer.app.curator.figures import key_figures, summary
from explorer.app.curator.parts import PageParts
from explorer.app.curator.screen import Screen
from explorer.app.kit.html import html_pane, put
from explorer.views.markup import figures_strip, ledger_bar


class Readout:
    """Numbers and sentences about the screen, as far as they are known by now.

    Parameters
    ----------
    parts : of the page
    table : of the boxes
    title : heading of the page, for screen readers
    """

    def __init__(self, parts: PageParts, table: BoxTable, title: str) -> None:
        self._parts, self._table = parts, table
        self._title = f'<h1 class="visually-hidden">{title}</h1>'
        self.screen: Screen | None = None
        self.strip = html_pane(self._title, styles={"flex": "1 1 460px"})
        self.summary = html_pane(margin=(6, 0, 10, 0))
        self.ledger = html_pane(margin=(4, 0, 0, 0))
        self.about_bars = html_pane(f'<p class="quiet">{SIMULATED}</p>')
        self.causes = CausesFinder(self._question, self._mark, self._told, parts.refuse)
        self.error_bars = ErrorBars(self.numbers)

    def show(self, screen: Screen) -> None:
        """Another picture is on the maps."""
        self.screen = screen
        put(self.ledger, ledger_bar(screen.release.stages()))
        self.numbers()

    def numbers(self) -> None:
        """The boxes may be other ones, or more is known of their errors."""
        screen, boxes = self.screen, self._parts.rectangles.boxes
        if screen is None:
            return
        if not np.array_equal(screen.boxes, boxes):
            answers = answer_boxes(screen.release, screen.data.matrix, boxes)
            screen = replace(screen, answers=answers, boxes=boxes)
        self.screen = screen = self.error_bars.complete(self.causes.complete(screen))
        release, answers = screen.release, screen.answers
        self.about_bars.visible = not answers.exact
        strip = figures_strip(key_figures(release, answers, screen.error, screen.seconds))
        put(self.strip, self._title + strip)
        sentence = html.escape(summary(screen.title, screen.data.title, release, answers))
        put(self.summary, f'<p class="summary" role="status">{sentence}</p>')
        self._table.show(answers)
        self.causes.follow()
        self.error_bars.want(screen)

    def close(self) -> None:
        """The session has ended."""
        self.error_bars.close()

    def _question(self) -> Question | None:
        """What the finder of causes is to look at."""
        chosen = self._parts.rectangles
        if self.screen is None or not np.array_equal(self.screen.boxes, chosen.boxes):
            return None
        return Question(self.screen, tuple(chosen.names), tuple(chosen.selected))

    def _mark(self, leaves: NDArray[np.float64]) -> None:
        if self._parts.maps is not None:
            self._parts.maps.mark(leaves)

    def _told(self, screen: Screen, answers: BoxAnswers) -> None:
        """The answers of the boxes on screen, with both causes of their errors."""
        if self.screen is not None and self.screen.release is screen.release:
            self.screen = self.error_bars.complete(replace(self.screen, answers=answers))
            self._table.show(self.screen.answers)
