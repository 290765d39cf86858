"""The parts of a scenario: mechanisms with their settings, boxes, looks, a sweep."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, fields
from typing import Any, ClassVar, Self

from explorer.errors import InputError
from explorer.grid.grid import Grid
from explorer.mechanisms import Mechanism, all_mechanisms, first_compared, mechanism
from explorer.mechanisms.limits import MAX_EPSILON
from explorer.queries.boxes import NAME_LENGTH, examples, rounded
from explorer.scenario import checks

#: No projected coordinate on the Earth is larger.
_FARTHEST = 1e8


@dataclass(frozen=True)
class Box:
    """A named rectangle in the grid's unit (metres or cells), edges rounded to a thousandth.

    Raises
    ------
    InputError
        For edges that are not finite numbers or enclose nothing, or a name of more than 40 signs.
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
                "A box of the scenario encloses nothing: give west, south, east, north with west "
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
    """Fields that each have one value of a list, or are true or false."""

    choices: ClassVar[Mapping[str, tuple[Any, ...]]]
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


@dataclass(frozen=True)
class Looks(_Part):
    """How the maps are drawn; nothing in it touches an answer. Fields as in the app's drawer."""

    right: str = "private"
    scale: str = "log"
    scale_from: str = "data"
    palette: str = "cividis"
    truth: str = "points"
    partition: bool = True
    partition_over: str = "private"

    what: ClassVar[str] = "look"
    choices: ClassVar[Mapping[str, tuple[Any, ...]]] = {
        "right": ("private", "difference"),
        "scale": ("log", "linear"),
        "scale_from": ("data", "release"),
        "palette": ("cividis", "magma"),
        "truth": ("points", "counts"),
        "partition_over": ("private", "truth", "both"),
    }

    def __post_init__(self) -> None:
        for name, choices in self.choices.items():
            checks.one_of(getattr(self, name), choices, f"look '{name}'")
        checks.flag(self.partition, "look 'partition'")


@dataclass(frozen=True)
class Sweep(_Part):
    """What the error curves of Compare are asked for.

    Parameters
    ----------
    mechanisms : keys
    workload, metric : as in the menus of the page
    at : epsilon of the ranking
    seeds : repetitions, 2 to 20
    """

    mechanisms: tuple[str, ...] = first_compared()
    workload: str = "random"
    metric: str = "mreRho"
    at: float = 0.1
    seeds: int = 5

    what: ClassVar[str] = "sweep"
    choices: ClassVar[Mapping[str, tuple[Any, ...]]] = {
        "workload": ("random", "sq2", "sq6", "sq10", "drawn"),
        "metric": ("mreRho", "mre20", "mae", "rmse", "mreRho median", "smape"),
        "at": tuple(e for e in (0.01, 0.03, 0.1, 0.3, 1.0, 3.0, 10.0) if e <= MAX_EPSILON),
    }

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
        checks.whole(self.seeds, 2, 20, "number of seeds in the sweep")
