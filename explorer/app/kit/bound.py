"""Controls that are views of a state: they follow it, and it checks what they send."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Protocol

from explorer.app.kit import ui


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

    def choose(self, name: str, options: Any = None, **params: Any) -> Any:
        """A choice of the state, with the label and the options that it declares."""
        declared = self._state.param[name]
        options = declared.get_range() if options is None else options
        return self.tie(ui.choice(declared.label, options, self._value(name), **params), name)

    def switch(self, name: str, **params: Any) -> Any:
        """A choice of the state that is on or off."""
        label = self._state.param[name].label
        params = {"size": "small", "margin": (2, 10), **params}
        return self.tie(ui.Switch(label=label, value=self._value(name), **params), name)

    def check(self, name: str, **params: Any) -> Any:
        """A choice of the state that someone agrees to."""
        label = self._state.param[name].label
        params = {"size": "small", "margin": (2, 10), **params}
        return self.tie(ui.Checkbox(label=label, value=self._value(name), **params), name)

    def slide(self, name: str, **params: Any) -> Any:
        """A whole number of the state between the bounds that it declares."""
        declared = self._state.param[name]
        low, high = declared.bounds
        params = {"start": low, "end": high, "size": "small", **params}
        return self.tie(ui.IntSlider(label=declared.label, value=self._value(name), **params), name)

    def tie(self, widget: Any, name: str) -> Any:
        """Let a widget follow the state's ``name``, and the state take its values."""

        def follow(event: Any) -> None:
            if widget.value != event.new:
                widget.value = event.new

        self._state.param.watch(follow, name)
        return ui.bind(widget, lambda value: self._state.put(**{name: value}), self._refused)

    def _value(self, name: str) -> Any:
        return getattr(self._state, name)
