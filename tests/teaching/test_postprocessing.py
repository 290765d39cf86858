"""After the noise: what is unbiased, what is not, and by how much."""

import math
import threading

import numpy as np
import pytest

from explorer import FrequencyMatrix, QuadTree
from explorer.teaching import postprocessing
from explorer.teaching.postprocessing import TREATMENTS, Treatment, effects
from explorer.teaching.previews import Cancelled


@pytest.mark.statistical
def test_an_empty_region_gains_what_the_law_of_the_noise_says() -> None:
    matrix = FrequencyMatrix.from_array(np.zeros((16, 16), dtype=int))
    # Five levels; 256 leaves with a fifth of the budget each.
    made = QuadTree(epsilon=1.0, height=4, budget="uniform")
    found = dict(
        zip(
            TREATMENTS, effects(made, matrix, np.array([[0, 0], [16, 16]]), range(300)), strict=True
        )
    )
    # E max(Z, 0) of discrete Laplace is q / (1 - q^2) with q = e^-0.2.
    q = math.exp(-0.2)
    expected = 256 * q / (1 - q**2)
    cut = found[Treatment(non_negative=True)]
    assert cut.bias == pytest.approx(expected, abs=4 * cut.error)
    assert cut.bias > 50 * cut.error
    for treatment in (Treatment(), Treatment(rounded=True), Treatment(consistent=True)):
        assert abs(found[treatment].bias) < 4 * found[treatment].error
    # Draws are whole already; consistency takes most of the noise of the whole map away.
    assert found[Treatment(rounded=True)].bias == found[Treatment()].bias
    assert found[Treatment(consistent=True)].sd < 0.5 * found[Treatment()].sd
    assert cut.leaf_error < found[Treatment()].leaf_error


def test_mechanisms_without_a_choice_are_left_out_and_a_flag_stops() -> None:
    assert "quadtree" in postprocessing.treatable()
    assert "identity" not in postprocessing.treatable()
    flag = threading.Event()
    flag.set()
    matrix = FrequencyMatrix.from_array(np.ones((4, 4), dtype=int))
    with pytest.raises(Cancelled):
        effects(QuadTree(), matrix, np.array([[0, 0], [2, 2]]), [1, 2], cancel=flag)
