"""What heatmaps-2022 compares with (Table 1), over the same people, shards and noise.

Each takes a `Session` and the number of all people, and gives a map with its rounds. "flat" asks
once for the finest cells, "hierarchical" for all levels at an equal part of epsilon each and
publishes one level, "count-min" does that with hashed counters, "decomposition" gives lower levels
more and makes all agree, "adaptive grid" divides an even grid where many people are. "sampling"
adds no noise: it is what asking a part of the people costs by itself, and not private.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from explorer.errors import InputError
from explorer.federated.asking import Question
from explorer.federated.session import Session, figures
from explorer.releases.distributed import NOBODY
from explorer.releases.inference import Estimate, least_squares
from explorer.releases.joint import alone
from explorer.releases.quarters import KeyTree, separate
from explorer.releases.rounds import Heard, Row
from explorer.releases.transcript import Measurement, Transcript
from explorer.releases.units import share, to_epsilon

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]
Drawn = tuple[Estimate, list[Row]]

ROWS, WIDTH = 4, 2_000
"""Of a count-min sketch: as many hash functions, each with so many counters."""
FEWEST = 10
"""Cells along a side of the first grid, at least (grids-2013, section IV-C)."""
ALPHA = 0.5
"""Part of epsilon that the first grid gets."""
C_FIRST, C_SECOND = 10.0, 5.0


@dataclass(frozen=True, eq=False)
class Level:
    """Estimated sums of all cells of one level, by code.

    Attributes
    ----------
    number : 1 to the depth
    sums : (4^number,)
    variance : of the error of each
    squares : what the true sums squared add up to, estimated without bias
    answered : m
    """

    number: int
    sums: Floats
    variance: float
    squares: float
    answered: int

    def risk(self, depth: int) -> float:
        """Cp: expected squared error of the finest cells, up to what all levels share.

        [4^l V_l + m - sum of squares] / 4^(D - l), the last two estimated; with one draw a cell it
        is [2 (4^l V_l + m) - sum y^2] / 4^(D - l).
        """
        cells = 4.0**self.number
        return (cells * self.variance + self.answered - self.squares) / 4.0 ** (depth - self.number)


def flat(session: Session, population: int, level: int | None = None) -> Drawn:
    """One question for all cells of a level, by default the finest."""
    tree = KeyTree.even(session.depth, session.depth if level is None else level)
    heard = session.ask(tree, session.people, session.units, fresh=True)
    _check_heard(heard.answered)
    return alone(heard, session.shape, population, [], "round 1"), [heard]


def hierarchical(session: Session, population: int) -> Drawn:
    """Every level at an equal part of epsilon; the one of least `Level.risk` is published."""
    parts = [1.0] * session.depth
    found, rows = levels(session, parts)
    return published(session, population, least(found, session.depth), rows), rows


def decomposition(session: Session, population: int, to_root: bool = False) -> Drawn:
    """Every level, lower ones with more of epsilon, made to agree by least squares.

    Level l gets 2^(l/3) parts (Cormode et al. 2012); the text of heatmaps-2022 gives more to
    *higher* levels (erratum 42): `to_root`.
    """
    sign = -1.0 if to_root else 1.0
    found, rows = levels(session, [2.0 ** (sign * k / 3) for k in range(1, session.depth + 1)])
    agreed = agreeing(found)
    return published(session, population, least(agreed, session.depth), rows), rows


def count_min(session: Session, population: int) -> Drawn:
    """Every level at an equal part of epsilon, large ones in `ROWS` x `WIDTH` hashed counters.

    A cell's estimate is the least of its counters.
    """
    found, rows = levels(session, [1.0] * session.depth, hashed=True)
    return published(session, population, least(found, session.depth), rows), rows


def adaptive_grid(session: Session, population: int, by_shards: bool = False) -> Drawn:
    """AG of grids-2013: an even grid, each cell divided by its noisy count, both made to agree.

    m1 = max(10, sqrt(N epsilon / 10) / 4) cells along a side, m2 = sqrt(N' (1 - alpha) epsilon / 5)
    along each of theirs, N' a cell's noisy count. `by_shards`: with epsilon / sqrt(K) in the sizes,
    as heatmaps-2022 has it; they want epsilon itself (erratum 45).
    """
    side = 1 << session.asking.depth
    epsilon = to_epsilon(session.units)
    if by_shards:
        epsilon /= math.sqrt(-(-session.people // session.shard))
    most = min(side, 1 << session.depth)
    wanted = max(FEWEST, math.ceil(math.sqrt(session.people * epsilon / C_FIRST) / 4))
    edges = _edges(0, side, min(wanted, most))
    paid = share(session.units, ALPHA)
    coarse, first = _asked_boxes(session, *_product(edges, edges), paid)
    _check_heard(first.answered)
    boxes, parents = [], []
    for number, (lower, upper) in enumerate(zip(*_product(edges, edges), strict=True)):
        held = max(float(coarse.sums[number]), 0.0)
        m2 = max(1, math.ceil(math.sqrt(held * (1 - ALPHA) * epsilon / C_SECOND)))
        sides = [
            _edges(int(low), int(high), min(m2, int(high - low)))
            for low, high in zip(lower, upper, strict=True)
        ]
        made = _product(*sides)
        boxes.append(np.stack(made, axis=1))
        parents.append(np.full(len(made[0]), number))
    fine = np.concatenate(boxes)
    finer, second = _asked_boxes(session, fine[:, 0], fine[:, 1], session.units - paid)
    _check_heard(second.answered)
    estimate = _grids(session, population, (edges, coarse), fine, np.concatenate(parents), finer)
    return estimate, [first, second]


def sampling(session: Session, population: int, level: int | None = None) -> Drawn:
    """The finest cells of a part of the people without any noise: not private."""
    tree = KeyTree.even(session.depth, session.depth if level is None else level)
    heard = session.look(tree)
    return alone(heard, session.shape, population, [], "round 1"), [heard]


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
    found, rows = [], []
    for number, units in enumerate(paid, 1):
        if hashed and 4**number > ROWS * WIDTH:
            level, asked = _sketch(session, number, units)
        else:
            heard = session.ask(
                KeyTree.even(session.depth, number), session.people, units, fresh=False
            )
            # What nobody answered says nothing, though its sums are 0 without any noise.
            variance = heard.noise**2 if heard.answered else math.inf
            squares = float(np.sum(heard.sums**2)) - len(heard.sums) * variance - heard.answered
            level = Level(number, heard.sums, variance, squares, heard.answered)
            asked = [heard]
        found.append(level)
        rows += asked
    return found, rows


def least(found: Sequence[Level], depth: int) -> Level:
    """The level whose finest cells are expected to be wrong by least: free, it reads sums.

    Raises
    ------
    InputError
        If nobody was heard at any level.
    """
    heard = [level for level in found if level.answered]
    _check_heard(len(heard))
    return min(heard, key=lambda level: level.risk(depth))


def agreeing(found: Sequence[Level]) -> list[Level]:
    """Least squares over complete levels: the best estimates that add up.

    A level of infinite variance, of which nobody was heard, follows from the others.
    """
    scale = [max(level.answered, 1) for level in found]
    z = [level.sums / m for level, m in zip(found, scale, strict=True)]
    alone = [level.variance / m**2 for level, m in zip(found, scale, strict=True)]
    for k in range(len(found) - 2, -1, -1):
        below, spread = z[k + 1].reshape(-1, 4).sum(axis=1), 4 * alone[k + 1]
        if math.isinf(alone[k]):
            z[k], alone[k] = below, spread
        elif math.isfinite(spread):
            weight = spread / (spread + alone[k])
            z[k] = weight * z[k] + (1 - weight) * below
            alone[k] *= weight
    final = list(alone)
    for k in range(1, len(found)):
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
        for level, x, v, m in zip(found, z, final, scale, strict=True)
    ]


def published(session: Session, population: int, level: Level, rows: Sequence[Row]) -> Estimate:
    """The map of one level; all rounds besides the last count as spent elsewhere."""
    tree = KeyTree.even(session.depth, level.number)
    heard = Heard(
        cells=len(level.sums),
        people=session.people,
        answered=level.answered,
        units=rows[-1].units,
        noise=math.sqrt(level.variance),
        tree=tree,
        sums=level.sums,
    )
    before = [(f"round {at}", row.epsilon) for at, row in enumerate(rows[:-1], 1)]
    return alone(heard, session.shape, population, before, f"round {len(rows)}")


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
        asked = Row(**figures(sums, WIDTH))
        rows.append(asked)
        if not sums.answered:
            continue
        estimate = np.minimum(estimate, values[owner])
        variance = asked.noise**2
        # Counters hold the squares, what collides, and the noise.
        collided = float(values.sum()) ** 2 / WIDTH
        squares.append((np.sum(values**2) - WIDTH * variance - collided)
                       * WIDTH / (WIDTH - 1) - asked.answered)  # fmt: skip
        answered = asked.answered
    if not answered:
        return Level(number, np.zeros(len(codes)), math.inf, -math.inf, 0), list(rows)
    held = float(np.mean(squares))
    error = variance + max(held, 0.0) / WIDTH
    return Level(number, estimate, error, held, answered), list(rows)


def _check_heard(number: int) -> None:
    if not number:
        raise InputError(NOBODY)


def _hash(codes: NDArray[np.uint64], row: int) -> Ints:
    """A counter of a row for every code: public, the same in every run."""
    # A finalizer of the splitmix family: every bit of the code moves half of the bits.
    x = codes + np.uint64((0x9E3779B97F4A7C15 * (row + 1)) % 2**64)
    for shift, factor in ((30, 0xBF58476D1CE4E5B9), (27, 0x94D049BB133111EB)):
        x = (x ^ (x >> np.uint64(shift))) * np.uint64(factor)
    x ^= x >> np.uint64(31)
    return (x % np.uint64(WIDTH)).astype(np.int64)


def _edges(low: int, high: int, parts: int) -> Ints:
    """Cuts that divide cells low to high into nearly equal parts, (parts + 1,)."""
    return low + (np.arange(parts + 1, dtype=np.int64) * (high - low)) // parts


def _product(rows: Ints, cols: Ints) -> tuple[Ints, Ints]:
    """Boxes between the edges of rows and columns, lower and upper (n, 2)."""
    lower = np.stack(np.meshgrid(rows[:-1], cols[:-1], indexing="ij"), axis=-1).reshape(-1, 2)
    upper = np.stack(np.meshgrid(rows[1:], cols[1:], indexing="ij"), axis=-1).reshape(-1, 2)
    return lower, upper


def _asked_boxes(session: Session, lower: Ints, upper: Ints, units: int) -> tuple[_Sums, Row]:
    """Sums over boxes of finest cells that tile the square."""
    depth = session.asking.depth
    side = 1 << depth
    owner = np.empty((side, side), dtype=np.int64)
    for number, ((r0, c0), (r1, c1)) in enumerate(zip(lower, upper, strict=True)):
        owner[r0:r1, c0:c1] = number
    column, row = separate(np.arange(4**depth))
    by_code = owner[row, column]
    starts = np.flatnonzero(np.diff(by_code, prepend=-1))
    question = Question(starts, by_code[starts], len(lower), depth)
    found = session.sums(question, session.people, units, fresh=False)
    asked = Row(**figures(found, len(lower)))
    return _Sums(found.values / found.sensitivity, asked), asked


@dataclass(frozen=True, eq=False)
class _Sums:
    sums: Floats
    row: Row

    def scaled(self, population: float) -> tuple[Floats, Floats]:
        """Counts of everybody, and the variance of their noise alone, as grids-2013 weighs them."""
        factor = population / max(self.row.answered, 1)
        variance = np.full(len(self.sums), (self.row.noise * factor) ** 2)
        return self.sums * factor, variance


def _grids(
    session: Session,
    population: int,
    coarse: tuple[Ints, _Sums],
    fine: Ints,
    parents: Ints,
    finer: _Sums,
) -> Estimate:
    """Two grids made to agree (grids-2013, section IV-C), cut off at the edge of the grid."""
    edges, sums = coarse
    shape = np.array(session.shape)
    lower, upper = _product(edges, edges)
    first = np.flatnonzero((lower < shape).all(axis=1))
    place = np.full(len(lower), -1)
    place[first] = 1 + np.arange(len(first))
    kept = np.flatnonzero((fine[:, 0] < shape).all(axis=1))
    corner = np.zeros((1, 2), dtype=np.int64)
    all_lower = np.concatenate([corner, lower[first], fine[kept, 0]])
    all_upper = np.concatenate(
        [shape[np.newaxis], np.minimum(upper[first], shape), np.minimum(fine[kept, 1], shape)]
    )
    parent = np.concatenate([[-1], np.zeros(len(first), dtype=np.int64), place[parents[kept]]])
    is_leaf = np.arange(len(parent)) > len(first)
    ids = [1 + np.arange(len(first)), 1 + len(first) + np.arange(len(kept))]
    stages = ("round 1", "round 2")
    paid = np.zeros((len(parent), 2), dtype=np.int64)
    measured = []
    for number, (at, which, each) in enumerate(zip(ids, (first, kept), (sums, finer), strict=True)):
        paid[at, number] = each.row.units
        values, variances = each.scaled(population)
        measured.append(Measurement(stages[number], at, values[which], variances[which]))
    record = Transcript(
        all_lower, all_upper, parent.astype(np.int64), is_leaf, stages, paid, tuple(measured)
    )
    solved = least_squares(record)
    return Estimate(record, solved.value, solved.precision, linear=False)
