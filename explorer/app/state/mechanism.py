"""One mechanism with its settings, epsilon and random noise: chosen, and checked here."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

import param

from explorer.app.kit.numbers import finite
from explorer.app.state.choices import Choices
from explorer.errors import InputError
from explorer.mechanisms import Mechanism, all_mechanisms
from explorer.privacy.epsilon_range import MAX_EPSILON
from explorer.scenario.checks import shown
from explorer.scenario.choices import MAX_SEED


class MechanismState(Choices):
    """What a page with one mechanism chooses; the page adds what is counted and how it is drawn.

    Parameters
    ----------
    **choices
        Any of the parameters, and parameters of the mechanism such as ``height=15``.
    """

    mechanism = param.Selector(default="htf", objects=list(all_mechanisms()), label="Mechanism")
    epsilon = param.Number(default=0.1, label="Epsilon")
    seed = param.Integer(default=1, bounds=(0, MAX_SEED), label="Random seed")
    frozen = param.Boolean(default=True, label="Keep the same random noise")
    drag = param.Selector(
        default="draw", objects=["draw", "polygon", "move", "scroll"], label="A drag"
    )
    explain = param.Boolean(default=False, label="Explain the controls")

    def __init__(self, **choices: Any) -> None:
        super().__init__()
        self._settings: dict[str, dict[str, Any]] = {key: {} for key in self.offered()}
        self._made: Mechanism = self.kind()
        # What it was made of, and its name: it is asked for ten times a move of a slider.
        self._made_of: tuple[Any, ...] = ()
        self.put(**{name: value for name, value in choices.items() if name in self.param})
        for name, value in choices.items():
            if name not in self.param:
                self.set_parameter(name, value)

    @classmethod
    def offered(cls) -> Mapping[str, type[Mechanism]]:
        """The mechanisms of the menu, by name."""
        return all_mechanisms()

    @property
    def sides(self) -> tuple[MechanismState, ...]:
        """The states of the mechanisms on the page."""
        return (self,)

    @property
    def kind(self) -> type[Mechanism]:
        """The class of the present mechanism."""
        return self.offered()[self.mechanism]

    def set_parameter(self, name: str, value: Any) -> None:
        """Set a parameter of the present mechanism, checked by the mechanism itself.

        Raises
        ------
        InputError
            For a name that is not one of its `tunables`, or a value that it refuses.
        """
        tunables = self.kind.tunables()
        if name not in tunables:
            raise InputError(
                f"{self.kind.title} has no setting called {shown(name)}: "
                f"it has {', '.join(tunables)}."
            )
        settings = {**self._settings[self.mechanism], name: value}
        self.instance(settings=settings)
        self._settings[self.mechanism] = settings

    def take(self, mechanism: Mechanism) -> None:
        """Choose a mechanism with all settings that ``mechanism`` has."""
        self._settings[mechanism.key] = mechanism.settings()
        self.put(mechanism=mechanism.key, epsilon=mechanism.epsilon)

    def parameter(self, name: str) -> Any:
        """The present value of a parameter of the present mechanism."""
        return getattr(self.instance(), name)

    def instance(self, *, epsilon: Any = None, settings: dict[str, Any] | None = None) -> Mechanism:
        """The mechanism with everything that was chosen, ready to release.

        This is where a mechanism's choices are checked, by the mechanism itself: ``epsilon`` and
        ``settings`` represent those that would be chosen.

        Raises
        ------
        InputError
            One sentence about the first value that it refuses.
        """
        if epsilon is None and settings is None and self._is_made():
            return self._made
        epsilon = self.epsilon if epsilon is None else epsilon
        settings = self._settings[self.mechanism] if settings is None else settings
        mechanism = self.kind(epsilon=epsilon, **settings)
        # The one that was handed out before, if nothing has changed.
        if repr(self._made) != repr(mechanism):
            self._made = mechanism
        self._made_of = self.kind, epsilon, settings, repr(mechanism)
        return self._made

    def _is_made(self) -> bool:
        """Whether the last mechanism is the chosen one, and no one has changed it since."""
        if not self._made_of:
            return False
        kind, epsilon, settings, name = self._made_of
        same = kind is self.kind and settings is self._settings[self.mechanism]
        return same and epsilon == self.epsilon and repr(self._made) == name

    def as_choices(self) -> dict[str, Any]:
        """All choices, and the settings of the mechanism by their own names."""
        return {**super().as_choices(), **self._settings[self.mechanism]}

    def roll(self) -> None:
        """Take other random noise."""
        self.seed = (self.seed + 1) % MAX_SEED

    def _check(self, name: str, value: Any) -> None:
        if name != "epsilon":
            super()._check(name, value)
        elif value is None:
            raise InputError("Epsilon is missing: give a number.")
        else:
            self.instance(epsilon=value)


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
