"""Cases as people have them: grids of 64 to 256 cells a side, told of progress, drawn in parts.

Small grids turn decisions; large ones reach what small ones never do: jumps over several levels,
calls of tens of thousands of draws that are cut, budgets mixed in one call. The longest case is a
release of 512 x 512 cells, cut where people's are.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from explorer.privacy.audit.cases import Auditable, Case, Seeded, drawn_settings, one_of
from explorer.privacy.noise import Ints

SIDES = (64, 96, 128, 200, 256)
BOUNDS = (1, 2, 3, 5, 8)
NEIGHBOURS = 4
LONGEST_SIDE = 512
LONGEST = LONGEST_SIDE**2
"""Cells of the longest case, and draws of one measurement in it of all that count every cell."""
FULL = frozenset(
    (
        *("identity", "ug", "ag", "quadtree", "kd-cell", "hierarchy", "hb", "privlet"),
        *("privtree", "mosaic", "eug", "mkm", "gravity"),
    )
)
"""Mechanisms that count every cell of the longest case at once; others merge cells."""
RICH = 20.0
"""Records of a cell, times epsilon over the bound, where a mechanism goes as deep as it can."""


@dataclass(frozen=True)
class Large(Case):
    """A large case."""

    grade: bool = False  # whether the source represents OpenDP's own, see `ways`
    longest: bool = False  # whether calls are cut where people's are, and not into many small parts

    def describe(self, change: Ints) -> str:
        """A pair as a person can build it again: its number and seed name the counts."""
        cells = np.argwhere(change)
        moved = ", ".join(f"{change[tuple(c)]:+d} in row {c[0]} column {c[1]}" for c in cells)
        settings = ", ".join(f"{name}={value!r}" for name, value in self.settings.items())
        rows, cols = self.counts.shape
        return (
            f"{settings}; {int(self.counts.sum()):,} records on {rows} x {cols} cells, {moved}; "
            f"contribution bound {self.contribution_bound}, outcomes {self.style} {self.seed}, "
            f"{'release grade' if self.grade else 'with progress'}"
        )


def draw_large_case(kind: Auditable, choose: Seeded, number: int = 0) -> Large:
    """A large case; the first and every other one have the default settings, at epsilon 0.1 to 2.

    The first two are one of each grade, and rich: automatic sizes and long jumps need many records
    for the budget and the bound.
    """
    plain = number % 2 == 0
    settings: dict[str, Any] = drawn_settings(kind, choose)
    epsilon = one_of(choose, (0.1, 0.5, 1.0, 2.0))
    if plain or number == 1:
        # The settings that nearly everybody has.
        settings = {"epsilon": epsilon}
    rich = number < 2
    rows, cols = (SIDES[2] if rich else one_of(choose, SIDES) for _ in range(2))
    rng = np.random.default_rng(choose.whole(0, 2**32))
    # Every one in turn, the largest first.
    bound = BOUNDS[-1 - number % len(BOUNDS)]
    total = one_of(choose, (2.0, 20.0)) if not rich else RICH * bound / epsilon
    counts = _town(rows, cols, total, rng)
    changes = tuple(_change(counts, bound, i, rng) for i in range(NEIGHBOURS))
    style = one_of(choose, ("seeded", "still", "up", "wild"))
    grade = choose.whole(0, 1) == 1 if not rich else number == 1
    return Large(settings, counts, changes, bound, style, choose.whole(0, 2**40), grade)


def draw_longest_case(choose: Seeded) -> Large:
    """A release of 512 x 512 cells as people draw it: the usual settings, by OpenDP's source.

    Every cell has so many records that whatever divides goes down to it.
    """
    epsilon, bound = one_of(choose, (0.1, 0.5, 1.0, 2.0)), BOUNDS[-1]
    rng = np.random.default_rng(choose.whole(0, 2**32))
    total = 10 * RICH * bound / epsilon
    counts = _town(LONGEST_SIDE, LONGEST_SIDE, total, rng) + int(total)
    changes = (_change(counts, bound, 3, rng),)
    seed = choose.whole(0, 2**40)
    return Large({"epsilon": epsilon}, counts, changes, bound, "seeded", seed, True, True)


def _town(rows: int, cols: int, mean: float, rng: np.random.Generator) -> Ints:
    """A few towns on a thin ground, an empty strip, and one cell that is very full."""
    y, x = np.mgrid[0:rows, 0:cols]
    density = np.full((rows, cols), 0.2 * mean)
    for _ in range(3):
        at = rng.random(2) * (rows, cols)
        spread = (0.04 + 0.1 * rng.random()) * max(rows, cols)
        density += 8 * mean * np.exp(-((y - at[0]) ** 2 + (x - at[1]) ** 2) / (2 * spread**2))
    counts = rng.poisson(density).astype(np.int64)
    counts[: rows // 4, cols // 2 :] = 0
    counts[rng.integers(rows), rng.integers(cols)] += int(1e5 * rng.random())
    return counts


def _change(counts: Ints, bound: int, number: int, rng: np.random.Generator) -> Ints:
    """What a unit gives, all it may: in the fullest cell, an empty one, or wherever it likes."""
    change = np.zeros_like(counts)
    if number == 0:
        change.flat[np.argmax(counts)] = bound
    elif number == 1:
        change.flat[rng.choice(np.flatnonzero(counts == 0))] = bound
    elif number == 2:
        # A user of so many records is taken away.
        cells = rng.choice(np.flatnonzero(counts > 0), size=bound)
        np.subtract.at(change.reshape(-1), np.unique(cells), 1)
    else:
        np.add.at(change.reshape(-1), rng.integers(counts.size, size=bound), 1)
    return change
