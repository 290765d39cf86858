"""The audit of federated maps: replay of whole releases on people one of whom has no places.

The door is that of `Asking`: every shard of a run is written down (`replay.Recorder`), and its sums
are forced on neighbours. Whatever is public must be the same: who is asked, shards, survivors,
numbers of a vector, shape of the noise, prices, and the release with all that can be reached from
it, also where one person of a declared number is not there at all. The loss over all shards, with
the shares of corrupt people taken off, is at most epsilon; so is what the books of the rounds show
for one person.

Given the sums, what is public depends on no place. So the sums are forced on no one's places, too:
a decision that reads exact counts then goes another way, however few neighbours would turn it.
"""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from explorer.errors import InputError
from explorer.federated.mechanism import Federated
from explorer.federated.people import People
from explorer.federated.places import Ints, code_type, depth_of, morton
from explorer.federated.shards import Hook, Shard
from explorer.grid.grid import Grid
from explorer.privacy.audit import distributions
from explorer.privacy.audit.audit import Finding
from explorer.privacy.audit.cases import NEIGHBOURS, Seeded, one_of
from explorer.privacy.audit.loss import PER_EPSILON, Breach, budget
from explorer.privacy.audit.surface import difference, surface
from explorer.releases.distributed import ONCE, DistributedRelease
from explorer.releases.rounds import Heard
from explorer.releases.units import UNITS_PER_EPSILON

STYLES = ("fair", "still", "up", "down")
"""Sums as drawn; without noise; with noise above zero; below zero: possible outcomes all."""

ROUNDING = 1e-9
"""Logarithms are floats: a loss may pass epsilon by this part of it."""


@dataclass
class Recorder:
    """Writes down every shard; gives its sums in one of the `STYLES`."""

    style: str

    def __post_init__(self) -> None:
        self.shards: list[Shard] = []
        self.noise: list[Ints | None] = []

    def __call__(self, shard: Shard) -> Ints | None:
        """See `shards.Hook`."""
        if shard.exact is None or shard.noisy is None:
            self.shards.append(shard)
            self.noise.append(None)
            return None
        noise = shard.noisy - shard.exact
        self.noise.append(noise)
        sums = {
            "fair": shard.noisy,
            "still": shard.exact,
            "up": shard.exact + np.abs(noise),
            "down": shard.exact - np.abs(noise),
        }[self.style]
        self.shards.append(replace(shard, noisy=sums))
        return sums.copy()


class Replayer:
    """Forces written sums, and adds up how much likelier they were where they were written.

    `corrupt` is the share of a shard's people whose noise the server knows and takes off; without
    `neighbours`, where many vectors differ, no likelihood is worked out.
    """

    def __init__(self, recorder: Recorder, corrupt: float = 0.0, neighbours: bool = True) -> None:
        self.shards, self.noise, self.corrupt = recorder.shards, recorder.noise, corrupt
        self.position, self.loss, self._neighbours = 0, 0.0, neighbours

    def __call__(self, shard: Shard) -> Ints | None:
        """See `shards.Hook`; raises a Breach for another question."""
        if self.position == len(self.shards):
            raise Breach(f"the neighbours are asked once more, in round {shard.round}")
        written, drawn = self.shards[self.position], self.noise[self.position]
        self.position += 1
        where = difference(_question(written), _question(shard), "the question")
        if where is not None:
            raise Breach(f"{where} of round {shard.round} differs")
        if shard.exact is None or written.exact is None or written.noisy is None:
            return None
        if shard.noisy is None or not np.array_equal(shard.noisy - shard.exact, drawn):  # type: ignore[arg-type]
            raise Breach(f"the noise of round {shard.round} differs")
        if self._neighbours:
            self.loss += self._loss(shard, written.exact, shard.exact, written.noisy)
        return written.noisy.copy()

    def _loss(self, shard: Shard, one: Ints, other: Ints, noisy: Ints) -> float:
        price = self._shape(shard), shard.units, shard.sensitivity
        # Where both are the same they cancel; few differ.
        moved = np.flatnonzero(one != other)
        here = log_probability(noisy[moved] - one[moved], *price)
        there = log_probability(noisy[moved] - other[moved], *price)
        return float((here - there).sum())

    def _shape(self, shard: Shard) -> float:
        """Shape of the noise that the server does not know: at least one honest share."""
        n_corrupt = math.floor(self.corrupt * len(shard.members) + 1e-9)
        survivors = int(np.count_nonzero(shard.there))
        return shard.shape * max(survivors - n_corrupt, 1) / survivors

    def finish(self) -> None:
        """Refuse a run that asked for less than was written."""
        if self.position < len(self.shards):
            raise Breach("the neighbours are asked less")


def _question(shard: Shard) -> tuple[Any, ...]:
    """What is public of a shard: all but its sums."""
    return (
        shard.round,
        shard.number,
        shard.members,
        shard.there,
        shard.counters,
        shard.shape,
        shard.units,
        shard.sensitivity,
        shard.exact is None,
    )


Floats = NDArray[np.float64]


def log_probability(noise: Ints, shape: float, units: int, sensitivity: int = 1) -> Floats:
    """Logarithm of the probability of each noise, the difference of two NB(a, q), (n,).

    2a ln(1-q) + |z| ln q + ln Gamma(a+|z|) - ln Gamma(a) - ln |z|! + ln F(a, a+|z|; |z|+1; q^2),
    F = 2F1, q = exp(-epsilon / S), a = m / n_min of m survivors. For a = 1 it is discrete Laplace
    noise, ln((1-q)/(1+q)) + |z| ln q.

    Parameters
    ----------
    noise : z, whole numbers
    shape : a, above 0
    units, sensitivity : price in 10^-12 epsilon, S

    >>> float(np.exp(log_probability(np.array([0]), 1.0, 10**12))[0]).__round__(6)
    0.462117
    """
    from scipy.special import gammaln, hyp2f1

    decay = units / (UNITS_PER_EPSILON * sensitivity)
    q = math.exp(-decay)
    sizes, where = np.unique(np.abs(noise), return_inverse=True)
    z = sizes.astype(np.float64)
    log = 2.0 * shape * math.log(-math.expm1(-decay)) - z * decay
    log += gammaln(shape + z) - gammaln(shape) - gammaln(z + 1.0)
    log += np.log(hyp2f1(shape, shape + z, z + 1.0, q * q))
    result: Floats = log[where.reshape(np.shape(noise))]
    return result


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

    A `storm` of 1 leaves chances as they are; below it people drop out more often by as much.
    """

    def __init__(self, seed: int, storm: float) -> None:
        super().__init__(np.random.PCG64(seed))
        self.storm = storm

    def random(self, *size: Any, **named: Any) -> Any:
        """Numbers of 0 to `storm`: who gets less than the share of dropouts is gone."""
        return super().random(*size, **named) * self.storm


@dataclass(frozen=True)
class Case:
    """Settings, people and some of them whose vectors become zero."""

    # settings, options: of `Federated`, those of its algorithm separately
    settings: Mapping[str, Any]
    options: Mapping[str, Any]
    people: People
    persons: tuple[int, ...]  # whose vector is zero in each neighbour
    style: str  # of the outcomes, see `replay.STYLES`
    # seed, storm: of samples, dropouts and noise, see `Weather`
    seed: int
    storm: float = 1.0
    # an earlier release of other people, whose last cells are asked about
    prior: DistributedRelease | None = None
    # whether the number of people is the one of the settings; else the exact one, publicly
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


def draw_case(choose: Seeded, look: Look, algorithms: Sequence[str] = ALGORITHMS) -> Case:
    """A case: at most 4,500 people on a square of at most 64 x 64 cells, 128 x 128 of sketches."""
    algorithm = one_of(choose, algorithms)
    people = _people(algorithm, choose)
    settings, options = _settings(algorithm, people, choose), _options(algorithm, choose)
    seed, storm = choose.whole(0, 2**40), one_of(choose, (1.0, 1.0, 1.0, 0.5, 0.25))
    prior = None
    if algorithm == "people" and choose.whole(0, 3) == 0:
        prior = _earlier(people, settings, choose)
    case = Case(settings, options, people, (), one_of(choose, STYLES), seed, storm, prior)
    there = _with_places(people)
    fixed: tuple[int, ...] = ()
    if algorithm != "count-min" and choose.whole(0, 1):
        number = _turn(case, look, choose)
        people = people.first(number)
        # With the last of them a decision turns, unless noise hides it.
        case = Case(settings, options, people, (), "still", seed, storm, prior)
        fixed, there = (number - 1,), there[there < number]
    persons = fixed + tuple(int(one_of(choose, there)) for _ in range(NEIGHBOURS - len(fixed)))
    declared = not fixed and choose.whole(0, 2) > 0
    if declared:
        persons = (len(people) - 1, *persons[1:])
        settings["people"] = len(people) + choose.whole(0, len(people))
    return Case(settings, options, people, persons, case.style, seed, storm, prior, declared)


LARGE_SIDES = (64, 128, 256)
LARGE_ALGORITHMS = ("people", "mended", "adaptive grid")
"""Those that refine, to depths that small grids do not have."""


def draw_large_case(choose: Seeded, number: int = 0) -> Case:
    """A case of 64 to 256 cells a side and up to 8 places each; the first is as large as can be."""
    algorithm = LARGE_ALGORITHMS[number % len(LARGE_ALGORITHMS)]
    rng = np.random.default_rng(choose.whole(0, 2**32))
    side = LARGE_SIDES[-1] if number == 0 else one_of(choose, LARGE_SIDES)
    grid, places = Grid.cells((side, side)), one_of(choose, (1, 2, 3, 5, 8))
    per = np.ones(20_000, dtype=np.int64) if places == 1 else rng.integers(0, places + 1, 20_000)
    total = int(per.sum())
    row, col = ((rng.exponential(side / 16, total)).astype(int) % side for _ in range(2))
    cells, offsets = morton(col, row), np.concatenate([[0], np.cumsum(per)])
    people = People(cells.astype(code_type(depth_of(grid))), grid)
    if places > 1:
        people = People(cells, grid, offsets=offsets, places=places)
    settings = {
        "epsilon": one_of(choose, (2.0, 4.0, 8.0)), "algorithm": algorithm, "people": None,
        "shard": 2_000, "dropped": one_of(choose, (0.0, 0.05)), "corrupt": 0.0,
        "depth": people.depth, "c": 0.05, "b": 1.0,
    }  # fmt: skip
    there = _with_places(people)
    persons = tuple(int(one_of(choose, there)) for _ in range(2))
    style, seed = one_of(choose, STYLES), choose.whole(0, 2**40)
    return Case(settings, {}, people, persons, style, seed)


def _settings(algorithm: str, people: People, choose: Seeded) -> dict[str, Any]:
    # Tables of shares grow as S / epsilon.
    least = 0.4 if people.places == 1 else 1.5
    epsilon = least * (8 / least) ** (choose.whole(0, 1000) / 1000)
    dropped = one_of(choose, (0.0, 0.0, 0.05, 0.1, 0.3))
    corrupt = 0.0 if dropped > 0.2 else one_of(choose, (0.0, 0.0, 0.05, 0.3))
    # A shard of few has no one honest left for sure if many may fail.
    fewest = 2 if dropped == corrupt == 0 else 60
    size = one_of(choose, (fewest, 60, 200, 1_000, 10_000))
    sample_size = one_of(choose, (None, None, len(people), max(60, 2 * len(people) // 3)))
    return {
        "epsilon": float(f"{epsilon:.{one_of(choose, (1, 2, 17))}g}"),
        "algorithm": algorithm,
        "people": sample_size,
        "shard": max(size, len(people) // 40),
        "dropped": dropped,
        "corrupt": corrupt,
        "depth": people.depth if choose.whole(0, 2) else choose.whole(1, people.depth),
        # Where c is large a tree that comes and goes costs 64 rounds, each with tables of its own.
        "c": one_of(choose, (0.05, 0.1, 0.3, 0.5, *(() if algorithm == "paper" else (1.0, 2.0)))),
        "b": one_of(choose, (1.0, 1.5, 2.0, 3.0, 5.0)),
    }


def _options(algorithm: str, choose: Seeded) -> dict[str, Any]:
    choices = OPTIONS.get(algorithm, {})
    if choose.whole(0, 1):
        return {}
    return {name: one_of(choose, values) for name, values in choices.items() if choose.whole(0, 1)}


def _people(algorithm: str, choose: Seeded) -> People:
    """Places of some people: anywhere, about a corner, in one cell, in order of places or not."""
    rng = np.random.default_rng(choose.whole(0, 2**32))
    # Where people are the budget 2,000 are asked in one round, 3,000 in two.
    many = algorithm == "people" and choose.whole(0, 2) > 0
    number = choose.whole(2_000, 4_500) if many else choose.whole(60, 300)
    # Trees begin with 8 x 8 cells, those of the paper with 2 x 2; sketches need large levels.
    sides = {"people": (8, 32, 32, 64), "mended": (8, 32, 32, 64), "count-min": (128,)}
    side = one_of(choose, sides.get(algorithm, (4, 8, 8, 12)))
    rows, cols = (choose.whole(max(2, side - 3), side) for _ in range(2))
    grid = Grid.cells((rows, cols))
    places = one_of(choose, (1, 1, 1, 2, 4))
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
    cells[rng.random(total) < one_of(choose, (0.0, 0.1))] = -1
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


def _turn(case: Case, look: Look, choose: Seeded) -> int:
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


def _earlier(people: People, settings: Mapping[str, Any], choose: Seeded) -> DistributedRelease:
    """A release of other people of the same grid."""
    rng = np.random.default_rng(choose.whole(0, 2**32))
    rows, cols = people.grid.shape
    cells = morton(rng.integers(0, cols, 400), rng.integers(0, rows, 400))
    algorithm, c = one_of(choose, ("people", "mended")), 1.0
    other = {**settings, "epsilon": 4.0, "algorithm": algorithm, "c": c, "people": None}
    safe = {"dropped": 0.0, "corrupt": 0.0}
    return Federated(**{**other, **safe}).release(People(cells, people.grid), rng=1)


FILES_EVERY, LARGE_EVERY = 8, 4
"""Of so many cases, one compares files byte by byte, one is large."""
_NOISE = 2_000  # numbers of a case whose noise is tested


def replay_cases(
    numbers: Iterable[int], seed: int = 0, algorithms: Sequence[str] = ALGORITHMS
) -> Finding:
    """Replay cases of federated maps until one fails; every one has `cases.NEIGHBOURS` pairs.

    The same seed and number are the same case; each takes one of the algorithms.
    """
    begin, rng = time.perf_counter(), np.random.default_rng(seed)
    finding = Finding(Federated.key)
    for number in numbers:
        saved = number % FILES_EVERY == FILES_EVERY - 1
        choose = Seeded(f"{seed}/{Federated.key}/{number}")
        try:
            if number % LARGE_EVERY == LARGE_EVERY - 2 and algorithms is ALGORITHMS:
                case = draw_large_case(choose, number // LARGE_EVERY)
            else:
                case = draw_case(choose, decided, algorithms)
            finding += try_case(case, rng, saved)
        except Breach as breach:
            # Of a run that looks for where decisions turn.
            finding += Finding(Federated.key, 1, fault=str(breach))
        if finding.fault is not None:
            finding = replace(finding, fault=f"case {number} of seed {seed}: {finding.fault}")
            break
    return replace(finding, seconds=time.perf_counter() - begin)


def try_case(case: Case, rng: np.random.Generator | None = None, saved: bool = False) -> Finding:
    """Replay a case on all its neighbours."""
    units, tried, largest, person = budget(case.settings["epsilon"]), 0, 0.0, -1
    recorder, fault = Recorder(case.style), None
    try:
        public = published(case, case.people, recorder, saved)
        leak = _who_tells(case, recorder, public[:2])
        if leak is not None:
            person = leak[0]
            raise Breach(f"given the same sums, {leak[1]}")
        for tried, person in enumerate(_neighbours(case, recorder), 1):  # noqa: B007  told when it fails
            replayer = Replayer(recorder, case.settings["corrupt"])
            other = published(case, case.without(person), replayer, saved)
            where = difference(public, other, "what is published")
            if where is not None:
                raise Breach(f"{where} differs")
            replayer.finish()
            loss = abs(replayer.loss) * PER_EPSILON / units
            largest = max(largest, loss)
            if loss > 1.0 + ROUNDING:
                raise Breach(f"the loss is {loss:.6g} times epsilon")
        _check_books(public[0], units)
    except Breach as breach:
        fault = f"{breach} ({case.describe(person)})"
    uniforms = np.zeros(0) if rng is None else _uniforms(recorder, rng)
    pairs, cells = max(tried, 1), int(np.prod(case.people.grid.shape))
    call = max((shard.counters for shard in recorder.shards), default=0)
    sizes = pairs if cells >= LARGE_SIDES[0] ** 2 else 0, 1, cells, call
    return Finding(Federated.key, pairs, 0.0, largest, uniforms, fault, *sizes)


def published(case: Case, people: People, record: Hook, saved: bool = False) -> tuple[Any, ...]:
    """All that is public of a run: the release, how it is written, its rounds, files, progress.

    A run in which nothing can be released says so; that, too, is public.
    """
    progress_values: list[float] = []
    try:
        release = case.mechanism.release(
            people,
            rng=case.rng,
            progress=progress_values.append,
            prior=case.prior,
            record=record,
            people_are_public=not case.declared,
        )
    except InputError as error:
        return None, str(error)
    except Breach:
        raise
    except Exception as error:
        raise Breach(f"the run fails: {type(error).__name__}: {error}") from error
    snapshot = surface(release, True) if saved else None
    contents = {} if snapshot is None else {"said": snapshot.said, "files": snapshot.files}
    return release, repr(release), release.rounds.to_csv(), contents, tuple(progress_values)


def _who_tells(case: Case, recorder: Recorder, public: tuple[Any, ...]) -> tuple[int, str] | None:
    """Someone whose place shows in what is public though all sums are the same, and in what.

    The sums are forced on people of whom the first k have places. If no one's places give
    something else than all, there is a k where one person more turns it: two neighbours.
    """

    def told(number: int) -> str | None:
        replayer = Replayer(recorder, neighbours=False)
        try:
            other = published(case, case.people.first(number), replayer)
            replayer.finish()
        except Breach as breach:
            return str(breach)
        where = difference(public, other[:2], "what is published")
        return None if where is None else f"{where} differs"

    where = told(0)
    if where is None:
        return None
    few, many = 0, len(case.people)
    while many - few > 1:
        middle = (few + many) // 2
        here = told(middle)
        few, many, where = (few, middle, where) if here is None else (middle, many, here)
    return few, where


def decided(case: Case) -> Any:
    """What a run of a case decides: its rounds and trees; an odd seed looks at their number."""
    release, text, *_ = published(case, case.people, Recorder(case.style))
    if release is None:
        return text
    if case.seed % 2:
        return len(release.heard)
    trees = [row.tree.keys.tobytes() for row in release.heard if isinstance(row, Heard)]
    figures = [(row.cells, row.people, row.units) for row in release.heard]
    return trees, figures, release.tree.lower.tobytes()


def _neighbours(case: Case, recorder: Recorder) -> tuple[int, ...]:
    """The persons of a case, the last of them being anyone who is heard most often."""
    respondents = [
        shard.members[shard.there] for shard in recorder.shards if shard.exact is not None
    ]
    if not respondents:
        return case.persons
    often = np.bincount(np.concatenate(respondents), minlength=len(case.people))
    return (*case.persons[:-1], int(often.argmax()))


def _check_books(release: DistributedRelease | None, units: int) -> None:
    """What rounds cost the person who pays most, as the release shows it, is epsilon."""
    if release is None:
        return
    paid = [row.units for row in release.heard]
    dearest = max(paid) if release.paying == ONCE else sum(paid)
    if dearest != units or release.units != units:
        raise Breach(f"the books show {dearest} of {units} units spent")


def _uniforms(recorder: Recorder, rng: np.random.Generator) -> Any:
    """Noise of shards with exactly as many survivors as it is made for, as uniform numbers."""
    noise, decay = [], []
    for shard, drawn in zip(recorder.shards, recorder.noise, strict=True):
        if drawn is not None and shard.shape == 1.0:
            rate = shard.units / (PER_EPSILON * shard.sensitivity)
            noise.append(drawn[:_NOISE])
            decay.append(np.full(len(noise[-1]), rate))
    if not noise:
        return np.zeros(0)
    uniforms = distributions.uniforms(np.concatenate(noise), np.concatenate(decay), rng)
    return uniforms[:_NOISE]
