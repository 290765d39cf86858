"""The two-dimensional Haar transform in whole numbers, for Privlet.

One step turns neighbours a, b into their sum, which goes on to the next level, and their
difference a - b, a coefficient. A record moves one difference of every level by 1 and the last sum
by 1, so with sides of 2^r and 2^c cells it moves (1 + r)(1 + c) coefficients of the product
transform by 1 each. That is Privlet's generalised sensitivity (Xiao, Wang, Gehrke 2011), whose
weights have become 1.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]


def side(cells: int) -> int:
    """The power of two that a side of so many cells is padded to, in public."""
    return 1 << (cells - 1).bit_length()


def forward(matrix: NDArray[np.int64]) -> NDArray[np.int64]:
    """Coefficients of a matrix, padded with empty cells to powers of two."""
    rows, cols = matrix.shape
    padded = np.zeros((side(rows), side(cols)), dtype=np.int64)
    padded[:rows, :cols] = matrix
    return _forward(_forward(padded.T).T)


def inverse(coefficients: NDArray[np.int64]) -> Floats:
    """The matrix that the coefficients came from; padding stays."""
    return _inverse(_inverse(coefficients.astype(np.float64).T).T)


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


def _forward(cells: NDArray[np.int64]) -> NDArray[np.int64]:
    """Transform along the last axis: the last sum first, then differences, coarse to fine.

    Of a transposed matrix that is the first axis, and nothing is copied for it.
    """
    found = np.empty_like(cells)
    n = cells.shape[1]
    while n > 1:
        even, odd = cells[:, :n:2], cells[:, 1:n:2]
        np.subtract(even, odd, out=found[:, n // 2 : n])
        cells, n = even + odd, n // 2
    found[:, 0] = cells[:, 0]
    return found


def _inverse(coefficients: Floats) -> Floats:
    cells, n = coefficients.copy(order="K"), 1
    while n < cells.shape[1]:
        total, difference = cells[:, :n].copy(order="K"), coefficients[:, n : 2 * n]
        np.add(total, difference, out=cells[:, : 2 * n : 2])
        np.subtract(total, difference, out=cells[:, 1 : 2 * n : 2])
        cells[:, : 2 * n] /= 2
        n *= 2
    return cells


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
    found, n = np.empty_like(weights), len(weights)
    while n > 1:
        even, odd = weights[:n:2], weights[1:n:2]
        found[n // 2 : n] = (even - odd) / 2
        weights, n = (even + odd) / 2, n // 2
    found[0] = weights[0]
    return found


def _inside(low: Floats, high: Floats, cells: int) -> Floats:
    """Share of every cell of a side that lies between two positions, (n, padded side)."""
    start = np.arange(side(cells))
    share = np.minimum(high[:, None], start + 1) - np.maximum(low[:, None], start)
    return np.where(start < cells, np.clip(share, 0, 1), 0.0)
