"""Widgets of an experiment's settings: they follow them, and the settings check what they send."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from explorer.app.kit import ui
from explorer.mechanisms import all_mechanisms
from explorer.teaching.settings import Settings

#: The stock box has two buttons without a name; the arrow keys do the same.
NUMBER: dict[str, Any] = {
    "& .MuiInputAdornment-root": {"display": "none"},
    "& input": {"paddingLeft": "12px !important"},
}


class Controls:
    """Makes the widgets of one experiment.

    Parameters
    ----------
    settings : Settings
    refused : shows a sentence when a value is refused
    """

    def __init__(self, settings: Settings, refused: Callable[[str], None]) -> None:
        self.settings, self.refused = settings, refused

    def choose(self, name: str, options: Mapping[str, Any] | list[Any], width: int = 170) -> Any:
        """A choice; ``options`` are titles to values."""
        return self._tie(
            ui.choice(self._label(name), options, self._value(name), **field(width)), name
        )

    def mechanism(self, keys: list[str] | None = None, width: int = 170) -> Any:
        """The mechanism, by title."""
        known = all_mechanisms()
        options = {known[key].title: key for key in keys or known}
        return self.choose("mechanism", options, width)

    def number(self, name: str, width: int = 110, label: str = "") -> Any:
        """A box to type a number."""
        widget = ui.FloatInput(
            label=label or self._label(name),
            value=float(self._value(name)),
            size="small",
            sx=NUMBER,
            **field(width),
        )
        return self._tie(widget, name)

    def whole(self, name: str, width: int = 110) -> Any:
        """A box to type a whole number."""
        value = int(self._value(name))
        about = {"label": self._label(name), "size": "small", "sx": NUMBER, **field(width)}
        widget = ui.IntInput(value=value, **about)
        return self._tie(widget, name)

    def switch(self, name: str) -> Any:
        """On or off."""
        widget = ui.Switch(
            label=self._label(name), value=self._value(name), size="small", margin=(4, 16, 4, 0)
        )
        return self._tie(widget, name)

    def several(self, name: str, options: Mapping[str, Any]) -> Any:
        """Boxes to tick."""
        widget = ui.CheckBoxGroup(
            label=self._label(name),
            options=dict(options),
            value=list(self._value(name)),
            inline=True,
            size="small",
            sizing_mode="stretch_width",
            margin=(0, 0, 4, 0),
        )
        return self._tie(widget, name)

    def _label(self, name: str) -> str:
        return str(self.settings.param[name].label)

    def _value(self, name: str) -> Any:
        return getattr(self.settings, name)

    def _tie(self, widget: Any, name: str) -> Any:
        def follow(event: Any) -> None:
            if widget.value != event.new:
                widget.value = event.new

        self.settings.param.watch(follow, name)
        return ui.bind(widget, lambda value: self.settings.put(**{name: value}), self.refused)


def field(width: int) -> dict[str, Any]:
    """Size of a field that shrinks on a phone; a fixed width would push the whole page wider."""
    return {
        "sizing_mode": "stretch_width",
        "styles": {"flex": f"1 1 {width}px", "max-width": f"{width}px"},
        "margin": (4, 14, 4, 0),
    }


def actions(*buttons: Any) -> Any:
    """Buttons side by side, on a line of their own where there is no room beside the fields."""
    row = ui.wrapping(*buttons)
    row.styles = {**row.styles, "flex": "1 1 280px", "min-width": "0"}
    return row


def button(text: str, clicked: Callable[[], None], *, strong: bool = False) -> Any:
    """A button of an experiment."""
    look = {"color": "primary"} if strong else {"variant": "outlined"}
    return ui.Button(
        label=text,
        size="small",
        margin=(0, 8, 4, 0),
        on_click=lambda _event: clicked(),
        **look,
    )
