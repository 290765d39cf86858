"""Vectors and tables of atoms add up alike."""

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from explorer.points.tally import DENSE, Tally

ATOMS = st.lists(st.tuples(st.integers(-1, 40), st.integers(0, 5)), max_size=60)


@given(ATOMS, st.integers(0, 60))
def test_a_table_counts_what_a_vector_counts(rows, cut):
    atoms, records = np.array(rows, np.int64).reshape(-1, 2).T
    vector, table = Tally(41), Tally(DENSE + 1)
    for tally in (vector, table):
        tally.add(atoms[:cut], records[:cut])
        tally.add(atoms[cut:], records[cut:])
    expected = np.bincount(atoms[atoms >= 0], records[atoms >= 0], 41).astype(int)
    assert np.array_equal(vector.dense(), expected)
    there, counts = table.sparse()
    kept = counts > 0
    assert np.array_equal(there[kept], np.flatnonzero(expected))
    assert np.array_equal(counts[kept], expected[expected > 0])
    assert np.array_equal(vector.sparse()[0], np.flatnonzero(expected))


def test_a_table_grows_with_what_occurs():
    rng = np.random.default_rng(1)
    atoms = rng.integers(0, 2**60, 50_000)
    atoms = np.concatenate([atoms, atoms[:20_000], [-1]])
    tally = Tally(2**60)
    tally.add(atoms)
    there, counts = tally.sparse()
    expected, times = np.unique(atoms[:-1], return_counts=True)
    assert np.array_equal(there, expected)
    assert np.array_equal(counts, times)
    assert counts.dtype == np.int64
