"""Cells of places in one pass, where patches are sure of them: numbered, or counted at once."""

from __future__ import annotations

import numpy as np
from numba import njit

from explorer.grid.patches import QUADRATIC

#: Places of coefficients, unsigned: such an index is not looked at for being below 0.
_1, _2, _3, _4, _5, _6, _7, _8, _9 = (np.uint64(number) for number in range(1, 10))


@njit(cache=True, nogil=True)
def enter(column, row, index, rows, cols, cell, counts):  # type: ignore[no-untyped-def]
    """Number or count what was found; see `cells.Found`."""
    for i in range(column.size):
        if not np.isnan(column[i]):
            # The last edge belongs to the last cell.
            which = min(int(row[i]), rows - 1) * cols + min(int(column[i]), cols - 1)
            if cell is not None:
                cell[index[i]] = which
            if counts is not None:
                counts[which] += 1


@njit(cache=True, nogil=True, error_model="numpy", fastmath={"contract"})
def enter_sure(  # type: ignore[no-untyped-def]
    x, y, west, south, east, north, period, fitted, pieces, number, margin, rows, cols, cell,
    counts, doubtful,
):  # fmt: skip
    """As `cells._place` with patches and then `enter`, but for places near an edge between cells.

    Returns how many those are; ``doubtful`` gets their places in ``x``. All indices are unsigned:
    none is looked at for being below 0. A product and a sum are rounded together where a machine
    can: what that changes is far within the margin.
    """
    m = 0
    width, height = east - west, north - south
    across, along = 2.0 * pieces / width, 2.0 * pieces / height
    last, sure = np.int64(pieces - 1), 0.5 - margin
    columns, lines, length = np.uint64(cols), np.uint64(rows), np.uint64(number)
    for i in range(x.size):
        s, t = x[i] - west, y[i] - south
        if not 0.0 <= t <= height:
            continue
        if not 0.0 <= s <= width:
            if period == 0.0:
                continue
            s -= np.floor(s / period) * period
            if not 0.0 <= s <= width:
                continue
        s, t = s * across, t * along
        k, j = min(np.int64(s) >> 1, last), min(np.int64(t) >> 1, last)
        s, t = s - (2 * k + 1), t - (2 * j + 1)
        at = _2 * length * (np.uint64(j) * np.uint64(pieces) + np.uint64(k))
        u = _quadratic_at(fitted, at, s, t)
        v = _quadratic_at(fitted, at + length, s, t)
        if number > QUADRATIC:
            u += _rest_at(fitted, at, s, t)
            v += _rest_at(fitted, at + length, s, t)
        fu, fv = np.floor(u), np.floor(v)
        column, row = np.uint64(np.int64(fu)), np.uint64(np.int64(fv))
        if max(abs(u - fu - 0.5), abs(v - fv - 0.5)) >= sure:
            doubtful[m] = i
            m += 1
        elif column < columns and row < lines:
            which = row * columns + column
            if cell is not None:
                cell[i] = which
            if counts is not None:
                counts[which] += 1
    return m


@njit(inline="always")
def _quadratic_at(c, at, s, t):  # type: ignore[no-untyped-def]
    """See `patches.Patches`; of coefficients in a flat array, from an index on."""
    return (
        c[at]
        + t * (c[at + _2] + t * c[at + _5])
        + s * (c[at + _1] + t * c[at + _4] + s * c[at + _3])
    )


@njit(inline="always")
def _rest_at(c, at, s, t):  # type: ignore[no-untyped-def]
    """What degree three adds."""
    return t * t * (s * c[at + _8] + t * c[at + _9]) + s * s * (s * c[at + _6] + t * c[at + _7])
