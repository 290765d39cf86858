"""What an audit tries: data sets, their neighbours, settings of a mechanism, epsilons.

Half of the data sets are directed: a total, or the count of a region, is where a decision of the
mechanism would turn if it looked at exact counts.
"""

from __future__ import annotations

import math
import random
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Protocol, cast

import numpy as np
import param

from explorer.points.matrix import FrequencyMatrix
from explorer.privacy.audit.replay import Chosen
from explorer.privacy.noise import Ints, NoiseSource, PreviewNoise, ReleaseNoise

NEIGHBOURS = 4
LARGEST_SIDE = 12
LONGEST_ROW = 32
STYLES = ("seeded", "seeded", "still", "still", "up", "down", "wild", "wild")


class Seeded:
    """Choices from a seed, a number or a text."""

    def __init__(self, seed: int | str) -> None:
        self._rng = random.Random(seed)

    def whole(self, low: int, high: int) -> int:
        """A whole number, both ends included; all alike."""
        return self._rng.randint(low, high)


class Auditable(Protocol):
    """A class of mechanisms, as far as an audit goes.

    It also has `param`, its declared parameters by name, and called with settings it gives a
    mechanism with `release(matrix, rng)`: what `param` adds to a class has no types.
    """

    key: str

    def tunables(self) -> list[str]:
        """Names of the parameters other than epsilon."""
        ...


@dataclass(frozen=True)
class Case:
    """Settings, a data set and some neighbours of it."""

    settings: Mapping[str, Any]  # the mechanism's parameters, with epsilon
    counts: Ints  # (rows, cols) int64, 0 or more
    changes: tuple[Ints, ...]  # arrays like `counts`: what one unit of privacy adds, or takes away
    contribution_bound: int  # most records of one unit
    # style, seed: of the outcomes, see `source`
    style: str
    seed: int

    @property
    def matrix(self) -> FrequencyMatrix:
        """D."""
        return self._wrap(self.counts)

    def neighbour(self, change: Ints) -> FrequencyMatrix:
        """D' for one of the changes."""
        return self._wrap(self.counts + change)

    @property
    def strangers(self) -> tuple[FrequencyMatrix, ...]:
        """Data sets that differ from D in every cell that they can, see `Recording.replay`.

        In every cell the other parity, no one at all, and a third of everybody: a rule that looks
        at any count, how large or whether odd, sees another one.
        """
        others = np.roll(self.counts[::-1, ::-1], 1) + 1
        others += (others - self.counts) % 2 == 0
        return tuple(map(self._wrap, (others, np.zeros_like(others), self.counts // 3)))

    @property
    def source(self) -> NoiseSource:
        """Seeded noise, OpenDP, or outcomes of the audit's choosing (`Chosen`)."""
        if self.style == "release":
            return ReleaseNoise()
        return PreviewNoise(self.seed) if self.style == "seeded" else Chosen(self.seed, self.style)

    def describe(self, change: Ints) -> str:
        """A pair as a person can build it again."""
        settings = ", ".join(f"{name}={value!r}" for name, value in self.settings.items())
        cells = np.argwhere(change)
        moved = ", ".join(f"{change[tuple(c)]:+d} in row {c[0]} column {c[1]}" for c in cells)
        return (
            f"{settings}; counts {self.counts.tolist()}, {moved}; "
            f"contribution bound {self.contribution_bound}, outcomes {self.style} {self.seed}"
        )

    def _wrap(self, counts: Ints) -> FrequencyMatrix:
        return FrequencyMatrix.from_array(counts, contribution_bound=self.contribution_bound)


def draw_case(kind: Auditable, choose: Seeded, neighbours: int = NEIGHBOURS) -> Case:
    """A case for a class of mechanisms; grids of at most 12 x 12 cells or one row of 32."""
    settings = drawn_settings(kind, choose)
    shape = _shape(choose)
    directed = choose.whole(0, 1) == 1
    if directed:
        counts = _placed(_turning_point(settings, choose), shape, choose)
    else:
        counts = _anything(shape, choose)
    bound = one_of(choose, (1, 1, 1, 2, 3, 8))
    changes = tuple(_change(counts, bound, i % 2 == 0, choose) for i in range(neighbours))
    style, seed = one_of(choose, STYLES), choose.whole(0, 2**40)
    return Case(settings, counts, changes, bound, style, seed)


def drawn_settings(kind: Auditable, choose: Seeded) -> dict[str, Any]:
    """A value for every parameter of a class of mechanisms, epsilon first."""
    declared = cast(Any, kind).param
    settings: dict[str, Any] = {"epsilon": _epsilon(choose)}
    return settings | {name: _setting(declared[name], choose) for name in kind.tunables()}


def one_of(choose: Seeded, options: Sequence[Any] | Ints) -> Any:
    """One of some options, all alike."""
    return options[choose.whole(0, len(options) - 1)]


def _between(choose: Seeded, low: float, high: float) -> float:
    """A number of either of two kinds: evenly spread, or evenly in its order of magnitude."""
    part = choose.whole(0, 1000) / 1000
    if low > 0 and high / low > 20 and choose.whole(0, 1):
        return min(max(low * (high / low) ** part, low), high)
    return low + (high - low) * part


def _epsilon(choose: Seeded) -> float:
    """0.05 to 8, with few digits or with all that a float has."""
    epsilon = 0.05 * 160 ** (choose.whole(0, 10_000) / 10_000)
    return float(f"{epsilon:.{one_of(choose, (1, 2, 17))}g}")


def _setting(declared: param.Parameter, choose: Seeded) -> Any:
    """A value that a parameter declares possible; numbers small enough to matter, mostly."""
    if isinstance(declared, param.Selector):
        return one_of(choose, declared.objects)
    if declared.allow_None and choose.whole(0, 1):
        return None
    low, high = declared.bounds
    kind = choose.whole(0, 3)
    if kind == 0 and declared.default is not None:
        return declared.default
    if kind == 1:
        soft_low, soft_high = declared.softbounds or declared.bounds
        value = _between(choose, soft_low, soft_high)
    elif isinstance(declared, param.Integer) or high > 1000:
        value = float(choose.whole(math.ceil(low), math.floor(min(high, low + 14))))
    else:
        value = _between(choose, low, high)
    return round(value) if isinstance(declared, param.Integer) else value


def _shape(choose: Seeded) -> tuple[int, int]:
    if choose.whole(0, 4) == 0:
        long = choose.whole(1, LONGEST_ROW)
        return one_of(choose, ((1, long), (long, 1)))
    # Smaller grids more often: they are quicker, and every cell of them matters.
    rows, cols = (choose.whole(1, choose.whole(2, LARGEST_SIDE)) for _ in range(2))
    return rows, cols


def _turning_point(settings: Mapping[str, Any], choose: Seeded) -> int:
    """A count at which a rule that looked at exact counts would decide otherwise, or one next to.

    Rules compare counts with a setting, or counts times epsilon with a constant c (10 in Eq. 15 of
    htf-2022, in Guideline 1 and in Mosaic, c and c2) times 2^j (heights) or (m + 1/2)^2 (sizes).
    """
    numbers = [v for v in settings.values() if isinstance(v, float | int) and 0 <= v < 1e6]
    value = float(one_of(choose, numbers if choose.whole(0, 1) else (0, 1, 5, 8, 10, 10)))
    step = choose.whole(0, choose.whole(1, 6))
    value *= one_of(choose, (1.0, 2.0**step, (step + 0.5) ** 2))
    if choose.whole(0, 1):
        value /= settings["epsilon"]
    return max(0, min(math.floor(value), 10**7) + choose.whole(-1, 1))


def _placed(people: int, shape: tuple[int, int], choose: Seeded) -> Ints:
    """So many records in one cell (of an empty or flat map), a block, the map, or every cell."""
    counts = np.zeros(shape, dtype=np.int64)
    place = choose.whole(0, 4)
    row, col = choose.whole(0, shape[0] - 1), choose.whole(0, shape[1] - 1)
    if place == 0:
        counts[row, col] = people
    elif place == 1:
        _scatter(counts[row:, col:], people, choose)
    elif place == 2:
        _scatter(counts, people, choose)
    elif place == 3:
        counts += choose.whole(0, 3)
        counts[row, col] = people
    else:
        counts += people
    return counts


def _scatter(cells: Ints, people: int, choose: Seeded) -> None:
    rng = np.random.default_rng(choose.whole(0, 2**32))
    cells += rng.multinomial(people, np.full(cells.size, 1 / cells.size)).reshape(cells.shape)


def _anything(shape: tuple[int, int], choose: Seeded) -> Ints:
    """Poisson counts whose mean varies from cell to cell: empty, sparse, rough or very full."""
    rng = np.random.default_rng(choose.whole(0, 2**32))
    mean = one_of(choose, (0.0, 0.2, 2.0, 30.0, 5000.0))
    rough = rng.gamma(0.3, 1 / 0.3, shape) if choose.whole(0, 1) else np.ones(shape)
    return rng.poisson(mean * rough).astype(np.int64)


def _change(counts: Ints, bound: int, adds: bool, choose: Seeded) -> Ints:
    """What one unit gives: up to `bound` records, in one cell or in several."""
    change = np.zeros_like(counts)
    occupied = np.argwhere(counts)
    where = np.argwhere(counts >= 0) if adds or len(occupied) == 0 else occupied
    adds = adds or len(occupied) == 0
    # The fullest cell as often as any other: directed counts are there.
    fullest = np.unravel_index(np.argmax(counts), counts.shape)
    cell: tuple[Any, ...] = fullest
    for record in range(choose.whole(1, bound)):
        if choose.whole(0, 1) or record == 0:
            chosen = where[choose.whole(0, len(where) - 1)]
            cell = fullest if choose.whole(0, 1) else tuple(chosen)
        if adds:
            change[cell] += 1
        elif counts[cell] + change[cell] > 0:
            change[cell] -= 1
    return change
