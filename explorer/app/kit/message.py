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
from explorer.app.kit.html import html_pane, put
from explorer.app.kit.later import after

#: So many sentences are one above the other; an older one gives way.
MOST = 3
#: Seconds after which news and refusals go by themselves.
NEWS, REFUSALS = 6.0, 20.0
# They overlay the page, so that they never move what they are about; clicks next to them go
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
class _Message:
    kind: Kind
    sentence: str


class _Toast:
    """One sentence with a button to close it."""

    def __init__(self, close: Callable[[], None]) -> None:
        self.text = html_pane()
        look = {"label": "Close", "variant": "text", "size": "small"}
        button = ui.Button(on_click=lambda _event: close(), **look)
        wide: dict[str, Any] = {"sizing_mode": "stretch_width", "stylesheets": [_TOAST]}
        self.view = pn.Row(self.text, button, visible=False, **wide)

    def show(self, message: _Message | None) -> None:
        text = ""
        if message is not None:
            alert = message.kind == "alert"
            look, role = ("notice", "alert") if alert else ("notice info", "status")
            text = f'<div class="{look}" role="{role}">{html.escape(message.sentence)}</div>'
        put(self.text, text)
        if self.view.visible != bool(text):
            self.view.visible = bool(text)


class MessageArea:
    """Sentences that overlay the page, the newest last; read out by screen readers.

    A refusal stays until the same control is tried again, until it is closed, or for a while;
    news go sooner.
    """

    def __init__(self) -> None:
        self._messages: list[_Message] = []
        self._toasts: list[_Toast] = []
        self.view = pn.Column(visible=False, margin=0, stylesheets=[_CELL])

    @property
    def sentence(self) -> str:
        """The newest sentence, "" where none is shown."""
        return self._messages[-1].sentence if self._messages else ""

    def over_window(self) -> None:
        """Place the sentences at the lower edge of the window: the page fills it."""
        self.view.stylesheets = [_WINDOW]

    def refuse(self, sentence: str) -> None:
        """Show why something was not done."""
        message = self._show("alert", sentence, REFUSALS)
        at_next_attempt(lambda: self._drop(message))

    def inform(self, sentence: str, seconds: float = NEWS) -> None:
        """Show what has been done, for so many seconds."""
        self._show("status", sentence, seconds)

    def working(self, sentence: str) -> None:
        """Show what is going on, until `done`; one thing at a time."""
        self._messages = [message for message in self._messages if message.kind != "busy"]
        self._show("busy", sentence)

    def done(self) -> None:
        """Take away what `working` said, else what `inform` did; refusals stay."""
        kind = "busy" if any(message.kind == "busy" for message in self._messages) else "status"
        self._put([message for message in self._messages if message.kind != kind])

    def withdraw(self, sentence: str) -> None:
        """Take a sentence away that is not true any more, if it is still shown."""
        self._put([message for message in self._messages if message.sentence != sentence])

    def close(self, _event: Any = None) -> None:
        """Take all sentences away."""
        self._put([])

    def _show(self, kind: Kind, sentence: str, seconds: float = 0.0) -> _Message:
        message = _Message(kind, sentence)
        others = [other for other in self._messages if other.sentence != sentence]
        if kind == "alert":
            # What has just been done is old news once something is refused.
            others = [other for other in others if other.kind != "status"]
        self._put([*others, message][-MOST:])
        if seconds:
            after(seconds, partial(self._drop, message))
        return message

    def _close(self, place: int) -> None:
        if place < len(self._messages):
            self._drop(self._messages[place])

    def _drop(self, message: _Message) -> None:
        self._put([other for other in self._messages if other is not message])

    def _put(self, messages: list[_Message]) -> None:
        self._messages = messages
        # Made with the first sentence: most pages never say one.
        more = [_Toast(partial(self._close, at)) for at in range(len(self._toasts), len(messages))]
        self._toasts += more
        for toast, message in zip(self._toasts, [*messages, None, None, None], strict=False):
            toast.show(message)
        if self.view.visible != bool(messages):
            self.view.visible = bool(messages)
        # Once they say it: what a browser has never shown takes no value there.
        if more:
            self.view.extend([toast.view for toast in more])
