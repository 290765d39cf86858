"""Two parts of which one may be empty, against numerical integration."""

import numpy as np
import pytest
from numba import njit
from scipy import integrate, stats

from explorer.releases import empty_or_not
from explorer.releases.empty_or_not import (
    ALONE,
    ALONE_BELOW,
    L1,
    ROOM,
    V1,
    V2,
    WORK,
    Z1,
    Z2,
    certain,
    exp,
    log,
    log_empty_of_certain,
    phi,
)

PAIRS = [
    ((3.0, 4.0, -2.0), (5.0, 9.0, -3.0)),
    ((-2.0, 4.0, -1.0), (12.0, 1.0, -90.0)),
    ((0.5, 100.0, -3.1), (-0.5, 100.0, -3.1)),
    ((40.0, 25.0, -30.0), (31.0, 16.0, -40.0)),
    ((1.0, 2.0, 0.0), (6.0, 2.0, -9.0)),
]


def together(*pairs):
    """z, V and l of pairs that are weighed, (n, 6) or one."""
    work = laid_out(pairs)
    empty_or_not.together(work, np.size(pairs) // 6)
    return tuple(work[[Z1, V1, L1]])


def parted(*pair_and_total):
    """X1, Q1, X2, Q2 of a pair and a total that are weighed."""
    work = laid_out(pair_and_total)
    empty_or_not.parted(work, 1)
    return tuple(work[[Z1, V1, Z2, V2]])


def laid_out(numbers):
    """Rows of a work array from (n, rows) or one."""
    work, rows = np.full(WORK, np.nan), np.atleast_2d(numbers).T
    for row, each in enumerate(rows):
        work[row * ROOM : row * ROOM + len(each)] = each
    return work


def test_phi_is_right_in_its_tails():
    x = np.concatenate([[-8, 0, 8], np.random.default_rng(1).uniform(-8, 8, 2000)])
    found = np.array([phi(each) for each in x])
    np.testing.assert_allclose(found, stats.norm.cdf(x), rtol=1e-8)
    assert [phi(x) for x in (-8.1, 8.1, -np.inf, np.inf)] == [0, 1, 0, 1]
    assert 0 <= phi(np.nan) < 1e-15  # what is no number reads no memory of others


@pytest.mark.parametrize("pair", PAIRS)
@pytest.mark.parametrize("deviations", [-1.5, 0.0, 1.5])
def test_a_total_is_shared_by_the_posterior(pair, deviations):
    (z1, v1, l1), (z2, v2, l2) = pair
    t = max(z1 + z2 + deviations * np.sqrt(v1 + v2), 0.5)

    def likelihood(x):
        return stats.norm.pdf(z1, x, np.sqrt(v1)) * stats.norm.pdf(z2, t - x, np.sqrt(v2))

    points = [np.clip(z1, 0, t), np.clip(t - z2, 0, t)]
    mass = integrate.quad(likelihood, 0, t, points=points, limit=200)[0]
    moment = integrate.quad(lambda x: x * likelihood(x), 0, t, points=points, limit=200)[0]
    first = ALONE_BELOW * stats.norm.pdf(t, z1, np.sqrt(v1)) * np.exp(l2)
    second = ALONE_BELOW * stats.norm.pdf(t, z2, np.sqrt(v2)) * np.exp(l1)
    both = (1 - 2 * ALONE_BELOW) * mass / t
    x1, q1, x2, q2 = parted(z1, v1, l1, z2, v2, l2, t)
    whole = first + second + both
    assert q1 == pytest.approx((first + both) / whole, abs=1e-9)
    assert q2 == pytest.approx((second + both) / whole, abs=1e-9)
    held = (first * t + (1 - 2 * ALONE_BELOW) * moment / t) / whole
    assert x1 * q1 == pytest.approx(held, rel=1e-6)
    assert x1 * q1 + x2 * q2 == pytest.approx(t)


@pytest.mark.parametrize("pair", PAIRS)
def test_a_node_is_the_mixture_of_three_cases(pair):
    (z1, v1, l1), (z2, v2, l2) = pair
    z, v, log_empty = together(*pair[0], *pair[1])
    t = stats.truncnorm.mean(-(z1 + z2) / np.sqrt(v1 + v2), np.inf, z1 + z2, np.sqrt(v1 + v2))
    # What two noisy halves of t have in common with one that lies between 0 and t.
    x = np.linspace(0, t, 200_001)
    m, s = (z1 * v2 + (t - z2) * v1) / (v1 + v2), np.sqrt(v1 * v2 / (v1 + v2))
    inside = max(integrate.trapezoid(stats.norm.pdf(x, m, s), x), 1e-12)
    above = [stats.norm.cdf(a / np.sqrt(b)) for a, b in ((z1, v1), (z2, v2), (z1 + z2, v1 + v2))]
    w = np.array([ALONE * np.exp(l2), ALONE * np.exp(l1), (1 - 2 * ALONE) * inside / t]) * above
    means, variances = np.array([z1, z2, z1 + z2]), np.array([v1, v2, v1 + v2])
    part = w / w.sum()
    assert z == pytest.approx(part @ means, rel=1e-6)
    assert v == pytest.approx(part @ (variances + means**2) - (part @ means) ** 2, rel=1e-6)
    expected = l1 + l2 - np.log(w.sum()) + stats.norm.logcdf(z / np.sqrt(v))
    assert log_empty == pytest.approx(expected, rel=1e-6)
    assert together(*pair[1], *pair[0]) == pytest.approx((z, v, log_empty))


def test_likelihoods_of_empty_above_1_leave_no_numbers():
    for pair in ((3.0, 4.0, 900.0, 5.0, 9.0, -3.0), (3.0, 4.0, 800.0, 5.0, 9.0, 900.0)):
        z, v, log_empty = together(*pair)
        other = 5.0 if pair[2] > pair[5] else 3.0
        assert z == pytest.approx(other)
        assert log_empty == pytest.approx(min(pair[2], pair[5]) - np.log(ALONE), abs=0.2)
        assert v > 0


def test_certain_parts_add_up_and_the_shortcut_joins_on():
    assert certain(100.0, 25.0, 400.0, 25.0)
    assert log_empty_of_certain(500.0, -360.0) == pytest.approx(
        -360 - np.log(1 - 2 * ALONE) + np.log(500.0)
    )
    # A part that is 8 deviations above 0: hardly a step between the two ways.
    assert [bool(certain(n, 1.0, 400.0, 25.0)) for n in (7.99, 8.01)] == [False, True]
    weighed = together(8.01, 1.0, -40.0, 400.0, 25.0, -300.0)
    sums = 408.01, 26.0, log_empty_of_certain(408.01, -340.0)
    assert weighed == pytest.approx(sums, rel=1e-3)


@njit(error_model="numpy")
def exponentials(x, found):
    for i in range(len(x)):
        found[i] = exp(x[i])


@njit(error_model="numpy")
def logarithms(x, found):
    for i in range(len(x)):
        found[i] = log(x[i])


def of(function, x):
    found = np.empty_like(x)
    function(x, found)
    return found


@pytest.mark.parametrize("most", [708.0, 20.0, 1.0, 1e-3, 1e-12])
def test_both_are_right_to_a_few_parts_in_ten_to_the_sixteen(most):
    x = np.random.default_rng(1).uniform(-most, most, 100_000)
    np.testing.assert_allclose(of(exponentials, x), np.exp(x), rtol=4e-16)
    x = np.exp(x)
    np.testing.assert_allclose(of(logarithms, x), np.log(x), rtol=7e-16)


def test_ends_and_powers_of_two():
    x = np.array([0.0, -708.1, -1e4, -1e300, -np.inf])
    assert of(exponentials, x).tolist() == [1, 0, 0, 0, 0]
    powers = np.ldexp(1.0, np.arange(-1022, 1024))
    np.testing.assert_allclose(of(logarithms, powers), np.log(powers), rtol=4e-16)
    assert of(logarithms, np.array([1.0])).tolist() == [0.0]
