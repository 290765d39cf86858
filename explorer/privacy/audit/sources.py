"""The sources of noise themselves: what they ask OpenDP for, and how what comes is distributed.

Both as a release asks: calls of one draw and of as many as a map of 512 x 512 cells has, budgets
and sensitivities mixed in one call, whole or in the parts between two reports of progress.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from fractions import Fraction
from typing import Any
from unittest.mock import patch

import numpy as np
from numpy.typing import NDArray

from explorer.privacy import keyed
from explorer.privacy.audit import bounds, distributions
from explorer.privacy.audit.branches import watched
from explorer.privacy.audit.distributions import PER_EPSILON
from explorer.privacy.audit.loss import budget
from explorer.privacy.noise import NoiseSource, PreviewNoise, ReleaseNoise
from explorer.privacy.reports import ReportingNoise

DOUBT = 1e-6
"""A right source fails a chi-square test this often."""
ALPHA = 1e-3
"""Chance that a lower bound is too high, over all kinds of draws."""
LONGEST = 512 * 512
SIZES = (1, 2, 7, 199, 201, 9_999, 10_001, 50_001, LONGEST)
"""Draws of a call; some a little more or less than what is drawn between two reports."""
_FEWEST = 400
"""Draws of short calls together, each of which costs a measurement of its own."""
BUDGETS = tuple(map(budget, (0.003, 0.05, 0.5, 2.0, 7.9)))
_GOLDEN = np.uint64(0x9E3779B97F4A7C15)


@dataclass(frozen=True)
class NoiseFinding:
    """A source of noise and one kind of draw against the exact distribution."""

    # source, kind: what was drawn
    source: str
    kind: str
    draws: int  # number of draws
    p_value: float  # of a chi-square test
    bound: float  # lower bound on epsilon from single draws, where the truth is 1
    fault: str | None = None  # what is wrong for certain, whatever the distribution
    call: int = 0  # draws of the longest call

    @property
    def breach(self) -> bool:
        """Whether the distribution is another one."""
        return self.fault is not None or self.p_value < DOUBT or self.bound > 1.0


def check_noise(name: str, source: NoiseSource, draws: int, choices: int) -> list[NoiseFinding]:
    """Every kind of noise of a source: chi-square tests, and bounds from single draws.

    `draws` counts and decisions, `choices` selections (OpenDP takes its time for those).
    """
    keys = np.arange(draws, dtype=np.uint64) * _GOLDEN
    found_bounds = bounds.primitive_bounds(source, draws // 2, choices // 2, ALPHA / 6)
    result = []
    for epsilon, sensitivity in ((1.0, 1), (0.05, 1), (2.0, 3)):
        zero, units = np.zeros(draws // 2, dtype=np.int64), np.full(draws // 2, budget(epsilon))
        noise = source.laplace(zero, sensitivity, units, keys[: len(zero)], "audit counts")
        p_value = distributions.laplace_p_value(noise, epsilon / sensitivity)
        kind = f"counts, epsilon {epsilon:g}, sensitivity {sensitivity}"
        result.append(NoiseFinding(name, kind, len(noise), p_value, found_bounds["counts"]))
    units = np.full(draws, budget(1))
    passed = source.above(np.full(draws, -2), 1, 2, units, keys, "audit decisions")
    p_value = distributions.decision_p_value(passed, -2, 1, 0.5)
    result.append(NoiseFinding(name, "decisions", draws, p_value, found_bounds["decisions"]))
    costs = np.array([5, 1, 2, 9])
    offsets = np.arange(choices + 1) * len(costs)
    chosen = source.lowest(
        np.tile(costs, choices), offsets, 1, units[:choices], keys[:choices], "audit choices"
    )
    p_value = distributions.selection_p_value(chosen, costs, 1.0)
    result.append(NoiseFinding(name, "choices", choices, p_value, found_bounds["choices"]))
    return result


def check_mixed(name: str, source: NoiseSource, longest: int = LONGEST) -> list[NoiseFinding]:
    """Budgets shuffled in one call, told of progress: counts of every size of call, and choices."""
    rng, findings = np.random.default_rng(7), []
    reporting_noise = ReportingNoise(source, lambda _: None, lambda: 1.0)
    nobody = np.zeros(0, dtype=np.int64)
    with watched():
        empty = source.laplace(nobody, 1, nobody, nobody.astype(np.uint64), "nobody")
    fault = "a call without regions draws something" if len(empty) else None
    findings.append(NoiseFinding(name, "no counts", 0, 1.0, 0.0, fault))
    for size in SIZES:
        size = min(size, longest)
        uniforms, together = [], 0
        while together < min(longest, max(size, _FEWEST)):
            sensitivity = int(rng.choice([1, 3, 8]))
            units, keys = rng.choice(BUDGETS, size), _names(rng, size)
            exact = rng.integers(0, 50, size)
            with watched():
                noise = (
                    reporting_noise.laplace(exact, sensitivity, units, keys, f"mixed {together}")
                    - exact
                )
            a = units / (PER_EPSILON * sensitivity)
            uniforms.append(distributions.uniforms(noise, a, rng))
            together += size
        p_value = distributions.uniform_p_value(np.concatenate(uniforms))
        kind = f"mixed counts, {size:,} a call"
        findings.append(NoiseFinding(name, kind, together, p_value, 0.0, call=size))
    return [*findings, *_mixed_choices(name, reporting_noise, rng)]


def _mixed_choices(
    name: str, reporting_noise: NoiseSource, rng: np.random.Generator
) -> Iterator[NoiseFinding]:
    number, costs = 1_501, np.array([5, 1, 2, 9])
    units, keys = rng.choice(BUDGETS[2:], number), _names(rng, number)
    offsets = np.arange(number + 1) * len(costs)
    with watched():
        chosen = reporting_noise.lowest(
            np.tile(costs, number), offsets, 2, units, keys, "mixed choices"
        )
        passed = reporting_noise.above(np.full(number, 1), 2, 2, units, keys, "mixed decisions")
    choices, decisions = 1.0, 1.0
    for epsilon_units in BUDGETS[2:]:
        a, matching = epsilon_units / (PER_EPSILON * 2), units == epsilon_units
        choices = min(choices, distributions.selection_p_value(chosen[matching], costs, a))
        decisions = min(decisions, distributions.decision_p_value(passed[matching], 1, 2, a))
    parts = len(BUDGETS[2:])
    yield NoiseFinding(name, "mixed choices", number, min(1.0, parts * choices), 0.0, call=number)
    yield NoiseFinding(
        name, "mixed decisions", number, min(1.0, parts * decisions), 0.0, call=number
    )


def check_asked() -> NoiseFinding:
    """Whether every draw of a release is one of OpenDP, of its own scale and its own figure.

    OpenDP is played by what adds a number that is never the same, and writes down for which scale
    it did: this needs no chance and sees one draw of a quarter of a million.
    """
    number, fault = 0, None
    rng = np.random.default_rng(11)
    for source in (ReleaseNoise(), ReportingNoise(ReleaseNoise(), lambda _: None, lambda: 1.0)):
        for size in SIZES:
            fault = fault or _wrongly_asked(source, size, rng)
            number += 2 * size
    return NoiseFinding("release", "asked of OpenDP", number, 1.0, 0.0, fault, LONGEST)


def _wrongly_asked(source: NoiseSource, size: int, rng: np.random.Generator) -> str | None:
    sensitivity = int(rng.choice([1, 3, 8, 1024 * 7 // 3]))
    units, keys = rng.choice(BUDGETS, size), _names(rng, size)
    exact = rng.integers(0, 10**6, size)
    with _played() as calls:
        tag = source.laplace(exact, sensitivity, units, keys, "asked") - exact
        few = min(size, 2_000)
        costs = rng.integers(0, 9, 3 * few)
        ends = np.arange(few + 1) * 3
        chosen = source.lowest(costs, ends, sensitivity, units[:few], keys[:few], "asked")
        places = {id_: where for where, id_ in enumerate(calls.choices)}
    # In order, since sorting is faster than a table of what was seen.
    tags = np.sort(tag)
    if (tags[1:] == tags[:-1]).any() or tags[0] < 1 or tags[-1] > len(calls.scales):
        return f"of {size:,} counts in one call not every one was drawn by OpenDP"
    scales = np.array(calls.scales)[tag - 1]
    for epsilon_units in np.unique(units).tolist():
        if not all(
            _fits(scale, sensitivity, epsilon_units)
            for scale in np.unique(scales[units == epsilon_units])
        ):
            return (
                f"counts of {epsilon_units} units, {size:,} in one call, "
                "have noise of another scale"
            )
    if len(places) != few or sorted(chosen.tolist()) != sorted(calls.answers):
        return f"of {few:,} choices in one call not every one was made by OpenDP"
    for (group, scale), expected_costs, epsilon_units in zip(
        calls.choices, costs.reshape(-1, 3).tolist(), units[:few].tolist(), strict=True
    ):
        if list(group[1]) != expected_costs or not _fits(scale, 2 * sensitivity, epsilon_units):
            return (
                f"a choice of {epsilon_units} units is made with another scale, or of other costs"
            )
    return None


def _fits(scale: float, sensitivity: int, units: int) -> bool:
    """Whether a scale is sensitivity / epsilon, rounded up by one float at most."""
    exact = Fraction(sensitivity * PER_EPSILON, units)
    return (
        exact <= Fraction(scale) <= Fraction(math.nextafter(float(exact) * (1 + 1e-15), math.inf))
    )


class _Asked:
    """What OpenDP was asked for: the scale of every count, and every choice with its scale."""

    def __init__(self) -> None:
        self.scales: list[float] = []
        self.choices: list[tuple[tuple[int, tuple[int, ...]], float]] = []
        self.answers: list[int] = []

    def make_laplace(self, _domain: Any, _metric: Any, scale: float) -> Callable[..., list[int]]:
        def draw(values: list[int]) -> list[int]:
            begin = len(self.scales) + 1
            self.scales += [scale] * len(values)
            return [value + begin + i for i, value in enumerate(values)]

        return draw

    def make_noisy_max(
        self, _domain: Any, _metric: Any, _divergence: Any, scale: float, negate: bool
    ) -> Callable[..., int]:
        def choose(costs: list[int]) -> int:
            self.choices.append(((len(self.choices), tuple(costs)), scale if negate else 0.0))
            self.answers.append(len(self.choices) * 7 % 3)
            return self.answers[-1]

        return choose


@contextmanager
def _played() -> Iterator[_Asked]:
    import opendp.prelude as dp

    calls = _Asked()
    with (
        patch.object(dp.m, "make_laplace", calls.make_laplace),
        patch.object(dp.m, "make_noisy_max", calls.make_noisy_max),
    ):
        yield calls


def check_kernels() -> NoiseFinding:
    """Whether compiled kernels draw what their Python does: no tool looks into compiled code."""
    rng, size = np.random.default_rng(3), 12_000
    units, keys = np.sort(rng.choice(BUDGETS, size)), _names(rng, size)
    # Many of one price are looked up.
    units[3_000:] = units[2_999]
    exact, salt = rng.integers(0, 50, size), np.uint64(rng.integers(2**62))
    fault, noisy = None, np.empty((2, size), dtype=np.int64)
    offsets, scale = np.arange(size // 3 + 1) * 3, 2.0 * PER_EPSILON / units[: size // 3]
    chosen = np.empty((2, size // 3), dtype=np.int64)
    with np.errstate(over="ignore"):
        for way, ask in enumerate((lambda kernel: kernel, lambda kernel: kernel.py_func)):
            memory = keyed.working_memory(size)
            ask(keyed.add_laplace)(exact, units, 3.0 * PER_EPSILON, keys, salt, noisy[way], *memory)
            ask(keyed.lowest)(exact, offsets, scale, keys, salt, chosen[way])
        some = np.r_[:500, size - 500 : size]
        single = [_in_python(keys[i], salt, units[i]) for i in some]
    sampled = (noisy[0] - exact)[some]
    if (
        not (noisy[0] == noisy[1]).all()
        or not (chosen[0] == chosen[1]).all()
        or (sampled != single).any()
    ):
        fault = "a compiled kernel draws what its Python does not"
    return NoiseFinding("preview", "kernels", size, 1.0, 0.0, fault, size)


def _in_python(key: np.uint64, salt: np.uint64, paid: int) -> int:
    decay = paid / (3.0 * PER_EPSILON)
    rest = float(np.log1p(np.exp(-decay)))
    word = keyed._uniform.py_func(key, salt)
    assert word == keyed._uniform(key, salt)
    return int(keyed._laplace.py_func(key, salt, decay, rest))


def check_preview_noise(seed: int = 0) -> list[NoiseFinding]:
    """The noise of previews, 100,000 draws of every kind, and mixed calls."""
    source = PreviewNoise(seed)
    findings = check_noise("preview", source, 100_000, 100_000)
    return [*findings, *check_mixed("preview", source), check_kernels()]


def check_opendp() -> list[NoiseFinding]:
    """Release-grade noise, 30,000 draws of every kind but 1,500 choices, and mixed calls."""
    source = ReleaseNoise()
    return [
        *check_noise("release", source, 30_000, 1_500),
        *check_mixed("release", source),
        check_asked(),
    ]


def _names(rng: np.random.Generator, number: int) -> NDArray[np.uint64]:
    return rng.integers(2**63, size=number).astype(np.uint64)
