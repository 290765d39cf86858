"""A table of sums is that of both cumulative sums, whatever the cells are."""

import numpy as np
import pytest

from explorer.grid.sums import box_sums, summed

DICE = np.random.default_rng(4)
WHOLE = DICE.integers(-9, 99, (37, 20))


@pytest.mark.parametrize("cells", [
    WHOLE,
    WHOLE.astype(np.int32),
    WHOLE.T,
    WHOLE[::2, ::3],
    DICE.normal(size=(20, 37)) * 10.0 ** DICE.integers(-9, 9, (20, 37)),
    np.zeros((0, 4)),
    np.zeros((4, 0)),
    np.ones((1, 1)),
])  # fmt: skip
def test_sums_are_those_of_both_axes_to_the_last_digit(cells):
    table = summed(cells)
    assert table.dtype == cells.dtype
    assert table.shape == (cells.shape[0] + 1, cells.shape[1] + 1)
    expected = np.zeros(table.shape, cells.dtype)
    np.cumsum(cells, axis=0, out=expected[1:, 1:])
    np.cumsum(expected[1:, 1:], axis=1, out=expected[1:, 1:])
    np.testing.assert_array_equal(table, expected)


def test_a_box_is_the_sum_of_its_cells():
    lower, upper = np.array([[2, 3], [0, 0]]), np.array([[9, 4], [37, 20]])
    found = box_sums(summed(WHOLE), lower, upper)
    assert found.tolist() == [WHOLE[2:9, 3:4].sum(), WHOLE.sum()]
