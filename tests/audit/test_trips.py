"""Replay audit of the mechanisms of trips in four dimensions, and of bugs planted in them."""

from __future__ import annotations

import re

import numpy as np
import pytest

from explorer.mechanisms import EBP, EUG, MKM, DAFEntropy, DAFHomogeneity, Gravity
from explorer.privacy.audit.audit import replay_cases
from explorer.privacy.audit.cases import NEIGHBOURS
from explorer.privacy.audit.replay import Chosen, Recording
from explorer.releases.units import to_units
from explorer.testing.counts import counted
from tests.audit.mutants import Cooked, Mutant
from tests.audit.trip_mutants import TRIP_MUTANTS, behind, front_door

pytestmark = pytest.mark.audit
KINDS = [EUG, EBP, MKM, DAFEntropy, DAFHomogeneity]
CASES = 60


@pytest.mark.parametrize("kind", KINDS)
def test_no_breach_in_four_dimensions(kind) -> None:
    found = replay_cases(kind, range(CASES), 7, front_door)
    assert found.breach is None, found.breach
    assert found.pairs == CASES * NEIGHBOURS
    # As near to the claim as the mechanism comes.
    assert 0.95 < found.largest <= 1 + 1e-12


@pytest.mark.parametrize("kind", KINDS)
def test_no_breach_on_maps(kind) -> None:
    found = replay_cases(kind, range(50), 8)
    assert found.breach is None, found.breach


@pytest.mark.parametrize("mutant", TRIP_MUTANTS, ids=lambda mutant: mutant.name)
@pytest.mark.planted
def test_every_planted_bug_is_found(mutant: Mutant) -> None:
    with mutant.around():
        found = replay_cases(mutant.kind, range(mutant.cases), 1, mutant.publish)
    assert found.breach is not None, f"not found in {mutant.cases * NEIGHBOURS} pairs"
    assert re.search(mutant.says, found.breach), found.breach


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.planted
def test_the_mutants_clothes_alone_are_no_bug(kind) -> None:
    assert replay_cases(kind, range(20), 2, behind(Cooked)).breach is None


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
