"""What every mechanism promises, as checks that anybody can run on a mechanism of their own.

Each check is a callable without arguments that raises an AssertionError with one sentence. None
needs pytest, and none rests on an `assert` statement, which Python may leave out.

A mechanism that takes maps is checked on maps; any other one in the fewest dimensions that it
takes, on counts in a `TripMatrix`. No check is left out there.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

import numpy as np
import param

from explorer.errors import InputError
from explorer.mechanisms import Mechanism, rebuild, register, unregister
from explorer.points.matrix import FrequencyMatrix
from explorer.privacy.audit.audit import replay_cases
from explorer.privacy.audit.replay import Publish
from explorer.privacy.noise import NoiseSource
from explorer.releases.release import Release
from explorer.releases.units import to_units
from explorer.testing.counts import counted, dimensions_of, folded, odd_counts, towns_of
from explorer.testing.sources import BlindNoise, NoNoise

Kind = type[Mechanism]
#: Audit cases of one check; each has four pairs of neighbours.
AUDIT_CASES = 30
#: What holds exact counts is made by a class of one of these.
EXACT_ROOMS = ("explorer.points", "explorer.trips", "explorer.country")


@dataclass(frozen=True)
class Check:
    """One promise of one class of mechanisms.

    Attributes
    ----------
    name : what is promised, in words
    kind : the class
    run : raises an AssertionError where it does not hold
    """

    name: str
    kind: Kind
    run: Callable[[Kind], None]

    def __call__(self) -> None:
        """Check it; an AssertionError says in one sentence what does not hold."""
        try:
            self.run(self.kind)
        except AssertionError as broken:
            raise AssertionError(f"{self}: {broken}") from None
        except Exception as error:
            # A plan may fail in any way; anyone who runs the checks waits for one kind of error.
            text = f"it raises {type(error).__name__}: {error}"
            raise AssertionError(f"{self}: {text}") from error

    def __str__(self) -> str:
        return f"{self.kind.__name__}: {self.name}"


def mechanism_checks(*kinds: Kind) -> list[Check]:
    """All checks of all these classes of mechanisms, to run one by one.

    Parameters
    ----------
    *kinds : subclasses of `explorer.Mechanism`; they need not be registered
    """
    return [Check(name, kind, run) for kind in kinds for name, run in _CHECKS.items()]


@contextmanager
def registered(kind: Kind) -> Iterator[Kind]:
    """Register a mechanism for as long as a `with` block lasts."""
    register(kind)
    try:
        yield kind
    finally:
        unregister(kind.key)


def _require(holds: object, sentence: str) -> None:
    if not holds:
        raise AssertionError(sentence)


def _declares_itself(kind: Kind) -> None:
    for name in ("key", "title", "summary", "paper"):
        _require(getattr(kind, name), f"it has no {name}")
    _require(kind.__doc__ not in (None, Mechanism.__doc__), "it has no docstring")
    dimensions_of(kind)  # raises where it takes none
    _require(kind.dash in ("solid", "dashed"), f"dash is {kind.dash!r}, not solid or dashed")
    for name in ("epsilon", *kind.tunables()):
        declared = kind.param[name]
        _require(declared.label and declared.doc, f"parameter {name} has no label or no doc")
        limits = getattr(declared, "bounds", None) or getattr(declared, "objects", None)
        _require(limits, f"parameter {name} has neither bounds nor objects")


def _carries_its_settings(kind: Kind) -> None:
    mechanism = kind()
    _require(list(mechanism.settings()) == kind.tunables(), "settings() are not its tunables")
    _require(mechanism.relevant() <= set(kind.tunables()), "relevant() names what is no parameter")
    _require(
        mechanism.with_().settings() == mechanism.settings(),
        "with_() changes what nobody asked for",
    )
    _require(
        mechanism.with_(epsilon=0.7).epsilon == 0.7, "with_(epsilon=...) leaves epsilon as it was"
    )
    kind(**kind.lesson_settings)
    for name in kind.tunables():
        for value in taken(kind.param[name]):
            same = getattr(kind(**{name: value}), name) == value
            _require(same, f"parameter {name} does not keep {value!r}, which it declares possible")


def _refuses_bad_values(kind: Kind) -> None:
    for name in ("epsilon", *kind.tunables()):
        label = kind.param[name].label
        for value in refused(kind.param[name]):
            refusal = _refusal(kind, {name: value})
            setting = f"{name} = {str(type(value)) if isinstance(value, int) else value!r}"
            _require(refusal is not None, f"{setting} is taken")
            _require(
                refusal and refusal.startswith(label), f"the refusal of {setting} does not name it"
            )
            _require(refusal and refusal.endswith("."), f"the refusal of {setting} is no sentence")
    _require(_refusal(kind, {"no_such_parameter": 1}), "an unknown parameter is taken")


def _refusal(kind: Kind, settings: dict[str, Any]) -> str | None:
    try:
        kind(**settings)
    except InputError as error:
        return str(error)
    return None


def _spends_epsilon(kind: Kind) -> None:
    matrix = towns_of(dimensions_of(kind), (48, 37), 5000)
    for epsilon in (0.01, 0.3, 1.0):
        release = kind(epsilon=epsilon).release(matrix, rng=3)
        tree = release.tree
        paths = tree.path_spent[tree.leaves].sum(axis=1)
        paths = paths + sum(to_units(part) for _, part in release.elsewhere)
        spent, units = int(paths.max()), to_units(epsilon)
        _require(spent <= units, f"a path spends {spent} of {units} units")
        _require(paths.min() == units, f"a path leaves {units - int(paths.min())} units unspent")
        total = math.fsum(row.epsilon for row in release.ledger)
        _require(math.isclose(total, epsilon), f"the ledger adds up to {total}, not {epsilon}")
        stages = [name for name, _ in release.stages()]
        _require([row.stage for row in release.ledger] == stages, "ledger and stages differ")


def _repeats_itself(kind: Kind) -> None:
    matrix = towns_of(dimensions_of(kind), (32, 32), 4000)
    first, again, other = (kind(epsilon=0.05).release(matrix, rng=seed) for seed in (1, 1, 2))
    _require(_same(first, again), "the same seed gives another map")
    _require(not _same(first, other), "another seed gives the same map")
    drawn = [kind().release(matrix, rng=np.random.default_rng(5)) for _ in range(2)]
    _require(_same(*drawn), "the same Generator gives another map")
    _require(first.preview, "a seeded map is no preview")


def _same(one: Release, other: Release) -> bool:
    pairs = [
        (one.tree.lower, other.tree.lower),
        (one.tree.upper, other.tree.upper),
        (one.tree.parent, other.tree.parent),
        (one.tree.value, other.tree.value),
        (one.tree.draws, other.tree.draws),
        (one.tree.spent, other.tree.spent),
        (one.tree.precision, other.tree.precision),
    ]
    facts = dict(one.facts) == dict(other.facts) and one.ledger == other.ledger
    return facts and all(np.array_equal(a, b, equal_nan=True) for a, b in pairs)


def _draws_afresh(kind: Kind) -> None:
    matrix = towns_of(dimensions_of(kind), (16, 16), 800)
    # One leaf of scale 20 is drawn alike with probability 1/80: four times, 2 in a million.
    first, *others = [kind(epsilon=0.05).release(matrix) for _ in range(4)]
    _require(not first.preview, "a map of OpenDP's noise is called a preview")
    _require(not all(_same(first, other) for other in others), "four releases are alike")


def _tiles_odd_maps(kind: Kind) -> None:
    for counts in odd_counts(dimensions_of(kind)):
        for epsilon in (0.001, 0.1, 10.0):
            release = kind(epsilon=epsilon).release(counted(counts), rng=1)
            covered = np.zeros(counts.shape, dtype=np.int64)
            for lower, upper in zip(release.lower, release.upper, strict=True):
                covered[tuple(map(slice, lower, upper))] += 1
            where = f"on a map of {counts.shape} at epsilon {epsilon}"
            _require(np.all(covered == 1), f"leaves do not tile the map {where}")
            finite = np.isfinite(release.counts).all() and np.isfinite(release.sd).all()
            _require(finite, f"a count or its error is not finite {where}")


def _holds_no_exact_count(kind: Kind) -> None:
    full = folded(np.random.default_rng(0).integers(0, 50, (24, 17)), dimensions_of(kind))
    both = counted(full), counted(np.zeros_like(full))
    for settings in ({}, kind.lesson_settings):
        mechanism = kind(epsilon=0.5, **settings)
        releases = [mechanism.release(counts, rng=BlindNoise(4)) for counts in both]
        exact = any(_reaches(release, EXACT_ROOMS) for release in releases)
        _require(not exact, "a release holds an object of exact counts")
        # Nothing that was measured distinguishes these maps: what does is an exact count.
        _require(_same(*releases), "a release depends on counts that no measurement has protected")


def _reaches(root: object, rooms: tuple[str, ...]) -> bool:
    """Whether anything that an object holds was made by a class of these packages."""
    waiting, visited = [root], set()
    while waiting:
        value = waiting.pop()
        if id(value) in visited or isinstance(value, str | bytes | int | float | np.ndarray):
            continue
        visited.add(id(value))
        if type(value).__module__.startswith(rooms):
            return True
        if isinstance(value, dict):
            waiting += value.values()
        elif isinstance(value, list | tuple | set | frozenset):
            waiting += value
        else:
            waiting += getattr(value, "__dict__", {}).values()
    return False


def _is_right_on_average(kind: Kind) -> None:
    # Split inference shrinks on purpose, by what the noise would have been.
    linear = {"inference": "least squares"} if "inference" in kind.tunables() else {}
    matrix = towns_of(dimensions_of(kind), (48, 37), 5000)
    release = kind(epsilon=0.5, **linear).release(matrix, rng=NoNoise())
    if release.linear:
        exact = matrix.count(release.lower, release.upper)
        close = np.allclose(release.counts, exact, rtol=1e-9, atol=1e-6)
        _require(close, "without noise, counts of leaves are not the true ones")


def _says_what_made_it(kind: Kind) -> None:
    mechanism = kind(epsilon=0.5)
    release = mechanism.release(towns_of(dimensions_of(kind), (20, 25), 3000), rng=1)
    with registered(kind):
        _require(release.mechanism == kind.key, "a release names another mechanism")
        again = rebuild(release)
        _require(again.settings() == mechanism.settings(), "a release does not keep all settings")


def _passes_an_audit(kind: Kind) -> None:
    dimensions = dimensions_of(kind)

    def publish(mechanism: Mechanism) -> Publish:
        def run(matrix: FrequencyMatrix, source: NoiseSource) -> Release:
            wide = counted(folded(matrix.counts, dimensions), matrix.contribution_bound)
            return mechanism.release(wide, rng=source)

        return run

    finding = replay_cases(kind, range(AUDIT_CASES), publish=publish)
    _require(finding.breach is None, str(finding.breach))


_CHECKS: dict[str, Callable[[Kind], None]] = {
    "it declares its names and parameters": _declares_itself,
    "it keeps its settings": _carries_its_settings,
    "it refuses bad values in a sentence": _refuses_bad_values,
    "every path spends exactly epsilon": _spends_epsilon,
    "a seed repeats and another does not": _repeats_itself,
    "release-grade noise is new every time": _draws_afresh,
    "leaves tile odd maps": _tiles_odd_maps,
    "no exact count is in the release": _holds_no_exact_count,
    "without noise it is exact": _is_right_on_average,
    "a release says what it was made by": _says_what_made_it,
    "an audit finds no breach": _passes_an_audit,
}


def refused(declared: param.Parameter) -> list[Any]:
    """Values that break the declaration: wrong types, no numbers, beyond either bound.

    >>> from explorer import HTF
    >>> refused(HTF.param["T"])[-3:]
    [0, 21, 1.5]
    """
    if isinstance(declared, param.Selector):
        return ["no such choice", None, 10**400, True, ["a", "list"]]
    never: list[Any] = ["0.1", True, [1], math.nan, math.inf, -math.inf, 10**400, -(10**400)]
    if not declared.allow_None:
        never.append(None)
    low, high = declared.bounds
    if isinstance(declared, param.Integer):
        return [*never, low - 1, high + 1, low + 0.5]
    return [*never, math.nextafter(low, -math.inf), math.nextafter(high, math.inf)]


def taken(declared: param.Parameter) -> list[Any]:
    """Every choice; or both bounds, and None where it represents "automatic".

    >>> from explorer import HTF
    >>> taken(HTF.param["height"])
    [0, 22, None]
    """
    if isinstance(declared, param.Selector):
        return list(declared.objects)
    return [*declared.bounds, *([None] if declared.allow_None else [])]
