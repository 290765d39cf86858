"""A foil: maps that hide small counts, and how differencing finds them all the same.

A threshold service answers a box with its exact count if that is k or more, and says nothing if it
is less. It adds no noise, so answers can be subtracted. Nothing here is private; that is the point.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from explorer.errors import InputError
from explorer.grid.sums import rectangle_sums, summed

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]
Boxes = NDArray[np.int64]
#: Answers boxes (n, 2, 2), lower and upper in cells, with counts (n,), NaN where it says nothing.
Service = Callable[[Boxes], Floats]


def coarse(counts: Ints, cells: int) -> tuple[Ints, Ints, Ints]:
    """Counts in at most ``cells`` x ``cells`` blocks, and the edges of the blocks by axis.

    Returns
    -------
    (rows, cols) counts, (rows + 1,) row edges, (cols + 1,) column edges in cells of ``counts``
    """
    edges = [
        np.unique(np.linspace(0, side, min(cells, side) + 1).round().astype(np.int64))
        for side in counts.shape
    ]
    by_rows = np.add.reduceat(counts, edges[0][:-1], axis=0)
    return np.add.reduceat(by_rows, edges[1][:-1], axis=1), edges[0], edges[1]


def service(counts: Ints, k: int) -> Service:
    """A service that hides counts below ``k``."""
    table = summed(counts)

    def ask(boxes: Boxes) -> Floats:
        true = rectangle_sums(table, np.asarray(boxes, dtype=np.float64))
        return np.where(true >= k, true, np.nan)

    return ask


def published(ask: Service, shape: tuple[int, int]) -> Floats:
    """The map that a service publishes, (rows, cols); NaN where a cell is hidden."""
    rows, cols = shape
    row, col = np.indices(shape).reshape(2, -1)
    return ask(_boxes((row, col, row + 1, col + 1))).reshape(rows, cols)


@dataclass(frozen=True, eq=False)
class Difference:
    """Two published answers that differ by one hidden cell.

    Attributes
    ----------
    larger, smaller : (2, 2) lower and upper in cells; the larger is the smaller and the hidden cell
    answers : what the service said to either
    """

    larger: Boxes
    smaller: Boxes
    answers: tuple[float, float]

    @property
    def count(self) -> int:
        """The hidden count, exactly."""
        return round(self.answers[0] - self.answers[1])


def difference(ask: Service, shape: tuple[int, int], cell: tuple[int, int]) -> Difference | None:
    """Find a hidden cell's count from two answers of the service; None when no two give it.

    Strips that begin next to the cell and run east, west, north or south are asked with and without
    the cell. The shortest pair that the service answers is taken.
    """
    row, col = cell
    rows, cols = shape
    results: list[Difference] = []
    for smaller, larger in _strips(row, col, rows, cols):
        both = np.stack([ask(larger), ask(smaller)])
        answered = np.flatnonzero(np.isfinite(both).all(axis=0))
        if len(answered):
            at = int(answered[0])
            pair = float(both[0, at]), float(both[1, at])
            results.append(Difference(larger[at], smaller[at], pair))
    return min(results, key=lambda candidate: _size(candidate.smaller)) if results else None


def differences(ask: Service, shape: tuple[int, int]) -> Floats:
    """Every cell's count that whole strips of a row or column give away, (rows, cols) or NaN."""
    rows, cols = shape
    row, col = np.indices(shape).reshape(2, -1)
    full, none = np.full_like(row, cols), np.zeros_like(row)
    high = np.full_like(row, rows)
    counts = np.full(rows * cols, np.nan)
    for smaller, larger in (
        ((row, col + 1, row + 1, full), (row, col, row + 1, full)),
        ((row, none, row + 1, col), (row, none, row + 1, col + 1)),
        ((row + 1, col, high, col + 1), (row, col, high, col + 1)),
        ((none, col, row, col + 1), (none, col, row + 1, col + 1)),
    ):
        gained = ask(_boxes(larger)) - ask(_boxes(smaller))
        counts = np.where(np.isnan(counts), gained, counts)
    return counts.reshape(shape)


@dataclass(frozen=True, eq=False)
class Days:
    """Two daily maps between which one person moved from one cell to another.

    Attributes
    ----------
    start, end : cells (row, column) the person left and came to
    before, after : what was published of both cells, start first; NaN where hidden
    changed : cells whose published count changed, or which appeared or vanished
    """

    start: tuple[int, int]
    end: tuple[int, int]
    before: tuple[float, float]
    after: tuple[float, float]
    changed: int

    @property
    def hidden(self) -> int | None:
        """The hidden count of the second day at the start, exactly; None if it is not given away.

        A neighbour that rose by one says that one person came, so the cell that vanished has one
        person less than the day before.
        """
        vanished = np.isfinite(self.before[0]) and np.isnan(self.after[0])
        arrived = self.after[1] - self.before[1] == 1
        return round(self.before[0]) - 1 if vanished and arrived else None


def two_days(counts: Ints, k: int, start: tuple[int, int]) -> Days:
    """Publish both days' maps when a person moves from ``start`` to the nearest published cell.

    Raises
    ------
    InputError
        When no one is at the start, or no other cell is published.
    """
    if counts[start] < 1:
        raise InputError("Nobody is in this cell who could move: choose another one.")
    first = published(service(counts, k), counts.shape)
    away = np.hypot(*(np.indices(counts.shape) - np.array(start)[:, None, None]))
    away[np.isnan(first)] = np.inf
    away[start] = np.inf
    at = int(np.argmin(away))
    if not np.isfinite(away.flat[at]):
        raise InputError("No other cell is published: choose a lower threshold.")
    end = divmod(at, counts.shape[1])
    moved = counts.copy()
    moved[start] -= 1
    moved[end] += 1
    second = published(service(moved, k), counts.shape)
    same = (first == second) | (np.isnan(first) & np.isnan(second))
    return Days(
        start,
        end,
        (float(first[start]), float(first[end])),
        (float(second[start]), float(second[end])),
        int(np.count_nonzero(~same)),
    )


def _strips(row: int, col: int, rows: int, cols: int) -> list[tuple[Boxes, Boxes]]:
    """Boxes without and with the cell, shortest first, in the four directions."""
    east, west = np.arange(col + 2, cols + 1), np.arange(col - 1, -1, -1)
    north, south = np.arange(row + 2, rows + 1), np.arange(row - 1, -1, -1)
    pairs = (
        ((row, col + 1, row + 1, east), (row, col, row + 1, east)),
        ((row, west, row + 1, col), (row, west, row + 1, col + 1)),
        ((row + 1, col, north, col + 1), (row, col, north, col + 1)),
        ((south, col, row, col + 1), (south, col, row + 1, col + 1)),
    )
    return [(_boxes(smaller), _boxes(larger)) for smaller, larger in pairs]


def _boxes(edges: tuple[int | Ints, ...]) -> Boxes:
    """Boxes (n, 2, 2) of row0, column0, row1, column1."""
    return np.stack(np.broadcast_arrays(*edges), axis=1).reshape(-1, 2, 2)


def _size(box: Boxes) -> int:
    return int(np.prod(box[1] - box[0]))
