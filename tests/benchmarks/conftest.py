"""Benchmarks report CPU time in units of a reference computation of the same run."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

REPORT: list[tuple[str, float, float, str]] = []


def median_seconds(work: Callable[[], Any], rounds: int) -> float:
    """Median CPU seconds of a function, run once more before to warm up."""
    work()
    times = []
    for _ in range(rounds):
        start = time.process_time()
        work()
        times.append(time.process_time() - start)
    return float(np.median(times))


@pytest.fixture(scope="session")
def reference() -> Callable[[], Any]:
    """What a unit is: both cumulative sums of a 1024 x 1024 int64 array."""
    a = np.random.default_rng(0).poisson(3, (1024, 1024))
    return lambda: np.cumsum(np.cumsum(a, 0), 1)


@pytest.fixture(scope="session")
def unit(reference: Callable[[], Any]) -> float:
    """CPU seconds of the reference."""
    return median_seconds(reference, 31)


@pytest.fixture
def units_of(reference: Callable[[], Any]) -> Callable[[Callable[[], Any]], float]:
    """A function's CPU time over that of the reference, measured beside it; no switch needed."""
    return lambda work: median_seconds(work, 7) / median_seconds(reference, 15)


@pytest.fixture
def in_units(benchmark: Any, unit: float) -> Callable[..., Any]:
    """Run a function under the benchmark and note its median CPU time in units."""

    def measure(label: str, work: Callable[[], Any], target: str, rounds: int = 15) -> Any:
        result = benchmark.pedantic(work, rounds=rounds, warmup_rounds=1)
        if not benchmark.disabled:
            seconds = benchmark.stats.stats.median
            benchmark.extra_info["units"] = seconds / unit
            REPORT.append((label, seconds, seconds / unit, target))
        return result

    return measure


def pytest_terminal_summary(terminalreporter: Any) -> None:
    """Print the table that closing notes and README quote."""
    if REPORT:
        terminalreporter.section("CPU medians; a unit is two cumulative sums over 1024 x 1024")
    for label, seconds, units, target in REPORT:
        terminalreporter.write_line(
            f"{label:52} {seconds * 1e3:9.1f} ms {units:7.2f} units  {target}"
        )
