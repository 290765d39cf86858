"""What an audit tries: possible, varied, repeatable, and often at a turning point."""

import math

import numpy as np
import pytest

from explorer.mechanisms import HTF, all_mechanisms
from explorer.privacy.audit.cases import LARGEST_SIDE, LONGEST_ROW, Seeded, draw_case

ALL = list(all_mechanisms().values())


def drawn(kind, number: int = 60) -> list:
    return [draw_case(kind, Seeded(f"{kind.key} {i}")) for i in range(number)]


@pytest.mark.parametrize("kind", ALL)
def test_cases_are_possible(kind) -> None:
    for case in drawn(kind):
        mechanism = kind(**case.settings)
        assert 0.05 <= mechanism.epsilon <= 8
        rows, cols = case.matrix.shape
        assert max(rows, cols) <= (LARGEST_SIDE if min(rows, cols) > 1 else LONGEST_ROW)
        assert case.matrix.contribution_bound == case.contribution_bound
        for change in case.changes:
            # A unit comes or goes: one sign, at most the bound, and something where it can.
            assert np.all(change >= 0) or np.all(change <= 0)
            assert 1 <= np.abs(change).sum() <= case.contribution_bound
            assert case.neighbour(change).counts.min() >= 0


@pytest.mark.parametrize("kind", ALL)
def test_every_setting_takes_several_values(kind) -> None:
    cases = drawn(kind, 200)
    for name in ("epsilon", *kind.tunables()):
        values = {case.settings[name] for case in cases}
        declared = kind.param[name]
        if hasattr(declared, "objects"):
            assert values == set(declared.objects)
        else:
            assert len(values) > 5
            assert (None in values) == declared.allow_None


def test_data_sets_are_empty_sparse_full_alone_and_flat() -> None:
    cases = drawn(HTF, 400)
    counts = [case.counts for case in cases]
    assert any(not each.any() for each in counts)
    assert any(np.count_nonzero(each) == 1 and each.size > 9 for each in counts)
    assert any(each.min() == each.max() > 0 and each.size > 9 for each in counts)
    assert any(each.max() > 1000 for each in counts)
    assert {(min(each.shape) == 1) for each in counts} == {True, False}
    assert {case.contribution_bound for case in cases} == {1, 2, 3, 8}
    assert {len(np.argwhere(change)) for case in cases for change in case.changes} >= {1, 2, 3}


def test_totals_lie_where_a_height_turns() -> None:
    turning = 0
    for case in drawn(HTF, 1000):
        total, epsilon = int(case.counts.sum()), case.settings["epsilon"]
        for change in case.changes:
            heights = [
                math.floor(math.log2(max(n * epsilon / 10, 1)))
                for n in (total, total + int(change.sum()))
            ]
            turning += heights[0] != heights[1]
    # By chance alone hardly one of 3,000 would.
    assert turning >= 20


def test_a_seed_repeats_a_case_and_its_outcomes() -> None:
    for one, other in zip(drawn(HTF, 20), drawn(HTF, 20), strict=True):
        assert one.settings == other.settings
        assert np.array_equal(one.counts, other.counts)
        assert (one.style, one.seed) == (other.style, other.seed)
        assert all(map(np.array_equal, one.changes, other.changes))


def test_a_description_builds_the_pair_again() -> None:
    case = next(case for case in drawn(HTF) if case.counts.size < 9)
    text = case.describe(case.changes[0])
    settings, rest = text.split("; counts ")
    assert HTF(**eval(f"dict({settings})")).epsilon == case.settings["epsilon"]
    assert rest.startswith(str(case.counts.tolist()))
    row, col = np.argwhere(case.changes[0])[0]
    assert f"{case.changes[0][row, col]:+d} in row {row} column {col}" in rest
