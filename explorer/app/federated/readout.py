"""What is read next to the maps of Federated: the first sentence, figures, causes of errors."""

from __future__ import annotations

import html
from collections.abc import Sequence
from typing import Any

from explorer.app.boxes.table import BoxTable
from explorer.app.curator.error_bars import GivenBars
from explorer.app.curator.map_readout import MapReadout
from explorer.app.curator.parts import PageParts
from explorer.app.curator.screen import Screen
from explorer.app.federated.sentences import about, answer, key_figures
from explorer.app.kit.html import html_pane, put


class FederatedReadout(MapReadout):
    """Numbers and sentences about two maps; parameters as of `Readout`."""

    def __init__(self, parts: PageParts, table: BoxTable) -> None:
        super().__init__(parts, table)
        # Noise and sampling are in the release's own estimate; nothing is simulated.
        self.error_bars = GivenBars(self.numbers)
        self.about = html_pane(margin=(0, 0, 8, 0))

    def figures(self, screen: Screen) -> Sequence[tuple[str, str]]:
        """Label and value of the strip above the maps."""
        return key_figures(screen)

    @property
    def quoting(self) -> Sequence[Any]:
        """The panes whose texts say something of exact counts."""
        return (*super().quoting, self.about)

    def tell(self, screen: Screen) -> None:
        """The first sentence, and what may be claimed."""
        text = html.escape(answer(screen, exact=self.truth))
        put(self.summary, f'<p class="summary" role="status"><b>{text}</b></p>')
        put(self.about, f'<p class="quiet">{html.escape(about(screen, exact=self.truth))}</p>')
