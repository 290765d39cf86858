"""Tables that answer the split objective of any box in nearly constant time.

With P_t = sum max(c - t, 0) over the cells of a box, the objective needs P_t and P_(t+1) at the
mean's floor t (see `split_costs`). Large boxes mostly find them in one summed-area table per
threshold. Where the mean is beyond those, a coarse table answers for whole blocks of 8 x 8 cells
and the rim is scanned, along rows or along columns, in 32 bits. Small boxes are copied from there.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

# Tables for the thresholds 0..K-1. Sixteen int32 tables are one cache line a corner; at 2048 x 2048
# eight keep the memory at 134 MB. Cells four times as many hold a fourth of the records each.
_LEVELS_SMALL, _LEVELS_LARGE, _SMALL_CELLS = 16, 8, 2**20 + 1
_COARSE_SMALL, _COARSE_LARGE = 256, 64
BLOCK = 8
"""Cells along the side of a block of the coarse tables."""
INT32_MAX = 2**31 - 1

Ints = NDArray[np.int64]


class Tables(NamedTuple):
    """Counts and their tables, as kernels take them.

    Attributes
    ----------
    counts : (rows, cols) int64
    sums : (rows + 1, cols + 1) int64, entry [i, j] counts rows < i and columns < j
    excess : (rows + 1, cols + 1, K) int32, the same of max(count - t, 0), t = 0..K-1
    coarse : (rows // 8 + 1, cols // 8 + 1, L) int32, the same at every 8th corner, t = 0..L-1
    by_rows, by_columns : (rows, cols) and (cols, rows) int32, the counts

    Notes
    -----
    Where a sum could pass the range of int32 the last four are empty (K = 0), and every box is
    scanned in 64 bits, by kernels of its own (`is_wide`).
    """

    counts: Ints
    sums: Ints
    excess: NDArray[np.int32]
    coarse: NDArray[np.int32]
    by_rows: NDArray[np.int32]
    by_columns: NDArray[np.int32]

    @property
    def is_wide(self) -> bool:
        """Whether sums could pass the range of int32."""
        return self.excess.shape[2] == 0


def tables(counts: Ints, sums: Ints) -> Tables:
    """The tables of a matrix: 93 MB next to counts and sums for 1024 x 1024 cells."""
    if sums[-1, -1] > INT32_MAX:
        none = np.zeros((1, 1, 0), dtype=np.int32)
        return Tables(counts, sums, none, none, none[0], none[0])
    small = counts.size < _SMALL_CELLS
    rows, cols = counts.shape
    excess = np.empty((rows + 1, cols + 1, _LEVELS_SMALL if small else _LEVELS_LARGE), np.int32)
    by_rows, by_columns = np.empty((rows, cols), np.int32), np.empty((cols, rows), np.int32)
    by_rows[:], by_columns[:] = counts, counts.T
    _fill_excess(by_rows, excess)
    levels = _COARSE_SMALL if small else _COARSE_LARGE
    coarse = np.empty((rows // BLOCK + 1, cols // BLOCK + 1, levels), np.int32)
    _fill_coarse(by_rows, coarse)
    return Tables(counts, sums, excess, coarse, by_rows, by_columns)


def _fill_excess(cells: NDArray[np.int32], table: NDArray[np.int32]) -> None:
    levels = np.arange(table.shape[2], dtype=np.int32)
    table[0] = table[:, 0] = 0
    for i, row in enumerate(cells):
        over = np.maximum(row[:, np.newaxis] - levels, 0)
        np.add(table[i, 1:], over.cumsum(axis=0, dtype=np.int32), out=table[i + 1, 1:])


def _fill_coarse(cells: NDArray[np.int32], table: NDArray[np.int32]) -> None:
    blocks, levels = table.shape[1] - 1, table.shape[2]
    table[0] = table[:, 0] = 0
    of_block = np.arange(blocks * BLOCK) // BLOCK * (levels + 1)
    for i in range(len(table) - 1):
        rows = cells[i * BLOCK : (i + 1) * BLOCK, : blocks * BLOCK]
        few = np.minimum(rows, levels)
        rest = (rows - few).reshape(BLOCK, blocks, BLOCK).sum(axis=(0, 2))
        # How many cells of a block hold so many records; `levels` and more together.
        number = np.bincount((few + of_block).ravel(), minlength=blocks * (levels + 1))
        at_least = number.reshape(blocks, levels + 1)[:, :0:-1].cumsum(axis=1)
        # P_(t-1) = P_t + number of cells of t and more.
        over = (rest[:, np.newaxis] + at_least.cumsum(axis=1))[:, ::-1]
        np.add(table[i, 1:], over.cumsum(axis=0, dtype=np.int32), out=table[i + 1, 1:])
