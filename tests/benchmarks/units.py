"""What benchmarks measure in: CPU time as multiples of a reference computation beside it."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Any

import numpy as np


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
