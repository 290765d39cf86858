"""What a browser writes back of a control that was changed from here, and is no one's choice.

Panel's components write a value back once they have drawn it (``useState`` of
``panel.models.esm.ReactComponent``): of two changes that come quickly one after the other, a slow
browser may write the first one back after the second, as if a visitor had chosen it.
"""

from __future__ import annotations

import math
import time
from typing import Any

#: What a control says and offers: set here alone, and by no one who uses it.
SAID = {
    *("color", "description", "disabled", "end", "error_state", "helper_text", "label", "marks"),
    *("max_length", "options", "placeholder", "start", "step", "visible"),
}


def without_echoes(control: Any, events: dict[str, Any]) -> dict[str, Any]:
    """Changes of a control by a browser, without those of what it says; that is sent again."""
    for name in SAID & events.keys():
        if name in control.param and events[name] != getattr(control, name):
            control.param.trigger(name)
    return {name: value for name, value in events.items() if name not in SAID}


class Led:
    """A control that takes no earlier value back that it was moved away from a moment ago.

    Where a player moves a slider on while a slow browser still draws, it would stop. What the
    browser has drawn already, or a visitor chose, does not come back: then it is a choice.
    """

    #: Seconds in which a browser may still draw an earlier value.
    late = 3.0
    param: Any
    value: Any
    _hears = False
    #: When the present value was set from here, and values before it, with the time of their end.
    _set_at = -math.inf
    _earlier: tuple[tuple[Any, float], ...] = ()

    def __init__(self, **params: Any) -> None:
        super().__init__(**params)
        self.param.watch(self._note, "value")

    def _recent(self) -> tuple[tuple[Any, float], ...]:
        now = time.monotonic()
        return tuple((value, at) for value, at in self._earlier if now - at < self.late)

    def _note(self, event: Any) -> None:
        now = time.monotonic()
        maybe_drawing = not self._hears and now - self._set_at < self.late
        self._earlier = () if self._hears else self._recent()
        self._earlier += ((event.old, now),) if maybe_drawing else ()
        self._set_at = -math.inf if self._hears else now

    def _process_events(self, events: dict[str, Any]) -> None:
        if self._echoes(events):
            return
        self._hears = True
        try:
            super()._process_events(events)  # type: ignore[misc]
        finally:
            self._hears = False

    def _echoes(self, events: dict[str, Any]) -> bool:
        """Whether they are an earlier value that comes back; then the present one is sent."""
        recent, value = self._recent(), events.get("value", self.value)
        earlier = [before for before, _ in recent]
        if value == self.value or value not in earlier:
            return False
        # Once only: who insists on an earlier value gets it. Those after it may still come.
        self._earlier = recent[earlier.index(value) + 1 :]
        self.param.trigger("value")
        return True


class LedText(Led):
    """See `Led`, of a box to type in, which tells each key before the entry."""

    value_input: Any
    #: The earlier text that came back last, and when; until it comes as what is in the box.
    _drawn: tuple[str, float] = ("", -math.inf)

    def _echoes(self, events: dict[str, Any]) -> bool:
        (text, at), self._drawn = self._drawn, ("", -math.inf)
        comes_back = time.monotonic() - at < self.late
        if "value" not in events:
            echo = comes_back and events.get("value_input") == text
            if echo:
                self.param.trigger("value_input")
            return echo
        # What a person enters was told key by key before, be it in the same message; what a browser
        # draws is told as the value first, unless the end of another echo is before it.
        told_first = next(iter(events)) == "value_input" and not comes_back
        entered = events["value"] == self.value_input
        if told_first or entered or not super()._echoes(events):
            return False
        if "value_input" not in events:
            self._drawn = (events["value"], time.monotonic())
        return True
