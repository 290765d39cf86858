"""What is read beside the maps of trips: figures, the chosen row's answer, table, ledger."""

from __future__ import annotations

import html
from dataclasses import replace

import numpy as np

from explorer.app.boxes.table import BoxTable
from explorer.app.curator.error_bars import ErrorBars
from explorer.app.curator.parts import PageParts
from explorer.app.kit.html import html_pane, put
from explorer.app.kit.words import words
from explorer.app.trips.causes import TripCauses
from explorer.app.trips.screen import TripScreen, answer_trips
from explorer.app.trips.sentences import about, answer, key_figures
from explorer.views.markup import figures_strip, ledger_bar


class TripReadout:
    """Numbers and sentences about the screen, as far as they are known by now.

    Parameters
    ----------
    parts : of the page
    table : of the rows
    title : heading of the page, for screen readers
    """

    def __init__(self, parts: PageParts, table: BoxTable, title: str) -> None:
        self._parts, self._table = parts, table
        self._title = f'<h1 class="visually-hidden">{title}</h1>'
        self.screen: TripScreen | None = None
        self.strip = html_pane(self._title, styles={"flex": "1 1 460px"})
        self.answer = html_pane(margin=(6, 0, 2, 0))
        self.about = html_pane(margin=(0, 0, 8, 0))
        self.ledger = html_pane(margin=(4, 0, 0, 0))
        self.about_bars = html_pane()
        self.causes = TripCauses(self.numbers)
        self.error_bars = ErrorBars(self.numbers)

    def show(self, screen: TripScreen) -> None:
        """Another picture is on the maps."""
        self.screen = screen
        put(self.ledger, ledger_bar(screen.release.stages()))
        self.numbers()

    def numbers(self) -> None:
        """The rows may be other ones, or more is known of their errors."""
        screen, boxes = self.screen, self._parts.rectangles.boxes
        # Rows of other trips, whose screen is on its way, may have another number of places.
        if screen is None or screen.data is not self._parts.data:
            return
        if not np.array_equal(screen.boxes, boxes, equal_nan=True):
            answers = answer_trips(screen.release, screen.data, boxes)
            screen = replace(screen, answers=answers, boxes=boxes)
        screen = self.causes.complete(screen)
        self.screen = screen = self.error_bars.complete(screen)
        about_bars = words("trips")["Noise alone" if screen.answers.exact else "Intervals"]
        put(self.about_bars, f'<p class="quiet">{about_bars}</p>')
        strip = figures_strip(key_figures(screen, screen.answers))
        put(self.strip, self._title + strip)
        self.said()
        self._table.show(screen.answers)
        self.causes.want(screen)
        self.error_bars.want(screen)

    def said(self) -> None:
        """The sentence about the chosen row: another one may have been selected."""
        screen, chosen = self.screen, self._parts.rectangles
        if screen is None or screen.data is not self._parts.data:
            return
        row = (chosen.selected or [0])[0]
        said = words("trips")["No row"]
        if row < min(len(screen.boxes), len(chosen)):
            said = answer(screen, chosen.names[row], row)
        put(self.answer, f'<p class="summary" role="status">{html.escape(said)}</p>')
        put(self.about, f'<p class="quiet">{html.escape(about(screen))}</p>')

    def close(self) -> None:
        """The session has ended."""
        self.error_bars.close()
        self.causes.close()
