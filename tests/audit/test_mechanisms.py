"""The audit of every mechanism there is: replays, books and noise."""

from __future__ import annotations

import pytest

from explorer.mechanisms import PrivTree, all_mechanisms
from explorer.privacy.audit.audit import front_door, replay_cases
from explorer.privacy.audit.cases import NEIGHBOURS
from explorer.privacy.audit.proofs import privtree_paths

pytestmark = pytest.mark.audit
ALL = list(all_mechanisms().values())


@pytest.mark.parametrize("kind", ALL)
def test_no_breach_in_two_hundred_pairs(kind) -> None:
    found = replay_cases(kind, range(5000, 5050))
    assert found.breach is None, found.breach
    assert found.pairs == 50 * NEIGHBOURS
    # Some case spends the whole budget on the record; PrivTree's proof leaves a margin.
    assert 0.8 < found.largest <= 1 + 1e-12


@pytest.mark.parametrize("bound", [1, 3])
@pytest.mark.parametrize("epsilon", [0.05, 0.1])
def test_privtrees_proof_is_nearly_reached_where_noise_is_finer_than_its_scale(
    epsilon: float, bound: int
) -> None:
    found = privtree_paths(PrivTree, front_door, [epsilon], [bound])
    assert found.breach is None, found.breach
    assert found.largest > 0.85
