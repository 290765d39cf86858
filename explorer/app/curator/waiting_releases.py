"""Releases that were drawn and that no one has saved: anyone who comes back is offered them."""

from __future__ import annotations

import html
import io
from datetime import datetime
from functools import partial
from typing import Any

import panel as pn

from explorer.app.curator.drawer import wide_button
from explorer.app.curator.drawing import Drawing
from explorer.app.kit import ui
from explorer.app.kit.html import html_pane
from explorer.app.kit.words import words
from explorer.privacy.drawn import Drawn

#: So many are offered at once, the newest first.
MOST = 3


class WaitingReleases:
    """A line with two buttons for each release that waits: save it, or give it up.

    Parameters
    ----------
    drawing : of the page, which knows whose releases are waiting
    """

    def __init__(self, drawing: Drawing) -> None:
        self._drawing = drawing
        self._shown: list[Drawn] = []
        self.view = pn.Column(sizing_mode="stretch_width", margin=0)
        drawing.on_waiting(self.show)

    def show(self) -> None:
        """Show what waits now."""
        releases = self._drawing.waiting()[:MOST]
        if releases == self._shown:
            return
        self._shown = releases
        text = f'<p class="help">{html.escape(words("drawing")["Waiting"])}</p>'
        head = [html_pane(text, margin=(4, 10, 0, 10))] if releases else []
        self.view.objects = [
            *head,
            *(part for release in releases for part in self._offer(release)),
        ]

    def _offer(self, release: Drawn) -> list[Any]:
        # Two of one mechanism are distinguished by when they were drawn.
        when = datetime.fromtimestamp(release.time).strftime("%H:%M:%S")
        title = f"{release.title}, {when}"
        save = ui.FileDownload(
            label=f"Save {title}",
            filename="release.parquet",
            callback=partial(self._file, release.token),
            refused=self._drawing.refuse,
            variant="outlined",
            **ui.WIDE,
        )
        give_up = partial(self._drawing.give_up, release.token)
        return [save, wide_button(f"Give up {title}", give_up, variant="text")]

    def _file(self, token: str) -> io.BytesIO:
        return self._drawing.saved_before(token)
