"""Controls that are views of a state: they follow it, and it checks what they send."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Protocol

from explorer.app.kit import ui

_SWITCH: dict[str, Any] = {"size": "small", "margin": (2, 10)}


class State(Protocol):
    """A screen's settings: parameters that can be watched, and one checked way to set them."""

    param: Any

    def put(self, **values: Any) -> Any:
        """Take values; raises `InputError` for one that cannot be."""


class Tied:
    """Makes controls of one state.

    Parameters
    ----------
    state : State
    refused : shows a sentence when a value is refused
    """

    def __init__(self, state: State, refused: Callable[[str], None]) -> None:
        self._state, self._refused = state, refused

    def choose(self, name: str, label: str, options: Any, **params: Any) -> Any:
        """A choice of the state; the state's own watchers do the rest."""
        return self.tie(ui.choice(label, options, getattr(self._state, name), **params), name)

    def switch(self, name: str, label: str) -> Any:
        """A choice of the state that is on or off."""
        widget = ui.Switch(label=label, value=getattr(self._state, name), **_SWITCH)
        return self.tie(widget, name)

    def tie(self, widget: Any, name: str) -> Any:
        """Let a widget follow the state's ``name``, and the state take its values."""

        def follow(event: Any) -> None:
            if widget.value != event.new:
                widget.value = event.new

        self._state.param.watch(follow, name)
        return ui.bind(widget, lambda value: self._state.put(**{name: value}), self._refused)
