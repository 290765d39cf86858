"""The closed-form share against numerical integration, and split inference's promises."""

import numpy as np
import pytest
from scipy import integrate, stats

from explorer import AG, HTF, UG, PrivTree, QuadTree
from explorer.privacy.noise import PreviewNoise
from explorer.releases.split_inference import SPIKE, share
from tests.helpers import city, run


def by_quadrature(z1, v1, z2, v2, t, rho=0.5):
    """Posterior mean of x under the mixture prior, integrated numerically."""

    def likelihood(x):
        return stats.norm.pdf(z1, x, np.sqrt(v1)) * stats.norm.pdf(z2, t - x, np.sqrt(v2))

    points = [np.clip(z1, 0, t), np.clip(t - z2, 0, t)]
    mass = integrate.quad(likelihood, 0, t, points=points, limit=200)[0]
    moment = integrate.quad(lambda x: x * likelihood(x), 0, t, points=points, limit=200)[0]
    slab = (1 - 2 * SPIKE) / t
    at_0, at_t = 2 * SPIKE * (1 - rho) * likelihood(0), 2 * SPIKE * rho * likelihood(t)
    return (t * at_t + slab * moment) / (at_0 + at_t + slab * mass)


@pytest.mark.parametrize(
    "case",
    [
        (3.0, 4.0, 5.0, 9.0, 10.0),
        (-2.0, 4.0, 12.0, 1.0, 10.0),
        (0.5, 100.0, 0.5, 100.0, 3.0),
        (40.0, 25.0, 61.0, 16.0, 100.0),
        (9.0, 2.0, 1.0, 2.0, 10.0),
    ],
)
def test_share_is_the_posterior_mean(case):
    assert share(*case, SPIKE) == pytest.approx(by_quadrature(*case), rel=1e-6)


@pytest.mark.parametrize("rho", [0.001, 0.3, 0.9])
@pytest.mark.parametrize(
    "case", [(3.0, 4.0, 5.0, 9.0, 10.0), (0.5, 100.0, 0.5, 100.0, 3.0), (9.0, 2.0, 1.0, 2.0, 10.0)]
)
def test_share_expects_what_it_is_told_to(case, rho):
    assert share(*case, SPIKE, rho) == pytest.approx(by_quadrature(*case, rho), rel=1e-6)


def test_share_stays_inside_and_is_symmetric():
    rng = np.random.default_rng(1)
    for _ in range(2000):
        z1, z2 = rng.normal(0, 100, 2)
        v1, v2 = rng.uniform(0.1, 500, 2)
        t = rng.exponential(50)
        rho = rng.uniform()
        x = share(z1, v1, z2, v2, t, SPIKE, rho)
        assert 0 <= x <= t
        other = share(z2, v2, z1, v1, t, SPIKE, 1 - rho)
        assert x + other == pytest.approx(t, abs=1e-6 * t + 1e-9)


def test_share_without_noise_is_the_truth_and_with_much_is_even():
    assert share(3.0, 1e-9, 7.0, 1e-9, 10.0, SPIKE) == pytest.approx(3)
    assert share(3.0, 1e12, 7.0, 1e12, 10.0, SPIKE) == pytest.approx(5, abs=1e-3)


@pytest.mark.parametrize(
    "mechanism",
    [
        UG(epsilon=0.1, inference="split"),
        AG(epsilon=0.1, inference="split"),
        QuadTree(epsilon=0.1, inference="split"),
        HTF(epsilon=0.1, inference="split"),
        PrivTree(epsilon=0.1, inference="split"),
    ],
)
def test_split_inference_is_non_negative_and_adds_up(mechanism):
    release, _ = run(mechanism, city((40, 33)), PreviewNoise(5))
    tree = release.tree
    assert np.all(tree.value >= 0)
    sums = np.bincount(tree.parent[1:], tree.value[1:], minlength=len(tree))
    inner = tree.fan_out > 0
    assert sums[inner] == pytest.approx(tree.value[inner], rel=1e-9, abs=1e-6)
    assert not release.answer([[0, 0, 3, 3]]).sd_exact
