"""What is read next to the maps of trips: figures, the chosen row's answer, intervals."""

from __future__ import annotations

import html
from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from explorer.app.boxes.table import BoxTable
from explorer.app.curator.answers import BoxAnswers
from explorer.app.curator.parts import PageParts
from explorer.app.curator.readout import Readout
from explorer.app.kit.html import html_pane, put
from explorer.app.kit.words import words
from explorer.app.trips.causes import TripCauses
from explorer.app.trips.screen import TripScreen, answer_trips
from explorer.app.trips.sentences import about, answer, key_figures


class TripReadout(Readout):
    """Numbers and sentences about the maps of places; parameters as of `Readout`."""

    screen: TripScreen | None

    def __init__(self, parts: PageParts, table: BoxTable) -> None:
        super().__init__(parts, table)
        # Two lines whatever it says: the maps below it must not jump from row to row.
        self.answer = html_pane(styles={"min-height": "40px"})
        self.about = html_pane(margin=(0, 0, 8, 0))
        self.about_bars = html_pane()
        self.causes = TripCauses(self.numbers)

    def ask(self, screen: TripScreen, boxes: NDArray[np.float64]) -> BoxAnswers:
        """What both sides answer to other rows."""
        return answer_trips(screen.release, screen.data, boxes)

    def complete(self, screen: TripScreen) -> TripScreen:
        """The screen with both causes of its errors, where they are known."""
        return self.causes.complete(screen)

    def want(self, screen: TripScreen) -> None:
        """Ask for the causes where they are not."""
        self.causes.want(screen)

    def shows(self, screen: TripScreen) -> Sequence[str]:
        """The same on the map of every place."""
        return [screen.look.shows] * len(screen.data.names)

    def figures(self, screen: TripScreen) -> Sequence[tuple[str, str]]:
        """Label and value of the strip above the maps."""
        return key_figures(screen, screen.answers)

    def fits(self, screen: TripScreen | None) -> bool:
        """Rows of other trips, whose screen is on its way, may have another number of places."""
        return screen is not None and screen.data is self._parts.data

    def tell(self, screen: TripScreen) -> None:
        """How intervals are found, and the sentences about the chosen row."""
        about_bars = words("trips")["Noise alone" if screen.answers.exact else "Intervals"]
        put(self.about_bars, f'<p class="quiet">{about_bars}</p>')
        self.selected()

    @property
    def quoting(self) -> Sequence[Any]:
        """The panes whose texts say something of exact counts."""
        return (*super().quoting, self.answer, self.about)

    def selected(self) -> None:
        """The sentence about the chosen row: another one may have been selected."""
        screen, chosen = self.screen, self._parts.rectangles
        if screen is None or not self.fits(screen):
            return
        row = (chosen.selected or [0])[0]
        text = words("trips")["No row"]
        if row < min(len(screen.boxes), len(chosen)):
            text = answer(screen, chosen.names[row], row, exact=self.truth)
        put(self.answer, f'<p class="summary" role="status">{html.escape(text)}</p>')
        put(self.about, f'<p class="quiet">{html.escape(about(screen, exact=self.truth))}</p>')

    def close(self) -> None:
        """The session has ended."""
        super().close()
        self.causes.close()
