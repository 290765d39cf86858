"""What a grid of very many parts answers to one box, without drawing the parts.

A part's noise is discrete Laplace, the difference of two geometric numbers, so that of n parts is
the difference of two negative binomial ones. A box cuts the first and the last part along an axis
and holds those between whole: 3^d groups of parts that count alike. The answer to each box is drawn
exactly as the grid would give it; answers to several boxes are independent of each other, where
those of one grid share noise. So means over boxes and draws are those of the grid, but they scatter
less from draw to draw. For evaluation alone: it publishes nothing.
"""

from __future__ import annotations

import itertools
import math
from typing import Any

import numpy as np
from numba import njit
from numpy.typing import NDArray

from explorer.mechanisms import Identity
from explorer.mechanisms.trip_grids import TripGrid
from explorer.privacy.noise import PreviewNoise
from explorer.releases.units import share, to_epsilon, to_units
from explorer.trips.matrix import TripMatrix

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]


#: Parts of a grid of more than two axes that are drawn one by one at most.
MOST_PARTS = 2**18


def large_grid(
    mechanism: Any, matrix: TripMatrix, seed: int
) -> tuple[tuple[int, ...], float] | None:
    """The parts of a grid of too many to be drawn one by one, and the epsilon of each."""
    grid = parts_of(mechanism, matrix, seed) if len(matrix.shape) > 2 else None
    return grid if grid is not None and math.prod(grid[0]) > MOST_PARTS else None


def parts_of(mechanism: Any, matrix: TripMatrix, seed: int) -> tuple[tuple[int, ...], float] | None:
    """Parts along every axis of a plain grid and the epsilon of each; None for what is no grid."""
    shape = matrix.shape
    if isinstance(mechanism, Identity):
        return shape, mechanism.epsilon
    if not isinstance(mechanism, TripGrid):
        return None
    units = to_units(mechanism.epsilon)
    first = share(units, mechanism.total_share)
    ids, paid = np.zeros(1, dtype=np.uint64), np.array([first])
    exact = np.array([matrix.total])
    noisy = int(PreviewNoise(seed).laplace(exact, 1, paid, ids, "total")[0])
    rest = to_epsilon(units - first)
    return mechanism.sides(max(noisy, 0), rest, shape)[1], rest


def grid_answers(
    cells: Ints,
    multiplicities: Ints,
    shape: tuple[int, ...],
    parts: tuple[int, ...],
    epsilon: float,
    boxes: NDArray[Any],
    rng: np.random.Generator,
) -> Floats:
    """Answers (n,) to boxes, each a draw of its own.

    Parameters
    ----------
    cells, multiplicities : (m, d) and (m,) exact counts, in row-major order
    shape, parts : d sides in cells, and how many parts each is divided into
    epsilon : of the noise in each part
    boxes : (n, 2, d) lower and upper in cells
    rng : Generator
    """
    covers = [
        _cover(boxes[:, :, axis].astype(np.float64), side, number)
        for axis, (side, number) in enumerate(zip(shape, parts, strict=True))
    ]
    sides, numbers = np.array(shape), np.array(parts)
    of_cell = ((cells + 1) * numbers - 1) // sides
    start = np.cumsum([0, *numbers[:-1]])
    records = _held(np.hstack(covers), of_cell + start, multiplicities.astype(np.float64))
    return records + _noise([_groups(cover) for cover in covers], np.exp(-epsilon), rng)


def _cover(ends: Floats, side: int, number: int) -> Floats:
    """Which part of each interval of an axis n boxes hold, (n, number)."""
    edges = np.arange(number + 1) * side // number
    low, high = ends[:, :1], ends[:, 1:]
    inside = np.minimum(high, edges[1:]) - np.maximum(low, edges[:-1])
    result: Floats = np.maximum(inside, 0.0) / np.diff(edges)
    return result


def _groups(cover: Floats) -> list[tuple[Floats, Floats]]:
    """Intervals that count alike, (number, weight) each: whole ones, the first and last cut."""
    whole = (cover == 1.0).sum(axis=1)
    cut = np.where((cover > 0.0) & (cover < 1.0), cover, 0.0)
    rows = np.arange(len(cover))
    first, last = np.argmax(cut > 0, axis=1), cut.shape[1] - 1 - np.argmax(cut[:, ::-1] > 0, axis=1)
    groups = [(whole.astype(np.float64), np.ones(len(cover)))]
    groups.append(((cut[rows, first] > 0).astype(np.float64), cut[rows, first]))
    groups.append(((last != first) & (cut[rows, last] > 0), cut[rows, last]))
    return [(np.asarray(number, dtype=np.float64), weight) for number, weight in groups]


def _noise(groups: list[list[tuple[Floats, Floats]]], q: float, rng: np.random.Generator) -> Floats:
    """Sum over all groups of weight times (NB(n) - NB(n))."""
    result = np.zeros(len(groups[0][0][0]))
    for chosen in itertools.product(*groups):
        number = np.prod([multiplicity for multiplicity, _ in chosen], axis=0)
        there = np.flatnonzero(number)
        if len(there):
            weight = np.prod([factor for _, factor in chosen], axis=0)[there]
            plus, minus = (rng.negative_binomial(number[there], 1 - q) for _ in range(2))
            result[there] += weight * (plus - minus)
    return result


@njit(cache=True, nogil=True)
def _held(cover, column, number):  # type: ignore[no-untyped-def]
    """Records in each box where those of a part lie evenly in it: cover (n, parts of all axes).

    Cells are sorted by their first axis, so those outside of it are passed over in one step.
    """
    result = np.zeros(len(cover))
    for box in range(len(cover)):
        start, stop = 0, len(column)
        inside = np.flatnonzero(cover[box, : column[-1, 0] + 1]) if len(column) else column[:, 0]
        if len(inside) == 0:
            continue
        start = np.searchsorted(column[:, 0], inside[0])
        stop = np.searchsorted(column[:, 0], inside[-1], side="right")
        for cell in range(start, stop):
            weight = number[cell]
            for axis in range(column.shape[1]):
                weight *= cover[box, column[cell, axis]]
                if weight == 0.0:
                    break
            result[box] += weight
    return result
