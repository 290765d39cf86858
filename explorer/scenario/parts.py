"""The parts of a scenario besides its boxes: mechanisms with their settings, looks, a sweep."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass, fields
from typing import Any, ClassVar, Self

import param

from explorer.errors import InputError
from explorer.mechanisms import Mechanism, all_mechanisms
from explorer.privacy.epsilon_range import MAX_EPSILON
from explorer.queries.boxes import NAME_LENGTH
from explorer.scenario import checks
from explorer.scenario.choices import (
    LOWEST,
    CountryChoices,
    LookChoices,
    PairChoices,
    PeopleChoices,
    SweepChoices,
    TripChoices,
    checked_path,
)
from explorer.scenario.known import known_mechanisms, mechanism


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
    key : a key of `explorer.scenario.known.known_mechanisms()`
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
    """Name and value of the settings that are not the defaults."""
    return tuple(
        (name, Settings(value) if isinstance(value, Mapping) else value)
        for name, value in instance.settings().items()
        if value != type(instance).param[name].default
    )


class _Part:
    """Fields that are declared as choices of the screen."""

    #: Options of the fields that have some.
    choices: ClassVar[dict[str, tuple[Any, ...]]]
    what: ClassVar[str]

    def plain(self) -> dict[str, Any]:
        """What differs from the defaults, for YAML and JSON."""
        result = {}
        for field in fields(self):  # type: ignore[arg-type]
            value = getattr(self, field.name)
            if value != field.default:
                result[field.name] = list(value) if isinstance(value, tuple) else value
        return result

    @classmethod
    def read(cls, entry: Any) -> Self:
        """From a file."""
        if isinstance(entry, cls):
            return entry
        names = [field.name for field in fields(cls)]  # type: ignore[arg-type]
        return cls(**checks.entries(entry, names, f"{cls.what} of a scenario"))


def _options(
    declared: type[param.Parameterized], besides: Collection[str] = ()
) -> dict[str, tuple[Any, ...]]:
    kinds = ((name, declared.param[name]) for name in declared.param if name not in besides)
    return {name: tuple(p.objects) for name, p in kinds if isinstance(p, param.Selector)}


class _Look(_Part):
    """How maps are drawn."""

    partition: bool
    base_map: bool
    what: ClassVar[str] = "look"

    def __post_init__(self) -> None:
        for name, choices in self.choices.items():
            checks.one_of(getattr(self, name), choices, f"look '{name}'")
        checks.flag(self.partition, "look 'partition'")
        checks.flag(self.base_map, "look 'base_map'")


@dataclass(frozen=True)
class Looks(_Look):
    """How the maps are drawn, see `LookChoices`; nothing in it touches an answer."""

    right: str = LookChoices.right
    colour: str = LookChoices.colour
    scale: str = LookChoices.scale
    scale_from: str = LookChoices.scale_from
    palette: str = LookChoices.palette
    truth: str = LookChoices.truth
    partition: bool = LookChoices.partition
    base_map: bool = LookChoices.base_map
    partition_over: str = LookChoices.partition_over

    choices = _options(LookChoices)


@dataclass(frozen=True)
class PeopleLooks(_Look):
    """How the maps of people who keep their places are drawn, see `PeopleChoices`.

    ``grey`` marks where the noise of a round exceeds what it counted.
    """

    right: str = PeopleChoices.right
    scale: str = PeopleChoices.scale
    palette: str = PeopleChoices.palette
    truth: str = PeopleChoices.truth
    partition: bool = PeopleChoices.partition
    base_map: bool = PeopleChoices.base_map
    grey: bool = PeopleChoices.grey

    # What the page has no control for is as on a page that begins.
    choices = _options(
        PeopleChoices, besides=("side", "bound", "colour", "scale_from", "partition_over")
    )

    def __post_init__(self) -> None:
        super().__post_init__()
        checks.flag(self.grey, "look 'grey'")


@dataclass(frozen=True)
class TripLooks(_Look):
    """How the maps of trips are drawn, see `TripChoices`.

    Of answers ``spread`` alone is a part: how a leaf's count is inside it.
    """

    shows: str = TripChoices.shows
    focus: str = TripChoices.focus
    spread: str = TripChoices.spread
    scale: str = TripChoices.scale
    scale_from: str = TripChoices.scale_from
    palette: str = TripChoices.palette
    partition: bool = TripChoices.partition
    base_map: bool = TripChoices.base_map

    choices = _options(TripChoices, besides=("side", "bound"))


@dataclass(frozen=True)
class AreaLooks(_Look):
    """How the maps of a country are drawn and about which area, see `CountryChoices`.

    Parameters
    ----------
    level : 0 for the whole, 1 for the coarsest areas; with 20 the lowest, however many there are
    area : its names from the coarsest level down, [] for the whole; None is the lowest area with
        most private records
    """

    level: int = CountryChoices.level
    area: tuple[str, ...] | None = CountryChoices.area
    shows: str = CountryChoices.shows
    per: str = CountryChoices.per
    scale: str = CountryChoices.scale
    palette: str = CountryChoices.palette
    partition: bool = CountryChoices.partition
    base_map: bool = CountryChoices.base_map

    choices = _options(CountryChoices, besides=("side", "bound"))

    def __post_init__(self) -> None:
        super().__post_init__()
        checks.whole(self.level, 0, LOWEST, "look 'level'")
        object.__setattr__(self, "area", checked_path(self.area, "look 'area' of a scenario"))


AnyLooks = Looks | PeopleLooks | TripLooks | AreaLooks
"""The looks of a screen of some page."""


@dataclass(frozen=True)
class Pair(_Part):
    """What is next to the two maps of Compare, see `PairChoices`.

    Parameters
    ----------
    apart : whether B has other random noise than A
    third : "none", "truth", or "change" for B minus A
    """

    apart: bool = PairChoices.apart
    third: str = PairChoices.third

    choices = _options(PairChoices)
    what: ClassVar[str] = "pair"

    def __post_init__(self) -> None:
        checks.flag(self.apart, "pair's 'apart'")
        checks.one_of(self.third, self.choices["third"], "pair's 'third'")


@dataclass(frozen=True)
class Sweep(_Part):
    """What the error curves of Compare are asked for, see `SweepChoices`.

    Parameters
    ----------
    mechanisms : keys
    sides : whether A and B are in it, as they are set
    named : whether a mechanism in it is drawn with all values that have names, too (Mosaic's focus)
    workload, metric : as in the menus of the page
    at : epsilon of the ranking
    seeds : repetitions, 2 to 20
    """

    mechanisms: tuple[str, ...] = tuple(SweepChoices.chosen)
    sides: bool = SweepChoices.with_sides
    named: bool = SweepChoices.with_named
    workload: str = SweepChoices.workload
    metric: str = SweepChoices.metric
    at: float = SweepChoices.at
    seeds: int = SweepChoices.seeds

    choices = _options(SweepChoices)
    what: ClassVar[str] = "sweep"

    def __post_init__(self) -> None:
        keys = checks.listed(self.mechanisms, len(all_mechanisms()), "mechanisms in its sweep")
        for key in keys:
            checks.one_of(key, list(all_mechanisms()), "mechanism in the sweep")
        object.__setattr__(self, "mechanisms", tuple(keys))
        checks.flag(self.sides, "sweep's 'sides'")
        checks.flag(self.named, "sweep's 'named'")
        for name, choices in self.choices.items():
            value = getattr(self, name)
            if name == "at":
                value = checks.number(value, MAX_EPSILON, "epsilon of the ranking")
                object.__setattr__(self, "at", value)
            checks.one_of(value, choices, f"sweep's '{name}'")
        low, high = SweepChoices.param.seeds.bounds
        checks.whole(self.seeds, low, high, "number of seeds in the sweep")
