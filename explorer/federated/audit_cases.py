"""What the audit of federated maps tries: people, neighbours, settings, weather.

Cases of `privacy.audit.cases` are counts of a map; here they are people, with places of their own,
of whom any part may drop out. Half of the cases are directed: so many people have a place that one
more turns a decision of the run (a cell divided or given up, one round more, another level). Where
that is, is searched for with the run itself, so it is right whatever the run looks at.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from explorer.federated.mechanism import Federated
from explorer.federated.people import People
from explorer.federated.places import Ints, code_type, depth_of, morton
from explorer.federated.replay import STYLES
from explorer.grid.grid import Grid
from explorer.privacy.audit.cases import NEIGHBOURS, Chooser
from explorer.releases.distributed import DistributedRelease

ALGORITHMS = (
    "people", "people", "people", "mended", "mended", "paper", "paper", "paper",
    "flat", "hierarchical", "count-min", "adaptive grid", "decomposition",
)  # fmt: skip
"""What is tried, refining algorithms more often; "sampling" claims no privacy."""

OPTIONS: Mapping[str, Mapping[str, Sequence[Any]]] = {
    "people": {"furthest": (1, 2, 3)},
    "mended": {"furthest": (1, 2, 3)},
    "paper": {
        "k": (0.5, 1.0, 2.0),
        "threshold": (None, None, 3.0, 10.0),
        "equal_rounds": (None, None, 2, 5),
        "collapse": (0.25, 0.25, 0.0, 0.5),
        "sigma": ("next round", "one shard", "both rounds"),
        "given_up": ("may return", "closed"),
        "growth": (0.0, 0.05),
    },
    "flat": {"level": (None, 1, 2)},
    "decomposition": {"more_for": ("small cells", "large cells")},
    "adaptive grid": {"grid_epsilon": ("whole", "by shards")},
}
"""Options of the algorithms, c and b not included."""


class Weather(np.random.Generator):
    """A seeded source of samples and dropouts in which more people drop out than was expected.

    Parameters
    ----------
    seed : whole number
    storm : 1 leaves chances as they are; below it people drop out more often by as much
    """

    def __init__(self, seed: int, storm: float) -> None:
        super().__init__(np.random.PCG64(seed))
        self.storm = storm

    def random(self, *size: Any, **named: Any) -> Any:
        """Numbers of 0 to `storm`: who gets less than the share of dropouts is gone."""
        return super().random(*size, **named) * self.storm


@dataclass(frozen=True)
class Case:
    """Settings, people and some of them whose vectors become zero.

    Attributes
    ----------
    settings, options : of `Federated`, those of its algorithm separately
    people : People
    persons : whose vector is zero in each neighbour
    style : of the outcomes, see `replay.STYLES`
    seed, storm : of samples, dropouts and noise, see `Weather`
    prior : an earlier release of other people, whose last cells are asked about
    declared : whether the number of people is the one of the settings; else the exact one, publicly
    """

    settings: Mapping[str, Any]
    options: Mapping[str, Any]
    people: People
    persons: tuple[int, ...]
    style: str
    seed: int
    storm: float = 1.0
    prior: DistributedRelease | None = None
    declared: bool = False

    def without(self, person: int) -> People:
        """Neighbouring people: her vector is zero; of a declared number the last is not there."""
        gone = self.declared and person == len(self.people) - 1
        return without_last(self.people) if gone else self.people.without(person)

    @property
    def mechanism(self) -> Federated:
        """With the options of its algorithm."""
        return Federated(**self.settings, **self.options)

    @property
    def rng(self) -> Weather:
        """The same for both sets of people."""
        return Weather(self.seed, self.storm)

    def describe(self, person: int) -> str:
        """A pair in one sentence."""
        settings = {**self.settings, **self.options}
        settings_text = ", ".join(f"{name}={value!r}" for name, value in settings.items())
        earlier = "" if self.prior is None else ", on an earlier release"
        earlier += ", declared" if self.declared else ""
        return (
            f"{settings_text}; {self.people!r}, person {person}, outcomes {self.style}, "
            f"seed {self.seed}, storm {self.storm}{earlier}"
        )


Look = Callable[[Case], Any]
"""What a run of a case without noise decided: its trees, or the number of its rounds."""


def draw_case(choose: Chooser, look: Look, algorithms: Sequence[str] = ALGORITHMS) -> Case:
    """A case: at most 4,500 people on a square of at most 64 x 64 cells, 128 x 128 of sketches."""
    algorithm = _one_of(choose, algorithms)
    people = _people(algorithm, choose)
    settings, options = _settings(algorithm, people, choose), _options(algorithm, choose)
    seed, storm = choose.whole(0, 2**40), _one_of(choose, (1.0, 1.0, 1.0, 0.5, 0.25))
    prior = None
    if algorithm == "people" and choose.whole(0, 3) == 0:
        prior = _earlier(people, settings, choose)
    case = Case(settings, options, people, (), _one_of(choose, STYLES), seed, storm, prior)
    there = _with_places(people)
    fixed: tuple[int, ...] = ()
    if algorithm != "count-min" and choose.whole(0, 1):
        number = _turn(case, look, choose)
        people = people.first(number)
        # With the last of them a decision turns, unless noise hides it.
        case = Case(settings, options, people, (), "still", seed, storm, prior)
        fixed, there = (number - 1,), there[there < number]
    persons = fixed + tuple(int(_one_of(choose, there)) for _ in range(NEIGHBOURS - len(fixed)))
    declared = not fixed and choose.whole(0, 2) > 0
    if declared:
        persons = (len(people) - 1, *persons[1:])
        settings["people"] = len(people) + choose.whole(0, len(people))
    return Case(settings, options, people, persons, case.style, seed, storm, prior, declared)


LARGE_SIDES = (64, 128, 256)
LARGE_ALGORITHMS = ("people", "mended", "adaptive grid")
"""Those that refine, to depths that small grids do not have."""


def draw_large_case(choose: Chooser, number: int = 0) -> Case:
    """A case of 64 to 256 cells a side and up to 8 places each; the first is as large as can be."""
    algorithm = LARGE_ALGORITHMS[number % len(LARGE_ALGORITHMS)]
    rng = np.random.default_rng(choose.whole(0, 2**32))
    side = LARGE_SIDES[-1] if number == 0 else _one_of(choose, LARGE_SIDES)
    grid, places = Grid.cells((side, side)), _one_of(choose, (1, 2, 3, 5, 8))
    per = np.ones(20_000, dtype=np.int64) if places == 1 else rng.integers(0, places + 1, 20_000)
    total = int(per.sum())
    row, col = ((rng.exponential(side / 16, total)).astype(int) % side for _ in range(2))
    cells, offsets = morton(col, row), np.concatenate([[0], np.cumsum(per)])
    people = People(cells.astype(code_type(depth_of(grid))), grid)
    if places > 1:
        people = People(cells, grid, offsets=offsets, places=places)
    settings = {
        "epsilon": _one_of(choose, (2.0, 4.0, 8.0)), "algorithm": algorithm, "people": None,
        "shard": 2_000, "dropped": _one_of(choose, (0.0, 0.05)), "corrupt": 0.0,
        "depth": people.depth, "c": 0.05, "b": 1.0,
    }  # fmt: skip
    there = _with_places(people)
    persons = tuple(int(_one_of(choose, there)) for _ in range(2))
    style, seed = _one_of(choose, STYLES), choose.whole(0, 2**40)
    return Case(settings, {}, people, persons, style, seed)


def _one_of(choose: Chooser, options: Sequence[Any] | Ints) -> Any:
    return options[choose.whole(0, len(options) - 1)]


def _settings(algorithm: str, people: People, choose: Chooser) -> dict[str, Any]:
    # Tables of shares grow as S / epsilon.
    least = 0.4 if people.places == 1 else 1.5
    epsilon = least * (8 / least) ** (choose.whole(0, 1000) / 1000)
    dropped = _one_of(choose, (0.0, 0.0, 0.05, 0.1, 0.3))
    corrupt = 0.0 if dropped > 0.2 else _one_of(choose, (0.0, 0.0, 0.05, 0.3))
    # A shard of few has no one honest left for sure if many may fail.
    fewest = 2 if dropped == corrupt == 0 else 60
    size = _one_of(choose, (fewest, 60, 200, 1_000, 10_000))
    sample_size = _one_of(choose, (None, None, len(people), max(60, 2 * len(people) // 3)))
    return {
        "epsilon": float(f"{epsilon:.{_one_of(choose, (1, 2, 17))}g}"),
        "algorithm": algorithm,
        "people": sample_size,
        "shard": max(size, len(people) // 40),
        "dropped": dropped,
        "corrupt": corrupt,
        "depth": people.depth if choose.whole(0, 2) else choose.whole(1, people.depth),
        # Where c is large a tree that comes and goes costs 64 rounds, each with tables of its own.
        "c": _one_of(choose, (0.05, 0.1, 0.3, 0.5, *(() if algorithm == "paper" else (1.0, 2.0)))),
        "b": _one_of(choose, (1.0, 1.5, 2.0, 3.0, 5.0)),
    }


def _options(algorithm: str, choose: Chooser) -> dict[str, Any]:
    choices = OPTIONS.get(algorithm, {})
    if choose.whole(0, 1):
        return {}
    return {name: _one_of(choose, values) for name, values in choices.items() if choose.whole(0, 1)}


def _people(algorithm: str, choose: Chooser) -> People:
    """Places of some people: anywhere, about a corner, in one cell, in order of places or not."""
    rng = np.random.default_rng(choose.whole(0, 2**32))
    # Where people are the budget 2,000 are asked in one round, 3,000 in two.
    many = algorithm == "people" and choose.whole(0, 2) > 0
    number = choose.whole(2_000, 4_500) if many else choose.whole(60, 300)
    # Trees begin with 8 x 8 cells, those of the paper with 2 x 2; sketches need large levels.
    sides = {"people": (8, 32, 32, 64), "mended": (8, 32, 32, 64), "count-min": (128,)}
    side = _one_of(choose, sides.get(algorithm, (4, 8, 8, 12)))
    rows, cols = (choose.whole(max(2, side - 3), side) for _ in range(2))
    grid = Grid.cells((rows, cols))
    places = _one_of(choose, (1, 1, 1, 2, 4))
    per = np.ones(number, dtype=np.int64) if places == 1 else rng.integers(0, 5, number)
    total = int(per.sum())
    kind = choose.whole(0, 3)
    row, col = (rng.integers(0, side, total) for side in (rows, cols))
    if kind == 1:
        row, col = ((rng.exponential(side / 6, total)).astype(int) % side for side in (rows, cols))
    elif kind == 2:
        hot = rng.random(total) < 0.8
        row, col = np.where(hot, rows - 1, row), np.where(hot, cols // 2, col)
    cells = morton(col, row)
    cells[rng.random(total) < _one_of(choose, (0.0, 0.1))] = -1
    if places == 1:
        if choose.whole(0, 1):
            cells = np.sort(cells)
        return People(cells.astype(code_type(depth_of(grid))), grid)
    visits = rng.integers(1, 9, total) if choose.whole(0, 1) else None
    offsets = np.concatenate([[0], np.cumsum(per)])
    return People(cells, grid, offsets=offsets, visits=visits, places=places)


def without_last(people: People) -> People:
    """All people but the last, who is not there at all; they have no answers."""
    if people.offsets is None:
        return People(people.cells[:-1], people.grid, places=people.places)
    end, offsets = int(people.offsets[-2]), people.offsets[:-1]
    visits = None if people.visits is None else people.visits[:end]
    cells = people.cells[:end]
    return People(cells, people.grid, offsets=offsets, visits=visits, places=people.places)


def _with_places(people: People) -> Ints:
    """Who has any place inside."""
    if people.offsets is None:
        return np.flatnonzero(people.cells >= 0)
    inside = np.concatenate([[0], np.cumsum(people.cells >= 0)])
    return np.flatnonzero(np.diff(inside[people.offsets]) > 0)


def _turn(case: Case, look: Look, choose: Chooser) -> int:
    """How many of the people need places for the last one's to turn what `look` sees.

    From no one on or from any number, since a run turns at more than one.
    """
    many = len(case.people)
    few = choose.whole(0, 1) and choose.whole(0, many - 2)

    def seen(number: int) -> Any:
        people = case.people.first(number)
        return look(Case(**{**vars(case), "people": people, "style": "still"}))

    before = seen(few)
    while many - few > 1:
        middle = (few + many) // 2
        if seen(middle) == before:
            few = middle
        else:
            many = middle
    return many


def _earlier(people: People, settings: Mapping[str, Any], choose: Chooser) -> DistributedRelease:
    """A release of other people of the same grid."""
    rng = np.random.default_rng(choose.whole(0, 2**32))
    rows, cols = people.grid.shape
    cells = morton(rng.integers(0, cols, 400), rng.integers(0, rows, 400))
    algorithm, c = _one_of(choose, ("people", "mended")), 1.0
    other = {**settings, "epsilon": 4.0, "algorithm": algorithm, "c": c, "people": None}
    safe = {"dropped": 0.0, "corrupt": 0.0}
    return Federated(**{**other, **safe}).release(People(cells, people.grid), rng=1)
