"""What one visitor of Compare has chosen: two mechanisms on one city, and a sweep."""

from __future__ import annotations

from typing import Any

import param

from explorer.app.state.explore import ExploreState
from explorer.errors import InputError
from explorer.mechanisms import Mechanism, all_mechanisms
from explorer.privacy.epsilon_range import MAX_EPSILON
from explorer.scenario.choices import EPSILONS, PairChoices, SweepChoices, seeds_of_pair

__all__ = ["EPSILONS", "FOUR", "CompareState", "Side"]

#: Epsilons of the small maps.
FOUR = tuple(number for number in (0.01, 0.1, 1.0, 10.0) if number <= MAX_EPSILON)

#: A mechanism as one names it: its key, or an instance with settings.
Side = str | Mechanism


class CompareState(ExploreState, PairChoices, SweepChoices):
    """The choices behind the Compare page; mechanism A is the inherited one, B is ``b``.

    Epsilon, random noise and city are the same for both.

    Parameters
    ----------
    a, b : str or Mechanism, optional
        The two mechanisms; HTF and Mosaic without them. Epsilon is taken from an instance ``a``
        unless it is given.
    **choices
        As for `ExploreState`, `PairChoices` and `SweepChoices`.
    """

    right = param.Selector(label="Maps show")

    def __init__(self, a: Side | None = None, b: Side | None = None, **choices: Any) -> None:
        # What is given by name has the last word over what an instance brings along.
        super().__init__(**{**({} if a is None else _side(a)), **choices})
        self.b = ExploreState()
        _set_side(self.b, "mosaic" if b is None else b)
        self._follow()
        self.param.watch(lambda *_: self._follow(), ["epsilon", "explain"])

    @property
    def sides(self) -> tuple[ExploreState, ...]:
        """The states of A and B."""
        return self, self.b

    @property
    def seeds_of_sides(self) -> tuple[int, int]:
        """The seeds of A and B."""
        return seeds_of_pair(self.seed, self.apart)

    def as_choices(self) -> dict[str, Any]:
        """All choices, and B as a mechanism."""
        return {**super().as_choices(), "b": self.b.instance()}

    def swap(self) -> None:
        """A becomes B and B becomes A, with their settings."""
        first, second = self.instance(), self.b.instance()
        _set_side(self, second)
        _set_side(self.b, first)

    def _follow(self) -> None:
        self.b.put(epsilon=self.epsilon, explain=self.explain)

    def _check(self, name: str, value: Any) -> None:
        if name != "chosen":
            super()._check(name, value)
            return
        mechanisms = all_mechanisms()
        if not isinstance(value, list) or not all(
            isinstance(key, str) and key in mechanisms for key in value
        ):
            raise InputError(f"The sweep takes mechanisms by their names: {', '.join(mechanisms)}.")


def _side(side: Side) -> dict[str, Any]:
    """A mechanism as choices of a state."""
    if isinstance(side, str):
        return {"mechanism": side}
    return {"mechanism": side.key, "epsilon": side.epsilon, **side.settings()}


def _set_side(state: ExploreState, side: Side) -> None:
    """Give a state a mechanism, with all its settings where an instance is given."""
    if isinstance(side, str):
        state.put(mechanism=side)
    else:
        state.take(side)
