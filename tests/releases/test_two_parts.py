"""Two parts of which one may be empty, against numerical integration."""

import numpy as np
import pytest
from scipy import integrate, stats

from explorer.releases.two_parts import ALONE, ALONE_BELOW, parted, phi, together

PAIRS = [
    ((3.0, 4.0, -2.0), (5.0, 9.0, -3.0)),
    ((-2.0, 4.0, -1.0), (12.0, 1.0, -90.0)),
    ((0.5, 100.0, -3.1), (-0.5, 100.0, -3.1)),
    ((40.0, 25.0, -30.0), (31.0, 16.0, -40.0)),
    ((1.0, 2.0, 0.0), (6.0, 2.0, -9.0)),
]


def test_phi_is_right_in_its_tails():
    x = np.concatenate([[-8, 0, 8], np.random.default_rng(1).uniform(-8, 8, 2000)])
    found = np.array([phi(each) for each in x])
    np.testing.assert_allclose(found, stats.norm.cdf(x), rtol=1e-8)


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


def test_certain_parts_add_up_and_the_shortcut_joins_on():
    z, v, log_empty = together(100.0, 25.0, -60.0, 400.0, 25.0, -300.0)
    assert (z, v) == (500.0, 50.0)
    assert log_empty == pytest.approx(-360 - np.log(1 - 2 * ALONE) + np.log(500.0))
    # One part is 7.99 and 8.01 deviations above 0: hardly a step between the two ways.
    below, above = (together(n, 1.0, -40.0, 400.0, 25.0, -300.0) for n in (7.99, 8.01))
    assert below == pytest.approx(above, rel=1e-3)
    assert parted(100.0, 25.0, -60.0, 400.0, 25.0, -300.0, 520.0) == (110.0, 1.0, 410.0, 1.0)
