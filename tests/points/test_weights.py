"""Weights: one person's add up to what the bound allows, exactly, and depend on that person."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from explorer.points.clipping import PersonCells, starts_of_codes
from explorer.points.weights import LATTICE, lattice_of
from explorer.testing import towns
from explorer.trips.matrix import TripMatrix

Trip = st.tuples(st.integers(0, 6), st.integers(0, 3))


def weighed(rows: list[tuple[int, int]], bound: int) -> np.ndarray:
    """Units in each of 4 cells."""
    people = PersonCells()
    user, cell = np.array(rows, dtype=np.int64).reshape(-1, 2).T
    people.add(user, cell)
    found = people.clipped(bound, starts_of_codes(None), 4, LATTICE)
    units = np.zeros(4, dtype=np.int64)
    units[found.atoms] = found.counts
    return units


@given(st.lists(Trip, max_size=60), st.integers(1, 20))
def test_a_persons_weights_add_up_to_the_bound_or_to_all_records(rows, bound):
    for user in range(7):
        own = [row for row in rows if row[0] == user]
        units = weighed(own, bound)
        n = np.bincount([cell for _, cell in own], minlength=4)
        assert units.sum() == LATTICE * min(len(own), bound)
        # Each cell has its share to less than a unit.
        share = n * LATTICE * min(len(own), bound) / max(len(own), 1)
        assert np.abs(units - share).max() < 1


@given(st.lists(Trip, max_size=60), st.integers(1, 5), st.integers(0, 6), st.randoms())
def test_other_persons_and_the_order_change_nothing(rows, bound, gone, luck):
    stays = [row for row in rows if row[0] != gone]
    own = [row for row in rows if row[0] == gone]
    whole = weighed(rows, bound)
    assert (weighed(stays, bound) + weighed(own, bound)).tolist() == whole.tolist()
    luck.shuffle(rows)
    assert weighed(rows, bound).tolist() == whole.tolist()


def test_more_records_than_units_of_the_lattice_still_add_up():
    found = weighed([(0, cell) for cell in (0, 1, 2) for _ in range(LATTICE)], 1)
    assert found.sum() == LATTICE
    assert found[:3] == pytest.approx(LATTICE / 3, abs=1)


def test_whole_records_have_a_lattice_of_one():
    trips = TripMatrix.from_coordinates([[0, 0, 1, 1]], [2, 2])
    assert (lattice_of(trips), lattice_of(towns((8, 8), 50))) == (1, 1)
