"""The entrance: a code to type, or a class to create."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import panel as pn

from explorer.app.curator.setting_fields import button, field
from explorer.app.kit import ui
from explorer.app.kit.prose import column, pane
from explorer.app.kit.words import words

#: Wrong codes of one visit; after that the page has to be opened again.
MOST_TRIES = 20
_LOG_IN = '<a href="./login?next=class">Log in to teach</a>'


class Entrance:
    """Two ways in.

    Parameters
    ----------
    join : called with the code that was typed
    create : called for a new class
    alone : whether the server has no other page, which would show the truth
    """

    def __init__(
        self, join: Callable[[str], None], create: Callable[[], None], alone: bool = False
    ) -> None:
        text = words("classroom")
        self.code = ui.TextInput(label="Class code", max_length=40, size="small", **field(220))
        self.code.param.watch(lambda _event: self._typed(), "enter_pressed")
        self._join = join
        self.join_button = button("Join", self._typed, strong=True)
        self.create_button = button("Create a class", create)
        # In a row of its own: in a column the field would grow downwards.
        self._join_half = _half("Take part", text["Join"], ui.wrapping(self.code, self.join_button))
        others = "" if alone else f" {text['Others']}"
        self._teach_half = _half("Teach", f"{text['Teach']}{others}", self.create_button)
        self._sign_in = _half("Teach", f"{text['Log in']} {_LOG_IN}")
        self.view = pn.Row(
            self._join_half,
            self._teach_half,
            sizing_mode="stretch_width",
            styles={"flex-wrap": "wrap", "gap": "16px 40px", "align-items": "flex-start"},
            margin=(10, 0),
        )

    def teach(self, allowed: bool, sign_in: bool = False) -> None:
        """Offer to create a class or not; anyone who may ``sign_in`` for it is led there."""
        others = [self._teach_half] if allowed else [self._sign_in] if sign_in else []
        self.view.objects = [self._join_half, *others]

    def _typed(self) -> None:
        # The letters of a code arrive one by one; `value` waits for the field to be left.
        self._join(self.code.value_input or self.code.value or "")


def _half(title: str, text: str, *controls: Any) -> Any:
    return pn.Column(
        pane(f"<h2>{title}</h2><p>{text}</p>", margin=(0, 0, 8, 0)),
        column(*controls),
        sizing_mode="stretch_width",
        styles={"flex": "1 1 300px", "max-width": "460px"},
        margin=0,
    )
