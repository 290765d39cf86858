"""The parts of a scenario besides its questions: mechanisms with their settings, looks, a sweep."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, ClassVar, NoReturn, Self

import param

from explorer.country.mechanism import Country
from explorer.errors import InputError
from explorer.federated.mechanism import Federated
from explorer.grid.values import of_key
from explorer.mechanisms import Mechanism, all_mechanisms, trip_mechanisms
from explorer.privacy.epsilon_range import MAX_EPSILON
from explorer.queries.boxes import NAME_LENGTH
from explorer.scenario import checks
from explorer.scenario.choices import (
    CountryChoices,
    LookChoices,
    PairChoices,
    PeopleChoices,
    SweepChoices,
    TripChoices,
    checked_path,
)


def area_mechanisms() -> dict[str, type[Mechanism]]:
    """The mechanisms that take areas inside each other, by name."""
    return {Country.key: Country}


def people_mechanisms() -> dict[str, type[Mechanism]]:
    """The mechanisms that ask people who keep their places, by name."""
    return {Federated.key: Federated}


def known_mechanisms() -> dict[str, type[Mechanism]]:
    """All mechanisms that a scenario can name."""
    return all_mechanisms() | trip_mechanisms() | area_mechanisms() | people_mechanisms()


def mechanism(key: str) -> type[Mechanism]:
    """The mechanism of that name.

    Raises
    ------
    InputError
        For a name that none has; it lists those there are.

    Examples
    --------
    >>> mechanism("country").title, mechanism("htf").title
    ('Country', 'HTF')
    """
    return of_key(known_mechanisms(), key, "There is no mechanism")


class Settings(dict[str, Any]):
    """Settings of a mechanism inside another: plain values by name, with a hash.

    Raises
    ------
    InputError
        For a value that is neither a text nor a number, true, false or nothing.
    """

    def __init__(self, settings: Mapping[Any, Any]) -> None:
        for name, value in settings.items():
            checks.text(name, NAME_LENGTH, "name of a setting")
            if not isinstance(value, str | int | float | None):
                raise InputError(
                    f"The setting {name} inside a mechanism of a scenario is "
                    f"{checks.shown(value)}: give a text or a number."
                )
        super().__init__(settings)

    def __hash__(self) -> int:  # type: ignore[override]
        return hash(frozenset(self.items()))


@dataclass(frozen=True)
class Choice:
    """A mechanism by its key, with the settings that differ from its defaults.

    Parameters
    ----------
    key : a key of `known_mechanisms()`
    settings : mapping, or pairs of name and value; a value may be a mapping of settings in turn

    Raises
    ------
    InputError
        For a mechanism or a setting that does not exist, or a value that it refuses.
    """

    key: str
    settings: tuple[tuple[str, Any], ...] = ()

    def __post_init__(self) -> None:
        if not isinstance(self.key, str):
            raise InputError(f"A mechanism of the scenario is {shown_key(self.key)}.")
        instance = _built(self.key, dict(self.settings))
        object.__setattr__(self, "settings", _differing(instance))

    @classmethod
    def read(cls, entry: Any) -> Self:
        """A choice of a file: ``htf``, or ``htf: {T: 5}``; an instance, or a choice already."""
        if isinstance(entry, cls):
            return entry
        if isinstance(entry, Mechanism) and type(entry) is known_mechanisms().get(entry.key):
            # It has checked its settings already; a link that was made of one that someone has
            # changed since is refused when it is opened.
            choice = object.__new__(cls)
            object.__setattr__(choice, "key", entry.key)
            object.__setattr__(choice, "settings", _differing(entry))
            return choice
        if isinstance(entry, Mechanism):
            return cls(entry.key, tuple(entry.settings().items()))
        if isinstance(entry, str):
            return cls(entry)
        if not isinstance(entry, Mapping) or len(entry) != 1:
            raise InputError(f"A mechanism of the scenario is {shown_key(entry)}.")
        ((key, settings),) = entry.items()
        if not isinstance(settings, Mapping):
            raise InputError(
                f"The settings of the mechanism {checks.shown(key)} are {checks.shown(settings)}: "
                "give entries such as {T: 5}."
            )
        return cls(key, tuple(settings.items()))

    def made(self, epsilon: float) -> Mechanism:
        """The mechanism, ready to release."""
        return mechanism(self.key)(epsilon=epsilon, **dict(self.settings))

    def plain(self) -> str | dict[str, Any]:
        """For YAML and JSON."""
        if not self.settings:
            return self.key
        return {
            self.key: {
                name: dict(value) if isinstance(value, Mapping) else value
                for name, value in self.settings
            }
        }


def shown_key(value: Any) -> str:
    """The end of a sentence about a mechanism that is none."""
    return f"{checks.shown(value)}: give a key such as htf, or 'htf: {{T: 5}}'"


def _built(key: str, settings: dict[Any, Any]) -> Mechanism:
    kind = mechanism(checks.one_of(key, [*known_mechanisms()], "mechanism"))
    for name in settings:
        if checks.text(name, NAME_LENGTH, "name of a setting") == "epsilon":
            raise InputError("Epsilon belongs to the whole scenario: write it beside the city.")
    return kind(**settings)


def _differing(instance: Mechanism) -> tuple[tuple[str, Any], ...]:
    return tuple(
        (name, Settings(value) if isinstance(value, Mapping) else value)
        for name, value in instance.settings().items()
        if value != type(instance).param[name].default
    )


class Part:
    """Some choices of a screen as one value: attributes that are checked when it is made.

    What is left out is as `declared`. A subclass names the choices in ``names``, those that are
    declared under another name as NAME=DECLARED, and how sentences call one of them in ``called``.
    """

    what: ClassVar[str]
    called: ClassVar[dict[str, str]]
    #: The declarations by name.
    declared: ClassVar[dict[str, param.Parameter]]

    def __init_subclass__(cls, choices: type[param.Parameterized], names: str) -> None:
        pairs = (name.split("=") for name in names.split())
        cls.declared = {name: choices.param[(*other, name)[0]] for name, *other in pairs}

    def __init__(self, **values: Any) -> None:
        for name in values:
            if name not in self.declared:
                raise TypeError(f"{type(self).__name__} has no {name}")
        for name, declared in self.declared.items():
            vars(self)[name] = self._checked(name, values.get(name, self.default(name)), declared)

    @classmethod
    def default(cls, name: str) -> Any:
        """The value of a choice that is left out."""
        value = cls.declared[name].default
        return tuple(value) if isinstance(value, list) else value

    def _checked(self, name: str, value: Any, declared: param.Parameter) -> Any:
        what = self.called.get(name) or self.called[""].format(name)
        if isinstance(declared, param.Selector):
            return checks.one_of(value, list(declared.objects), what)
        if isinstance(declared, param.Boolean):
            return checks.flag(value, what)
        low, high = declared.bounds
        return checks.whole(value, low, high, what)

    def __setattr__(self, name: str, value: Any) -> NoReturn:
        raise AttributeError(f"{type(self).__name__} cannot be changed: make another one")

    def __getattr__(self, name: str) -> Any:
        raise AttributeError(f"{type(self).__name__} has no {name}")

    def __eq__(self, other: object) -> bool:
        return type(other) is type(self) and vars(other) == vars(self)

    def __hash__(self) -> int:
        return hash((type(self), *vars(self).values()))

    def __repr__(self) -> str:
        return f"{type(self).__name__}({', '.join(f'{n}={v!r}' for n, v in vars(self).items())})"

    def plain(self) -> dict[str, Any]:
        """What differs from the defaults, for YAML and JSON."""
        return {
            name: list(value) if isinstance(value, tuple) else value
            for name, value in vars(self).items()
            if value != self.default(name)
        }

    @classmethod
    def read(cls, entry: Any) -> Self:
        """From a file."""
        if isinstance(entry, cls):
            return entry
        return cls(**checks.entries(entry, list(cls.declared), f"{cls.what} of a scenario"))


class Look(Part, choices=LookChoices, names=""):
    """How maps are drawn."""

    what, called = "look", {"": "look '{}'"}


class Looks(
    Look,
    choices=LookChoices,
    names="right colour scale scale_from palette truth partition base_map partition_over",
):
    """How the maps are drawn; nothing in it touches an answer."""


class PeopleLooks(
    Look, choices=PeopleChoices, names="right scale palette truth partition base_map grey"
):
    """How the maps of people who keep their places are drawn.

    What the page has no control for is as on a page that begins.
    """


class TripLooks(
    Look,
    choices=TripChoices,
    names="shows focus spread scale scale_from palette partition base_map",
):
    """How the maps of trips are drawn; of answers ``spread`` alone is a part."""


class AreaLooks(
    Look,
    choices=CountryChoices,
    names="level area shows per scale palette partition base_map",
):
    """How the maps of a country are drawn and about which area.

    ``level`` is 0 for the whole, 1 for the coarsest areas; with 20 the lowest, however many there
    are. ``area`` is its names from the coarsest level down, [] for the whole; None is the lowest
    area with most private records.
    """

    def _checked(self, name: str, value: Any, declared: param.Parameter) -> Any:
        if name == "area":
            return checked_path(value, "look 'area' of a scenario")
        return super()._checked(name, value, declared)


class Pair(Part, choices=PairChoices, names="apart third"):
    """What is next to the two maps of Compare, and whether their noise is the same."""

    what, called = "pair", {"": "pair's '{}'"}


class Sweep(
    Part,
    choices=SweepChoices,
    names="mechanisms=chosen sides=with_sides named=with_named workload metric at seeds",
):
    """What the error curves of Compare are asked for.

    ``mechanisms`` are keys, ``sides`` says whether A and B are in it, ``named`` whether a mechanism
    is drawn with all values that have names, too (Mosaic's focus), ``at`` is the epsilon of the
    ranking, ``seeds`` are repetitions.
    """

    what = "sweep"
    called = {"": "sweep's '{}'", "seeds": "number of seeds in the sweep"}  # noqa: RUF012

    def _checked(self, name: str, value: Any, declared: param.Parameter) -> Any:
        if name == "mechanisms":
            kinds = list(all_mechanisms())
            keys = checks.listed(value, len(kinds), "mechanisms in its sweep")
            return tuple(checks.one_of(key, kinds, "mechanism in the sweep") for key in keys)
        if name == "at":
            value = checks.number(value, MAX_EPSILON, "epsilon of the ranking")
        return super()._checked(name, value, declared)
