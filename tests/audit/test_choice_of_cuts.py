"""What a private choice of cuts costs: the loss of every outcome, where replay tries only some."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from explorer.privacy import partitions
from explorer.privacy.audit.loss import Draw, Loss, Question
from explorer.privacy.audit.replay import Recorder
from explorer.privacy.curator import Curator
from explorer.privacy.noise import PreviewNoise
from explorer.releases.units import UNITS_PER_EPSILON
from explorer.testing.counts import counted
from tests.audit.planting import wrapped

pytestmark = pytest.mark.audit
UNITS = UNITS_PER_EPSILON // 2
# Outcomes of noisy-min that cost much are rarer.
PAIRS = {"noised costs": 40, "noisy-min": 300}


def asked(counts: np.ndarray, rule: str) -> Question:
    """Return what a choice among ten sets of cuts across the first axis asks of the noise."""
    recorder = Recorder(PreviewNoise(0))
    curator = Curator(counted(counts), UNITS, recorder)
    parts = np.array([2 + int(counts.size > 6)])
    curator.partition(curator.open(), 0, parts, UNITS, 10, rule)
    (draw,) = recorder.draws
    return draw.question


def largest_loss(rule: str, pairs: int) -> float:
    """Return the largest loss of any outcome over pairs of neighbours, as a part of the price."""
    rng, largest = np.random.default_rng(4), 0.0
    for _ in range(pairs):
        side = int(rng.integers(3, 13))
        counts = rng.choice([0, 0, 1, 2, 3, 5, 10], (side, 1, 1, 1)) * int(rng.integers(1, 8))
        more = counts.copy()
        more[rng.integers(side)] += 1
        here, there = asked(counts, rule), asked(more, rule)
        assert here.is_like(there)
        outcomes: list[Any] = [np.array([index]) for index in range(10)]
        if rule == "noised costs":
            # Noise beyond both figures on one side or the other: each takes its full toll.
            beyond = np.maximum(here.values, there.values) + 1
            outcomes = [np.where(there.values < here.values, beyond, -1)]
        for outcome in outcomes:
            loss = Loss()
            loss.add(Draw(here, outcome), there.values)
            largest = max(largest, loss.epsilon * UNITS_PER_EPSILON / UNITS)
    return largest


@pytest.mark.parametrize("rule", ["noised costs", "noisy-min"])
def test_no_outcome_costs_more_than_its_price(rule: str) -> None:
    assert 0.5 < largest_loss(rule, PAIRS[rule]) <= 1 + 1e-12


def half_the_noise(right, noise, rule, costs, sensitivity, units, keys, stage):
    return right(noise, rule, costs, sensitivity, 2 * units, keys, stage)


@pytest.mark.parametrize("rule", ["noised costs", "noisy-min"])
@pytest.mark.planted
def test_half_the_noise_is_found(rule: str) -> None:
    with wrapped(partitions, "least", half_the_noise):
        assert largest_loss(rule, PAIRS[rule]) > 1
