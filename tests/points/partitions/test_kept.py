"""The first k of each user, whatever the parts and their order."""

from __future__ import annotations

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from explorer.points.partitions.adding import Counted, Sum
from explorer.points.partitions.kept import Takers, identities

ROWS = st.lists(st.tuples(st.integers(0, 4), st.integers(-1, 3), st.integers(0, 3)), max_size=25)


@given(ROWS, st.integers(1, 5), st.integers(0, 25), st.randoms(use_true_random=False))
def test_parts_keep_what_one_pass_keeps(rows: list[tuple], bound: int, cut: int, luck) -> None:
    expected = np.zeros(4, np.int64)
    taken: dict[int, int] = {}
    for who, atom, records in rows:
        left = min(records, bound - taken.get(who, 0)) if atom >= 0 else 0
        if left > 0:
            taken[who] = taken.get(who, 0) + left
            expected[atom] += left
    table = np.array(rows, np.int64).reshape(-1, 3)
    parts = {}
    for key, part in (("a", table[:cut]), ("b", table[cut : cut + 5]), ("c", table[cut + 5 :])):
        user = np.column_stack([part[:, 0], np.full(len(part), 9)])
        kept = Takers(bound).first(user, part[:, 1], part[:, 2])
        assert (kept.records > 0).all()
        parts[key] = Counted(np.empty(0, int), np.empty(0, int), np.zeros(8, int), kept)
    # Parts come in any order, and one that a worker counted twice changes nothing.
    order = [*"abc", luck.choice("abc")]
    luck.shuffle(order)
    total = Sum(4, bound, list("abc"))
    for key in order:
        total.add(key, parts[key])
    assert total.added == set("abc")
    assert np.array_equal(total.total().dense(4), expected)
    users, given_ = total.users()
    assert dict(zip(users[:, 0].tolist(), given_.tolist(), strict=True)) == taken


def test_a_table_of_users_grows_and_is_restored() -> None:
    rng = np.random.default_rng(2)
    user = rng.integers(-(2**62), 2**62, (20_000, 2))
    user = np.concatenate([user, user[:9_000]])
    atom = np.arange(29_000)
    takers = Takers(1)
    assert takers.first(user, atom, None).atom.tolist() == list(range(20_000))
    again = Takers(1)
    again.restore(*takers.saved())
    assert len(again.first(user, atom, None)) == 0


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
