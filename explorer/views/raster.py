"""Kernels that turn counts or leaves into viewport-sized pictures.

A viewport is ``(col0, row0, col1, row1)`` in cells (floats, may reach beyond the grid) shown on
``height x width`` pixels. Row 0 of an array and of a picture is the southern edge. Values are
points per cell, averaged over the area of a pixel, so both maps mean the same at every zoom.
All kernels release the interpreter lock: they run in a thread next to the server's event loop.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numba import njit
from numpy.typing import NDArray

Cells = NDArray[np.int64]


def mean_per_cell(
    counts: NDArray[Any],
    col0: float,
    row0: float,
    col1: float,
    row1: float,
    height: int,
    width: int,
) -> NDArray[np.float32]:
    """Average of ``counts`` (rows, cols) under each pixel -> (height, width) float32.

    Exact area weights, rows first, then columns: O(cells in view + height * columns in view).
    Outside the grid the value is 0.
    """
    out, strip = np.zeros((height, width), np.float32), np.empty(counts.shape[1])
    _add_means(counts, col0, row0, col1, row1, strip, out)
    return out


@njit(cache=True, nogil=True)
def _add_means(counts, col0, row0, col1, row1, strip, out):  # type: ignore[no-untyped-def]
    rows, cols = counts.shape
    height, width = out.shape
    step_y = (row1 - row0) / height
    step_x = (col1 - col0) / width
    first = max(0, int(np.floor(col0)))
    last = min(cols, int(np.ceil(col1)))
    for i in range(height):
        bottom = row0 + i * step_y
        top = bottom + step_y
        for c in range(first, last):
            strip[c] = 0.0
        for r in range(max(0, int(np.floor(bottom))), min(rows, int(np.ceil(top)))):
            weight = min(top, r + 1.0) - max(bottom, float(r))
            for c in range(first, last):
                strip[c] += weight * counts[r, c]
        for j in range(width):
            left = col0 + j * step_x
            right = left + step_x
            total = 0.0
            for c in range(max(first, int(np.floor(left))), min(last, int(np.ceil(right)))):
                total += (min(right, c + 1.0) - max(left, float(c))) * strip[c]
            out[i, j] = total / (step_x * step_y)


def points_per_pixel(
    column: NDArray[np.float32],
    row: NDArray[np.float32],
    records: NDArray[np.float32],
    col0: float,
    row0: float,
    col1: float,
    row1: float,
    height: int,
    width: int,
) -> NDArray[np.float64]:
    """Number of points under each pixel -> (height, width) float64.

    ``column``, ``row`` (n,) are places in cells; a point counts as many as its ``records`` (n,),
    or as one where ``records`` is empty. A point on the last edge belongs to the last pixel.
    """
    out = np.zeros((height, width))
    _add_points(column, row, records, col0, row0, col1, row1, out)
    return out


@njit(cache=True, nogil=True)
def _add_points(  # type: ignore[no-untyped-def]
    column, row, records, col0, row0, col1, row1, out
):
    height, width = out.shape
    scale_y = height / (row1 - row0)
    scale_x = width / (col1 - col0)
    for k in range(column.size):
        x, y = column[k], row[k]
        if col0 <= x <= col1 and row0 <= y <= row1:
            i = min(int((y - row0) * scale_y), height - 1)
            j = min(int((x - col0) * scale_x), width - 1)
            out[i, j] += records[k] if records.size else 1.0


def leaf_means(
    lower: Cells,
    upper: Cells,
    density: NDArray[np.float64],
    col0: float,
    row0: float,
    col1: float,
    row1: float,
    height: int,
    width: int,
) -> NDArray[np.float32]:
    """Average of the leaves' ``density`` (m,) under each pixel -> (height, width) float32.

    ``lower``, ``upper`` (m, 2) are row, column, half open. Leaves are painted straight into the
    picture: O(pixels + leaf borders), without the whole grid in between.
    """
    out = np.zeros((height, width), np.float32)
    _add_leaves(lower, upper, density, col0, row0, col1, row1, out)
    return out


@njit(cache=True, nogil=True)
def _add_leaves(lower, upper, density, col0, row0, col1, row1, out):  # type: ignore[no-untyped-def]
    height, width = out.shape
    scale_y = height / (row1 - row0)
    scale_x = width / (col1 - col0)
    for leaf in range(density.size):
        bottom = max(0.0, (lower[leaf, 0] - row0) * scale_y)
        top = min(float(height), (upper[leaf, 0] - row0) * scale_y)
        left = max(0.0, (lower[leaf, 1] - col0) * scale_x)
        right = min(float(width), (upper[leaf, 1] - col0) * scale_x)
        if bottom >= top or left >= right:
            continue
        value = density[leaf]
        for i in range(int(bottom), int(np.ceil(top))):
            part = (min(top, i + 1.0) - max(bottom, float(i))) * value
            for j in range(int(left), int(np.ceil(right))):
                out[i, j] += part * (min(right, j + 1.0) - max(left, float(j)))


@njit(cache=True, nogil=True)
def leaf_edges(lower, upper, col0, row0, col1, row1, height, width):  # type: ignore[no-untyped-def]
    """Boundaries of leaves as a picture -> (height, width) uint8 with strengths 0..3.

    Strength follows the shorter side on screen: below 4 pixels 1, below 10 pixels 2, else 3, so
    that a hundred thousand leaves are a faint grain and not a white sheet.
    """
    out = np.zeros((height, width), np.uint8)
    scale_y = height / (row1 - row0)
    scale_x = width / (col1 - col0)
    for leaf in range(lower.shape[0]):
        bottom = (lower[leaf, 0] - row0) * scale_y
        top = (upper[leaf, 0] - row0) * scale_y
        left = (lower[leaf, 1] - col0) * scale_x
        right = (upper[leaf, 1] - col0) * scale_x
        if top <= 0 or bottom >= height or right <= 0 or left >= width:
            continue
        side = min(top - bottom, right - left)
        strength = np.uint8(1 if side < 4 else (2 if side < 10 else 3))
        i0, i1 = max(0, int(bottom)), min(height, int(np.ceil(top)))
        j0, j1 = max(0, int(left)), min(width, int(np.ceil(right)))
        # The southern and western border of every leaf draw the whole tiling once.
        if bottom >= 0:
            for j in range(j0, j1):
                out[i0, j] = max(out[i0, j], strength)
        if left >= 0:
            for i in range(i0, i1):
                out[i, j0] = max(out[i, j0], strength)
    return out


@njit(cache=True, nogil=True)
def value_bytes(values, top, log):  # type: ignore[no-untyped-def]
    """Bytes of `ColourScale` for points per cell (float32, any shape) -> as ``values``, uint8."""
    out = np.empty(values.shape, np.uint8)
    flat_in, flat_out = values.ravel(), out.ravel()
    factor = np.float32(255.0 / np.log1p(top) if log else 255.0 / top)
    # Neighbouring pixels of one leaf are equal: most logarithms need not be taken.
    last, byte = np.float32(0.0), np.uint8(0)
    for i in range(flat_in.size):
        value = flat_in[i]
        if value != last:
            last, byte = value, np.uint8(0)
            if value > 0:
                level = (np.log1p(value) if log else value) * factor
                byte = np.uint8(255) if level >= 255 else np.uint8(level)
        flat_out[i] = byte
    return out


@njit(cache=True, nogil=True)
def difference_bytes(values, top, log):  # type: ignore[no-untyped-def]
    """Bytes of `ColourScale` for a difference, 128 for none -> as ``values``, uint8."""
    out = np.empty(values.shape, np.uint8)
    flat_in, flat_out = values.ravel(), out.ravel()
    factor = np.float32(127.0 / np.log1p(top) if log else 127.0 / top)
    for i in range(flat_in.size):
        value = flat_in[i]
        size = abs(value)
        level = min((np.log1p(size) if log else size) * factor, np.float32(127.0))
        flat_out[i] = np.uint8(128 + level) if value >= 0 else np.uint8(128 - level)
    return out
