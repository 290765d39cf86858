"""Patches are as exact as they say, and there are none where they would not be."""

import numpy as np
import pytest

from explorer.grid.patches import CUBIC, FEW, MANY, QUADRATIC, Patches, worth

BOX = (-3.0, 50.0, 5.0, 54.0)


def curved(x: np.ndarray, y: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """A smooth map to some hundred cells."""
    return 300 + 2 * np.sin(x) + 40 * x * np.cos(np.radians(y)), 100 * (y - 50) + x * x


def evaluate(patches: Patches, x: np.ndarray, y: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """The documented formula, place by place."""
    n = patches.coefficients.shape[0]
    west, south, east, north = BOX
    s, t = (x - west) / (east - west) * n, (y - south) / (north - south) * n
    k, j = np.minimum(s.astype(int), n - 1), np.minimum(t.astype(int), n - 1)
    s, t = 2 * (s - k) - 1, 2 * (t - j) - 1
    c = np.moveaxis(patches.coefficients[j, k], 2, 0)
    s, t = s[:, None], t[:, None]
    found = c[0] + t * (c[2] + t * c[5]) + s * (c[1] + t * c[4] + s * c[3])
    if len(c) == CUBIC:
        found += t * t * (s * c[8] + t * c[9]) + s * s * (s * c[6] + t * c[7])
    return found[:, 0], found[:, 1]


def places(n: int) -> tuple[np.ndarray, np.ndarray]:
    rng = np.random.default_rng(5)
    return rng.uniform(BOX[0], BOX[2], n), rng.uniform(BOX[1], BOX[3], n)


@pytest.mark.parametrize("most", [FEW, MANY])
def test_nowhere_is_the_deviation_beyond_the_margin(most):
    patches = Patches.over(BOX, curved, most)
    assert patches.coefficients.shape == (most, most, 2, CUBIC)
    x, y = places(200_000)
    u, v = evaluate(patches, x, y)
    true_u, true_v = curved(x, y)
    worst = max(np.abs(u - true_u).max(), np.abs(v - true_v).max())
    # The largest of 9 x 9 places a piece is nearly the largest there is: no more than twice it.
    assert 0 < worst < 2 * patches.error
    assert patches.margin == max(100 * patches.error, 1e-6)


@pytest.mark.parametrize("number", [QUADRATIC, CUBIC])
def test_what_they_can_be_is_met_by_few_patches_of_the_least_degree(number):
    def bent(x: np.ndarray, y: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        rest = 0 if number == QUADRATIC else x**3 - x * x * y + x * y * y
        return x * x - x * y + rest, y * y / 100 + 30 * x

    patches = Patches.over(BOX, bent)
    assert patches.coefficients.shape == (FEW, FEW, 2, number)
    assert patches.margin == 1e-6
    x, y = places(2_000)
    for found, true in zip(evaluate(patches, x, y), bent(x, y), strict=True):
        np.testing.assert_allclose(found, true, atol=1e-8)


def test_there_are_none_over_jumps_holes_or_everywhere():
    def jumps(x: np.ndarray, y: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        u, v = curved(x, y)
        return u + 0.1 * (x > 1.92), v

    def holes(x: np.ndarray, y: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        u, v = curved(x, y)
        return np.where(y > 53.9, np.inf, u), v

    everywhere = (-np.inf, -np.inf, np.inf, np.inf)
    for box, cells in ((BOX, jumps), (BOX, holes), (everywhere, curved)):
        patches = Patches.over(box, cells)
        assert patches.coefficients.size == 0
        assert patches.error == np.inf
    assert Patches.over(BOX, curved, 0).coefficients.size == 0


def test_few_places_are_not_worth_patches():
    assert [worth(n) for n in (0, 29_951, 29_952, 479_231, 479_232, np.inf)] == [
        *(0, 0, FEW, FEW, MANY, MANY)
    ]
