"""How much of an error comes back in every draw: of made-up answers, and of trips."""

from __future__ import annotations

import numpy as np
import pytest

from explorer import EUG, exact
from explorer.evaluate import ErrorParts
from explorer.evaluate.repeats import repeats
from explorer.trips.matrix import TripMatrix


def test_bias_and_spread_of_known_answers() -> None:
    # Two boxes: one is always 3 too high, the other 2 or 4 off on either side.
    parts = ErrorParts.of([[13, 2], [13, 6], [13, 2], [13, 6]], [10, 4])
    assert parts.bias.tolist() == [3, 0]
    assert parts.sd == pytest.approx([0, np.sqrt(16 / 3)])
    assert parts.share.tolist() == [1, 0]
    assert ErrorParts.of([[1.0], [1.0]], [1.0]).share.tolist() == [0]


def test_a_corner_that_is_empty_in_a_full_part_is_biased_and_the_whole_is_not() -> None:
    where = np.full((5000, 4), 5)
    matrix = TripMatrix.from_coordinates(where, [8, 8])
    # Two parts a side: all trips are in the last ones, at (5, 5), and are spread over 4 x 4 cells.
    grid = EUG(epsilon=0.01)
    boxes = [[[4, 4, 5, 5], [0, 0, 8, 8]], [[0, 0, 8, 8], [0, 0, 8, 8]]]
    parts = ErrorParts.of(list(repeats(matrix, grid, boxes, 12)), exact(matrix, boxes))
    assert parts.share[0] > 0.5 > parts.share[1]
