"""What one visitor has chosen. Everything is checked here, on the server."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import param

from explorer.app.kit.numbers import finite
from explorer.errors import InputError
from explorer.mechanisms import Mechanism, all_mechanisms, mechanism
from explorer.mechanisms.limits import MAX_EPSILON
from explorer.scenario import BOUNDS, GRID_SIDES, MAX_SEED
from explorer.scenario.checks import shown

#: Where the mechanism's settings live; all other names are plain parameters of the state.
DRAW = {"mechanism", "epsilon", "seed", "city", "side", "bound"}


class ExploreState(param.Parameterized):
    """The choices behind one screen.

    Widgets are views of it: whatever arrives from a browser goes through `put` or `set_parameter`
    and is refused with one sentence if it is not a choice that exists. A raw websocket client
    can send any value to any widget; this is the boundary.

    Parameters
    ----------
    **choices
        Any of the parameters below, and parameters of the mechanism such as ``height=15``.
    """

    city = param.String(default="madeup", label="City")
    side = param.Selector(default=1024, objects=list(GRID_SIDES), label="Grid")
    bound = param.Selector(default=0, objects=list(BOUNDS), label="A record is")
    mechanism = param.Selector(default="htf", objects=list(all_mechanisms()), label="Mechanism")
    epsilon = param.Number(default=0.1, label="Epsilon")
    seed = param.Integer(default=1, bounds=(0, MAX_SEED), label="Dice number")
    frozen = param.Boolean(default=True, label="Freeze the dice")
    right = param.Selector(default="private", objects=["private", "difference"], label="Right map")
    scale = param.Selector(default="log", objects=["log", "linear"], label="Colour scale")
    scale_from = param.Selector(default="data", objects=["data", "release"], label="Scale from")
    palette = param.Selector(default="cividis", objects=["cividis", "magma"], label="Colours")
    truth = param.Selector(default="points", objects=["points", "counts"], label="Truth shows")
    partition = param.Boolean(default=True, label="Show partition")
    partition_over = param.Selector(
        default="private", objects=["private", "truth", "both"], label="Partition over"
    )
    drag = param.Selector(default="draw", objects=["draw", "move", "scroll"], label="A drag")
    explain = param.Boolean(default=False, label="Explain the controls")

    def __init__(self, **choices: Any) -> None:
        super().__init__()
        self._settings: dict[str, dict[str, Any]] = {key: {} for key in all_mechanisms()}
        self.put(**{name: value for name, value in choices.items() if name in self.param})
        for name, value in choices.items():
            if name not in self.param:
                self.set_parameter(name, value)

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

    def set_parameter(self, name: str, value: Any) -> None:
        """Set a parameter of the present mechanism, checked by the mechanism itself.

        Raises
        ------
        InputError
            For a name that is not one of its `tunables`, or a value that it refuses.
        """
        known = mechanism(self.mechanism).tunables()
        if name not in known:
            raise InputError(
                f"{mechanism(self.mechanism).title} has no setting called {shown(name)}: it has "
                f"{', '.join(known)}."
            )
        settings = {**self._settings[self.mechanism], name: value}
        self._build(self.mechanism, settings, self.epsilon)
        self._settings[self.mechanism] = settings

    def take(self, made: Mechanism) -> None:
        """Choose a mechanism with all settings that ``made`` has."""
        self._settings[made.key] = made.settings()
        self.put(mechanism=made.key, epsilon=made.epsilon)

    def parameter(self, name: str) -> Any:
        """The present value of a parameter of the present mechanism."""
        return getattr(self.instance(), name)

    def instance(self) -> Mechanism:
        """The mechanism with everything that was chosen, ready to release."""
        return self._build(self.mechanism, self._settings[self.mechanism], self.epsilon)

    @property
    def place(self) -> tuple[str, int, int]:
        """City, side of the grid and bound on a user's points: what is counted."""
        return self.city, self.side, self.bound

    def roll(self) -> None:
        """Take the next dice."""
        self.seed = (self.seed + 1) % MAX_SEED

    def _check(self, name: str, value: Any) -> None:
        if name == "epsilon":
            self._build(self.mechanism, {}, value)
            return
        if name not in self.param or name == "name":
            raise InputError(f"There is no choice called {shown(name)}.")
        declared = self.param[name]
        if isinstance(declared, param.Selector):
            if not _one_of(value, declared.objects):
                choices = ", ".join(str(choice) for choice in declared.objects)
                raise InputError(f"{declared.label} cannot be {shown(value)}: choose {choices}.")
            return
        if name == "seed" and not (
            isinstance(value, int) and not isinstance(value, bool) and 0 <= value <= MAX_SEED
        ):
            raise InputError(f"The dice number is a whole number from 0 to {MAX_SEED:,}.")
        try:
            declared._validate(value)
        except (ValueError, TypeError) as error:
            raise InputError(f"{declared.label} cannot be {shown(value)}.") from error

    @staticmethod
    def _build(key: str, settings: dict[str, Any], epsilon: Any) -> Mechanism:
        made = mechanism(key)
        for name, value in {"epsilon": epsilon, **settings}.items():
            if isinstance(value, int | float):
                finite(value, str(made.param[name].label))
            elif not (value is None or isinstance(value, str | np.number)):
                raise InputError(f"{made.param[name].label} cannot be {shown(value)}.")
        return made(epsilon=epsilon, **settings)


def put_place(state: ExploreState, place: tuple[str, int, int]) -> None:
    """Choose city, grid and bound at once: one by one would name other maps in between."""
    city, side, bound = place
    # Counts without points have the cells they have, which no choice of the grid names.
    state.put(city=city, bound=bound, **({"side": side} if side else {}))


def _one_of(value: Any, choices: list[Any]) -> bool:
    """Membership by value and type: True is not 1 here, and unhashable values are just absent."""
    return any(type(value) is type(choice) and value == choice for choice in choices)


#: The epsilon slider: 20 steps to a factor of ten, 0.01 to the largest epsilon allowed.
EPSILON_EXPONENTS = (-2.0, math.log10(MAX_EPSILON))


def epsilon_of(exponent: float) -> float:
    """Epsilon of a slider's place: a power of ten, rounded to two digits that one can read.

    >>> [epsilon_of(x) for x in (-2, -1, -0.95, 0, 0.3)]
    [0.01, 0.1, 0.11, 1.0, 2.0]
    """
    if abs(finite(exponent, "Epsilon")) > 300:
        raise InputError("Epsilon is not a finite number: give a number above 0.")
    return float(f"{10**exponent:.2g}")
