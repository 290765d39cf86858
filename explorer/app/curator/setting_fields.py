"""Widgets of an experiment's settings: they follow them, and the settings check what they send."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from bokeh.models import CustomJSTickFormatter

from explorer.app.kit import ui
from explorer.app.kit.bound import Tied
from explorer.errors import InputError
from explorer.mechanisms import all_mechanisms
from explorer.privacy.epsilon_range import MAX_EPSILON

#: Where a slider of epsilon stops, as far as epsilon may go.
EPSILONS = [e for e in (0.01, 0.02, 0.05, 0.1, 0.2, 0.5, 1.0, 2.0, 5.0, 10.0) if e <= MAX_EPSILON]


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
        mechanisms = all_mechanisms()
        return self.select("mechanism", {mechanisms[k].title: k for k in keys or mechanisms}, width)

    def number(self, name: str, width: int = 110, label: str = "") -> Any:
        """A box to type a number."""
        return self._box(ui.FloatInput, name, width, label, float(self._value(name)))

    def whole(self, name: str, width: int = 110) -> Any:
        """A box to type a whole number."""
        return self._box(ui.IntInput, name, width, "", int(self._value(name)))

    def _box(self, kind: Any, name: str, width: int, label: str, value: float) -> Any:
        label = label or str(self._state.param[name].label)
        return self.tie(kind(label=label, value=value, size="small", **field(width)), name)

    def steps(self, name: str, values: Sequence[float] = (), width: int = 230) -> Any:
        """A slider over some values, those that are declared if none are given.

        Each is one step, whatever their distance. The slider's place is the number of the value;
        on screen and to a reader it says the value. One that is none of them is at the nearest.
        """
        declared, now = self._state.param[name], self._value(name)
        steps = sorted({*(values or declared.objects), now})
        labels = json.dumps(
            [f"{step:,}" if isinstance(step, int) else f"{step:g}" for step in steps]
        )
        slider = ui.IntSlider(
            label=declared.label,
            start=0,
            end=len(steps) - 1,
            value=steps.index(now),
            format=CustomJSTickFormatter(code=f"return {labels}[Math.round(tick)]"),
            size="small",
            **field(width),
        )
        followed = now

        def follow(event: Any) -> None:
            nonlocal followed
            followed = event.new
            place = min(range(len(steps)), key=lambda i: abs(steps[i] - followed))
            if slider.value != place:
                slider.value = place

        def apply(place: int) -> None:
            if not 0 <= place < len(steps):
                raise InputError(f"{declared.label}: choose a value of the slider.")
            # Standing at the nearest is no choice.
            if min(range(len(steps)), key=lambda i: abs(steps[i] - followed)) != place:
                self._state.put(**{name: steps[place]})

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
    """Buttons side by side, on a line of their own where there is no space next to the fields."""
    row = ui.wrapping(*buttons)
    row.styles = {**row.styles, "flex": "1 1 280px", "min-width": "0"}
    return row


def button(text: str, clicked: Callable[[], None], *, strong: bool = False) -> Any:
    """A button of an experiment."""
    look = {"color": "primary"} if strong else {"variant": "outlined"}
    return ui.Button(
        label=text, size="small", margin=(0, 8, 4, 0), on_click=lambda _event: clicked(), **look
    )
