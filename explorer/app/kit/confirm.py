"""A button for what cannot be undone: it asks once, where it is."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from explorer.app.kit import ui


class Confirmed:
    """A button that asks before it acts.

    The button itself becomes the way back and keeps the focus, and what was asked for is a second
    button after it: a double click or a key pressed twice loses nothing.

    Parameters
    ----------
    label : such as "Close the class"
    keep : the way back, such as "Keep the class"
    price : says what will be lost, such as "Close it: 12 answers are lost"; "" acts at once
    act : called when it is confirmed
    """

    def __init__(
        self, label: str, keep: str, price: Callable[[], str], act: Callable[[], None]
    ) -> None:
        self._label, self._keep, self._price, self._act = label, keep, price, act
        look: dict[str, Any] = {"size": "small", "variant": "outlined", "margin": (0, 8, 4, 0)}
        self.button = ui.Button(label=label, on_click=lambda _event: self._pressed(), **look)
        self.sure = ui.Button(
            label="", on_click=lambda _event: self._do(), visible=False, color="error", **look
        )
        self.parts = [self.button, self.sure]

    @property
    def asks(self) -> bool:
        """Whether it is waiting for an answer."""
        return bool(self.sure.visible)

    def withdraw(self) -> None:
        """Ask no longer."""
        self.button.label = self._label
        self.sure.visible = False

    def _pressed(self) -> None:
        if self.asks:
            self.withdraw()
            return
        price = self._price()
        if not price:
            self._act()
            return
        self.sure.label, self.button.label = price, self._keep
        self.sure.visible = True

    def _do(self) -> None:
        # A client that is no browser can press what is not shown.
        if self.asks:
            self.withdraw()
            self._act()
