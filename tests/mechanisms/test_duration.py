"""Whatever draws a million numbers says before it is booked how long that takes."""

import numpy as np
import pytest

from explorer.mechanisms import HB, HTF, UG, Identity, QuadTree
from explorer.mechanisms.duration import DRAWS_A_SECOND, duration
from explorer.points.matrix import FrequencyMatrix


@pytest.fixture(scope="module")
def large() -> FrequencyMatrix:
    return FrequencyMatrix.from_array(np.ones((1024, 1024), np.int64))


@pytest.fixture(scope="module")
def small() -> FrequencyMatrix:
    return FrequencyMatrix.from_array(np.ones((16, 16), np.int64))


def test_a_public_partition_says_how_many_draws_it_takes_to_the_last(large, small) -> None:
    cells = 1024 * 1024
    for made, draws in [(Identity(1.0), cells), (QuadTree(1.0), sum(4**k for k in range(11)))]:
        said = duration(made, large)
        assert f"{made.title} draws {draws:,} numbers here" in said
        assert f"about {draws / DRAWS_A_SECOND:.0f} s" in said
    assert "about 1" in duration(HB(1.0), large)
    assert duration(Identity(1.0), small) == ""


def test_what_the_data_decide_is_said_only_to_whoever_sees_a_preview(large) -> None:
    assert duration(HTF(1.0), large) == duration(UG(1.0), large) == ""
    assert "UG draws 1,048,576 numbers" in duration(UG(1.0), large, leaves=1_048_576)
    assert duration(UG(1.0), large, leaves=1_000_000) == ""
