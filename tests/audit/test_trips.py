"""Replay audit of the mechanisms of trips in four dimensions."""

from __future__ import annotations

import numpy as np
import pytest

from explorer.mechanisms import EBP, EUG, MKM, DAFEntropy, DAFHomogeneity, Gravity
from explorer.privacy.audit.audit import replay_cases
from explorer.privacy.audit.cases import NEIGHBOURS
from explorer.privacy.audit.replay import Chosen, Recording
from explorer.privacy.curator import Curator
from explorer.releases.units import to_units
from explorer.testing.counts import counted
from tests.audit.trip_mutants import Wide, front_door, of_trips

pytestmark = pytest.mark.audit
KINDS = [EUG, EBP, MKM, DAFEntropy, DAFHomogeneity]
CASES = 60


@pytest.mark.parametrize("kind", [*KINDS, Wide])
def test_no_breach_in_four_dimensions(kind) -> None:
    publish = of_trips(Curator) if kind is Wide else front_door
    found = replay_cases(kind, range(CASES), 7, publish)
    assert found.breach is None, found.breach
    assert found.pairs == CASES * NEIGHBOURS
    # As near to the claim as the mechanism comes.
    assert 0.95 < found.largest <= 1 + 1e-12


@pytest.mark.parametrize(
    ("kind", "axes", "bound"),
    [
        (kind, axes, bound)
        for kind in [DAFEntropy, DAFHomogeneity, Gravity, EUG]
        for axes, bound in [(3, 1), (5, 2), (6, 3), (8, 1)]
        if axes in kind.dimensions
    ],
)
def test_other_dimensions_cost_epsilon(kind, axes: int, bound: int) -> None:
    rng = np.random.default_rng(axes)
    shape = (4, 3, 2, 3, 2, 2, 1, 2)[:axes]
    array = rng.poisson(20, shape)
    more = array.copy()
    for _ in range(bound):
        more[tuple(rng.integers(0, shape))] += 1
    one, other = (counted(each, bound) for each in (array, more))
    largest, few = 0.0, {"p": 4} if kind is DAFHomogeneity else {}

    def publish(counts, source):
        return kind(epsilon=0.7, **few).release(counts, rng=source)

    for seed, style in enumerate(("still", "wild", "up", "down") * 5):
        for data, neighbour in ((one, other), (other, one)):
            loss = Recording.of(publish, data, Chosen(seed, style)).replay(neighbour)
            assert not loss.exceeds(to_units(0.7))
            largest = max(largest, loss.epsilon)
    assert largest > 0.5 * 0.7
