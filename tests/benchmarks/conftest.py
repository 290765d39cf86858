"""Benchmarks report CPU time in units of a reference computation of the same run."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

REPORT: list[tuple[str, float, float, str]] = []


@pytest.fixture(scope="session")
def unit() -> float:
    """CPU seconds of the reference: both cumulative sums of a 1024 x 1024 int64 array."""
    a = np.random.default_rng(0).poisson(3, (1024, 1024))
    times = []
    for _ in range(31):
        start = time.process_time()
        np.cumsum(np.cumsum(a, 0), 1)
        times.append(time.process_time() - start)
    return float(np.median(times))


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
