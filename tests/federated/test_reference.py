"""Errors of methods on cities against the figures of a prototype.

Port Amber is made here; what needs the files of New York and San Francisco is skipped without them.
"""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from explorer.cities.catalogue import cities
from explorer.papers.heatmap_bench import (
    INTEGERS,
    MENDED,
    METHODS,
    ONCE,
    PRINTED,
    HeatmapBench,
    Map,
)

THEIRS = 5
"""Runs behind a figure of the reference."""
MEASURED = 40
"""Runs of ours behind `Method.spread` and `Method.ratio`."""
FAR = 4.0
"""Standard errors of a difference: fifty differences pass them once in 300 times."""
RUNS = 2
"""Of every method on Port Amber and San Francisco."""
FILES = {
    "new-york": "nyc_uber2014_sample.parquet",
    "san-francisco": "sf_cabspotting_points.parquet",
}
NAMES = {"new-york": "ny", "madeup": "amber", "san-francisco": "sf"}
"""Of cities, here and in the reference."""


@dataclass(frozen=True)
class Method:
    """A method of both programs.

    Attributes
    ----------
    reference : its name there
    spread : standard deviation of one run of ours, of MSE and of L1, measured
    runs : how many are made here
    ratio : our mean error over theirs, measured; None where there is no difference to be seen
    integers : runs that send fewer are another case, see `METHODS`
    """

    reference: str
    spread: tuple[float, float]
    runs: int = 4
    ratio: tuple[float, float] | None = None
    integers: float = 0.0


#: The adaptive grid's error hangs on where the edges of its uneven cells fall: rounded down (as
#: here), up or to the nearest its MSE is 3.50, 3.50, 3.34 on New York (theirs 3.42), 4.31, 3.98,
#: 4.16 on San Francisco (3.93), 1.01, 1.01, 1.03 on Port Amber (1.02e-11), of as many cells.
#: Algorithm 2 mended ends after four rounds or after five on New York, ours in 20 of 40 runs each.
#: All five runs of the reference have five (of ours five in a row would once in 32 times), so that
#: runs with five are compared, which send 8,300 integers or more, those with four at most 5,400.
_GRID, _SKETCH = "adaptive grid, epsilon in its sizes", "count-min 4x2000, best level (oracle)"
_MENDED = "Algorithm 2 + H rule, jumps, joint inference (c .5, b 3, start 3)"
_ONCE = "asked once (H rule)"
CASES = {
    "new-york": {
        "count-min": Method(_SKETCH, (2.5e-14, 4.0e-3), 3),
        "adaptive grid, epsilon": Method(_GRID, (1.49e-13, 2.7e-3), 3, (1.0255, 1.0079)),
        PRINTED: Method("Algorithm 2, c=.1", (7.9e-15, 1.33e-3)),
        "Algorithm 2, c .3": Method("Algorithm 2, c=.3", (2.65e-13, 2.2e-3)),
        f"{ONCE}, c .5": Method(_ONCE, (9.4e-13, 5.5e-3)),
        f"{MENDED}, c .5": Method(_MENDED, (7.6e-13, 6.1e-3), 6, integers=7_000),
    },
    "madeup": {
        "adaptive grid, epsilon": Method(_GRID, (1.6e-13, 2.3e-3), RUNS),
        PRINTED: Method("Algorithm 2, c=.1", (8.8e-14, 2.8e-3), RUNS),
        "Algorithm 2, c .3": Method("Algorithm 2, c=.3", (1.3e-13, 3.4e-3), RUNS),
        f"{ONCE}, c .5": Method(_ONCE, (1.1e-13, 3.3e-3), RUNS),
        f"{MENDED}, c .5": Method(_MENDED, (1.6e-13, 4.5e-3), RUNS),
    },
    "san-francisco": {
        PRINTED: Method("Algorithm 2, c=.1", (8.1e-15, 9.3e-4), RUNS),
        f"{ONCE}, c .5": Method(_ONCE, (8.7e-12, 3.1e-2), RUNS),
        f"{MENDED}, c .5": Method(_MENDED, (1.0e-12, 9.5e-3), RUNS),
    },
}  # fmt: skip
ALL_CASES = [(city, name) for city, methods in CASES.items() for name in methods]


@pytest.fixture(scope="module")
def bench(real_data: Callable[[str], Path]) -> Callable[..., HeatmapBench]:
    """One bench for each city, with as many runs as are asked for."""

    @cache
    def made(key: str, runs: int) -> HeatmapBench:
        if key in FILES:
            real_data(FILES[key])
        counts = cities()[key].load((1024, 1024))[1].counts
        return HeatmapBench(seeds=runs, maps=[Map.of(key, counts)], methods=METHODS)

    return made


@pytest.fixture(scope="module")
def rows(reference_data: Callable[[str], Path]) -> dict[tuple[str, str], Any]:
    """Table 1 by city and method, 100,000 people none of whom drops out."""
    table = json.loads(reference_data("federated/table1.json").read_text())["rows"]
    chosen = [row for row in table if (row["clients"], row["dropout"]) == (100_000, 0.0)]
    return {(row["city"], row["method"]): row for row in chosen}


@pytest.mark.statistical
@pytest.mark.parametrize(("where", "name"), ALL_CASES)
def test_errors_are_those_of_the_prototype(
    where: str,
    name: str,
    bench: Callable[..., HeatmapBench],
    rows: dict[tuple[str, str], Any],
) -> None:
    method = CASES[where][name]
    ran = bench(where, method.runs).run(0, name)
    ran = ran[ran[:, INTEGERS] > method.integers]
    assert len(ran) >= 2
    wanted = rows[NAMES[where], method.reference]
    for column, measure in ((0, "mse"), (1, "l1")):
        spread = method.spread[column]
        # Five runs say little of their own spread: theirs or ours, whichever is larger.
        theirs, expected = max(wanted[f"{measure}_se"], spread / THEIRS**0.5), wanted[measure]
        if method.ratio is not None:
            # Measured against the same figures of theirs, so that only ours vary.
            theirs, expected = spread / MEASURED**0.5, method.ratio[column] * wanted[measure]
        error = np.hypot(spread / len(ran) ** 0.5, theirs)
        assert abs(ran[:, column].mean() - expected) <= FAR * error, measure
