"""Counts of a tree's leaves shared out among the zones of two places."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numba import njit
from numpy.typing import NDArray

from explorer.releases.nodes import Ints
from explorer.releases.place_maps import mass
from explorer.releases.tree import Tree

Floats = NDArray[np.float64]


def scattered(
    tree: Tree,
    pair: Sequence[int],
    edges: Sequence[tuple[Ints, Ints]],
    tables: Sequence[Floats],
) -> Floats:
    """Counts from every zone of one place to every zone of another, (n, m).

    Parameters
    ----------
    tree : Tree
    pair : the two places; place p has axes 2 p and 2 p + 1
    edges : of either place, those of its zones along rows and along columns
    tables : of either place, the summed-area table of its chances, (rows + 1, columns + 1)
    """
    zones = [(len(rows) - 1) * (len(columns) - 1) for rows, columns in edges]
    result = np.zeros(zones)
    _scatter(
        tree.lower,
        tree.upper,
        tree.value,
        tree.leaves,
        int(pair[0]),
        int(pair[1]),
        tables[0],
        tables[1],
        *edges[0],
        *edges[1],
        result,
    )
    return result


@njit(cache=True, nogil=True)
def _shares(  # type: ignore[no-untyped-def]
    r0, r1, c0, c1, flat, rows, cols, of_rows, of_columns, number, share
):
    """Zones that a box of one place touches, and its chances in each; returns how many."""
    first = np.searchsorted(of_rows, r0, side="right") - 1
    left = np.searchsorted(of_columns, c0, side="right") - 1
    wide = len(of_columns) - 1
    if r1 <= of_rows[first + 1] and c1 <= of_columns[left + 1]:
        number[0], share[0] = first * wide + left, 1.0
        return 1
    whole = mass(flat, 0, rows, cols, float(r0), float(c0), float(r1), float(c1))
    shares = 0
    row = first
    while row < len(of_rows) - 1 and of_rows[row] < r1:
        top, bottom = float(max(of_rows[row], r0)), float(min(of_rows[row + 1], r1))
        col = left
        while col < wide and of_columns[col] < c1:
            begin, end = float(max(of_columns[col], c0)), float(min(of_columns[col + 1], c1))
            number[shares] = row * wide + col
            share[shares] = max(mass(flat, 0, rows, cols, top, begin, bottom, end), 0.0) / whole
            shares += 1
            col += 1
        row += 1
    return shares


@njit(cache=True, nogil=True)
def _scatter(  # type: ignore[no-untyped-def]
    lower, upper, value, leaves, one, two, table_1, table_2, rows_1, cols_1, rows_2, cols_2, flows
):
    number_1, number_2 = np.empty(flows.shape[0], np.int64), np.empty(flows.shape[1], np.int64)
    share_1, share_2 = np.empty(flows.shape[0]), np.empty(flows.shape[1])
    flat_1, flat_2 = table_1.ravel(), table_2.ravel()
    a, b = 2 * one, 2 * two
    for i in leaves:
        if value[i] == 0.0:
            continue
        n = _shares(
            lower[i, a], upper[i, a], lower[i, a + 1], upper[i, a + 1],
            flat_1, table_1.shape[0], table_1.shape[1], rows_1, cols_1, number_1, share_1,
        )  # fmt: skip
        m = _shares(
            lower[i, b], upper[i, b], lower[i, b + 1], upper[i, b + 1],
            flat_2, table_2.shape[0], table_2.shape[1], rows_2, cols_2, number_2, share_2,
        )  # fmt: skip
        for p in range(n):
            part = value[i] * share_1[p]
            for q in range(m):
                flows[number_1[p], number_2[q]] += part * share_2[q]
