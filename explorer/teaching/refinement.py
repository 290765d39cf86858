"""Which cells are worth dividing: what noise takes against what even spreading errs by.

A cell of Y people carries noise of variance s^2 and, if few of many are asked, Y of sampling.
Spread evenly over its quarters it errs there by h Y^2 + (s^2 + Y) / 4 in all, h = sum over its
quarters of (share - 1/4)^2; with sums of their own they err by 4 s^2 + Y. So dividing pays if
and only if 4 h Y^2 > 15 s^2 + 3 Y (`federated.refine`): from Y = (3 + sqrt(9 + 240 h s^2)) / (8 h)
on, about sqrt(15 / (4 h)) s. A rule must use one H for all cells of a level, because that of one
cell is private; Eq. 6 of heatmaps-2022, Y > 2 s, is about H = .75: everybody in one quarter.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from explorer.errors import InputError
from explorer.federated.places import depth_of
from explorer.federated.protocol import Protocol
from explorer.federated.refine import expected, unevenness
from explorer.points.matrix import FrequencyMatrix
from explorer.releases.quarters import KeyTree, interleave
from explorer.releases.units import to_units
from explorer.teaching.previews import turn

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]
Chosen = NDArray[np.bool_]

PAPER_K = 2.0
"""Eq. 6: a cell is divided if its sum is above this many standard deviations of noise."""
SHALLOWEST, DEEPEST = 3, 8
"""Levels that cells are looked at on: from 8 x 8 cells on, where the first round asks."""
_TURNS = 10**6
_SMALL = "This grid has too few cells to divide: choose one of 4 cells to a side or more."


@dataclass(frozen=True, eq=False)
class Asked:
    """People who were asked, level by level, each level as if it were the only round.

    Attributes
    ----------
    depth : of the finest cells
    counts : by level, (4^l,) everybody in each cell, in Morton order
    noisy : by level, (4^l,) what the server hears from those who were asked
    sd : (depth + 1,) noise of each sum
    measured : (depth + 1,) H of each level from the noisy sums, NaN for the whole map
    people : how many were asked
    """

    depth: int
    counts: tuple[Ints, ...]
    noisy: tuple[Ints, ...]
    sd: Floats
    measured: Floats
    people: int

    @property
    def part(self) -> float:
        """How many of all were asked, 0 to 1."""
        return self.people / float(self.counts[0][0])

    @property
    def forecast(self) -> Floats:
        """H that the server expects of the quarters of cells of each level, (depth + 1,)."""
        # The whole map has no siblings; without a trend its quarters go on as they are.
        return expected(np.where(np.isnan(self.measured), self.measured[1], self.measured))

    @property
    def truth(self) -> Floats:
        """H of the quarters of cells of each level of everybody, without noise, (depth,)."""
        results = []
        for quarters in self.counts[1:]:
            group = quarters.reshape(-1, 4).astype(np.float64)
            whole = group.sum(axis=1, keepdims=True)
            results.append(float(((group - whole / 4) ** 2).sum() / (whole**2).sum()))
        return np.array(results)

    def level(self, level: int) -> Level:
        """The cells of one level, the deepest that has quarters at most."""
        at = min(max(level, 0), self.depth - 1)
        quarters = self.part * self.counts[at + 1].reshape(-1, 4).astype(np.float64)
        forecast = float(self.forecast[at])
        return Level(at, self.noisy[at], quarters, float(self.sd[at]), 1 - self.part, forecast)


@dataclass(frozen=True, eq=False)
class Level:
    """Cells that may be divided.

    Attributes
    ----------
    number : the level; 2^number cells to a side
    noisy : (v,) what the server hears
    quarters : (v, 4) people to be expected in each quarter among those asked
    sd : noise of a sum
    sampling : variance that asking a part of the people adds to each of them, 0 to 1
    forecast : H that the server expects of the quarters
    """

    number: int
    noisy: Ints
    quarters: Floats
    sd: float
    sampling: float
    forecast: float

    @property
    def true(self) -> Floats:
        """People to be expected in each cell among those asked, (v,)."""
        return np.asarray(self.quarters.sum(axis=1), dtype=np.float64)

    @property
    def own(self) -> Floats:
        """Each cell's own h, 0 to .75, which the server does not know, (v,); 0 without people."""
        whole = self.true
        people = np.where(whole > 0, whole, 1.0)
        return np.where(whole > 0, self._apart() / people**2, 0.0)

    @property
    def if_whole(self) -> Floats:
        """Squared error of a cell's quarters, added up, if its sum is spread evenly, (v,)."""
        return self._apart() + (self.sd**2 + self.sampling * self.true) / 4

    @property
    def if_divided(self) -> Floats:
        """The same with a sum for each quarter, (v,)."""
        return 4 * self.sd**2 + self.sampling * self.true

    def by_h(self, h: float) -> Chosen:
        """Cells that are divided if every one is expected to be as uneven as ``h``, (v,)."""
        return (self.noisy > threshold(h, self.sd)) & (self.noisy > 2 * self.sd)

    def by_paper(self) -> Chosen:
        """Cells that Eq. 6 divides, its noise being that of these sums, (v,)."""
        return self.noisy > PAPER_K * self.sd

    def best(self) -> Chosen:
        """Cells whose division truly helps, by counts that no server has, (v,)."""
        return self.if_divided < self.if_whole

    def error(self, divided: Chosen) -> float:
        """Root of the mean squared error of all quarters, in people, expected for a choice."""
        return math.sqrt(float(np.where(divided, self.if_divided, self.if_whole).mean()) / 4)

    def _apart(self) -> Floats:
        even = self.quarters.mean(axis=1, keepdims=True)
        return np.asarray(((self.quarters - even) ** 2).sum(axis=1), dtype=np.float64)

    def example(self, number: int) -> int:
        """A cell by its people: that of the person in the middle for 0, of others for others."""
        order = np.argsort(self.true, kind="stable")
        ranks = np.cumsum(self.true[order])
        parts = turn(number, _TURNS) / _TURNS
        return int(order[np.searchsorted(ranks, parts * ranks[-1], side="right")])


def threshold(h: float, sd: float) -> float:
    """People from which on dividing pays, (3 + sqrt(9 + 240 h sd^2)) / (8 h).

    >>> round(threshold(0.75, 100.0)), round(threshold(0.01, 100.0))
    (224, 1974)
    """
    return (3 + math.sqrt(9 + 240 * h * sd**2)) / (8 * h)


def in_sds(h: float) -> float:
    """The same in standard deviations of large noise, sqrt(15 / (4 h)): Eq. 6's k.

    >>> [round(in_sds(h), 1) for h in (0.75, 0.1, 0.01)]
    [2.2, 6.1, 19.4]
    """
    return math.sqrt(15 / (4 * h))


def ask(matrix: FrequencyMatrix, people: int, epsilon: float, seed: int = 0) -> Asked:
    """Ask people of a city about all cells of every level, as previews.

    Parameters
    ----------
    matrix : each record is one person
    people : how many are asked, all if there are fewer; they are those of every seed
    epsilon : of every level, as if it were the only one
    seed : of the noise

    Raises
    ------
    InputError
        Without people, or on a grid of fewer than 3 cells to a side.
    """
    if depth_of(matrix.grid) < 2:
        raise InputError(_SMALL)
    depth = min(depth_of(matrix.grid), DEEPEST)
    finest = finest_counts(matrix).reshape(4**depth, -1).sum(axis=1)
    total = int(finest.sum())
    if total == 0:
        raise InputError("There is nobody to ask inside this extent: choose another city.")
    number, counts_asked = min(people, total), finest
    if number < total:
        random = np.random.default_rng([0x4EF, number])
        counts_asked = random.multivariate_hypergeometric(finest, number, method="marginals")
    noisy, sd, measured = [], np.zeros(depth + 1), np.full(depth + 1, np.nan)
    protocol = Protocol()
    for level in range(depth + 1):
        counts = counts_asked.reshape(4**level, -1).sum(axis=1)
        plan = protocol.round(number, to_units(epsilon), len(counts))
        shape = number / plan.honest
        sd[level] = plan.sd(shape)
        random = np.random.default_rng([seed, level])
        plus, minus = random.negative_binomial(shape, -math.expm1(-epsilon), (2, len(counts)))
        noisy.append(counts + plus - minus)
        if level:
            tree = KeyTree.even(depth, level)
            sums = noisy[level].astype(np.float64)
            measured[level] = unevenness(tree, sums, float(sd[level]))[level]
    everybody = tuple(finest.reshape(4**level, -1).sum(axis=1) for level in range(depth + 1))
    return Asked(depth, everybody, tuple(noisy), sd, measured, number)


def finest_counts(matrix: FrequencyMatrix) -> Ints:
    """Counts of a matrix as a square of a power of two, in Morton order, (4^depth,)."""
    depth = depth_of(matrix.grid)
    rows, cols = np.nonzero(matrix.counts)
    counts = np.zeros(4**depth, dtype=np.int64)
    counts[interleave(cols, rows)] = matrix.counts[rows, cols]
    return counts


def as_map(values: NDArray[np.generic]) -> NDArray[np.generic]:
    """Values in Morton order, (4^l,), as rows and columns, row 0 in the south."""
    side = math.isqrt(len(values))
    rows, cols = np.indices((side, side))
    return values[interleave(cols.ravel(), rows.ravel())].reshape(side, side)


def by_people(counts: Floats, parts: Sequence[float]) -> Floats:
    """How full the cells are that so many of the people are in at most, as `parts`.

    >>> by_people(np.array([1.0, 1.0, 8.0]), (0.1, 0.5)).tolist()
    [1.0, 8.0]
    """
    order = np.sort(counts)
    ranks = np.cumsum(order)
    return order[np.searchsorted(ranks, np.asarray(parts) * ranks[-1])]
