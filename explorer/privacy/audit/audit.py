"""The audit: does a mechanism keep its privacy claim on many pairs of neighbouring data sets?

Looks at the same claim from several sides. *Replay* tries pairs by the thousand (`cases`, and
`large` as people have them; `replay`). *Strangers*, data sets that differ everywhere, must publish
the same to the last byte of every file if they get the same outcomes (`surface`). The *books* of
every release must add up to epsilon on no path beyond it, and cover every draw (`check_charges`).
The *noise* that was drawn on the way must follow its distribution and be independent. The first
breach ends the audit of a mechanism; it is described so that one can build it again.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field, replace
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from explorer.privacy.audit import distributions, large
from explorer.privacy.audit.cases import Auditable, Case, Seeded, draw_case
from explorer.privacy.audit.loss import PER_EPSILON, Breach, Question, budget
from explorer.privacy.audit.replay import Publish, Recording
from explorer.privacy.audit.surface import difference, surface
from explorer.privacy.audit.ways import Told
from explorer.privacy.noise import Keys

Floats = NDArray[np.float64]

DOUBT = 1e-6
"""A right source fails a chi-square test this often."""
LONGEST = -1
"""The number of the case whose calls are as long as those of 512 x 512 cells."""
LARGE_EVERY, RELEASE_GRADE_EVERY, FILES_EVERY = 10, 20, 20
"""Of so many cases one is large, one is drawn by OpenDP, one writes every kind of file."""
_FEWEST_DRAWS, _MOST_DRAWS = 700, 200_000
_FEWEST_PAIRS = 40  # of which one at least changes a figure that is drawn


@dataclass(frozen=True, eq=False)
class Finding:
    """What an audit of one mechanism, or a part of it, found."""

    key: str  # the mechanism
    pairs: int = 0  # neighbouring pairs that were replayed
    seconds: float = 0.0  # how long that took
    largest: float = 0.0  # the largest loss, as a part of epsilon; 1 is the most that is allowed
    # (n,) what should be uniform, see `distributions.uniforms`
    uniforms: Floats = field(default_factory=lambda: np.zeros(0))
    fault: str | None = None  # where a replay failed
    large: int = 0  # pairs on large grids
    strangers: int = 0  # data sets that differ everywhere and had to publish the same
    # cells, call: cells of the largest grid, draws of the longest call
    cells: int = 0
    call: int = 0

    @property
    def p_value(self) -> float:
        """Of the noise that was drawn on the way; 1 where it was too little to tell."""
        return (
            distributions.uniform_p_value(self.uniforms)
            if len(self.uniforms) >= _FEWEST_DRAWS
            else 1.0
        )

    @property
    def breach(self) -> str | None:
        """Where the claim does not hold, or None."""
        if self.fault is not None:
            return self.fault
        if self.pairs >= _FEWEST_PAIRS and self.largest == 0:
            return f"no figure moves in {self.pairs} pairs: what is drawn is not of these data"
        p_value = self.p_value
        return (
            f"noise does not follow its distribution, p = {p_value:.1e}"
            if p_value < DOUBT
            else None
        )

    def __add__(self, other: Finding) -> Finding:
        """Both parts of an audit together."""
        return Finding(
            self.key,
            self.pairs + other.pairs,
            self.seconds + other.seconds,
            max(self.largest, other.largest),
            np.concatenate([self.uniforms, other.uniforms])[:_MOST_DRAWS],
            self.fault or other.fault,
            self.large + other.large,
            self.strangers + other.strangers,
            max(self.cells, other.cells),
            max(self.call, other.call),
        )


def front_door(mechanism: Any) -> Publish:
    """A mechanism's own `release`, with a source in the place of the seed."""
    return lambda matrix, source: mechanism.release(matrix, rng=source)


def replay_cases(
    kind: Auditable,
    numbers: Iterable[int],
    seed: int = 0,
    publish: Callable[[Any], Publish] = front_door,
) -> Finding:
    """Replay cases of a mechanism until one fails.

    Every number has `cases.NEIGHBOURS` pairs, `LONGEST` has one; the same seed and number are the
    same case. `publish` says how to run a mechanism, by default its `release`.
    """
    begin, rng = time.perf_counter(), np.random.default_rng(seed)
    finding = Finding(kind.key)
    for number in numbers:
        choose = Seeded(f"{seed}/{kind.key}/{number}")
        if number == LONGEST:
            case: Case = large.draw_longest_case(choose)
        elif number % LARGE_EVERY == LARGE_EVERY - 1:
            case = large.draw_large_case(kind, choose, number // LARGE_EVERY)
        else:
            case = draw_case(kind, choose)
            if number % RELEASE_GRADE_EVERY == RELEASE_GRADE_EVERY - 2:
                case = replace(case, style="release")
        finding += try_case(kind, case, publish, rng, number % FILES_EVERY == FILES_EVERY // 4)
        if finding.fault is not None:
            break
    return replace(finding, seconds=time.perf_counter() - begin)


def try_case(
    kind: Auditable,
    case: Case,
    publish: Callable[[Any], Publish] = front_door,
    rng: np.random.Generator | None = None,
    files: bool = False,
) -> Finding:
    """Replay a case on all its neighbours, and on unrelated data sets."""
    units, is_large = budget(case.settings["epsilon"]), isinstance(case, large.Large)
    largest, tried, strange, call, uniforms = 0.0, 0, 0, 0, np.zeros(0)
    change, fault = np.zeros_like(case.counts), None
    mechanism: Any = kind
    mechanism = mechanism(**case.settings)
    if isinstance(case, large.Large):
        mechanism = Told(mechanism, case.grade, not case.longest)
    longest = is_large and case.longest  # type: ignore[attr-defined]
    saved = files or (getattr(case, "grade", False) and not longest)

    def told() -> tuple[Any, ...]:
        return (*getattr(mechanism, "told", ()), *getattr(mechanism, "booked", ()))

    try:
        run = Recording.of(publish(mechanism), case.matrix, case.source)
        reported = told()
        snapshot = None if longest else surface(run.published, saved, reported)
        call = run.longest
        if (
            is_large
            and case.grade  # type: ignore[attr-defined]
            and mechanism.draws
            and [paid for paid, *_ in mechanism.booked] != [units]
        ):
            raise Breach(f"{mechanism.booked} is booked for {units} units")
        _check_books(run, case.settings["epsilon"])
        if rng is not None and case.style == "seeded":
            uniforms = _uniforms(run, rng)
        for tried, change in enumerate(case.changes, 1):  # noqa: B007  told when it fails
            loss = run.replay(case.neighbour(change))
            if told() != reported:
                raise Breach(
                    "given the same outcomes, what is told of the progress, or booked, differs"
                )
            largest = max(largest, loss.epsilon * PER_EPSILON / units)
            if loss.exceeds(units):
                beyond = loss.epsilon - units / PER_EPSILON
                raise Breach(f"the loss is {largest:.6g} times epsilon, {beyond:.3g} above it")
        for stranger in case.strangers:
            if strange or longest:
                run.replay(stranger, neighbours=False)
            else:
                other = run.again(stranger, neighbours=False)[0]
                where = difference(snapshot, surface(other, saved, told()))
                if where is not None:
                    raise Breach(f"given the same outcomes, {where} differs")
            strange += 1
            if longest or (is_large and strange == 2):
                # Each takes as long as a release.
                break
        check_charges(run)
    except Breach as breach:
        fault = f"{breach} ({case.describe(change)})"
    pairs = max(tried, 1)
    big = pairs if is_large else 0
    sizes = big, strange, case.counts.size, call
    return Finding(kind.key, pairs, 0.0, largest, uniforms, fault, *sizes)


def _uniforms(run: Recording, rng: np.random.Generator) -> Floats:
    """The noise of all counts of a run in the order of drawing, as uniform numbers."""
    count_draws = [draw for draw in run.draws if draw.question.kind == "laplace"]
    if not count_draws:
        return np.zeros(0)
    noise = np.concatenate([draw.outcome - draw.question.values for draw in count_draws])
    decays = np.concatenate(
        [draw.question.units / draw.question.sensitivity for draw in count_draws]
    )
    if len(noise) > _MOST_DRAWS:
        # What is wrong with a rest is wrong at the end.
        half = _MOST_DRAWS // 2
        noise, decays = (np.concatenate([x[:half], x[-half:]]) for x in (noise, decays))
    return distributions.uniforms(noise, decays / PER_EPSILON, rng)


def _check_books(run: Recording, epsilon: float) -> None:
    """What every path spent, with what earlier passes cost, must be the whole budget.

    And what the release says that it cost must be what it was asked to cost.
    """
    release, units = run.published, budget(epsilon)
    before = sum(budget(part) for _, part in release.elsewhere)
    dearest = before + int(release.tree.path_spent.sum(axis=1).max())
    if dearest != units or release.units != units:
        raise Breach(f"the books show {dearest} of {units} units spent on the dearest path")
    stated = release.epsilon, sum(part for _, part in release.stages())
    if any(
        abs(text - epsilon) > 1e-9 * epsilon + 2e-12 * len(release.tree.stages) for text in stated
    ):
        raise Breach(f"the books say that {stated[0]!r} was spent, in stages {stated[1]!r}")


_GOLDEN = np.uint64(0x9E3779B97F4A7C15)
_PASSES = 12  # passes over one domain, at most


def check_charges(run: Recording) -> None:
    """Raise `Breach` for a node that was drawn with more than its account shows.

    Counts and choices of single nodes; what a proof of its own covers (PrivTree's tests, candidate
    sets, coefficients) has names of its own and is left to replays.
    """
    tree = run.published.tree
    questions = [draw.question for draw in run.draws if draw.question.kind != "above"]
    named = _named(tree.parent, [question.keys for question in questions])
    if named is None:
        return
    names, order = named
    drawn = np.zeros_like(tree.spent)
    for question in questions:
        stage = _stage(question, tree.stages)
        if stage is None:
            continue
        at = np.minimum(np.searchsorted(names, question.keys), len(names) - 1)
        matches = names[at] == question.keys
        np.add.at(drawn[:, stage], order[at[matches]], question.units[matches])
    beyond = np.argwhere(drawn > tree.spent)
    if len(beyond):
        node, stage = beyond[0]
        raise Breach(
            f"the books show {int(tree.spent[node, stage])} units for {tree.stages[stage]!r} of "
            f"node {node}, which was drawn with {int(drawn[node, stage])}"
        )


def _stage(question: Question, stages: tuple[str, ...]) -> int | None:
    """Column of a question in the books; draws of a search add a number to its name."""
    for name in (question.stage, question.stage.rpartition(" ")[0]):
        if name in stages:
            return stages.index(name)
    return None


def _named(parent: NDArray[np.int64], keys: list[Keys]) -> tuple[Keys, NDArray[np.int64]] | None:
    """Names of all nodes, sorted, and which node each is of; None if no pass has them."""
    if not any(map(len, keys)):
        return None
    drawn_keys = np.sort(np.concatenate(keys))
    # Children of one node are side by side, in their order.
    at = np.arange(len(parent))
    first = np.maximum.accumulate(np.where(np.diff(parent, prepend=-2) != 0, at, 0))
    levels = _levels(parent)
    with np.errstate(over="ignore"):
        steps = (at - first + 1).astype(np.uint64) * _GOLDEN
        for number in range(_PASSES):
            names = np.zeros(len(parent), dtype=np.uint64)
            names[0] = _mix(np.array([number + 1], dtype=np.uint64) * _GOLDEN)[0]
            for level in levels:
                names[level] = _mix(names[parent[level]] + steps[level])
            if _any_of(names, drawn_keys):
                order = np.argsort(names)
                return names[order], order
    return None


def _levels(parent: NDArray[np.int64]) -> list[NDArray[np.int64]]:
    """The nodes below the root, level by level."""
    order = np.argsort(parent, kind="stable")
    ordered, level, levels = parent[order], np.zeros(1, dtype=np.int64), []
    while len(level):
        begin, end = (np.searchsorted(ordered, level, side) for side in ("left", "right"))
        number = end - begin
        within = np.arange(number.sum()) - np.repeat(np.cumsum(number) - number, number)
        level = order[np.repeat(begin, number) + within]
        levels.append(level)
    return levels[:-1]


def _any_of(names: Keys, drawn_keys: Keys) -> bool:
    at = np.minimum(np.searchsorted(drawn_keys, names), len(drawn_keys) - 1)
    return bool((drawn_keys[at] == names).any())


def _mix(words: Keys) -> Keys:
    """Scramble 64-bit words (the finaliser of splitmix64)."""
    words = (words ^ (words >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    words = (words ^ (words >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    mixed: Keys = words ^ (words >> np.uint64(31))
    return mixed


class Promise(NamedTuple):
    """The least that must have been tried of a mechanism before an audit says that it holds."""

    pairs: int  # neighbouring pairs
    large: int  # those of them on large grids
    cells: int  # of the largest grid
    call: int  # draws of the longest measurement


PAIRS = 80
"""Of a mechanism of maps or trips."""
_CALLS: Mapping[str, int] = {
    **dict.fromkeys(large.FULL, large.LONGEST),
    "ebp": 100_000,
    "daf-entropy": 100_000,
    "daf-homogeneity": 100_000,
    "htf": 20_000,
    "kd-standard": 16_384,
    "kd-hybrid": 30_000,
    "uniform": 1,
}
"""Of those that merge cells fewer are drawn at once, by where they merge them."""
_OTHERS: Mapping[str, Promise] = {
    "federated": Promise(32, 4, 256**2, 64),
    "country": Promise(40, 4, 256**2, 1_000),
}
"""Of what asks people, or has many maps: whole runs, of fewer pairs."""


def promise(key: str) -> Promise:
    """What is promised of a mechanism; one of someone's own has no longest call."""
    return _OTHERS.get(key, Promise(PAIRS, PAIRS // 10, large.LONGEST, _CALLS.get(key, 0)))


def missing(finding: Finding) -> list[str]:
    """What was promised and not tried, in words."""
    required = promise(finding.key)
    shortfalls = []
    for tried, least, what in (
        (finding.pairs, required.pairs, "pairs"),
        (finding.large, required.large, "pairs on large grids"),
        (finding.cells, required.cells, "cells of the largest grid"),
        (finding.call, required.call, "draws of the longest call"),
    ):
        if tried < least:
            shortfalls.append(f"{tried:,} of {least:,} {what}")
    return shortfalls
