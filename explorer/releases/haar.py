"""The two-dimensional Haar transform in whole numbers, for Privlet.

One step turns neighbours a, b into their sum, which goes on to the next level, and their
difference a - b, a coefficient. A record moves one difference of every level by 1 and the last sum
by 1, so with sides of 2^r and 2^c cells it moves (1 + r)(1 + c) coefficients of the product
transform by 1 each. That is Privlet's generalised sensitivity (Xiao, Wang, Gehrke 2011), whose
weights have become 1.
"""

from __future__ import annotations

import numpy as np
from numba import njit
from numpy.typing import NDArray

Floats = NDArray[np.float64]
# Lines that are transformed side by side, across rows and along them: as many as read and write
# whole lines of the cache, and no more than it holds.
_ACROSS, _ALONG = 32, 8


def side(cells: int) -> int:
    """The power of two that a side of so many cells is padded to, in public."""
    return 1 << (cells - 1).bit_length()


def forward(matrix: NDArray[np.int64]) -> NDArray[np.int64]:
    """Coefficients of a matrix (rows, cols), padded with empty cells to powers of two.

    Returns
    -------
    (`side` (rows), `side` (cols)), the last sum first, then differences, coarse to fine
    """
    rows, cols = matrix.shape
    padded = (side(rows), side(cols))
    if padded != matrix.shape:
        cells = np.zeros(padded, dtype=np.int64)
        cells[:rows, :cols] = matrix
        matrix = cells
    result = np.empty(padded, np.int64)
    _forward(_read(matrix), result, _ACROSS)
    _forward(result.T, result.T, _ALONG)
    return result


def inverse(coefficients: NDArray[np.int64]) -> Floats:
    """The matrix that the coefficients (2^r, 2^c) came from, of that shape: padding stays."""
    result = np.empty(coefficients.shape, np.float64)
    _inverse(_read(coefficients), result, _ACROSS)
    _inverse(result.T, result.T, _ALONG)
    return result


def _read(matrix: NDArray[np.int64]) -> NDArray[np.int64]:
    """The same in rows and not to be written to: one kind of array, so one kernel."""
    rows = np.ascontiguousarray(matrix, dtype=np.int64).view()
    rows.flags.writeable = False
    return rows


def energy(weights: Floats) -> Floats:
    """How much noise a weighted sum of cells along one side takes up, (n,).

    `weights` is (n, side); the squared norm of the weights that the coefficients get when the
    inverse transform is written out: sums (a + b)/2 go on, differences (a - b)/2 are kept.
    """
    total = np.zeros(len(weights))
    while weights.shape[1] > 1:
        even, odd = weights[:, ::2], weights[:, 1::2]
        total += np.sum(((even - odd) / 2) ** 2, axis=1)
        weights = (even + odd) / 2
    return total + weights[:, 0] ** 2


@njit(cache=True, nogil=True)
def _forward(cells, coefficients, strip):  # type: ignore[no-untyped-def]
    """Transform along the first axis, a strip of so many columns at a time.

    `coefficients` (2^r, m) may be `cells` itself.
    """
    length, width = cells.shape
    sums = np.empty((length, strip), dtype=cells.dtype)
    for begin in range(0, width, strip):
        columns = min(strip, width - begin)
        for i in range(length):
            for j in range(columns):
                sums[i, j] = cells[i, begin + j]
        n = length
        while n > 1:
            n //= 2
            for i in range(n):
                for j in range(columns):
                    even, odd = sums[2 * i, j], sums[2 * i + 1, j]
                    coefficients[n + i, begin + j] = even - odd
                    sums[i, j] = even + odd
        for j in range(columns):
            coefficients[0, begin + j] = sums[0, j]


@njit(cache=True, nogil=True)
def _inverse(coefficients, result, strip):  # type: ignore[no-untyped-def]
    """Undo `_forward`, in the same way."""
    length, width = coefficients.shape
    cells = np.empty((length, strip))
    for begin in range(0, width, strip):
        columns = min(strip, width - begin)
        for j in range(columns):
            cells[0, j] = coefficients[0, begin + j]
        n = 1
        while n < length:
            # From the end: each sum makes space for the two that it becomes.
            for i in range(n - 1, -1, -1):
                for j in range(columns):
                    total, difference = cells[i, j], coefficients[n + i, begin + j]
                    cells[2 * i, j] = (total + difference) / 2
                    cells[2 * i + 1, j] = (total - difference) / 2
            n *= 2
        for i in range(length):
            for j in range(columns):
                result[i, begin + j] = cells[i, j]


def noise(boxes: Floats, shape: tuple[int, int]) -> Floats:
    """Variance of the counts of n boxes per unit of coefficient variance, (n,).

    `boxes` is (n, 2, 2) in cells, lower and upper; a box is a product of its two sides, and so is
    its noise.
    """
    rows = _inside(boxes[:, 0, 0], boxes[:, 1, 0], shape[0])
    cols = _inside(boxes[:, 0, 1], boxes[:, 1, 1], shape[1])
    return energy(rows) * energy(cols)


def noise_of(weights: Floats) -> float:
    """Variance of a weighted sum of cells (rows, cols) per unit of coefficient variance."""
    padded = np.zeros((side(weights.shape[0]), side(weights.shape[1])))
    padded[: weights.shape[0], : weights.shape[1]] = weights
    both = _coefficients(np.ascontiguousarray(_coefficients(padded).T))
    return float(np.sum(both**2))


def _coefficients(weights: Floats) -> Floats:
    """The weights that coefficients along the first axis get, see `energy`."""
    coefficients, n = np.empty_like(weights), len(weights)
    while n > 1:
        even, odd = weights[:n:2], weights[1:n:2]
        coefficients[n // 2 : n] = (even - odd) / 2
        weights, n = (even + odd) / 2, n // 2
    coefficients[0] = weights[0]
    return coefficients


def _inside(low: Floats, high: Floats, cells: int) -> Floats:
    """Share of every cell of a side that is between two positions, (n, padded side)."""
    start = np.arange(side(cells))
    share = np.minimum(high[:, None], start + 1) - np.maximum(low[:, None], start)
    return np.where(start < cells, np.clip(share, 0, 1), 0.0)
