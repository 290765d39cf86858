"""The audit of mechanisms with one bug each: it must find every bug, or it proves nothing."""

from __future__ import annotations

import re

import pytest

from explorer.mechanisms import all_mechanisms
from explorer.privacy.audit.audit import front_door, replay_cases
from explorer.privacy.audit.cases import NEIGHBOURS
from tests.audit.mutants import MUTANTS, Cooked, Mutant, behind

pytestmark = pytest.mark.audit
SEEDS = (0, 1, 2)


@pytest.mark.parametrize("mutant", MUTANTS, ids=lambda mutant: mutant.name)
@pytest.mark.planted
def test_every_planted_bug_is_found(mutant: Mutant) -> None:
    for seed in SEEDS:
        with mutant.around():
            found = replay_cases(mutant.kind, range(mutant.cases), seed, mutant.publish)
        assert found.breach is not None, f"not found in {mutant.cases * NEIGHBOURS} pairs"
        assert re.search(mutant.says, found.breach), found.breach


@pytest.mark.parametrize("kind", all_mechanisms().values())
@pytest.mark.planted
def test_the_mutants_clothes_alone_are_no_bug(kind) -> None:
    """What mutants are run behind passes the audit with a right mechanism in it."""
    assert replay_cases(kind, range(30), publish=behind(Cooked)).breach is None


def test_bugs_are_switched_off_again() -> None:
    for mutant in MUTANTS:
        with mutant.around():
            pass
    for kind in all_mechanisms().values():
        assert replay_cases(kind, range(9), 9, front_door).breach is None
