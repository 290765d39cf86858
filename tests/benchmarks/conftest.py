"""Benchmarks report CPU time in units of a reference computation of the same run.

In the tests each runs once and asserts results only. `bash tests/run benchmarks` measures, and
prints each figure beside the one in `kept.json`; `bash tests/run benchmarks --keep` renews it.
"""

from __future__ import annotations

import json
import re
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

KEPT = Path(__file__).with_name("kept.json")
REPORT: list[tuple[str, float, float, str]] = []
#: A statement that has a process say its own peak of memory, where the system tells it.
PEAK = """
from pathlib import Path
own = Path("/proc/self/status")
print(own.read_text() if own.exists() else "")
"""


def median_seconds(work: Callable[[], Any], rounds: int) -> float:
    """Median CPU seconds of a function, run once more before to warm up."""
    work()
    times = []
    for _ in range(rounds):
        start = time.process_time()
        work()
        times.append(time.process_time() - start)
    return float(np.median(times))


def unit() -> Callable[[], Any]:
    """What a unit is: both cumulative sums of a 1024 x 1024 int64 array."""
    a = np.random.default_rng(0).poisson(3, (1024, 1024))
    return lambda: np.cumsum(np.cumsum(a, 0), 1)


@pytest.fixture(scope="session")
def reference() -> Callable[[], Any]:
    """See `unit`."""
    return unit()


@pytest.fixture
def in_units(benchmark: Any, reference: Callable[[], Any]) -> Callable[..., Any]:
    """Run a function under the benchmark and note its median CPU time in units."""

    def measure(label: str, work: Callable[[], Any], target: str, rounds: int = 15) -> Any:
        units: list[float] = []

        def beside() -> None:
            # Each round has its own: a machine's speed drifts within seconds.
            if not benchmark.disabled:
                units.append(median_seconds(reference, 3))

        result = benchmark.pedantic(work, setup=beside, rounds=rounds, warmup_rounds=1)
        if not benchmark.disabled:
            seconds = benchmark.stats.stats.data
            ratio = float(np.median(np.divide(seconds, units[-len(seconds) :])))
            benchmark.extra_info["units"] = ratio
            REPORT.append((label, float(np.median(seconds)), ratio, target))
        return result

    return measure


def run_alone(arguments: list[str]) -> tuple[str, float]:
    """What a fresh process of Python says, and the CPU seconds it took."""
    import resource  # not on every system

    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    run = [sys.executable, *arguments]
    said = subprocess.run(run, capture_output=True, text=True, check=True).stdout
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return said, after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


@pytest.fixture
def alone_in_units(
    request: pytest.FixtureRequest, reference: Callable[[], Any]
) -> Callable[..., str]:
    """Run Python in a process of its own and note its median CPU time, and its peak of memory.

    The peak is what it says itself in a line of `PEAK`: what the system says of a child counts
    the process that started it.
    """

    def measure(label: str, arguments: list[str], target: str, rounds: int = 7) -> str:
        said, _ = run_alone(arguments)
        if request.config.getoption("benchmark_enable"):
            beside = [
                (median_seconds(reference, 3), run_alone(arguments)[1]) for _ in range(rounds)
            ]
            units, taken = np.transpose(beside)
            seconds, ratio = float(np.median(taken)), float(np.median(taken / units))
            peak = re.search(r"VmHWM:\s*(\d+) kB", said)
            memory = f"{int(peak[1]) / 1024:.0f} MB, " if peak else ""
            REPORT.append((label, seconds, ratio, f"{memory}{target}"))
        return said

    return measure


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption("--keep", action="store_true", help="keep what was measured, to compare with")


def pytest_terminal_summary(terminalreporter: Any, config: pytest.Config) -> None:
    """Print what was measured beside what is kept."""
    if not REPORT:
        return
    kept = json.loads(KEPT.read_text()) if KEPT.exists() else {}
    terminalreporter.section("CPU medians; a unit is two cumulative sums over 1024 x 1024")
    terminalreporter.write_line(f"{'':44} {'ms':>9} {'units':>7} {'kept':>7} {'ratio':>6}")
    for label, seconds, units, target in REPORT:
        before = kept.get(label)
        beside = f"{before:7.2f} {units / before:6.2f}" if before else " " * 14
        terminalreporter.write_line(
            f"{label:44} {seconds * 1e3:9.1f} {units:7.2f} {beside}  {target}"
        )
    if config.getoption("--keep"):
        kept |= {label: round(units, 3) for label, _, units, _ in REPORT}
        KEPT.write_text(json.dumps(kept, indent=1, sort_keys=True) + "\n")
