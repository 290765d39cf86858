"""The transcript: all that a mechanism has learnt about the counts, every figure of it noisy.

A plan's later steps, the inference and the release see this and nothing else, so whatever they do
is post-processing.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import pairwise
from typing import Any

import numpy as np
from numba import njit
from numpy.typing import NDArray

from explorer.releases.nodes import Ints, depths, one_or_each, span

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
    """Noisy counts of some regions: ids (m,), values (m,), noise variances (m,).

    Values are whole as they are drawn; those of sums that were scaled up need not be.
    """

    stage: str
    ids: Ints
    values: Ints | Floats
    variances: Floats


@dataclass(frozen=True)
class Candidates:
    """Cuts that a search looked at, one of each region: ids, positions, noisy costs, all (m,).

    A position is the first row or column of the upper half; costs are in units of
    2^-`homogeneity.LATTICE_BITS` records.
    """

    ids: Ints
    positions: Ints
    costs: Ints


@dataclass(frozen=True)
class Transcript:
    """The tree of one pass with its noisy counts.

    Attributes
    ----------
    lower, upper : (n, d) half-open cell ranges, parents before children
    parent : (n,) position of the parent, -1 for the root
    is_leaf : (n,) never split
    stages : names of what the budget went to
    spent : (n, stages) budget each node paid itself, in units of 10^-12 epsilon
    measurements : every noisy count drawn
    elsewhere : what other passes over the domain cost, as (stage, epsilon)
    candidates : cuts that searches looked at, in the order in which they were drawn
    """

    lower: Ints
    upper: Ints
    parent: Ints
    is_leaf: NDArray[np.bool_]
    stages: tuple[str, ...]
    spent: Ints
    measurements: tuple[Measurement, ...]
    elsewhere: tuple[tuple[str, float], ...] = ()
    candidates: tuple[Candidates, ...] = ()

    def __len__(self) -> int:
        return len(self.parent)

    @cached_property
    def depth(self) -> Ints:
        """Splits between the root and the node, (n,)."""
        return depths(self.parent)

    def counts(self, stages: Collection[str] | None = None) -> tuple[Floats, Floats]:
        """Each node's noisy count and its precision (1 / variance), 0 where none was drawn.

        Several draws of one node are averaged by precision. `stages` restricts which count.
        """
        draws = [
            (measured.ids, measured.values, one_or_each(measured.variances))
            for measured in self.measurements
            if stages is None or measured.stage in stages
        ]
        # Nearly all nodes are drawn once, in their order: nothing is added up, or 0 at first.
        value, precision = np.empty(len(self), np.float64), np.empty(len(self), np.float64)
        end = 0
        for draw in draws:
            end = _put(*draw, end, value, precision)
            if end < 0:
                break
        else:
            value[end:] = precision[end:] = 0.0
            return value, precision
        value[:] = precision[:] = 0.0
        for draw in draws:
            _collect(*draw, value, precision)
        _divide(value, precision)
        return value, precision


@dataclass(frozen=True)
class Charge:
    """What nodes paid in one measurement: its stage, ids (m,) increasing, units (m,)."""

    stage: str
    ids: Ints
    units: Ints


class Booked(Transcript):
    """A transcript as a curator keeps it: by charges. Few ever ask for the table of all nodes."""

    charges: tuple[Charge, ...] | None = None
    """None of one that was made from another, with a table."""

    @classmethod
    def of(cls, charges: Sequence[Charge], **others: Any) -> Booked:
        """One with these charges, and all else that a transcript has."""
        result = cls.__new__(cls)
        stages = tuple(dict.fromkeys(charge.stage for charge in charges))
        vars(result).update(others, charges=tuple(charges), stages=stages)
        return result

    @cached_property
    def spent(self) -> Ints:
        """Budget each node paid itself, (n, stages), in units of 10^-12 epsilon."""
        spent = np.zeros((len(self), len(self.stages)), dtype=np.int64)
        for charge in self.charges or ():
            column = spent[:, self.stages.index(charge.stage)]
            # Named once each, so nothing is lost by adding with an index.
            column[span(charge.ids)] += charge.units
        return spent

    def weighed(self, weights: Floats) -> Floats | None:
        """Sums of what nodes paid, times a weight of each, by stage, without the table.

        Nodes behind the weights weigh 1. To the last bit those of the table's columns from the
        first node to the last; None where there are no charges.
        """
        if self.charges is None:
            return None
        return np.array([self._weighed(weights, stage) for stage in self.stages])

    def _weighed(self, weights: Floats, stage: str) -> float:
        paid = [
            charge for charge in self.charges or () if charge.stage == stage and len(charge.ids)
        ]
        total = 0.0
        if all(one.ids[-1] < other.ids[0] for one, other in pairwise(paid)):
            for charge in paid:
                total = _weigh(weights, charge.ids, one_or_each(charge.units), total)
            return total
        # Paid in another order: its column of the table, whose zeros change no sum.
        column = np.zeros(len(self), dtype=np.int64)
        for charge in paid:
            column[span(charge.ids)] += charge.units
        return float(_weigh(weights, np.arange(len(self)), column, total))


@njit(cache=True, nogil=True)
def _weigh(weights, ids, units, total):  # type: ignore[no-untyped-def]
    one = len(units) == 1
    for k in range(len(ids)):
        weight = weights[ids[k]] if ids[k] < len(weights) else 1.0
        total += weight * units[0 if one else k]
    return total


@njit(cache=True, nogil=True)
def _collect(ids, values, variances, weighted, precision):  # type: ignore[no-untyped-def]
    """Add draws, weighted by their precision, to their nodes; one variance may be of all."""
    variance, weight = -1.0, 0.0
    one = len(variances) == 1
    for k in range(len(ids)):
        of_this = variances[0] if one else variances[k]
        # Neighbours mostly have the same.
        if of_this != variance:
            variance = of_this
            weight = 1.0 / max(variance, 1e-300)
        precision[ids[k]] += weight
        weighted[ids[k]] += weight * values[k]


@njit(cache=True, nogil=True)
def _put(ids, values, variances, end, value, precision):  # type: ignore[no-untyped-def]
    """Write the only draws of some nodes, and 0 for others from `end` on up to the last of them.

    To the last bit what `_collect` and `_divide` make of one draw. Returns the position behind the
    last node; -1, before anything is written, where nodes do not increase from `end` on.
    """
    if len(ids) == 0:
        return end
    in_order = ids[0] >= end
    for k in range(1, len(ids)):
        in_order &= ids[k] > ids[k - 1]
    if not in_order:
        return -1
    first, last = ids[0], ids[-1]
    if len(variances) == 1 and last - first + 1 == len(ids):
        weight = 1.0 / max(variances[0], 1e-300)
        value[end:first] = 0.0
        precision[end:first] = 0.0
        for k in range(len(ids)):
            precision[first + k] = weight
            value[first + k] = (0.0 + weight * values[k]) / weight if weight > 0.0 else 0.0
        return last + 1
    variance, weight = -1.0, 0.0
    for k in range(len(ids)):
        of_this = variances[min(k, len(variances) - 1)]
        # Neighbours mostly have the same.
        if of_this != variance:
            variance = of_this
            weight = 1.0 / max(variance, 1e-300)
        for i in range(end, ids[k]):
            value[i] = precision[i] = 0.0
        end = ids[k] + 1
        precision[end - 1] = weight
        value[end - 1] = (0.0 + weight * values[k]) / weight if weight > 0.0 else 0.0
    return end


@njit(cache=True, nogil=True)
def _divide(weighted, precision):  # type: ignore[no-untyped-def]
    """Turn weighted sums into means, in place, where there is anything to average."""
    for i in range(len(weighted)):
        if precision[i] > 0.0:
            weighted[i] /= precision[i]
