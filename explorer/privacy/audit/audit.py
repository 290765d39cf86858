"""The audit: does a mechanism keep its privacy claim on many pairs of neighbouring data sets?

Four looks at the same claim. *Replay* tries pairs by the thousand (`cases`, `replay`). The *books*
of every release must add up to epsilon on no path beyond it. The *noise* that was drawn on the way
must follow its distribution and be independent. A *black box* compares what is published on
canaries (`blackbox`). The first breach ends the audit of a mechanism; it is described so that one
can build it again.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from explorer.privacy.audit import blackbox, distributions
from explorer.privacy.audit.cases import Auditable, Case, Seeded, draw_case
from explorer.privacy.audit.loss import Breach
from explorer.privacy.audit.replay import Publish, Recording
from explorer.privacy.noise import NoiseSource, PreviewNoise, ReleaseNoise
from explorer.releases.units import UNITS_PER_EPSILON, to_units

Floats = NDArray[np.float64]

DOUBT = 1e-6
"""A right source fails a chi-square test this often."""
ALPHA = 1e-3
"""Chance that the black box finds a breach where there is none, over all of its pairs."""
RELEASE_GRADE_EVERY = 50
"""Every so many cases are drawn by OpenDP."""
_FEWEST_DRAWS, _MOST_DRAWS = 700, 200_000
_FEWEST_PAIRS = 40  # of which one at least changes a figure that is drawn


@dataclass(frozen=True, eq=False)
class Finding:
    """What an audit of one mechanism, or a part of it, found.

    Attributes
    ----------
    key : the mechanism
    pairs : neighbouring pairs that were replayed
    seconds : how long that took
    largest : the largest loss, as a part of epsilon; 1 is the most that is allowed
    uniforms : (n,) what should be uniform, see `distributions.uniforms`
    black_box : the largest lower bound on epsilon, as a part of the claim; None if there was none
    fault : where a replay failed
    """

    key: str
    pairs: int = 0
    seconds: float = 0.0
    largest: float = 0.0
    uniforms: Floats = field(default_factory=lambda: np.zeros(0))
    black_box: float | None = None
    fault: str | None = None

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
        if self.black_box is not None and self.black_box > 1.0:
            return f"two canaries differ by {self.black_box:.2f} epsilon at least"
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
            max((b for b in (self.black_box, other.black_box) if b is not None), default=None),
            self.fault or other.fault,
        )


@dataclass(frozen=True)
class NoiseFinding:
    """A source of noise and one kind of draw against the exact distribution.

    Attributes
    ----------
    source, kind : what was drawn
    draws : number of draws
    p_value : of a chi-square test
    bound : lower bound on epsilon from single draws, where the truth is 1
    """

    source: str
    kind: str
    draws: int
    p_value: float
    bound: float

    @property
    def breach(self) -> bool:
        """Whether the distribution is another one."""
        return self.p_value < DOUBT or self.bound > 1.0


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

    Parameters
    ----------
    kind : class of mechanisms with declared parameters
    numbers : which cases; every one has `cases.NEIGHBOURS` pairs
    seed : names the cases: the same seed and number are the same case
    publish : how to run a mechanism, by default its `release`
    """
    begin, rng = time.perf_counter(), np.random.default_rng(seed)
    found = Finding(kind.key)
    for number in numbers:
        case = draw_case(kind, Seeded(f"{seed}/{kind.key}/{number}"))
        if number % RELEASE_GRADE_EVERY == RELEASE_GRADE_EVERY - 1:
            case = replace(case, style="release")
        found += try_case(kind, case, publish, rng)
        if found.fault is not None:
            break
    return replace(found, seconds=time.perf_counter() - begin)


def try_case(
    kind: Auditable,
    case: Case,
    publish: Callable[[Any], Publish] = front_door,
    rng: np.random.Generator | None = None,
) -> Finding:
    """Replay a case on all its neighbours; `rng` fills in the steps of distribution functions."""
    units, largest, tried, uniforms = to_units(case.settings["epsilon"]), 0.0, 0, np.zeros(0)
    change, fault = np.zeros_like(case.counts), None
    try:
        run = Recording.of(publish(_made(kind, case.settings)), case.matrix, case.source)
        _check_books(run.published, units)
        if rng is not None and case.style == "seeded":
            uniforms = _uniforms(run, rng)
        for tried, change in enumerate(case.changes, 1):  # noqa: B007  told when it fails
            loss = run.replay(case.neighbour(change))
            largest = max(largest, loss.epsilon * UNITS_PER_EPSILON / units)
            if loss.exceeds(units):
                beyond = loss.epsilon - units / UNITS_PER_EPSILON
                raise Breach(f"the loss is {largest:.6g} times epsilon, {beyond:.3g} above it")
    except Breach as breach:
        fault = f"{breach} ({case.describe(change)})"
    return Finding(kind.key, max(tried, 1), 0.0, largest, uniforms, fault=fault)


def black_box(
    kind: Auditable,
    runs: int,
    seed: int = 0,
    publish: Callable[[Any], Publish] = front_door,
) -> Finding:
    """Compare `runs` previews on either side of every canary, with settings left alone."""
    pairs = blackbox.canaries()
    alpha = ALPHA / len(pairs)
    run = publish(_made(kind, {"epsilon": 1.0}))
    bounds = [blackbox.canary_bound(run, each, runs, seed, alpha) for each in pairs]
    return Finding(kind.key, black_box=max(bounds))


def check_noise(name: str, source: NoiseSource, draws: int, choices: int) -> list[NoiseFinding]:
    """Every kind of noise of a source: chi-square tests, and bounds from single draws.

    `draws` counts and decisions, `choices` selections (OpenDP takes its time for those).
    """
    keys = np.arange(draws, dtype=np.uint64) * np.uint64(0x9E3779B97F4A7C15)
    bounds = blackbox.primitive_bounds(source, draws // 2, choices // 2, ALPHA / 6)
    found = []
    for epsilon, sensitivity in ((1.0, 1), (0.05, 1), (2.0, 3)):
        zero, units = np.zeros(draws // 2, dtype=np.int64), np.full(draws // 2, to_units(epsilon))
        noise = source.laplace(zero, sensitivity, units, keys[: len(zero)], "audit counts")
        p_value = distributions.laplace_p_value(noise, epsilon / sensitivity)
        kind = f"counts, epsilon {epsilon:g}, sensitivity {sensitivity}"
        found.append(NoiseFinding(name, kind, len(noise), p_value, bounds["counts"]))
    units = np.full(draws, to_units(1))
    passed = source.above(np.full(draws, -2), 1, 2, units, keys, "audit decisions")
    p_value = distributions.decision_p_value(passed, -2, 1, 0.5)
    found.append(NoiseFinding(name, "decisions", draws, p_value, bounds["decisions"]))
    costs = np.array([5, 1, 2, 9])
    offsets = np.arange(choices + 1) * len(costs)
    chosen = source.lowest(
        np.tile(costs, choices), offsets, 1, units[:choices], keys[:choices], "audit choices"
    )
    p_value = distributions.selection_p_value(chosen, costs, 1.0)
    found.append(NoiseFinding(name, "choices", choices, p_value, bounds["choices"]))
    return found


def check_preview_noise(seed: int = 0) -> list[NoiseFinding]:
    """The noise of previews, 100,000 draws of every kind."""
    return check_noise("preview", PreviewNoise(seed), 100_000, 100_000)


def check_opendp() -> list[NoiseFinding]:
    """Release-grade noise, 100,000 draws of every kind but 4,000 choices."""
    return check_noise("release", ReleaseNoise(), 100_000, 4_000)


def _made(kind: Any, settings: Mapping[str, Any]) -> Any:
    return kind(**settings)


def _uniforms(run: Recording, rng: np.random.Generator) -> Floats:
    """The noise of all counts of a run in the order of drawing, as uniform numbers."""
    asked = [draw for draw in run.draws if draw.question.kind == "laplace"]
    if not asked:
        return np.zeros(0)
    noise = np.concatenate([draw.outcome - draw.question.values for draw in asked])
    decays = [draw.question.units / draw.question.sensitivity for draw in asked]
    return distributions.uniforms(noise, np.concatenate(decays) / UNITS_PER_EPSILON, rng)


def _check_books(release: Any, units: int) -> None:
    """What every path spent, with what earlier passes cost, must be the whole budget."""
    before = sum(to_units(part) for _, part in release.elsewhere)
    dearest = before + int(release.tree.path_spent.sum(axis=1).max())
    if dearest != units or release.units != units:
        raise Breach(f"the books show {dearest} of {units} units spent on the dearest path")
