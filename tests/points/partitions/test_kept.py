"""The first k of each user, whatever the parts and their order."""

from __future__ import annotations

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from explorer.points.partitions.kept import Kept, identities

ROWS = st.lists(st.tuples(st.integers(0, 4), st.integers(-1, 3), st.integers(0, 3)), max_size=25)


@given(ROWS, st.integers(1, 5), st.randoms(use_true_random=False))
def test_merged_parts_keep_what_one_pass_keeps(rows: list[tuple], bound: int, luck) -> None:
    expected: list[tuple[int, int, int]] = []
    taken: dict[int, int] = {}
    parts = []
    for row, (who, atom, records) in enumerate(rows):
        one = np.array([[who, 0]]), np.array([row]), np.array([atom]), np.array([records])
        parts.append(Kept.of(*one))
        left = min(records, bound - taken.get(who, 0)) if atom >= 0 else 0
        if left > 0:
            taken[who] = taken.get(who, 0) + left
            expected.append((row, atom, left))
    luck.shuffle(parts)
    # A part that a worker counted twice changes nothing.
    parts += parts[:3]
    kept = Kept.none()
    for part in parts:
        kept = kept.merged(part, bound)
    found = sorted(zip(kept.row.tolist(), kept.atom.tolist(), kept.records.tolist(), strict=True))
    assert found == expected


@pytest.mark.parametrize(
    "values",
    [
        pa.array([7, None, 2**40, 7]),
        pa.array(["ann", None, "bob", "ann"]),
        pa.array(["ann", None, "bob", "ann"]).dictionary_encode(),
        pa.array([0.5, None, float("inf"), 0.5]),
    ],
)
def test_users_are_the_same_in_every_file(values: pa.Array) -> None:
    who, known = identities(values)
    assert known.tolist() == [True, False, True, True]
    assert (who[0] == who[3]).all()
    assert (who[0] != who[2]).any()
    turned, _ = identities(values.take([2, 0]))
    assert np.array_equal(turned, who[[2, 0]])


def test_missing_numbers_of_users_are_nobody() -> None:
    _, known = identities(pa.array([1.0, float("nan")]))
    assert known.tolist() == [True, False]
