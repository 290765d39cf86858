"""A scenario: everything that describes one screen, as one value."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Self

from explorer.errors import InputError
from explorer.grid.grid import Grid
from explorer.mechanisms import Mechanism
from explorer.mechanisms.limits import EPSILON_RANGE, MAX_EPSILON, MIN_EPSILON
from explorer.queries.boxes import MOST_BOXES
from explorer.scenario import checks
from explorer.scenario.choices import BOUNDS, GRID_SIDES, MAX_SEED, PlaceChoices
from explorer.scenario.parts import Box, Choice, Looks, Sweep, example_boxes

#: The version of the format; another one is refused by its number.
VERSION = 1
PAGES = ("explore", "compare", "learn")
_ENTRIES = (
    "scenario",
    "title",
    "about",
    "page",
    "lesson",
    "city",
    "side",
    "contribution_bound",
    "mechanisms",
    "epsilon",
    "seed",
    "release",
    "boxes",
    "look",
    "sweep",
)


@dataclass(frozen=True)
class Scenario:
    """Everything that describes one screen.

    Parameters
    ----------
    page : "explore", "compare" or "learn"
    lesson : str
        Key of the lesson, on the Learn page only.
    city : str
        Key of a city of the catalogue, see `explorer.cities.catalogue.cities`.
    side : 256, 512, 1024 or 2048
        Cells along each side of the grid; a city that is a matrix keeps the cells it has.
    contribution_bound : one of `BOUNDS`
        With k above 0 a record is a user, of whom at most k points count; 0 where the city has no
        users.
    mechanisms : sequence
        One for Explore, two for Compare (A and B), one or two for Learn: keys, instances,
        ``{"htf": {"T": 5}}`` or `Choice`. Without any the page's own: HTF, and Mosaic as B.
    epsilon : float
        Of each of them.
    seed : int or None
        The random noise of a preview. None stands for a release: its noise is in no scenario.
    boxes : sequence or None
        Rectangles (at most 200) in the grid's unit; None is the two examples of the page.
    look : Looks
    sweep : Sweep
        The error curves of Compare.
    title, about : str
        A name and one sentence, for a menu.

    Raises
    ------
    InputError
        One sentence that names the first field that cannot be used.

    Examples
    --------
    >>> one = Scenario(mechanisms=[{"htf": {"height": 12}}], epsilon=0.5, seed=3)
    >>> Scenario.from_link(one.to_link()) == Scenario.from_yaml(one.to_yaml()) == one
    True
    >>> one.made()[0].height
    12
    """

    page: str = "explore"
    lesson: str = ""
    city: str = PlaceChoices.city
    side: int = PlaceChoices.side
    contribution_bound: int = PlaceChoices.bound
    mechanisms: tuple[Choice, ...] = ()
    epsilon: float = 0.1
    seed: int | None = 1
    boxes: tuple[Box, ...] | None = None
    look: Looks = field(default_factory=Looks)
    sweep: Sweep = field(default_factory=Sweep)
    title: str = ""
    about: str = ""

    def __post_init__(self) -> None:
        checks.one_of(self.page, PAGES, "page")
        clean: dict[str, Any] = {
            "lesson": checks.text(self.lesson, 60, "lesson"),
            "city": checks.text(self.city, 80, "city"),
            "title": checks.text(self.title, 80, "title"),
            "about": checks.text(self.about, 300, "sentence 'about'"),
            "side": checks.one_of(self.side, GRID_SIDES, "grid side"),
            "contribution_bound": checks.one_of(
                self.contribution_bound, BOUNDS, "contribution bound"
            ),
            "epsilon": _epsilon(self.epsilon),
            "mechanisms": _mechanisms(self.page, self.mechanisms),
            "boxes": _boxes(self.boxes),
            "look": Looks.read(self.look),
            "sweep": Sweep.read(self.sweep),
        }
        if not clean["city"]:
            raise InputError("The scenario names no city: give a key such as madeup.")
        if clean["lesson"] and self.page != "learn":
            raise InputError(
                "Only a scenario of the page learn has a lesson: leave the lesson out."
            )
        if self.seed is not None:
            checks.whole(self.seed, 0, MAX_SEED, "seed")
        for name, value in clean.items():
            object.__setattr__(self, name, value)

    def made(self) -> tuple[Mechanism, ...]:
        """The mechanisms, ready to release."""
        return tuple(each.made(self.epsilon) for each in self.mechanisms)

    def boxes_on(self, grid: Grid) -> tuple[Box, ...]:
        """The boxes, or the two examples of the page on ``grid`` where the scenario has none."""
        return example_boxes(grid) if self.boxes is None else self.boxes

    def to_dict(self) -> dict[str, Any]:
        """Plain values as a YAML file has them; what is the default is left out."""
        said: dict[str, Any] = {"scenario": VERSION}
        for name in ("title", "about"):
            if getattr(self, name):
                said[name] = getattr(self, name)
        said["page"] = self.page
        if self.lesson:
            said["lesson"] = self.lesson
        said |= {"city": self.city, "side": self.side}
        if self.contribution_bound:
            said["contribution_bound"] = self.contribution_bound
        said["mechanisms"] = [each.plain() for each in self.mechanisms]
        said["epsilon"] = self.epsilon
        said |= {"release": True} if self.seed is None else {"seed": self.seed}
        if self.boxes is not None:
            said["boxes"] = [box.plain() for box in self.boxes]
        for name in ("look", "sweep"):
            if part := getattr(self, name).plain():
                said[name] = part
        return said

    @classmethod
    def from_dict(cls, given: Any) -> Self:
        """The scenario of plain values; raises `InputError` as the constructor does."""
        if not isinstance(given, Mapping) or "scenario" not in given:
            raise InputError("This is not a scenario: its first entry is 'scenario: 1'.")
        version = given["scenario"]
        if version != VERSION or isinstance(version, bool):
            raise InputError(
                f"This scenario has version {checks.shown(version)} and this explorer reads "
                f"version {VERSION}: open it with another version of the explorer."
            )
        said = dict(checks.entries(given, _ENTRIES, "scenario"))
        del said["scenario"]
        if checks.flag(said.pop("release", False), "entry 'release'"):
            if "seed" in said:
                raise InputError("A release has no seed: leave out 'seed', or 'release: true'.")
            said["seed"] = None
        elif "seed" in said and said["seed"] is None:
            raise InputError("The seed of the scenario is empty: give a whole number.")
        return cls(**said)

    def to_yaml(self) -> str:
        """A file for people to read and edit."""
        from explorer.scenario.yaml_file import write

        return write(self.to_dict())

    @classmethod
    def from_yaml(cls, text: str | bytes) -> Self:
        """The scenario of a YAML file; it may come from anywhere."""
        from explorer.scenario.yaml_file import read

        return cls.from_dict(read(text))

    def to_link(self) -> str:
        """A short text for an address, ``?s=...``: letters, digits, ``-`` and ``_`` only."""
        from explorer.scenario.link import write

        return write(self.to_dict())

    @classmethod
    def from_link(cls, text: str) -> Self:
        """The scenario of a link's text; it may come from anywhere."""
        from explorer.scenario.link import read

        return cls.from_dict(read(text))


def _epsilon(value: Any) -> float:
    checks.number(value, 1e18, "epsilon")
    if not MIN_EPSILON <= value <= MAX_EPSILON:
        raise InputError(
            f"The epsilon of the scenario is {value:g}: give a number, {EPSILON_RANGE}."
        )
    return float(value)


def _mechanisms(page: str, given: Any) -> tuple[Choice, ...]:
    found = tuple(Choice.read(each) for each in checks.listed(given, 2, "mechanisms"))
    if page == "compare":
        if len(found) == 1:
            raise InputError("A scenario of the page compare has two mechanisms: give A and B.")
        return found or (Choice("htf"), Choice("mosaic"))
    if page == "explore" and len(found) > 1:
        raise InputError("A scenario of the page explore has one mechanism: give one.")
    return found or (Choice("htf"),)


def _boxes(given: Any) -> tuple[Box, ...] | None:
    if given is None:
        return None
    return tuple(Box.read(each) for each in checks.listed(given, MOST_BOXES, "boxes"))
