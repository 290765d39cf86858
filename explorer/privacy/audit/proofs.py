"""Proofs that are on constants: their worst case, worked out exactly.

PrivTree (Zhang, Xiao, Xie 2016) pays once for a structure of any depth. Its loss is largest on a
path on which every node is cut whatever its score says; chance deals that path next to never, and
only small epsilons come near the proof's bound, where noise is finer than its scale.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any

import numpy as np

from explorer.points.matrix import FrequencyMatrix
from explorer.privacy.audit.audit import Finding
from explorer.privacy.audit.cases import Auditable
from explorer.privacy.audit.loss import PER_EPSILON, Breach, budget
from explorer.privacy.audit.replay import Chosen, Publish, Recording
from explorer.privacy.curator import Curator
from explorer.privacy.noise import Ints, Keys

EPSILONS = (0.05, 0.1, 1.0)
BOUNDS = (1, 3, 8)
CELLS, PERSON = 256, 77
PEOPLE = (2.0, 12.0)
"""Between so many records, over epsilon and times the bound, the costliest number is."""
_MOST_OF_IT = {"structure_share": 0.95}  # so that a release comes near the proof's bound, too


class NeverStops(Chosen):
    """Counts without noise; every node that can be cut is cut."""

    def __init__(self) -> None:
        super().__init__(0, "still")

    def above(
        self, values: Ints, threshold: int, sensitivity: int, units: Ints, keys: Keys, stage: str
    ) -> Any:
        """Go on, whatever the score."""
        return np.ones(len(values), dtype=bool)


def privtree_paths(
    kind: Auditable,
    publish: Callable[[Any], Publish],
    epsilons: Iterable[float] = EPSILONS,
    bounds: Iterable[int] = BOUNDS,
) -> Finding:
    """The path that never stops of a row of 256 cells: the structure alone, and whole releases."""
    result = Finding(kind.key)
    mechanism_class: Any = kind
    for epsilon in epsilons:
        for bound in bounds:
            released = publish(mechanism_class(epsilon=epsilon, **_MOST_OF_IT))
            result += _tried(kind.key, structure(budget(epsilon)), epsilon, bound, 30)
            result += _tried(kind.key, released, epsilon, bound, 10)
            if result.fault is not None:
                return result
    return result


def structure(units: int) -> Publish:
    """PrivTree's test alone, with a budget of its own."""

    def run(matrix: FrequencyMatrix, source: Any) -> Any:
        desk = Curator(matrix, units, source)
        return desk.privtree(desk.open(), units).lower

    return run


def _tried(key: str, publish: Publish, epsilon: float, bound: int, steps: int) -> Finding:
    units, largest, tried = budget(epsilon), 0.0, 0
    low, high = (end * bound / epsilon for end in PEOPLE)
    for people in np.unique(np.linspace(low, high, steps).astype(int)).tolist():
        tried += 1
        try:
            run = Recording.of(publish, _alone(people, bound), NeverStops())
            loss = run.replay(_alone(people + bound, bound))
            largest = max(largest, loss.epsilon * PER_EPSILON / units)
            if loss.exceeds(units):
                raise Breach(f"the loss is {largest:.6g} times epsilon")
        except Breach as breach:
            what = (
                f"{breach} (epsilon={epsilon:g}, every node is cut; {people} and {people + bound} "
                f"records in cell {PERSON} of {CELLS} in a row, contribution bound {bound})"
            )
            return Finding(key, tried, cells=CELLS, largest=largest, fault=what)
    return Finding(key, tried, cells=CELLS, largest=largest)


def _alone(people: int, bound: int) -> FrequencyMatrix:
    counts = np.zeros((1, CELLS), dtype=np.int64)
    counts[0, PERSON] = people
    return FrequencyMatrix.from_array(counts, contribution_bound=bound)
