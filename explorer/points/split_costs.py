"""HTF's split objective: how far the cells of two halves lie from their means.

For a box of n cells with count S, mean mu = S / n, t = floor(mu) and P_t = sum max(c - t, 0), the
sum of the cells' distances from their mean is

    sum |c - mu| = 2 [(n - r) P_t + r P_(t+1)] / n,    r = S - t n,

because sum (c - mu) = 0 and the sum is linear in mu between integers. One summed-area table per
threshold t therefore answers it in constant time, with integers only (Eq. 5 of htf-2022); small
boxes are scanned, which is quicker (`spreads`).

Costs come out on a lattice: the exact value floored to multiples of 2^-LATTICE_BITS. A record
changes one of the two halves, by at most 2 (Theorem 1, erratum 16), so the floored sum of the
halves still changes by at most 2 lattice widths times 2^LATTICE_BITS; rounding to nearest would
not keep that.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

import numpy as np
from numba import njit

from explorer.points import spreads
from explorer.points.cost_tables import Ints, Tables
from explorer.points.spreads import (
    COPIED,
    cost_of_copy,
    cut_cost,
    frame,
    is_copied,
    is_narrow,
    spread,
    turn,
    wide_cut_cost,
    wide_spread,
)

LATTICE_BITS = spreads.LATTICE_BITS
SENSITIVITY = 2 << LATTICE_BITS
"""Largest change of one lattice cost when one record comes or goes."""


def split_costs(tables: Tables, lower: Ints, upper: Ints, axis: Ints, cut: Ints) -> Ints:
    """Objective o_k of one cut for each of n boxes, in units of 2^-LATTICE_BITS.

    Parameters
    ----------
    tables : of the matrix
    lower, upper : (n, 2) rows and columns, half open
    axis : (n,) 0 cuts rows, 1 cuts columns
    cut : (n,) position of the cut on that axis, strictly inside the box

    Returns
    -------
    (n,) int64
    """
    costs = np.empty(len(lower), dtype=np.int64)
    batch = _wide_cost_batch if tables.is_wide else _cost_batch
    batch(tables, _own(lower), _own(upper), axis, cut, costs)
    return costs


def costs_of_all_cuts(tables: Tables, lower: Ints, upper: Ints, axis: Ints) -> tuple[Ints, Ints]:
    """As `all_split_costs`, from tables; a small box is copied once."""
    if tables.is_wide:
        return all_split_costs(partial(split_costs, tables), lower, upper, axis)
    sides = (upper - lower)[np.arange(len(lower)), axis]
    offsets = np.concatenate([[0], np.cumsum(sides - 1)]).astype(np.int64)
    costs = np.empty(offsets[-1], dtype=np.int64)
    _cost_all(tables, _own(lower), _own(upper), axis, offsets, costs)
    return costs, offsets


def all_split_costs(
    split_costs: Callable[[Ints, Ints, Ints, Ints], Ints], lower: Ints, upper: Ints, axis: Ints
) -> tuple[Ints, Ints]:
    """Objectives of all cuts of n boxes: flat costs, and (n + 1,) offsets of each box in them.

    The cuts of box i are lower[i, axis] + 1 .. upper[i, axis] - 1, in that order; `split_costs`
    gives the objective of one cut of each box.
    """
    owner, position, offsets = every_cut(lower, upper, axis)
    return split_costs(lower[owner], upper[owner], axis[owner], position), offsets


def slab_costs(
    tables: Tables,
    lower: Ints,
    upper: Ints,
    axis: int,
    owner: Ints,
    start: Ints,
    stop: Ints,
) -> Ints:
    """Lattice values of sum |c - mu| over slabs, what is between two positions of a box.

    Parameters
    ----------
    tables : of the matrix
    lower, upper : (n, 2) boxes, rows and columns, half open
    axis : the axis that slabs follow each other on
    owner : (m,) the box of each slab
    start, stop : (p, m) first cell of each slab, and first cell behind it; p lists of m slabs

    Returns
    -------
    (p, m) int64
    """
    low, high = (np.tile(edges[owner], (len(start), 1)) for edges in (lower, upper))
    low[:, axis], high[:, axis] = start.ravel(), stop.ravel()
    costs = np.empty(start.shape, dtype=np.int64)
    batch = _wide_spread_batch if tables.is_wide else _spread_batch
    batch(tables, low, high, costs.reshape(-1))
    return costs


def every_cut(lower: Ints, upper: Ints, axis: Ints) -> tuple[Ints, Ints, Ints]:
    """All cuts of n boxes in a row: whose, where, and the (n + 1,) offsets of each box."""
    rows = np.arange(len(lower))
    cuts = upper[rows, axis] - lower[rows, axis] - 1
    offsets = np.concatenate([[0], np.cumsum(cuts)]).astype(np.int64)
    owner = np.repeat(rows, cuts)
    position = np.arange(offsets[-1]) - offsets[owner] + lower[owner, axis[owner]] + 1
    return owner, position, offsets


def all_imbalances(
    count: Callable[[Ints, Ints], Ints], lower: Ints, upper: Ints, axis: Ints
) -> tuple[Ints, Ints]:
    """|records below - records above| of all cuts of n boxes; one record moves each by at most 1.

    The lowest is the median's. Candidates are all positions of the grid, never only those that
    hold data: which those are is itself private. Returned as by `all_split_costs`; `count` gives
    the exact counts of boxes.
    """
    owner, position, offsets = every_cut(lower, upper, axis)
    last = upper[owner]
    last[np.arange(len(owner)), axis[owner]] = position
    below = count(lower[owner], last)
    return np.abs(count(lower, upper)[owner] - 2 * below), offsets


def _own(boxes: Ints) -> Ints:
    """A copy: what can be written to and what cannot would make two kernels."""
    return np.array(boxes, dtype=np.int64)


@njit(cache=True, nogil=True, error_model="numpy")
def _cost_batch(tables, lower, upper, axis, cut, costs):  # type: ignore[no-untyped-def]
    excess = tables.excess.reshape(-1)
    for i in range(len(cut)):
        r0, c0, r1, c1 = lower[i, 0], lower[i, 1], upper[i, 0], upper[i, 1]
        box = frame(tables, r0, c0, r1, c1, axis[i])
        costs[i] = cut_cost(tables, excess, box, r0, c0, r1, c1, axis[i], cut[i])


@njit(cache=True, nogil=True)
def _wide_cost_batch(tables, lower, upper, axis, cut, costs):  # type: ignore[no-untyped-def]
    for i in range(len(cut)):
        r0, c0, r1, c1 = lower[i, 0], lower[i, 1], upper[i, 0], upper[i, 1]
        costs[i] = wide_cut_cost(tables, r0, c0, r1, c1, axis[i], cut[i])


@njit(cache=True, nogil=True, error_model="numpy")
def _cost_all(tables, lower, upper, axis, offsets, costs):  # type: ignore[no-untyped-def]
    copy, below = np.empty(COPIED, dtype=np.int32), np.empty(COPIED + 1, dtype=np.int64)
    excess = tables.excess.reshape(-1)
    for i in range(len(lower)):
        r0, c0, r1, c1 = lower[i, 0], lower[i, 1], upper[i, 0], upper[i, 1]
        box = frame(tables, r0, c0, r1, c1, axis[i])
        cells, total, copied = (r1 - r0) * (c1 - c0), 0, False
        if is_copied(tables, excess, box, cells):
            total = turn(tables, r0, c0, r1, c1, axis[i], copy, below)
            copied = is_narrow(cells, total)
        for k in range(offsets[i], offsets[i + 1]):
            at = k - offsets[i] + 1
            if copied:
                costs[k] = cost_of_copy(copy, below, box.across, cells, total, at)
            else:
                costs[k] = cut_cost(tables, excess, box, r0, c0, r1, c1, axis[i], box.first + at)


@njit(cache=True, nogil=True)
def _spread_batch(tables, lower, upper, costs):  # type: ignore[no-untyped-def]
    for i in range(len(costs)):
        costs[i] = spread(tables, lower[i, 0], lower[i, 1], upper[i, 0], upper[i, 1])


@njit(cache=True, nogil=True)
def _wide_spread_batch(tables, lower, upper, costs):  # type: ignore[no-untyped-def]
    for i in range(len(costs)):
        costs[i] = wide_spread(tables, lower[i, 0], lower[i, 1], upper[i, 0], upper[i, 1])
