"""What a person types for an extent is checked."""

import numpy as np
import pytest

from explorer.errors import InputError
from explorer.grid.extent import MAX_CELLS, as_bounds, as_number, as_rectangles, as_shape


def test_shapes():
    assert as_shape(5) == (5, 5)
    assert as_shape([1, np.int64(7)]) == (1, 7)
    assert as_shape((2048, 2048)) == (2048, 2048)
    assert as_shape((1, MAX_CELLS)) == (1, MAX_CELLS)
    for shape in (0, -1, 1.5, True, "a", None, (1, 2, 3), (3,), (0, 5), (2.0, 3.0), [], np.nan):
        with pytest.raises(InputError, match="whole numbers of 1 or more"):
            as_shape(shape)
    for shape in (16384, 2049, (1, MAX_CELLS + 1), (10**9, 10**9)):
        with pytest.raises(InputError, match="fewer rows and columns"):
            as_shape(shape)


def test_bounds():
    assert as_bounds(["0", 1, 2.5, 3]) == (0.0, 1.0, 2.5, 3.0)
    for bounds in ((0, 0, 0, 1), (0, 2, 1, 1), (0, 0, np.nan, 1), (0, 0, np.inf, 1)):
        with pytest.raises(InputError, match="enclose no area"):
            as_bounds(bounds)
    for bounds in (None, 5, (1, 2, 3), ("a", 0, 1, 1)):
        with pytest.raises(InputError, match="four numbers"):
            as_bounds(bounds)


def test_numbers_and_rectangles():
    assert as_number("2.5", "The width") == 2.5
    with pytest.raises(InputError, match="The width is 'wide'; give a number"):
        as_number("wide", "The width")
    assert as_rectangles([0, 1, 2, 3]).tolist() == [[0, 1, 2, 3]]
    assert as_rectangles([]).shape == (0, 4)
    for rectangles in ([[1, 2, 3]], np.zeros((2, 2, 4)), 5):
        with pytest.raises(InputError, match=r"\(n, 4\)"):
            as_rectangles(rectangles)
    with pytest.raises(InputError, match="Rectangles are numbers"):
        as_rectangles([["a", 1, 2, 3]])
    for odd in (np.nan, np.inf):
        with pytest.raises(InputError, match="not a finite number"):
            as_rectangles([[0, 0, odd, 1]])
    for inside_out in ([1, 0, 0, 1], [0, 1, 1, 0]):
        with pytest.raises(InputError, match="inside out"):
            as_rectangles([[0, 0, 1, 1], inside_out])
        assert as_rectangles(inside_out, ordered=False).tolist() == [inside_out]
