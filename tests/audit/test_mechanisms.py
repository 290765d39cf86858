"""The audit of every mechanism there is: replays, books and noise."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from explorer.mechanisms import Identity, PrivTree, all_mechanisms
from explorer.privacy.audit.audit import front_door, replay_cases, try_case
from explorer.privacy.audit.cases import NEIGHBOURS, draw_case
from explorer.privacy.audit.proofs import privtree_paths
from tests.audit.mutants import BoxOfTheData, behind

pytestmark = pytest.mark.audit
ALL = list(all_mechanisms().values())


@pytest.mark.parametrize("kind", ALL)
def test_no_breach_in_two_hundred_pairs(kind) -> None:
    found = replay_cases(kind, range(5000, 5050))
    assert found.breach is None, found.breach
    assert found.pairs == 50 * NEIGHBOURS
    # Some case spends the whole budget on the record; PrivTree's proof leaves a margin.
    assert 0.8 < found.largest <= 1 + 1e-12


class Drawn:
    """Choices that hypothesis makes, and makes simpler when a claim fails."""

    def __init__(self, data: st.DataObject) -> None:
        self.data = data

    def whole(self, low: int, high: int) -> int:
        return self.data.draw(st.integers(low, high))


@pytest.mark.parametrize("kind", ALL)
def test_hypothesis_finds_no_breach(kind) -> None:
    @settings(max_examples=60)
    @given(st.data())
    def hold(data: st.DataObject) -> None:
        found = try_case(kind, draw_case(kind, Drawn(data)))
        assert found.fault is None, found.fault
        assert found.largest <= 1 + 1e-12

    hold()


def test_hypothesis_shrinks_what_it_finds() -> None:
    smallest = []

    @settings(max_examples=100, database=None)
    @given(st.data())
    def hold(data: st.DataObject) -> None:
        case = draw_case(Identity, Drawn(data))
        if try_case(Identity, case, behind(BoxOfTheData)).fault is not None:
            smallest.append(case)
            raise AssertionError

    with pytest.raises(AssertionError):
        hold()
    assert smallest[-1].counts.size <= 4
    assert smallest[-1].counts.sum() <= 3


@pytest.mark.parametrize("bound", [1, 3])
@pytest.mark.parametrize("epsilon", [0.05, 0.1])
def test_privtrees_proof_is_nearly_reached_where_noise_is_finer_than_its_scale(
    epsilon: float, bound: int
) -> None:
    found = privtree_paths(PrivTree, front_door, [epsilon], [bound])
    assert found.breach is None, found.breach
    assert found.largest > 0.85
