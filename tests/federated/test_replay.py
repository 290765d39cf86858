"""Replay of adaptive runs below the front door: several places, answers, and some bugs to find.

`tests/audit/test_federated.py` replays whole releases, with every planted bug.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from explorer.federated.asking import Asking
from explorer.federated.people import People
from explorer.federated.protocol import Protocol
from explorer.federated.replay import STYLES, replay
from explorer.federated.shards import Roll
from explorer.privacy.audit.loss import Breach
from explorer.releases.units import to_units
from tests.audit.planting import planted
from tests.federated.towns import EXACT, SMALL, question_of, refine, some_people, walkers

pytestmark = pytest.mark.audit

EPSILONS = (0.3, 1.0, 3.0)
Run = Callable[[Asking], Any]


def spread(asking: Asking) -> Any:
    """Every round asks everybody anew, at a third of the budget."""
    return refine(asking, fresh=False)


def find(
    run: Run = refine,
    make: Callable[[int], People] = some_people,
    runs: int = 150,
    rules: Protocol = EXACT,
) -> tuple[str | None, float]:
    """The first breach, and the largest loss."""
    largest = 0.0
    for seed in range(runs):
        everybody, units = make(seed), to_units(EPSILONS[seed % 3])
        person = int(np.random.default_rng(1000 + seed).integers(len(everybody)))

        def begin(who: People, hook: Any, seed: int = seed, units: int = units) -> Asking:
            return Asking(who, rules, units, rng=seed, record=hook)

        try:
            largest = max(largest, replay(begin, run, everybody, person, STYLES[seed % 4]))
        except Breach as breach:
            return str(breach), largest
    return None, largest


def with_answers(seed: int) -> People:
    return some_people(seed).proportion(np.random.default_rng(seed).random(40) < 0.4)


@pytest.mark.parametrize(
    ("run", "make"),
    [(refine, some_people), (spread, some_people), (refine, walkers), (refine, with_answers)],
)
def test_no_breach_and_the_bound_is_nearly_reached(run: Run, make: Callable[[int], People]) -> None:
    breach, largest = find(run, make)
    assert breach is None
    # A replay that moves nothing finds nothing.
    assert 0.9 < largest <= 1.0 + 1e-9


def test_small_shards_are_refused_not_unmasked() -> None:
    """Half of the people drop out, far more than the protocol counts on."""

    def half(right, plan, members, there, words):
        return right(plan, members, there & (words % 2 == 0), words)

    def never_refused(right, *known):
        roll = right(*known)
        return dataclasses.replace(roll, kept=roll.survivors > 0)

    rules = dataclasses.replace(SMALL, shard=20)
    with planted((Roll, "of", half)):
        assert find(rules=rules, runs=40)[0] is None
    with planted((Roll, "of", half), (Roll, "of", never_refused)):
        assert "loss" in str(find(rules=rules)[0])


def test_counted_as_the_other_answer_too() -> None:
    def doubled(right, self, chosen, owner, counters, words):
        position, index, value = right(self, chosen, owner, counters, words)
        other = (index + counters) % (2 * counters)
        return tuple(np.concatenate(p) for p in ((position,) * 2, (index, other), (value,) * 2))

    with planted((People, "entries", doubled)):
        assert "loss" in str(find(make=with_answers)[0])


def known_cells(asking: Asking) -> Any:
    return asking._Asking__people.cells  # type: ignore[attr-defined]


def only_occupied_cells(asking: Asking) -> Any:
    occupied = sorted({int(cell) // 16 * 16 for cell in known_cells(asking) if cell >= 0} | {0})
    cells = question_of([(first, 1) for first in occupied])
    return asking.ask(cells, asking.left, asking.units).values


def decided_by_the_true_count(asking: Asking) -> Any:
    first = asking.ask(question_of([(16 * i, 1) for i in range(4)]), 12, asking.units).values
    finer = np.count_nonzero(known_cells(asking) >= 0) % 2 == 0
    sides = [(4 * i, 2) for i in range(4)] if finer else [(0, 1)]
    more = question_of([*sides, *((16 * i, 1) for i in range(1, 4))])
    return first, asking.ask(more, asking.left, asking.units).values


def output_knows_the_truth(asking: Asking) -> Any:
    return refine(asking), int(np.count_nonzero(known_cells(asking) >= 0))


@pytest.mark.parametrize(
    ("run", "says"),
    [
        (only_occupied_cells, "question"),
        (decided_by_the_true_count, "question"),
        (output_knows_the_truth, "output"),
    ],
)
def test_runs_that_look_at_places_are_found(run: Run, says: str) -> None:
    assert says in str(find(run)[0])
