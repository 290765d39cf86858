"""An even grid, each cell divided by its noisy count, both made to agree (AG of grids-2013)."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from explorer.federated.asking import Question
from explorer.federated.session import Drawn, Session, check_heard, figures
from explorer.releases.inference import Estimate, least_squares
from explorer.releases.quarters import separate
from explorer.releases.rounds import Row
from explorer.releases.transcript import Measurement, Transcript
from explorer.releases.units import share, to_epsilon

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]

FEWEST = 10
"""Cells along a side of the first grid, at least (grids-2013, section IV-C)."""
ALPHA = 0.5
"""Part of epsilon that the first grid gets."""
C_FIRST, C_SECOND = 10.0, 5.0


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
    limit = min(side, 1 << session.depth)
    m1 = max(FEWEST, math.ceil(math.sqrt(session.people * epsilon / C_FIRST) / 4))
    edges = _edges(0, side, min(m1, limit))
    paid = share(session.units, ALPHA)
    coarse, first = _asked_boxes(session, *_product(edges, edges), paid)
    check_heard(first.answered)
    boxes, parents = [], []
    for number, (lower, upper) in enumerate(zip(*_product(edges, edges), strict=True)):
        count = max(float(coarse.sums[number]), 0.0)
        m2 = max(1, math.ceil(math.sqrt(count * (1 - ALPHA) * epsilon / C_SECOND)))
        sides = [
            _edges(int(low), int(high), min(m2, int(high - low)))
            for low, high in zip(lower, upper, strict=True)
        ]
        corners = _product(*sides)
        boxes.append(np.stack(corners, axis=1))
        parents.append(np.full(len(corners[0]), number))
    fine = np.concatenate(boxes)
    finer, second = _asked_boxes(session, fine[:, 0], fine[:, 1], session.units - paid)
    check_heard(second.answered)
    estimate = _grids(session, population, (edges, coarse), fine, np.concatenate(parents), finer)
    return estimate, [first, second]


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
    sums = session.sums(question, session.people, units, fresh=False)
    round_row = Row(**figures(sums, len(lower)))
    return _Sums(sums.values / sums.sensitivity, round_row), round_row


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
    inside = np.flatnonzero((fine[:, 0] < shape).all(axis=1))
    corner = np.zeros((1, 2), dtype=np.int64)
    all_lower = np.concatenate([corner, lower[first], fine[inside, 0]])
    all_upper = np.concatenate(
        [shape[np.newaxis], np.minimum(upper[first], shape), np.minimum(fine[inside, 1], shape)]
    )
    parent = np.concatenate([[-1], np.zeros(len(first), dtype=np.int64), place[parents[inside]]])
    is_leaf = np.arange(len(parent)) > len(first)
    ids = [1 + np.arange(len(first)), 1 + len(first) + np.arange(len(inside))]
    stages = ("round 1", "round 2")
    paid = np.zeros((len(parent), 2), dtype=np.int64)
    measured = []
    for number, (at, which, grid_sums) in enumerate(
        zip(ids, (first, inside), (sums, finer), strict=True)
    ):
        paid[at, number] = grid_sums.row.units
        values, variances = grid_sums.scaled(population)
        measured.append(Measurement(stages[number], at, values[which], variances[which]))
    record = Transcript(
        all_lower, all_upper, parent.astype(np.int64), is_leaf, stages, paid, tuple(measured)
    )
    solved = least_squares(record)
    return Estimate(record, solved.value, solved.precision, linear=False)
