"""What a page's screen is set to: checked parameters, and nothing drawn."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

import param

from explorer.app.kit.numbers import finite
from explorer.country.mechanism import Country
from explorer.errors import InputError
from explorer.federated.mechanism import Federated
from explorer.grid.values import checked, shown
from explorer.mechanisms import Mechanism, all_mechanisms, trip_mechanisms
from explorer.privacy.epsilon_range import MAX_EPSILON
from explorer.scenario.choices import (
    MAX_SEED,
    CountryChoices,
    LookChoices,
    PairChoices,
    PeopleChoices,
    PlaceChoices,
    SweepChoices,
    TripChoices,
    checked_path,
    checked_places,
    seeds_of_pair,
)

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


class ExploreState(MechanismState, PlaceState, LookChoices):
    """The choices behind one screen: what is counted, how it is drawn, and by which mechanism."""


class CountryState(MechanismState, Placed, CountryChoices):
    """The choices behind the Country page: what is counted, how it is released, what is shown."""

    mechanism = param.Selector(default=Country.key, objects=[Country.key], label="Mechanism")
    epsilon = param.Number(default=0.1, label="Epsilon")

    @classmethod
    def offered(cls) -> Mapping[str, type[Mechanism]]:
        """The one mechanism of countries."""
        return {Country.key: Country}

    def set_parameter(self, name: str, value: Any) -> None:
        """Set a parameter of the mechanism; another one inside has none of the old one's settings.

        Raises
        ------
        InputError
            For a name that is no parameter, or a value that the mechanism refuses.
        """
        before = self._settings[self.mechanism]
        if name == "inside" and value != self.parameter("inside"):
            others = {key: setting for key, setting in before.items() if key != "inside_settings"}
            self._settings[self.mechanism] = others
        try:
            super().set_parameter(name, value)
        except InputError:
            self._settings[self.mechanism] = before
            raise

    def put(self, **choices: Any) -> None:
        """Set several choices at once, or none of them; an area is a path of names."""
        if "area" in choices:
            choices["area"] = checked_path(choices["area"])
        super().put(**choices)


class FederatedState(MechanismState, PlaceState, PeopleChoices):
    """The choices behind the Federated page: who is counted, how she is asked, what is shown."""

    mechanism = param.Selector(default=Federated.key, objects=[Federated.key], label="Mechanism")
    epsilon = param.Number(default=1.0, label="Epsilon")
    people_are_public = param.Boolean(default=False, label="Publish the exact number of people")

    @classmethod
    def offered(cls) -> Mapping[str, type[Mechanism]]:
        """The one mechanism of people who stay where they are."""
        return {Federated.key: Federated}

    def as_choices(self) -> dict[str, Any]:
        """All choices but consent, which is given anew on every page."""
        choices = super().as_choices()
        del choices["people_are_public"]
        return choices


#: Trips, side of every grid, bound on a person's trips, list of places.
TripPlace = tuple[str, int, int, str]


class TripsState(MechanismState, TripChoices):
    """The choices behind the Trips page: what is counted, how it is drawn, by which mechanism."""

    mechanism = param.Selector(
        default="gravity", objects=list(trip_mechanisms()), label="Mechanism"
    )
    epsilon = param.Number(default=1.0, label="Epsilon")

    @classmethod
    def offered(cls) -> Mapping[str, type[Mechanism]]:
        """The mechanisms that take trips, by name; the best one first."""
        mechanisms = trip_mechanisms()
        return {"gravity": mechanisms["gravity"], **mechanisms}

    @property
    def place(self) -> TripPlace:
        """Trips, side of the grids, bound on a person's trips and list of places."""
        return self.city, self.side, self.bound, self.places

    def go(self, place: TripPlace) -> None:
        """Choose all four at once: one by one would name other trips in between."""
        city, side, bound, places = place
        self.put(city=city, bound=bound, places=places, **({"side": side} if side else {}))

    def _check(self, name: str, value: Any) -> None:
        if name == "places":
            checked_places(value)
        super()._check(name, value)


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
