"""Weights: one person's add up to what the bound allows, exactly, and depend on that person."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from explorer.points.weights import LATTICE, lattice_of, weights
from explorer.testing import towns
from explorer.trips.matrix import TripMatrix

users = st.lists(st.integers(0, 6), max_size=60)


@given(users, st.integers(1, 20))
def test_a_persons_weights_add_up_to_the_bound_or_to_all_records(user, bound) -> None:
    user = np.array(user, dtype=np.int64)
    found = weights(user, bound)
    for each in np.unique(user):
        own = found[user == each]
        assert own.sum() == LATTICE * min(len(own), bound)
        assert np.ptp(own) <= 1
        assert own.min() >= 0


@given(users, st.integers(1, 5), st.integers(0, 6))
def test_other_persons_change_nothing(user, bound, gone) -> None:
    user = np.array(user, dtype=np.int64)
    stays = user != gone
    assert weights(user, bound)[stays].tolist() == weights(user[stays], bound).tolist()


def test_more_records_than_units_of_the_lattice_still_add_up() -> None:
    found = weights(np.zeros(3 * LATTICE, dtype=np.int64), 1)
    assert found.sum() == LATTICE
    # Not the first ones alone: every third of the file has its share.
    assert found.reshape(3, -1).sum(axis=1) == pytest.approx(LATTICE / 3, abs=1)


def test_whole_records_have_a_lattice_of_one() -> None:
    trips = TripMatrix.from_coordinates([[0, 0, 1, 1]], [2, 2])
    assert (lattice_of(trips), lattice_of(towns((8, 8), 50))) == (1, 1)
