"""A scenario: everything that describes one screen, as one value."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any, Self

from explorer.errors import InputError
from explorer.grid.grid import Grid
from explorer.mechanisms import Mechanism
from explorer.privacy.epsilon_range import EPSILON_RANGE, MAX_EPSILON, MIN_EPSILON, above_largest
from explorer.queries.boxes import MOST_BOXES
from explorer.scenario import checks
from explorer.scenario.boxes import Box, Polygon, Row, is_polygon
from explorer.scenario.choices import MAX_SEED, PlaceChoices, checked_places
from explorer.scenario.encoding import read_link, read_yaml, write_link, write_yaml
from explorer.scenario.kinds import MAPS, Kind, kind_of
from explorer.scenario.parts import Choice, Look, Pair, Sweep, mechanism

#: The version of the format; another one is refused by its number.
VERSION = 1
#: No lesson has as many steps as a file may name.
MOST_LESSON_STEPS = 99
PAGES = ("explore", "compare", "learn", "trips", "country", "federated")
#: Entries of a file that are written where they say something, in their order.
_SIMPLE = (
    *("title", "about", "page", "lesson", "lesson_step"),
    *("city", "places", "side", "contribution_bound"),
)
_PARTS = ("look", "sweep", "pair")
_ENTRIES = ("scenario", *_SIMPLE, "mechanisms", "epsilon", "seed", "release", "boxes", *_PARTS)


@dataclass(frozen=True)
class Scenario:
    """Everything that describes one screen.

    Parameters
    ----------
    page : "explore", "compare", "learn", "trips", "country" or "federated"
    lesson : str
        Key of the lesson, on the Learn page only.
    lesson_step : int, 0 to 99
        The step inside the lesson, counted from 1; 0 is the one that its reader has come to.
    city : str
        Key of a city of the catalogue, see `explorer.cities.catalogue.cities`; of the page trips
        that of a set of trips, see `explorer.cities.trip_sets.trip_sets`; of the page country that
        of a country, see `explorer.cities.countries.countries`.
    places : str
        Places of the trips in order, such as "o,d" or "o,s1,d"; on the page trips only.
    side : one of `GRID_SIDES`, for trips one of `TRIP_SIDES`, for areas one of `CELLS`
        Cells along each side of the grid (for trips of every place), of areas the metres of a
        cell's sides; a city that is a matrix keeps the cells it has.
    contribution_bound : one of `BOUNDS`, on the page federated 0 or 1
        With k above 0 a record is a user, of whom at most k points count; 0 where the city has no
        users.
    mechanisms : sequence
        Two for Compare (A and B), one or two for Learn, one for other pages: keys, instances,
        ``{"htf": {"T": 5}}`` or `Choice`. Without any the page's own: HTF, and Mosaic as B; for
        trips Gravity, for areas Country, for people Federated.
    epsilon : float
        Of each of them; 0.1, for trips and people 1.
    seed : int or None
        The random noise of a preview. None represents a release: its noise is in no scenario.
    boxes : sequence or None
        Rectangles and polygons (at most 200) in the grid's unit, for trips a `Row` with one for
        each place; None is the two examples of the page, on the page country none.
    look : Looks, for trips TripLooks, for areas AreaLooks, for people PeopleLooks
    sweep : Sweep
        The error curves of Compare.
    pair : Pair
        What is next to A and B on Compare, and whether their noise is the same.
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
    lesson_step: int = 0
    # What depends on the page is filled in below.
    city: str = None  # type: ignore[assignment]
    places: str = ""
    side: int = None  # type: ignore[assignment]
    contribution_bound: int = PlaceChoices.bound
    mechanisms: tuple[Choice, ...] = ()
    epsilon: float = None  # type: ignore[assignment]
    seed: int | None = 1
    boxes: tuple[Box | Polygon, ...] | tuple[Row, ...] | None = None
    look: Look = None  # type: ignore[assignment]
    sweep: Sweep = field(default_factory=Sweep)
    pair: Pair = field(default_factory=Pair)
    title: str = ""
    about: str = ""

    def __post_init__(self) -> None:
        checks.one_of(self.page, PAGES, "page")
        kind = self.kind
        look: Any = self.look

        def given(name: str) -> Any:
            value = getattr(self, name)
            return kind.default(name) if value is None else value

        clean: dict[str, Any] = {
            "lesson": checks.text(self.lesson, 60, "lesson"),
            "lesson_step": checks.whole(
                self.lesson_step, 0, MOST_LESSON_STEPS, "step of the lesson"
            ),
            "city": checks.text(given("city"), 80, "city"),
            "title": checks.text(self.title, 80, "title"),
            "about": checks.text(self.about, 300, "sentence 'about'"),
            "places": _places(kind, self.places),
            "side": checks.one_of(given("side"), kind.options("side"), "grid side"),
            "contribution_bound": checks.one_of(
                self.contribution_bound, kind.options("bound"), "contribution bound"
            ),
            "epsilon": _epsilon(kind, self.epsilon),
            "mechanisms": _mechanisms(self.page, kind, self.mechanisms),
            "boxes": _boxes(kind, self.boxes),
            "look": kind.look.read({} if look is None else look),
            "sweep": Sweep.read(self.sweep),
            "pair": Pair.read(self.pair),
        }
        if not clean["city"]:
            raise InputError("The scenario names no city: give a key such as madeup.")
        if clean["lesson"] and self.page != "learn":
            raise InputError(
                "Only a scenario of the page learn has a lesson: leave the lesson out."
            )
        if clean["lesson_step"] and not clean["lesson"]:
            raise InputError(
                "The scenario names a step of a lesson and no lesson: give the lesson, too."
            )
        if clean["places"]:
            _fit(clean["boxes"] or (), clean["places"])
        if kind is not MAPS and clean["sweep"] != Sweep():
            raise InputError(f"The page {self.page} has no error curves: leave the sweep out.")
        if self.page != "compare" and clean["pair"] != Pair():
            raise InputError(
                "Only a scenario of the page compare has two maps and a third beside them: leave "
                "the pair out."
            )
        if self.seed is not None:
            checks.whole(self.seed, 0, MAX_SEED, "seed")
        for name, value in clean.items():
            object.__setattr__(self, name, value)

    @property
    def kind(self) -> Kind:
        """What its page is about: maps, trips, areas or people."""
        return kind_of(self.page)

    def made(self) -> tuple[Mechanism, ...]:
        """The mechanisms, ready to release."""
        return tuple(choice.made(self.epsilon) for choice in self.mechanisms)

    def boxes_on(self, *grids: Grid) -> tuple[Box | Polygon, ...] | tuple[Row, ...]:
        """The boxes, or the page's examples where it has none, on the grid of every place."""
        return self.kind.examples(*grids) if self.boxes is None else self.boxes

    def to_dict(self) -> dict[str, Any]:
        """Plain values as a YAML file has them; what is the default is left out."""
        plain: dict[str, Any] = {"scenario": VERSION}
        plain |= {name: getattr(self, name) for name in _SIMPLE if getattr(self, name)}
        plain["mechanisms"] = [choice.plain() for choice in self.mechanisms]
        plain["epsilon"] = self.epsilon
        plain |= {"release": True} if self.seed is None else {"seed": self.seed}
        if self.boxes is not None:
            plain["boxes"] = [box.plain() for box in self.boxes]
        for name in _PARTS:
            if part := getattr(self, name).plain():
                plain[name] = part
        return plain

    @classmethod
    def from_dict(cls, document: Any) -> Self:
        """The scenario of plain values; raises `InputError` as the constructor does."""
        entries = checks.of_version(document, "scenario", VERSION, _ENTRIES)
        if checks.flag(entries.pop("release", False), "entry 'release'"):
            if "seed" in entries:
                raise InputError("A release has no seed: leave out 'seed', or 'release: true'.")
            entries["seed"] = None
        elif "seed" in entries and entries["seed"] is None:
            raise InputError("The seed of the scenario is empty: give a whole number.")
        for name in ("city", "side", "epsilon", "look"):
            if name in entries and entries[name] is None:
                raise InputError(f"The {name} of the scenario is empty: give one or leave it out.")
        return cls(**entries)

    def to_yaml(self) -> str:
        """A file for people to read and edit."""
        return write_yaml(self.to_dict())

    @classmethod
    def from_yaml(cls, text: str | bytes) -> Self:
        """The scenario of a YAML file; it may come from anywhere."""
        return cls.from_dict(read_yaml(text))

    def to_link(self) -> str:
        """A short text for an address, ``?s=...``: letters, digits, ``-`` and ``_`` only."""
        return write_link(self.to_dict())

    @classmethod
    def from_link(cls, text: str) -> Self:
        """The scenario of a link's text; it may come from anywhere."""
        return cls.from_dict(read_link(text))


def _epsilon(kind: Kind, value: Any) -> float:
    if value is None:
        return kind.epsilon
    checks.number(value, 1e18, "epsilon")
    if not MIN_EPSILON <= value <= MAX_EPSILON:
        raise InputError(
            f"The epsilon of the scenario is {value:g}{above_largest(value)}: give a number, "
            f"{EPSILON_RANGE}."
        )
    return float(value)


def _mechanisms(page: str, kind: Kind, entries: Any) -> tuple[Choice, ...]:
    choices = tuple(Choice.read(value) for value in checks.listed(entries, 2, "mechanisms"))
    kinds = kind.known()
    for choice in choices:
        if choice.key not in kinds:
            raise InputError(
                f"{mechanism(choice.key).title} is not for {kind.about}: choose one of "
                f"{', '.join(kinds)} for the page {page}."
            )
        for name in kind.unsaid:
            if name in dict(choice.settings):
                raise InputError(
                    f"The setting {name} of {mechanism(choice.key).title} is no choice of a "
                    "screen: leave it out."
                )
    if page == "compare":
        if len(choices) == 1:
            raise InputError("A scenario of the page compare has two mechanisms: give A and B.")
        return choices or tuple(map(Choice, kind.mechanisms))
    if page != "learn" and len(choices) > 1:
        raise InputError(f"A scenario of the page {page} has one mechanism: give one.")
    return choices or (Choice(kind.mechanisms[0]),)


def _places(kind: Kind, value: Any) -> str:
    if kind.default("places"):
        return kind.default("places") if value == "" else checked_places(value)
    if value != "":
        raise InputError("Only a scenario of the page trips has places: leave the places out.")
    return ""


def _boxes(kind: Kind, value: Any) -> tuple[Any, ...] | None:
    if value is None:
        return None
    boxes = tuple(
        Polygon.read(entry) if is_polygon(entry) else kind.box.read(entry)
        for entry in checks.listed(value, MOST_BOXES, "boxes")
    )
    if kind.box is Row and any(isinstance(box, Polygon) for box in boxes):
        raise InputError(
            "A polygon is a question to one map, and a row of the page trips asks about several: "
            "give boxes."
        )
    return boxes


def _fit(rows: Sequence[Row], places: str) -> None:
    """Refuse a row about another number of places."""
    count = len(places.split(","))
    for number, row in enumerate(rows, 1):
        if len(row.boxes) != count:
            raise InputError(
                f"Row {number} of the scenario has {len(row.boxes)} boxes and its trips have "
                f"{count} places, {places}: give a box, or anywhere, for each place."
            )
