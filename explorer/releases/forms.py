"""The noise of linear forms of counts that least squares has made consistent along a tree.

Trees are arrays with parents before children; nothing here knows boxes. With q, c and B the
variance of the sought form, its covariance with the node's total and that total's variance, all
from what is below a node alone, a draw of variance s of the node itself turns them into
q - c^2/(B + s), c s/(B + s) and B s/(B + s); siblings add up (see `Tree.integrate`).
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numba import njit
from numpy.typing import ArrayLike, NDArray

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]


@dataclass(frozen=True, eq=False)
class Family:
    """n nodes of any fan-out, with the precision of what was drawn of each.

    Attributes
    ----------
    parent : (n,) parents before children, -1 for the root
    precision : (n,) 1 / noise variance of a node's own draw, 0 where none was used; above 0 at
        leaves
    """

    parent: Ints
    precision: Floats

    @cached_property
    def fan_out(self) -> Ints:
        """Number of children of every node, (n,)."""
        return np.bincount(self.parent[1:], minlength=len(self.parent)).astype(np.int64)

    @cached_property
    def variances(self) -> tuple[Floats, Floats]:
        """Variance of every node's best estimate from its own subtree, and its children's sum."""
        alone, below = np.zeros((2, len(self.parent)))
        count = np.zeros(len(self.parent), dtype=np.int64)
        gather(self.parent, self.fan_out, self.precision, alone, below, count)
        return alone, below

    @cached_property
    def final(self) -> Floats:
        """Variance of the noise in every node's count after least squares, (n,)."""
        alone, below = self.variances
        final = np.empty(len(self.parent))
        smooth(self.parent, alone, below, final)
        return np.maximum(final, 0.0)

    def variance(self, weights: ArrayLike) -> Floats:
        """Variance of m weighted sums of the leaves' counts, (m,).

        Parameters
        ----------
        weights : (m, n); those of inner nodes are not looked at
        """
        alone = self.variances[0]
        rows = np.atleast_2d(np.asarray(weights, dtype=np.float64))
        return self.joined(rows**2 * alone, rows * alone)

    def joined(self, form: Floats, shared: Floats) -> Floats:
        """Variance of m sums of independent forms, one inside every leaf, (m,).

        Parameters
        ----------
        form, shared : (m, n) variance of the form inside each leaf, and its covariance with the
            leaf's own estimate; those of inner nodes are not looked at
        """
        result = np.empty(len(form))
        fixed = self.parent, self.fan_out, self.precision, self.variances[1]
        is_leaf = self.fan_out == 0
        for m in range(len(form)):
            q, c = np.where(is_leaf, form[m], 0.0), np.where(is_leaf, shared[m], 0.0)
            result[m] = climb(*fixed, q, c, len(is_leaf) - 1)
        return result


@njit(cache=True, nogil=True)
def climb(parent, fan_out, precision, below, form, shared, last):  # type: ignore[no-untyped-def]
    """The variance of a form, from its leaves to the root; works in `form` and `shared`, (n,).

    Nodes behind `last` have no part in it.
    """
    for i in range(last, -1, -1):
        q, c = form[i], shared[i]
        if q == 0.0 and c == 0.0:
            continue
        if fan_out[i] > 0 and precision[i] > 0.0:
            s = 1.0 / precision[i]
            q -= c * c / (below[i] + s)
            c *= s / (below[i] + s)
        if i == 0:
            return max(q, 0.0)
        form[parent[i]] += q
        shared[parent[i]] += c
    return 0.0


@njit(cache=True, nogil=True)
def gather(parent, fan_out, precision, alone, below, count):  # type: ignore[no-untyped-def]
    """Variances from below, and how many leaves there are, into arrays of zeros (n,)."""
    for i in range(len(parent) - 1, -1, -1):
        if fan_out[i] == 0:
            count[i] = 1
            alone[i] = 1.0 / precision[i]
        elif precision[i] > 0.0:
            alone[i] = 1.0 / (precision[i] + 1.0 / below[i])
        else:
            alone[i] = below[i]
        if parent[i] >= 0:
            below[parent[i]] += alone[i]
            count[parent[i]] += count[i]


@njit(cache=True, nogil=True)
def smooth(parent, alone, below, final):  # type: ignore[no-untyped-def]
    """Variances after the way down, from those of the way up."""
    final[0] = alone[0]
    for i in range(1, len(parent)):
        p = parent[i]
        gain = alone[i] / below[p] if below[p] > 0.0 else 0.0
        final[i] = alone[i] + gain * gain * (final[p] - below[p])
