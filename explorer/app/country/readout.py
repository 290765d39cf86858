"""What is read next to the maps of a country: figures, the chosen area's sentence, tables."""

from __future__ import annotations

import html
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from explorer.app.boxes.table import BoxTable
from explorer.app.country.picker import AreaPicker
from explorer.app.country.screen import CountryScreen, answer_country
from explorer.app.country.sentences import about, answer, family_table, key_figures
from explorer.app.country.table import AreaTable
from explorer.app.curator.answers import BoxAnswers
from explorer.app.curator.error_bars import GivenBars
from explorer.app.curator.parts import PageParts
from explorer.app.curator.readout import Readout
from explorer.app.kit.html import html_pane, put
from explorer.views.markup import ledger_bar


class CountryReadout(Readout):
    """Numbers and sentences about a country; parameters as of `Readout`."""

    screen: CountryScreen | None

    def __init__(self, parts: PageParts, table: BoxTable) -> None:
        super().__init__(parts, table)
        # Its intervals follow from one linear form over all draws.
        self.error_bars = GivenBars(self.numbers)
        self.answer = html_pane()
        self.about = html_pane(margin=(4, 0, 8, 0))
        self.family = html_pane(margin=(4, 0))
        # Next to the maps where so much space is left.
        self.family.styles = {"flex": "1 1 400px", "min-width": "0"}
        self.picker = AreaPicker(self._choose, self._closer, parts.refuse)
        self.areas = AreaTable(self._choose, parts.refuse)
        #: Set by the page: shows the chosen area larger.
        self.closer: Callable[[], None] = lambda: None

    def show(self, screen: CountryScreen) -> None:
        """Another picture is on the maps."""
        self.screen = screen
        put(self.ledger, ledger_bar([(row.stage, row.epsilon) for row in screen.release.ledger]))
        self.picker.show(screen)
        self.numbers()

    def ask(self, screen: CountryScreen, boxes: NDArray[np.float64]) -> BoxAnswers:
        """What both sides answer to other boxes."""
        return answer_country(screen.release, screen.data, boxes)

    def complete(self, screen: CountryScreen) -> CountryScreen:
        """Causes of errors are not distinguished here."""
        return screen

    def want(self, screen: CountryScreen) -> None:
        """Nothing is looked for."""

    def fits(self, screen: CountryScreen | None) -> bool:
        """Boxes of another country, whose screen is on its way, are elsewhere."""
        return screen is not None and screen.data is self._parts.data

    def shows(self, screen: CountryScreen) -> Sequence[str]:
        """The same on the country and inside the area."""
        return [screen.look.shows] * 2

    def figures(self, screen: CountryScreen) -> Sequence[tuple[str, str]]:
        """Label and value of the strip above the maps."""
        return key_figures(screen)

    def tell(self, screen: CountryScreen) -> None:
        """The sentences and the table of the chosen area."""
        text = html.escape(answer(screen, self.truth))
        put(self.answer, f'<p class="summary" role="status"><b>{text}</b></p>')
        put(self.about, f'<p class="quiet">{html.escape(about(screen, self.truth))}</p>')
        self.areas.show(screen, self.truth)
        put(self.family, family_table(screen, self.truth))
        # A grid without rows is none to a screen reader.
        self._table.widget.visible = len(screen.boxes) > 0

    @property
    def quoting(self) -> Sequence[Any]:
        """The panes whose texts say something of exact counts."""
        return (*super().quoting, self.answer, self.about, self.family)

    def hide_truth(self) -> None:
        """Take away all that was sent with exact counts in it, from the table of areas too."""
        super().hide_truth()
        self.areas.hide_truth()

    def selected(self) -> None:
        """Boxes have no sentences of their own."""

    def _choose(self, node: int) -> None:
        self._parts.state.put(area=self._parts.data.areas.paths[node])

    def _closer(self) -> None:
        self.closer()
