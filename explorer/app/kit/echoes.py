"""What a browser writes back of a control that was changed from here, and is no one's choice.

Panel's components write a value back once they have drawn it (``useState`` of
``panel.models.esm.ReactComponent``): of two changes that come quickly one after the other, a slow
browser may write the first one back after the second, as if a visitor had chosen it.
"""

from __future__ import annotations

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
    """Takes no notice of what a browser says again after it was moved from here.

    The browser writes a value back once it has drawn it. Where a player moves a slider on while a
    slow browser still draws, the slider's earlier value comes back as if a visitor had chosen it,
    and the player would stop (seen with a processor six times slower).
    What it has drawn already, or a visitor chose, does not come back: then it is a choice.
    """

    #: Seconds in which a browser may still draw an earlier value.
    late = 3.0
    _hears = False
    #: When the present value was set from here; long ago where it was not.
    _set_at = float("-inf")
    _earlier: tuple[tuple[Any, float], ...] = ()

    def __init__(self, **params: Any) -> None:
        super().__init__(**params)
        self.param.watch(self._note, "value")  # type: ignore[attr-defined]

    def _note(self, event: Any) -> None:
        if self._hears:
            self._earlier, self._set_at = (), float("-inf")
            return
        now = time.monotonic()
        maybe_drawing = now - self._set_at < self.late
        kept = (*self._earlier, (event.old, now)) if maybe_drawing else self._earlier
        self._earlier = tuple((value, at) for value, at in kept if now - at < self.late)
        self._set_at = now

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
        now = time.monotonic()
        kept = tuple((value, at) for value, at in self._earlier if now - at < self.late)
        earlier = [value for value, _at in kept]
        value = events.get("value", self.value)  # type: ignore[attr-defined]
        if value == self.value or value not in earlier:  # type: ignore[attr-defined]
            return False
        # Once only: who insists on an earlier value gets it. Those after it may still come.
        self._earlier = kept[earlier.index(value) + 1 :]
        self.param.trigger("value")  # type: ignore[attr-defined]
        return True


class LedText(Led):
    """See `Led`, of a box to type in."""

    #: The earlier text that came back last, and when; until it comes as what is in the box.
    _drawn: tuple[str, float] = ("", float("-inf"))

    def _echoes(self, events: dict[str, Any]) -> bool:
        (text, at), self._drawn = self._drawn, ("", float("-inf"))
        comes_back = time.monotonic() - at < self.late
        if "value" not in events:
            if comes_back and events.get("value_input") == text:
                self.param.trigger("value_input")  # type: ignore[attr-defined]
                return True
            return False
        # What a person enters was told key by key before, be it in the same message; what a browser
        # draws is told as the value first, unless the end of another echo is before it.
        told_first = next(iter(events)) == "value_input" and not comes_back
        entered = events["value"] == self.value_input  # type: ignore[attr-defined]
        if told_first or entered or not super()._echoes(events):
            return False
        if "value_input" not in events:
            self._drawn = (events["value"], time.monotonic())
        return True
