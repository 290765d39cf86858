"""Replay of adaptive runs: nothing to find in ours, and every planted bug found.

Each bug is one of those that a build of this protocol can have (bugs of the tree's own rules are
planted where the tree is tested).
"""

from __future__ import annotations

import dataclasses
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from explorer.federated import asking as asking_module
from explorer.federated import calibration, people, protocol, shards
from explorer.federated.asking import Asking
from explorer.federated.people import People
from explorer.federated.replay import STYLES, replay
from explorer.federated.shards import Hook, Roll
from explorer.privacy.audit.loss import Breach
from explorer.releases.units import to_units
from tests.federated.towns import EXACT, SMALL, question_of, refine, some_people, walkers

pytestmark = pytest.mark.audit

EPSILONS = (0.3, 1.0, 3.0)
Run = Callable[[Asking], Any]


def starts(seed: int, rules: protocol.Protocol = EXACT) -> Callable[[People, Hook], Asking]:
    units = to_units(EPSILONS[seed % 3])
    return lambda who, hook: Asking(who, rules, units, rng=seed, record=hook)


def spread(asking: Asking) -> Any:
    """Every round asks everybody anew, at a third of the budget."""
    return refine(asking, fresh=False)


def find(
    run: Run = refine,
    make: Callable[[int], People] = some_people,
    runs: int = 150,
    rules: protocol.Protocol = EXACT,
) -> tuple[str | None, float]:
    """The first breach, and the largest loss."""
    largest = 0.0
    for seed in range(runs):
        everybody = make(seed)
        rng = np.random.default_rng(1000 + seed)
        person = int(rng.integers(len(everybody)))
        try:
            loss = replay(starts(seed, rules), run, everybody, person, STYLES[seed % 4])
        except Breach as breach:
            return str(breach), largest
        largest = max(largest, loss)
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
    assert largest <= 1.0 + 1e-9
    # A replay that moves nothing finds nothing.
    assert largest > 0.9


def test_masked_and_ideal_runs_are_replayed_alike() -> None:
    """What is masked is the same sums: the hook sees ideal rounds, and masked ones equal them."""
    for seed in range(3):
        who, units = some_people(seed), to_units(1.0)
        made = [
            refine(Asking(who, SMALL, units, rng=seed, mode=mode), rounds=2)
            for mode in ("ideal", "masked")
        ]
        assert repr(made[0]) == repr(made[1])


def test_small_shards_are_refused_not_unmasked(monkeypatch: pytest.MonkeyPatch) -> None:
    """Half of the people drop out, far more than the protocol counts on."""
    of = Roll.of
    monkeypatch.setattr(Roll, "of", lambda *known: of(*half_of(*known)))
    rules = dataclasses.replace(SMALL, shard=20)
    assert find(rules=rules, runs=40)[0] is None
    monkeypatch.setattr(Roll, "of", lambda *known: never_refused(*half_of(*known)))
    assert "loss" in str(find(rules=rules)[0])


def half_of(plan: Any, members: Any, there: Any, words: Any) -> tuple[Any, ...]:
    return plan, members, there & (words % 2 == 0), words


def never_refused(plan: Any, members: Any, there: Any, words: Any) -> Roll:
    starts = calibration.shard_of(plan.asked, plan.shards)
    survivors = np.add.reduceat(there, starts[:-1], dtype=np.int64)
    return Roll(members, there, words, starts, survivors, survivors > 0)


def test_shares_for_all_and_not_for_survivors(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(calibration, "honest", lambda size, _dropped, _corrupt: size)
    assert "loss" in str(find(rules=SMALL)[0])


def test_asked_twice_in_a_round(monkeypatch: pytest.MonkeyPatch) -> None:
    def twice(self: Asking, number: int, fresh: bool) -> Any:
        chosen = members(self, number, fresh).copy()
        chosen[-1] = chosen[0]
        return chosen

    members = Asking._members
    monkeypatch.setattr(Asking, "_members", twice)
    assert "loss" in str(find()[0])


def test_asked_in_two_rounds(monkeypatch: pytest.MonkeyPatch) -> None:
    def again(self: Asking, number: int, fresh: bool) -> Any:
        self._asked = 0
        return members(self, number, fresh)

    members = Asking._members
    monkeypatch.setattr(Asking, "_members", again)
    assert "loss" in str(find()[0])


@pytest.mark.parametrize("also", ["the parent", "the other answer"])
def test_counted_twice(monkeypatch: pytest.MonkeyPatch, also: str) -> None:
    def doubled(self: People, chosen: Any, owner: Any, counters: int, words: Any) -> Any:
        position, index, value = entries(self, chosen, owner, counters, words)
        if also == "the parent":
            other = np.zeros_like(index)
        else:
            other = (index + counters) % (2 * counters)
        return tuple(np.concatenate(p) for p in ((position,) * 2, (index, other), (value,) * 2))

    entries = People.entries
    monkeypatch.setattr(People, "entries", doubled)
    make = some_people if also == "the parent" else with_answers
    assert "loss" in str(find(make=make)[0])


def test_the_last_round_takes_more_than_is_left(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(Asking, "_book", lambda *_: None)

    def greedy(asking: Asking) -> Any:
        cells = question_of([(16 * i, 1) for i in range(4)])
        half = asking.units // 2
        return [
            asking.ask(cells, asking.number, units, fresh=False).values
            for units in (half, asking.units)
        ]

    assert "loss" in str(find(greedy)[0])


def test_the_budget_of_a_round_forgotten(monkeypatch: pytest.MonkeyPatch) -> None:
    def forgetful(self: Asking, plan: Any, fresh: bool) -> None:
        book(self, plan, fresh)
        if len(self.ledger) == 2:
            self._everyone -= plan.units

    book = Asking._book
    monkeypatch.setattr(Asking, "_book", forgetful)
    assert "loss" in str(find(spread)[0])


def test_independent_rounding_booked_as_s(monkeypatch: pytest.MonkeyPatch) -> None:
    def independent(visits: Any, starts: Any, places: int, words: Any) -> Any:
        total = np.add.reduceat(visits, np.minimum(starts[:-1], len(visits) - 1))
        part = np.repeat(total, np.diff(starts))
        low, rest = np.divmod(places * visits, part)
        up = np.random.default_rng(int(words[0])).random(len(visits)) < rest / part
        return low + up

    monkeypatch.setattr(people, "rounded", independent)
    assert "loss" in str(find(make=walkers)[0])


def test_survivors_depend_on_places(monkeypatch: pytest.MonkeyPatch) -> None:
    def shy(plan: Any, chosen: Any, there: Any, words: Any) -> Roll:
        known = seen["people"].cells
        return of(plan, chosen, there & (known[chosen] != 0), words)

    of, seen = Roll.of, {}

    def watched(self: Asking, everybody: People, *rest: Any, **named: Any) -> None:
        seen["people"] = everybody
        begin(self, everybody, *rest, **named)

    begin = Asking.__init__
    monkeypatch.setattr(Asking, "__init__", watched)
    monkeypatch.setattr(Roll, "of", staticmethod(shy))
    assert "question" in str(find()[0])


def test_only_occupied_cells_are_asked_about() -> None:
    def peeking(asking: Asking) -> Any:
        known = asking._Asking__people.cells  # type: ignore[attr-defined]
        occupied = sorted({int(cell) // 16 * 16 for cell in known if cell >= 0} | {0})
        cells = question_of([(first, 1) for first in occupied])
        return asking.ask(cells, asking.left, asking.units).values

    assert "question" in str(find(peeking)[0])


def test_a_decision_by_the_true_count() -> None:
    def peeking(asking: Asking) -> Any:
        known = asking._Asking__people.cells  # type: ignore[attr-defined]
        cells = question_of([(16 * i, 1) for i in range(4)])
        first = asking.ask(cells, 12, asking.units).values
        finer = np.count_nonzero(known >= 0) % 2 == 0
        sides = [(4 * i, 2) for i in range(4)] if finer else [(0, 1)]
        more = question_of([*sides, *((16 * i, 1) for i in range(1, 4))])
        return first, asking.ask(more, asking.left, asking.units).values

    assert "question" in str(find(peeking)[0])


def test_an_output_that_knows_the_truth() -> None:
    def boasting(asking: Asking) -> Any:
        known = asking._Asking__people.cells  # type: ignore[attr-defined]
        return refine(asking), int(np.count_nonzero(known >= 0))

    assert "output" in str(find(boasting)[0])


def test_names_that_are_patched_are_those_in_use() -> None:
    # A mutant of a name that nobody looks up would be no mutant.
    assert asking_module.Roll is shards.Roll
    assert people.rounded.__module__ == "explorer.federated.places"
    assert protocol.calibration is calibration
