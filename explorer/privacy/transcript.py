"""The transcript: all that a mechanism has learnt about the counts, every figure of it noisy.

A plan's later steps, the inference and the release see this and nothing else, so whatever they do
is post-processing.
"""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass

import numpy as np
from numba import njit
from numpy.typing import NDArray

from explorer.regions import Ints

Floats = NDArray[np.float64]


@dataclass(frozen=True)
class LedgerRow:
    """One measurement as the books show it.

    Attributes
    ----------
    stage : what the budget was spent on
    epsilon : the largest share that any region paid in this measurement
    draws : how many noisy numbers were drawn
    sensitivity : how far one unit of privacy moves the measured vector, in its own unit
    composition : why the share counts once ("parallel": the regions are disjoint)
    """

    stage: str
    epsilon: float
    draws: int
    sensitivity: float
    composition: str


@dataclass(frozen=True)
class Measurement:
    """Noisy counts of some regions: ids (m,), values (m,), noise variances (m,)."""

    stage: str
    ids: Ints
    values: Ints
    variances: Floats


@dataclass(frozen=True)
class Transcript:
    """The tree of one pass with its noisy counts.

    Attributes
    ----------
    lower, upper : (n, d) half-open cell ranges, parents before children
    parent : (n,) position of the parent, -1 for the root
    depth : (n,) splits between the root and the node
    is_leaf : (n,) never split
    stages : names of what the budget went to
    spent : (n, stages) budget each node paid itself, in units of 10^-12 epsilon
    measurements : every noisy count drawn
    elsewhere : what other passes over the domain cost, as (stage, epsilon)
    """

    lower: Ints
    upper: Ints
    parent: Ints
    depth: Ints
    is_leaf: NDArray[np.bool_]
    stages: tuple[str, ...]
    spent: Ints
    measurements: tuple[Measurement, ...]
    elsewhere: tuple[tuple[str, float], ...] = ()

    def __len__(self) -> int:
        return len(self.parent)

    def counts(self, stages: Collection[str] | None = None) -> tuple[Floats, Floats]:
        """Each node's noisy count and its precision (1 / variance), 0 where none was drawn.

        Several draws of one node are averaged by precision. `stages` restricts which count.
        """
        weighted, precision = np.zeros(len(self)), np.zeros(len(self))
        for measured in self.measurements:
            if stages is None or measured.stage in stages:
                _collect(measured.ids, measured.values, measured.variances, weighted, precision)
        value = np.divide(weighted, precision, out=np.zeros(len(self)), where=precision > 0)
        return value, precision


@njit(cache=True, nogil=True)
def _collect(ids, values, variances, weighted, precision):  # type: ignore[no-untyped-def]
    """Add draws, weighted by their precision, to the nodes they belong to."""
    for k in range(len(ids)):
        weight = 1.0 / max(variances[k], 1e-300)
        precision[ids[k]] += weight
        weighted[ids[k]] += weight * values[k]
