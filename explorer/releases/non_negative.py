"""Counts without negative ones: the nearest that still add up."""

from __future__ import annotations

import numpy as np
from numba import njit
from numpy.typing import NDArray

Floats = NDArray[np.float64]


@njit(cache=True, nogil=True)
def project(z, variance, total, x):  # type: ignore[no-untyped-def]
    """Write into `x` (k,) what minimises sum (x - z)^2 / variance with x >= 0 and sum x = total.

    x = max(z - a variance, 0) with one a for all, found by leaving out what comes out below 0
    until nothing does. A total of 0 or less makes all of them 0.
    """
    for i in range(len(z)):
        x[i] = 0.0
    if total <= 0.0:
        return
    active = np.ones(len(z), dtype=np.bool_)
    while True:
        above, room = -total, 0.0
        for i in range(len(z)):
            if active[i]:
                above += z[i]
                room += variance[i]
        least = 0.0
        for i in range(len(z)):
            if active[i]:
                x[i] = z[i] - above / room * variance[i]
                least = min(least, x[i])
        if least >= 0.0:
            return
        for i in range(len(z)):
            if active[i] and x[i] < 0.0:
                active[i], x[i] = False, 0.0


@njit(cache=True, nogil=True)
def downwards(parent, z, variance, value):  # type: ignore[no-untyped-def]
    """Give every node's children counts of 0 or more that add up to its own, into `value` (n,).

    Parameters
    ----------
    parent : (n,) parents before children, children of one node side by side
    z, variance : (n,) best estimates from every node's own subtree, and their variances
    """
    value[0] = max(z[0], 0.0)
    begin = 1
    while begin < len(parent):
        end = begin
        while end < len(parent) and parent[end] == parent[begin]:
            end += 1
        total = value[parent[begin]]
        project(z[begin:end], variance[begin:end], total, value[begin:end])
        begin = end
