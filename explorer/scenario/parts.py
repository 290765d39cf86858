"""The parts of a scenario: mechanisms with their settings, boxes, looks, a sweep."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, fields
from typing import Any, ClassVar, Self

import param

from explorer.errors import InputError
from explorer.grid.grid import Grid
from explorer.mechanisms import Mechanism, all_mechanisms, mechanism
from explorer.mechanisms.limits import MAX_EPSILON
from explorer.queries.boxes import NAME_LENGTH, examples, rounded
from explorer.scenario import checks
from explorer.scenario.choices import LookChoices, SweepChoices

#: No projected coordinate on the Earth is larger.
_FARTHEST = 1e8


@dataclass(frozen=True)
class Box:
    """A named rectangle in the grid's unit (metres or cells), edges rounded to a thousandth.

    Raises
    ------
    InputError
        For edges that are not finite numbers or have no area, or a name above 40 characters.
    """

    west: float
    south: float
    east: float
    north: float
    name: str = ""

    def __post_init__(self) -> None:
        for side in ("west", "south", "east", "north"):
            edge = checks.number(getattr(self, side), _FARTHEST, f"{side}ern edge of a box")
            object.__setattr__(self, side, rounded(edge))
        if self.west >= self.east or self.south >= self.north:
            raise InputError(
                "A box of the scenario has no area: give west, south, east, north with west "
                "below east and south below north."
            )
        object.__setattr__(self, "name", checks.text(self.name, NAME_LENGTH, "name of a box"))

    @classmethod
    def read(cls, given: Any) -> Self:
        """A box of a file: {"name": ..., "edges": [west, south, east, north]}, or the edges."""
        if isinstance(given, cls):
            return given
        edges, name = given, ""
        if not isinstance(given, list | tuple):
            said = checks.entries(given, ("name", "edges"), "box of a scenario")
            edges, name = said.get("edges"), said.get("name", "")
        if not isinstance(edges, list | tuple) or len(edges) != 4:
            raise InputError("A box of the scenario has four edges: west, south, east, north.")
        west, south, east, north = edges
        return cls(west, south, east, north, name)

    @property
    def edges(self) -> tuple[float, float, float, float]:
        """West, south, east, north."""
        return self.west, self.south, self.east, self.north

    def plain(self) -> dict[str, Any]:
        """For YAML and JSON; whole numbers without a point."""
        named = {"name": self.name} if self.name else {}
        return {**named, "edges": [int(e) if e.is_integer() else e for e in self.edges]}


def example_boxes(grid: Grid) -> tuple[Box, ...]:
    """The two boxes that a page begins with, on ``grid``."""
    return tuple(Box(*edges, name=f"Q{n}") for n, edges in enumerate(examples(grid), 1))


@dataclass(frozen=True)
class Choice:
    """A mechanism by its key, with the settings that differ from its defaults.

    Parameters
    ----------
    key : a key of `explorer.mechanisms.all_mechanisms()`
    settings : mapping, or pairs of name and value

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
        made = _built(self.key, dict(self.settings))
        differing = {
            name: value
            for name, value in made.settings().items()
            if value != type(made).param[name].default
        }
        object.__setattr__(self, "settings", tuple(differing.items()))

    @classmethod
    def read(cls, given: Any) -> Self:
        """A choice of a file: ``htf``, or ``htf: {T: 5}``; an instance, or a choice already."""
        if isinstance(given, cls):
            return given
        if isinstance(given, Mechanism):
            return cls(given.key, tuple(given.settings().items()))
        if isinstance(given, str):
            return cls(given)
        if not isinstance(given, Mapping) or len(given) != 1:
            raise InputError(f"A mechanism of the scenario is {shown_key(given)}.")
        ((key, settings),) = given.items()
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
        return {self.key: dict(self.settings)} if self.settings else self.key


def shown_key(given: Any) -> str:
    """The end of a sentence about a mechanism that is none."""
    return f"{checks.shown(given)}: give a key such as htf, or 'htf: {{T: 5}}'"


def _built(key: str, settings: dict[Any, Any]) -> Mechanism:
    one = checks.one_of(key, list(all_mechanisms()), "mechanism")
    for name in settings:
        if checks.text(name, NAME_LENGTH, "name of a setting") == "epsilon":
            raise InputError("Epsilon belongs to the whole scenario: write it beside the city.")
    return mechanism(one)(**settings)


class _Part:
    """Fields that are declared as choices of the screen."""

    #: Options of the fields that have some.
    choices: ClassVar[dict[str, tuple[Any, ...]]]
    what: ClassVar[str]

    def plain(self) -> dict[str, Any]:
        """What differs from the defaults, for YAML and JSON."""
        found = {}
        for each in fields(self):  # type: ignore[arg-type]
            value = getattr(self, each.name)
            if value != each.default:
                found[each.name] = list(value) if isinstance(value, tuple) else value
        return found

    @classmethod
    def read(cls, given: Any) -> Self:
        """From a file."""
        if isinstance(given, cls):
            return given
        known = [each.name for each in fields(cls)]  # type: ignore[arg-type]
        return cls(**checks.entries(given, known, f"{cls.what} of a scenario"))


def _options(declared: type[param.Parameterized]) -> dict[str, tuple[Any, ...]]:
    kinds = ((name, declared.param[name]) for name in declared.param)
    return {name: tuple(p.objects) for name, p in kinds if isinstance(p, param.Selector)}


@dataclass(frozen=True)
class Looks(_Part):
    """How the maps are drawn, see `LookChoices`; nothing in it touches an answer."""

    right: str = LookChoices.right
    scale: str = LookChoices.scale
    scale_from: str = LookChoices.scale_from
    palette: str = LookChoices.palette
    truth: str = LookChoices.truth
    partition: bool = LookChoices.partition
    partition_over: str = LookChoices.partition_over

    choices = _options(LookChoices)
    what: ClassVar[str] = "look"

    def __post_init__(self) -> None:
        for name, choices in self.choices.items():
            checks.one_of(getattr(self, name), choices, f"look '{name}'")
        checks.flag(self.partition, "look 'partition'")


@dataclass(frozen=True)
class Sweep(_Part):
    """What the error curves of Compare are asked for, see `SweepChoices`.

    Parameters
    ----------
    mechanisms : keys
    workload, metric : as in the menus of the page
    at : epsilon of the ranking
    seeds : repetitions, 2 to 20
    """

    mechanisms: tuple[str, ...] = tuple(SweepChoices.chosen)
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
        for name, choices in self.choices.items():
            value = getattr(self, name)
            if name == "at":
                value = checks.number(value, MAX_EPSILON, "epsilon of the ranking")
                object.__setattr__(self, "at", value)
            checks.one_of(value, choices, f"sweep's '{name}'")
        low, high = SweepChoices.param.seeds.bounds
        checks.whole(self.seeds, low, high, "number of seeds in the sweep")
