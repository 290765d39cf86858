"""The audit of mechanisms with one bug each: it must find every bug, or it proves nothing."""

from __future__ import annotations

import re

import pytest

from explorer.mechanisms import all_mechanisms
from explorer.privacy.audit.audit import front_door, replay_cases
from explorer.privacy.audit.cases import NEIGHBOURS
from tests.audit.mutants import MUTANTS, Cooked, Exact, Mutant, behind
from tests.audit.planting import BROKEN, planted
from tests.audit.test_trips import KINDS
from tests.audit.trip_mutants import GRAVITY_MUTANTS, TRIP_MUTANTS, Peeking, of_trips

pytestmark = pytest.mark.audit
SEEDS = (0, 1, 2)
ALL = [*MUTANTS, *TRIP_MUTANTS, *GRAVITY_MUTANTS]
MAPS = list(all_mechanisms().values())


@pytest.mark.parametrize("mutant", ALL, ids=lambda mutant: mutant.name)
@pytest.mark.planted
def test_every_planted_bug_is_found(mutant: Mutant) -> None:
    for seed in SEEDS if mutant not in TRIP_MUTANTS else (1,):
        with planted(*mutant.plants):
            found = replay_cases(mutant.kind, range(mutant.cases), seed, mutant.publish)
        assert found.breach is not None, f"not found in {mutant.cases * NEIGHBOURS} pairs"
        assert re.search(mutant.says, found.breach), found.breach
        assert not re.search(BROKEN, found.breach), "the bug itself does not run"


@pytest.mark.parametrize(
    ("kind", "publish"),
    [(kind, behind(Cooked)) for kind in MAPS]
    + [(kind, of_trips(Cooked)) for kind in KINDS]
    + [(Peeking, of_trips(kind)) for kind in (Cooked, Exact)],
)
@pytest.mark.planted
def test_what_mutants_run_on_is_alone_no_bug(kind, publish) -> None:
    assert replay_cases(kind, range(15), publish=publish).breach is None


def test_bugs_are_switched_off_again() -> None:
    for mutant in ALL:
        with planted(*mutant.plants):
            pass
    for kind in MAPS:
        assert replay_cases(kind, range(9), 9, front_door).breach is None
