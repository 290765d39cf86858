"""One place on the page for sentences: what was refused, what is being done."""

from __future__ import annotations

import html
from typing import Any

import panel as pn

from explorer.app.kit import ui
from explorer.app.kit.theme import CSS


class MessageArea:
    """A sentence above the maps with a button to close it; read out by screen readers.

    Attributes
    ----------
    sentence : what is shown, "" when nothing is
    """

    def __init__(self) -> None:
        self.text = pn.pane.HTML("", stylesheets=[CSS], sizing_mode="stretch_width", margin=0)
        close = ui.Button(label="Close", variant="text", size="small", on_click=self.close)
        self.view = pn.Row(
            self.text, close, visible=False, sizing_mode="stretch_width", margin=(0, 0, 8, 0)
        )
        self._kind = self.sentence = ""

    def refuse(self, sentence: str) -> None:
        """Show why something was not done; it stays until closed or replaced."""
        self._show("alert", sentence)

    def inform(self, sentence: str) -> None:
        """Show what is going on or has been done."""
        self._show("status", sentence)

    def done(self) -> None:
        """Take away what `inform` said; a refusal stays."""
        if self._kind == "status":
            self.close()

    def withdraw(self, sentence: str) -> None:
        """Take a sentence away that is not true any more, if it is still shown."""
        if sentence and self.sentence == sentence:
            self.close()

    def _show(self, kind: str, sentence: str) -> None:
        self._kind, self.sentence = kind, sentence
        look = "notice" if kind == "alert" else "notice info"
        self.text.object = f'<div class="{look}" role="{kind}">{html.escape(sentence)}</div>'
        self.view.visible = True

    def close(self, _event: Any = None) -> None:
        """Take the sentence away."""
        self._kind = self.sentence = ""
        self.view.visible = False
        self.text.object = ""
