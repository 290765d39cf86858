"""The paper's made-up trips: their law, their shapes, and the sets of known results."""

import numpy as np
import pytest

from explorer import InputError
from explorer.trips.synthetic import SIDES, gaussian, zipf


@pytest.mark.parametrize("axes", SIDES)
@pytest.mark.parametrize("make", [gaussian, zipf])
def test_an_odd_number_of_axes_gives_the_last_place_one_row(make, axes):
    matrix = make(axes, draws=2000, rng=1)
    side = SIDES[axes]
    assert [cells for cells in matrix.shape if cells > 1] == [side] * axes
    assert matrix.shape[-2] == (1 if axes % 2 else side)
    assert 0 < matrix.total <= 2000
    assert make(axes, draws=2000, rng=1).key == matrix.key
    assert make(axes, draws=2000, rng=np.random.default_rng(2)).key != matrix.key


def test_a_gaussian_lies_about_its_centre():
    matrix = gaussian(2, share=0.01, draws=100_000, rng=3)
    mean = matrix.multiplicities @ matrix.cells / matrix.total
    # The centre is the first thing drawn: whole numbers from 1, cells from 0.
    centre = np.random.default_rng(3).integers(1, 1001, 2) - 1
    # 10 cells of standard deviation and 1/12 of rounding, 5 standard errors.
    assert np.abs(mean - centre).max() < 5 * np.sqrt((100 + 1 / 12) / matrix.total)
    variance = matrix.multiplicities @ (matrix.cells - mean) ** 2 / matrix.total
    assert np.abs(variance / (100 + 1 / 12) - 1).max() < 5 * np.sqrt(2 / matrix.total)


def test_zipf_falls_as_a_power():
    matrix = zipf(2, exponent=2.5, draws=200_000, rng=4)
    for place in (0, 1):
        counts = matrix.marginal(0).counts.sum(axis=1 - place)[:3]
        wanted = np.arange(1, 4) ** -2.5 * counts[0]
        # Poisson counts, of which the first one is noisy, too: 5 standard errors.
        slack = 5 * np.sqrt(wanted + wanted**2 / counts[0])
        assert (np.abs(counts - wanted)[1:] < slack[1:]).all()


@pytest.mark.parametrize(("make", "axes", "setting", "total", "occupied"), [
    (gaussian, 2, 0.05, 998_715, 73_107),
    (gaussian, 3, 0.2, 627_044, 240_054),
    (gaussian, 4, 0.2, 288_674, 104_911),
    (gaussian, 6, 0.2, 409_382, 91_863),
    (zipf, 2, 1.5, 951_869, 35_112),
    (zipf, 4, 2.5, 989_489, 8_691),
])  # fmt: skip
def test_reference_sets(make, axes, setting, total, occupied):
    """The sets of which reference figures are known, drawn from the same generators."""
    generator = np.random.default_rng([20220329, axes, int(1000 * setting), make is zipf])
    matrix = make(axes, setting, rng=generator)
    assert (matrix.total, len(matrix.cells)) == (total, occupied)


@pytest.mark.parametrize(("make", "settings", "words"), [
    (gaussian, {"axes": 1}, "2 to 6 axes"),
    (zipf, {"axes": 7}, "2 to 6 axes"),
    (gaussian, {"share": 0}, "above 0"),
    (gaussian, {"share": np.nan}, "above 0"),
    (zipf, {"exponent": 1}, "above 1"),
    (zipf, {"draws": 0}, "1 or more"),
])  # fmt: skip
def test_what_no_set_is_made_of(make, settings, words):
    with pytest.raises(InputError, match=words):
        make(**settings)
