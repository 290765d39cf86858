"""Widgets of an experiment's settings: they follow them, and the settings check what they send."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from typing import Any

from bokeh.models import CustomJSTickFormatter

from explorer.app.kit import ui
from explorer.app.kit.bound import Tied
from explorer.errors import InputError
from explorer.mechanisms import all_mechanisms

#: The stock box has two buttons without a name; the arrow keys do the same.
NUMBER: dict[str, Any] = {
    "& .MuiInputAdornment-root": {"display": "none"},
    "& input": {"paddingLeft": "12px !important"},
}


class Controls(Tied):
    """Makes the widgets of one experiment, side by side.

    Parameters
    ----------
    settings : Settings
    refused : shows a sentence when a value is refused
    """

    def select(
        self, name: str, options: Mapping[str, Any] | list[Any] | None = None, width: int = 170
    ) -> Any:
        """A choice; ``options`` are titles to values, those that are declared without any."""
        return self.choose(name, options, **field(width))

    def mechanism(self, keys: list[str] | None = None, width: int = 170) -> Any:
        """The mechanism, by title."""
        known = all_mechanisms()
        return self.select("mechanism", {known[k].title: k for k in keys or known}, width)

    def number(self, name: str, width: int = 110, label: str = "") -> Any:
        """A box to type a number."""
        return self._box(ui.FloatInput, name, width, label, float(self._value(name)))

    def whole(self, name: str, width: int = 110) -> Any:
        """A box to type a whole number."""
        return self._box(ui.IntInput, name, width, "", int(self._value(name)))

    def _box(self, kind: Any, name: str, width: int, label: str, value: float) -> Any:
        label = label or str(self._state.param[name].label)
        return self.tie(
            kind(label=label, value=value, size="small", sx=NUMBER, **field(width)), name
        )

    def steps(self, name: str, width: int = 230) -> Any:
        """A slider over the values that a choice declares, one step each whatever their distance.

        Its place is the number of the value; on screen and to a reader it says the value.
        """
        declared = self._state.param[name]
        values = list(declared.objects)
        said = json.dumps(
            [f"{value:,}" if isinstance(value, int) else f"{value:g}" for value in values]
        )
        slider = ui.IntSlider(
            label=declared.label,
            start=0,
            end=len(values) - 1,
            value=values.index(self._value(name)),
            format=CustomJSTickFormatter(code=f"return {said}[Math.round(tick)]"),
            size="small",
            **field(width),
        )

        def follow(event: Any) -> None:
            place = values.index(event.new)
            if slider.value != place:
                slider.value = place

        def apply(place: int) -> None:
            if not 0 <= place < len(values):
                raise InputError(f"{declared.label}: choose a value of the slider.")
            self._state.put(**{name: values[place]})

        self._state.param.watch(follow, name)
        return ui.bind(slider, apply, self._refused)

    def flag(self, name: str) -> Any:
        """On or off."""
        return self.switch(name, margin=(4, 16, 4, 0))

    def several(self, name: str, options: Mapping[str, Any]) -> Any:
        """Boxes to tick."""
        widget = ui.CheckBoxGroup(
            label=self._state.param[name].label,
            options=dict(options),
            value=list(self._value(name)),
            inline=True,
            size="small",
            sizing_mode="stretch_width",
            margin=(0, 0, 4, 0),
        )
        return self.tie(widget, name)


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
