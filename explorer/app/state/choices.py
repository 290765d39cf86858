"""Choices that arrive from anywhere: checked here, on the server, one sentence for each slip."""

from __future__ import annotations

from typing import Any

import param

from explorer.errors import InputError
from explorer.grid.values import checked, shown
from explorer.scenario.choices import PlaceChoices

#: A state's own name is none, and data are given next to its choices.
_NOT_CHOSEN = ("name", "city")


class Choices(param.Parameterized):
    """Parameters that a visitor sets.

    Widgets are views of them: whatever arrives from a browser goes through `put` and is refused
    with one sentence if it is not a choice that exists. A raw websocket client can send any value
    to any widget; this is the boundary.
    """

    def __init__(self, **choices: Any) -> None:
        super().__init__()
        self.put(**choices)

    def put(self, **choices: Any) -> None:
        """Set several choices at once, or none of them.

        Raises
        ------
        InputError
            One sentence naming the first choice that is not possible.
        """
        for name, value in choices.items():
            self._check(name, value)
        self.param.update(**choices)

    def as_choices(self) -> dict[str, Any]:
        """All choices by name except the city, as the constructor takes them."""
        return {
            name: value for name, value in self.param.values().items() if name not in _NOT_CHOSEN
        }

    def _check(self, name: str, value: Any) -> None:
        if name not in self.param or name == "name":
            raise InputError(f"There is no choice called {shown(name)}.")
        checked(self.param[name], value)


class Placed(Choices):
    """Choices with a city, a side of its cells and a bound on a user's points."""

    city: Any
    side: Any
    bound: Any

    @property
    def place(self) -> tuple[str, int, int]:
        """City, side of the grid and bound on a user's points."""
        return self.city, self.side, self.bound

    def go(self, place: tuple[str, int, int]) -> None:
        """Choose all three at once: one by one would name other maps in between."""
        city, side, bound = place
        # Counts without points have the cells they have, which no choice of the grid names.
        self.put(city=city, bound=bound, **({"side": side} if side else {}))


class PlaceState(Placed, PlaceChoices):
    """What is counted: all that the frame of a page asks of a state."""
