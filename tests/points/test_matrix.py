"""The frequency matrix: checks, sums, threshold tables."""

import numpy as np
import pytest

from explorer import FrequencyMatrix, Grid, InputError


def test_counts_of_boxes_equal_slices():
    rng = np.random.default_rng(1)
    counts = rng.poisson(3, (20, 31))
    matrix = FrequencyMatrix.from_array(counts)
    lower = np.column_stack([rng.integers(0, 10, 50), rng.integers(0, 15, 50)])
    upper = lower + np.column_stack([rng.integers(1, 10, 50), rng.integers(1, 16, 50)])
    slices = [counts[a:c, b:d].sum() for (a, b), (c, d) in zip(lower, upper, strict=True)]
    assert matrix.count(lower, upper).tolist() == slices


def test_excess_tables_are_sums_of_what_lies_above_each_threshold():
    counts = np.random.default_rng(2).poisson(5, (9, 7)).astype(np.int64)
    table = FrequencyMatrix.from_array(counts).tables.excess
    assert table.shape == (10, 8, 16)
    for t in range(16):
        above = np.maximum(counts - t, 0).cumsum(0).cumsum(1)
        assert np.array_equal(table[1:, 1:, t], above)
    assert not table[0].any()
    assert not table[:, 0].any()


def test_tables_that_would_overflow_are_left_out():
    matrix = FrequencyMatrix.from_array([[2**31, 1], [0, 5]])
    assert matrix.tables.excess.size == 0
    assert FrequencyMatrix.from_array([[2**31 - 2, 1], [0, 0]]).tables.excess.size > 0


def test_coarse_tables_hold_every_eighth_corner():
    rng = np.random.default_rng(4)
    counts = rng.poisson(rng.gamma(0.5, 200, (21, 40)))
    table = FrequencyMatrix.from_array(counts).tables.coarse
    assert table.shape == (3, 6, 256)
    assert counts.max() > 256
    for t in range(256):
        above = np.pad(np.maximum(counts - t, 0).cumsum(0).cumsum(1), ((1, 0), (1, 0)))
        assert np.array_equal(table[:, :, t], above[::8, ::8])


@pytest.mark.parametrize(("counts", "word"), [
    ([[1, -1]], "negative"),
    ([[0.5]], "fractions"),
    ([[np.nan]], "fractions"),
    ([[np.inf]], "fractions"),
    ([], "dimensions"),
    ([1, 2], "dimensions"),
    ([["a"]], "not numbers"),
    ([[10**12]], "100 billion"),
    ([[1, 2], [3]], "rectangular"),
])  # fmt: skip
def test_bad_counts_are_refused_in_a_sentence(counts, word):
    with pytest.raises(InputError, match=word):
        FrequencyMatrix.from_array(counts)


def test_shape_must_be_the_grids():
    with pytest.raises(InputError, match="shape"):
        FrequencyMatrix([[1, 2]], Grid.cells((3, 3)))


def test_counts_cannot_be_written_and_the_key_follows_them():
    matrix = FrequencyMatrix.from_array([[1, 2], [3, 4]])
    with pytest.raises(ValueError, match="read-only"):
        matrix.counts[0, 0] = 9
    assert matrix.key == FrequencyMatrix.from_array([[1, 2], [3, 4]]).key
    assert matrix.key != FrequencyMatrix.from_array([[1, 2], [3, 5]]).key
    renamed = FrequencyMatrix(matrix.counts, Grid.cells((2, 2), name="elsewhere"))
    assert renamed.key == matrix.key


@pytest.mark.parametrize("bound", [1.9, float("nan"), "3", 0, True])
def test_a_contribution_bound_is_a_whole_number(bound):
    with pytest.raises(InputError, match="contribution bound"):
        FrequencyMatrix([[1]], Grid.cells((1, 1)), bound, "user")


@pytest.mark.parametrize(("unit", "bound"), [("household", 1), ("point", 3)])
def test_unit_and_bound_belong_together(unit, bound):
    with pytest.raises(InputError, match="unit of privacy"):
        FrequencyMatrix([[1]], Grid.cells((1, 1)), bound, unit)


def test_repr_shows_no_count():
    assert "4711" not in repr(FrequencyMatrix.from_array([[4711]]))
