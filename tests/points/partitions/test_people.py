"""Records of people over parts and workers: who is who, and each part once."""

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from explorer.points.identity import identities
from explorer.points.partitions.adding import JUDGED, Counted, Sum
from explorer.points.partitions.people import Numbers, People

ROWS = st.lists(st.tuples(st.integers(0, 4), st.integers(-1, 3), st.integers(0, 3)), max_size=25)


@given(ROWS, st.integers(1, 5), st.integers(0, 25), st.randoms(use_true_random=False))
def test_parts_in_any_order_count_what_one_pass_counts(rows, bound, cut, luck):
    table = np.array(rows, np.int64).reshape(-1, 3)

    def held(part: np.ndarray) -> Counted:
        people = People()
        user = np.column_stack([part[:, 0], np.full(len(part), 9)])
        people.add(user, part[:, 1], part[:, 2])
        none = np.empty(0, int)
        return Counted(none, none, np.zeros(JUDGED, int), people.held()).packed()

    whole = Sum(4, bound)
    whole.add("all", held(table))
    parts = {"a": held(table[:cut]), "b": held(table[cut : cut + 5]), "c": held(table[cut + 5 :])}
    # One that a worker counted twice changes nothing.
    order = [*"abc", luck.choice("abc")]
    luck.shuffle(order)
    total, resumed = Sum(4, bound), Sum(4, bound)
    for number, key in enumerate(order):
        if number == 2:
            resumed.restore(set(total.added), total.so_far())
        total.add(key, parts[key])
    for key in order:
        resumed.add(key, parts[key])
    assert total.added == resumed.added == set("abc")
    for each in (total, resumed):
        found, expected = each.total(), whole.total()
        assert np.array_equal(found.dense(4), expected.dense(4))
        assert np.array_equal(found.unclipped, expected.unclipped)


def test_a_table_of_people_grows():
    rng = np.random.default_rng(2)
    user = rng.integers(-(2**62), 2**62, (20_000, 2))
    numbers = Numbers()
    assert numbers.of(user).tolist() == list(range(20_000))
    assert numbers.of(user[::-3]).tolist() == list(range(20_000))[::-3]
    assert np.array_equal(numbers.identities, user)


@pytest.mark.parametrize("values", [
    pa.array([7, None, 2**40, 7]),
    pa.array(["ann", None, "bob", "ann"]),
    pa.array(["ann", None, "bob", "ann"]).dictionary_encode(),
    pa.array([0.5, None, 0.25, 0.5]),
])  # fmt: skip
def test_users_are_the_same_in_every_file(values):
    who, known, _ = identities(values)
    assert known.tolist() == [True, False, True, True]
    assert (who[0] == who[3]).all()
    assert (who[0] != who[2]).any()
    turned, *_ = identities(values.take([2, 0]))
    assert np.array_equal(turned, who[[2, 0]])


def test_missing_numbers_of_users_are_nobody():
    _, known, _ = identities(pa.array([1.0, float("nan")]))
    assert known.tolist() == [True, False]
