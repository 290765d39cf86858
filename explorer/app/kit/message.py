"""Sentences over the page: what was refused, what is being done."""

from __future__ import annotations

import html
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import Any, Literal

import panel as pn

from explorer.app.kit import ui
from explorer.app.kit.attempts import at_next_attempt
from explorer.app.kit.html import html_pane
from explorer.app.kit.later import after

#: So many sentences are one above the other; an older one gives way.
MOST = 3
#: Seconds after which news and refusals go by themselves.
NEWS, REFUSALS = 6.0, 20.0
# They lie over the page, so that they never move what they are about; clicks next to them go
# through. In a cell of a notebook they begin at its upper edge.
_CELL = """
:host { position: sticky !important; top: 8px; height: 0 !important; width: 100% !important;
  overflow: visible !important; z-index: 1300; pointer-events: none; }
"""
_WINDOW = """
:host { position: fixed !important; bottom: 12px; left: 50%; transform: translateX(-50%);
  width: min(600px, calc(100vw - 24px)) !important; z-index: 1300; pointer-events: none; }
"""
_TOAST = """
:host { pointer-events: auto; border-radius: 4px; box-shadow: 0 2px 10px rgba(0, 0, 0, .45);
  background: var(--panel-surface-color, Canvas); align-items: center; overflow: hidden;
  width: min(600px, 100%) !important; margin: 6px auto 0 !important; }
"""

Kind = Literal["alert", "status", "busy"]


@dataclass(frozen=True, eq=False)
class _Said:
    kind: Kind
    sentence: str


class _Toast:
    """One sentence with a button to close it."""

    def __init__(self, close: Callable[[], None]) -> None:
        self.text = html_pane()
        button = ui.Button(
            label="Close", variant="text", size="small", on_click=lambda _event: close()
        )
        self.view = pn.Row(
            self.text, button, visible=False, sizing_mode="stretch_width", stylesheets=[_TOAST]
        )

    def show(self, said: _Said | None) -> None:
        text = ""
        if said is not None:
            look, role = ("notice", "alert") if said.kind == "alert" else ("notice info", "status")
            text = f'<div class="{look}" role="{role}">{html.escape(said.sentence)}</div>'
        if self.text.object != text:
            self.text.object = text
        if self.view.visible != bool(text):
            self.view.visible = bool(text)


class MessageArea:
    """Sentences that lie over the page, the newest last; read out by screen readers.

    A refusal stays until the same control is tried again, until it is closed, or for a while;
    news go sooner.
    """

    def __init__(self) -> None:
        self._said: list[_Said] = []
        self._toasts: list[_Toast] = []
        self.view = pn.Column(visible=False, margin=0, stylesheets=[_CELL])

    @property
    def sentence(self) -> str:
        """The newest sentence, "" where none is shown."""
        return self._said[-1].sentence if self._said else ""

    def over_window(self) -> None:
        """Stand at the lower edge of the window: the page has it to itself."""
        self.view.stylesheets = [_WINDOW]

    def refuse(self, sentence: str) -> None:
        """Show why something was not done."""
        said = self._show("alert", sentence, REFUSALS)
        at_next_attempt(lambda: self._drop(said))

    def inform(self, sentence: str, seconds: float = NEWS) -> None:
        """Show what has been done, for so many seconds."""
        self._show("status", sentence, seconds)

    def working(self, sentence: str) -> None:
        """Show what is going on, until `done`; one thing at a time."""
        self._said = [each for each in self._said if each.kind != "busy"]
        self._show("busy", sentence)

    def done(self) -> None:
        """Take away what `working` said, else what `inform` did; refusals stay."""
        kind = "busy" if any(each.kind == "busy" for each in self._said) else "status"
        self._put([each for each in self._said if each.kind != kind])

    def withdraw(self, sentence: str) -> None:
        """Take a sentence away that is not true any more, if it is still shown."""
        self._put([each for each in self._said if each.sentence != sentence])

    def close(self, _event: Any = None) -> None:
        """Take all sentences away."""
        self._put([])

    def _show(self, kind: Kind, sentence: str, seconds: float = 0.0) -> _Said:
        said = _Said(kind, sentence)
        others = [each for each in self._said if each.sentence != sentence]
        if kind == "alert":
            # What has just been done is old news once something is refused.
            others = [each for each in others if each.kind != "status"]
        self._put([*others, said][-MOST:])
        if seconds:
            after(seconds, partial(self._drop, said))
        return said

    def _close(self, place: int) -> None:
        if place < len(self._said):
            self._drop(self._said[place])

    def _drop(self, said: _Said) -> None:
        self._put([each for each in self._said if each is not said])

    def _put(self, said: list[_Said]) -> None:
        self._said = said
        # Made with the first sentence: most pages never say one.
        more = [_Toast(partial(self._close, at)) for at in range(len(self._toasts), len(said))]
        self._toasts += more
        for toast, each in zip(self._toasts, [*said, None, None, None], strict=False):
            toast.show(each)
        if self.view.visible != bool(said):
            self.view.visible = bool(said)
        # Once they say it: what a browser has never shown takes no value there.
        if more:
            self.view.extend([toast.view for toast in more])
