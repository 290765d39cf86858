"""Replay of rounds of questions about yes and no, which no release of `Federated` asks."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from explorer.federated.asking import Asking
from explorer.federated.audit import ROUNDING, STYLES, Recorder, Replayer
from explorer.federated.people import People
from explorer.privacy.audit.loss import Breach
from explorer.privacy.audit.surface import difference
from explorer.releases.units import to_epsilon, to_units
from tests.audit.planting import planted
from tests.federated.towns import EXACT, refine, some_people

pytestmark = pytest.mark.audit

EPSILONS = (0.3, 1.0, 3.0)


def loss_of(seed: int, fresh: bool) -> float:
    """The loss of an adaptive run, as a part of epsilon, when one person's vector becomes zero."""
    rng = np.random.default_rng(seed)
    people = some_people(seed).proportion(rng.random(40) < 0.4)
    units, recorder = to_units(EPSILONS[seed % 3]), Recorder(STYLES[seed % 4])

    def run(who: People, hook: Any) -> Any:
        asking = Asking(who, EXACT, units, rng=seed, record=hook)
        return refine(asking, fresh=fresh), asking.ledger

    published, replayer = run(people, recorder), Replayer(recorder)
    again = run(people.without(int(rng.integers(len(people)))), replayer)
    replayer.finish()
    assert difference(published, again) is None
    return abs(replayer.loss) / to_epsilon(units)


@pytest.mark.parametrize("fresh", [True, False])
def test_no_breach_and_the_bound_is_nearly_reached(fresh: bool) -> None:
    largest = max(loss_of(seed, fresh) for seed in range(60))
    assert 0.9 < largest <= 1 + ROUNDING


def test_counted_as_the_other_answer_too() -> None:
    def doubled(right, self, chosen, owner, counters, words):
        position, index, value = right(self, chosen, owner, counters, words)
        other = (index + counters) % (2 * counters)
        return tuple(np.concatenate(p) for p in ((position,) * 2, (index, other), (value,) * 2))

    with planted((People, "entries", doubled)):
        assert max(loss_of(seed, True) for seed in range(20)) > 1 + ROUNDING


def test_another_question_is_a_breach() -> None:
    def by_place(right, self, number, fresh):
        members = right(self, number, fresh)
        return members[np.argsort(self._Asking__people.cells[members], kind="stable")]

    with planted((Asking, "_members", by_place)), pytest.raises(Breach, match="question"):
        max(loss_of(seed, True) for seed in range(20))
