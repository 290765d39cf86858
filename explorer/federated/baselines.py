"""What heatmaps-2022 compares with (Table 1), over the same people, shards and noise.

Each takes a `Session` and the number of all people, and gives a map with its rounds. "sampling"
adds no noise: it is what asking a part of the people costs by itself, and not private.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from explorer.federated.adaptive_grid import adaptive_grid
from explorer.federated.asking import Question
from explorer.federated.session import Drawn, Session, check_heard, figures
from explorer.releases.inference import Estimate
from explorer.releases.joint import alone
from explorer.releases.quarters import KeyTree
from explorer.releases.rounds import Heard, Row
from explorer.releases.units import share

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]

ROWS, WIDTH = 4, 2_000
"""Of a count-min sketch: as many hash functions, each with so many counters."""


@dataclass(frozen=True, eq=False)
class Level:
    """Estimated sums of all cells of one level, by code."""

    number: int  # 1 to the depth
    sums: Floats  # (4^number,)
    variance: float  # of the error of each
    squares: float  # what the true sums squared add up to, estimated without bias
    answered: int  # m

    def risk(self, depth: int) -> float:
        """Cp: expected squared error of the finest cells, up to what all levels share.

        [4^l V_l + m - sum of squares] / 4^(D - l), the last two estimated; with one draw a cell it
        is [2 (4^l V_l + m) - sum y^2] / 4^(D - l).
        """
        cells = 4.0**self.number
        return (cells * self.variance + self.answered - self.squares) / 4.0 ** (depth - self.number)


def flat(session: Session, population: int, level: int | None = None) -> Drawn:
    """One question for all cells of a level, by default and at most the finest."""
    tree = KeyTree.even(session.depth, min(level or session.depth, session.depth))
    response = session.ask(tree, session.people, session.units, fresh=True)
    check_heard(response.answered)
    return alone(response, session.shape, population, [], "round 1"), [response]


def hierarchical(session: Session, population: int) -> Drawn:
    """Every level at an equal part of epsilon; the one of least `Level.risk` is published."""
    parts = [1.0] * session.depth
    by_level, rows = levels(session, parts)
    return published(session, population, least(by_level, session.depth), rows), rows


def decomposition(session: Session, population: int, to_root: bool = False) -> Drawn:
    """Every level, lower ones with more of epsilon, made to agree by least squares.

    Level l gets 2^(l/3) parts (Cormode et al. 2012); the text of heatmaps-2022 gives more to
    *higher* levels (erratum 42): `to_root`.
    """
    sign = -1.0 if to_root else 1.0
    by_level, rows = levels(session, [2.0 ** (sign * k / 3) for k in range(1, session.depth + 1)])
    agreed = agreeing(by_level)
    return published(session, population, least(agreed, session.depth), rows), rows


def count_min(session: Session, population: int) -> Drawn:
    """Every level at an equal part of epsilon, large ones in `ROWS` x `WIDTH` hashed counters.

    A cell's estimate is the least of its counters.
    """
    by_level, rows = levels(session, [1.0] * session.depth, hashed=True)
    return published(session, population, least(by_level, session.depth), rows), rows


def sampling(session: Session, population: int, level: int | None = None) -> Drawn:
    """Cells of a level, by default the finest, of a part of the people without any noise."""
    tree = KeyTree.even(session.depth, min(level or session.depth, session.depth))
    response = session.look(tree)
    return alone(response, session.shape, population, [], "round 1"), [response]


BASELINES: dict[str, Callable[..., Drawn]] = {
    "flat": flat,
    "hierarchical": hierarchical,
    "count-min": count_min,
    "adaptive grid": adaptive_grid,
    "decomposition": decomposition,
    "sampling": sampling,
}
"""By the name of the algorithm: functions of a session, the population, and options."""


def levels(
    session: Session, parts: Sequence[float], hashed: bool = False
) -> tuple[list[Level], list[Row]]:
    """Estimates of levels 1 to the depth, each at its part of epsilon, all asked in turn."""
    paid = [share(session.units, part / sum(parts)) for part in parts]
    paid[-1] = session.units - sum(paid[:-1])
    by_level, rows = [], []
    for number, units in enumerate(paid, 1):
        if hashed and 4**number > ROWS * WIDTH:
            level, level_rows = _sketch(session, number, units)
        else:
            response = session.ask(
                KeyTree.even(session.depth, number), session.people, units, fresh=False
            )
            # What no one answered says nothing, though its sums are 0 without any noise.
            variance = response.noise**2 if response.answered else math.inf
            squares = (
                float(np.sum(response.sums**2)) - len(response.sums) * variance - response.answered
            )
            level = Level(number, response.sums, variance, squares, response.answered)
            level_rows = [response]
        by_level.append(level)
        rows += level_rows
    return by_level, rows


def least(candidates: Sequence[Level], depth: int) -> Level:
    """The level whose finest cells are expected to be wrong by least: free, it reads sums."""
    answered = [level for level in candidates if level.answered]
    check_heard(len(answered))
    return min(answered, key=lambda level: level.risk(depth))


def agreeing(noisy_levels: Sequence[Level]) -> list[Level]:
    """Least squares over complete levels: the best estimates that add up.

    A level of infinite variance, of which no one was heard, follows from the others.
    """
    scale = [max(level.answered, 1) for level in noisy_levels]
    z = [level.sums / m for level, m in zip(noisy_levels, scale, strict=True)]
    alone = [level.variance / m**2 for level, m in zip(noisy_levels, scale, strict=True)]
    for k in range(len(noisy_levels) - 2, -1, -1):
        below, spread = z[k + 1].reshape(-1, 4).sum(axis=1), 4 * alone[k + 1]
        if math.isinf(alone[k]):
            z[k], alone[k] = below, spread
        elif math.isfinite(spread):
            weight = spread / (spread + alone[k])
            z[k] = weight * z[k] + (1 - weight) * below
            alone[k] *= weight
    final = list(alone)
    for k in range(1, len(noisy_levels)):
        missing = z[k - 1] - z[k].reshape(-1, 4).sum(axis=1)
        z[k] = z[k] + np.repeat(missing, 4) / 4
        if math.isfinite(alone[k]):
            final[k] = alone[k] + (final[k - 1] - 4 * alone[k]) / 16
    return [
        Level(
            level.number,
            x * m,
            v * m**2,
            float(np.sum((x * m) ** 2)) - len(x) * v * m**2 - m,
            level.answered,
        )
        for level, x, v, m in zip(noisy_levels, z, final, scale, strict=True)
    ]


def published(session: Session, population: int, level: Level, rows: Sequence[Row]) -> Estimate:
    """The map of one level; all rounds but the last count as spent elsewhere."""
    tree = KeyTree.even(session.depth, level.number)
    response = Heard(
        cells=len(level.sums),
        people=session.people,
        answered=level.answered,
        units=rows[-1].units,
        noise=math.sqrt(level.variance),
        tree=tree,
        sums=level.sums,
    )
    before = [(f"round {at}", row.epsilon) for at, row in enumerate(rows[:-1], 1)]
    return alone(response, session.shape, population, before, f"round {len(rows)}")


def _sketch(session: Session, number: int, units: int) -> tuple[Level, list[Row]]:
    """A level in hashed counters: each row a question of its own, at its part of the price."""
    codes = np.arange(4**number, dtype=np.uint64)
    starts = (codes << np.uint64(2 * (session.asking.depth - number))).astype(np.int64)
    estimate, rows, squares, variance = np.full(len(codes), np.inf), [], [], 0.0
    left, answered = units, 0
    for row in range(ROWS):
        owner = _hash(codes, 16 * number + row)
        paid = left if row == ROWS - 1 else units // ROWS
        left -= paid
        question = Question(starts, owner, WIDTH, session.asking.depth)
        sums = session.sums(question, session.people, paid, fresh=False)
        values = sums.values / sums.sensitivity
        round_row = Row(**figures(sums, WIDTH))
        rows.append(round_row)
        if not sums.answered:
            continue
        estimate = np.minimum(estimate, values[owner])
        variance = round_row.noise**2
        # Counters hold the squares, what collides, and the noise.
        collided = float(values.sum()) ** 2 / WIDTH
        squares.append((np.sum(values**2) - WIDTH * variance - collided)
                       * WIDTH / (WIDTH - 1) - round_row.answered)  # fmt: skip
        answered = round_row.answered
    if not answered:
        return Level(number, np.zeros(len(codes)), math.inf, -math.inf, 0), list(rows)
    sum_of_squares = float(np.mean(squares))
    error = variance + max(sum_of_squares, 0.0) / WIDTH
    return Level(number, estimate, error, sum_of_squares, answered), list(rows)


def _hash(codes: NDArray[np.uint64], row: int) -> Ints:
    """A counter of a row for every code: public, the same in every run."""
    # A finalizer of the splitmix family: every bit of the code moves half of the bits.
    x = codes + np.uint64((0x9E3779B97F4A7C15 * (row + 1)) % 2**64)
    for shift, factor in ((30, 0xBF58476D1CE4E5B9), (27, 0x94D049BB133111EB)):
        x = (x ^ (x >> np.uint64(shift))) * np.uint64(factor)
    x ^= x >> np.uint64(31)
    return (x % np.uint64(WIDTH)).astype(np.int64)
