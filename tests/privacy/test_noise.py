"""Both sources of noise against the exact distribution, and what makes previews previews."""

from fractions import Fraction

import numpy as np
import pytest

from explorer.privacy.audit.distributions import laplace_p_value, selection_p_value
from explorer.privacy.noise import (
    PreviewNoise,
    ReleaseNoise,
    _opendp_laplace,
    _opendp_lowest,
    _safe_scale,
    noise_source,
)
from explorer.releases.units import laplace_variance, to_units

KEYS = np.arange(400_000, dtype=np.uint64) * np.uint64(0x9E3779B97F4A7C15)


@pytest.mark.statistical
@pytest.mark.parametrize(("epsilon", "sensitivity"), [(1.0, 1), (0.1, 1), (3.0, 2), (0.01, 5)])
def test_preview_noise_follows_discrete_laplace(epsilon, sensitivity):
    units = np.full(len(KEYS), to_units(epsilon))
    zero = np.zeros(len(KEYS), dtype=np.int64)
    draws = PreviewNoise(5).laplace(zero, sensitivity, units, KEYS, "test")
    # A fixed seed: this either holds always or never; one in a thousand right samplers would fail.
    assert laplace_p_value(draws, epsilon / sensitivity) > 1e-3


def test_variance_formula_matches_the_law():
    for epsilon, sensitivity in ((0.1, 1), (1.0, 1), (2.0, 3)):
        q = np.exp(-epsilon / sensitivity)
        z = np.arange(-2000, 2001)
        law = (1 - q) / (1 + q) * q ** np.abs(z)
        units = np.array([to_units(epsilon)])
        assert laplace_variance(units, sensitivity)[0] == pytest.approx(
            (law * z**2).sum(), rel=1e-9
        )


def test_a_seed_repeats_and_another_changes_nearly_every_draw():
    values, units = np.zeros(1000, dtype=np.int64), np.full(1000, to_units(0.01))
    first, again, other = (
        PreviewNoise(seed).laplace(values, 1, units, KEYS[:1000], "s") for seed in (1, 1, 2)
    )
    assert np.array_equal(first, again)
    # Scale 100: two independent draws agree with probability about 0.0025.
    assert np.mean(first == other) < 0.02


def test_noise_of_different_nodes_and_stages_is_independent():
    values, units = np.zeros(20_000, dtype=np.int64), np.full(20_000, to_units(0.01))
    source = PreviewNoise(1)
    a = source.laplace(values, 1, units, KEYS[:20_000], "a")
    b = source.laplace(values, 1, units, KEYS[:20_000], "b")
    assert len(np.unique(a)) > 500
    # The correlation of 20,000 independent pairs has a standard deviation of 0.007.
    assert abs(np.corrcoef(a, b)[0, 1]) < 0.035
    assert abs(np.corrcoef(a[1:], a[:-1])[0, 1]) < 0.035


def test_sliding_epsilon_rescales_the_same_dice():
    values = np.zeros(2000, dtype=np.int64)
    source = PreviewNoise(4)
    small, large = (
        source.laplace(values, 1, np.full(2000, to_units(e)), KEYS[:2000], "s") for e in (0.01, 0.1)
    )
    assert np.all(np.abs(small - 10 * large) <= 11)


def test_the_scale_never_falls_below_the_exact_fraction():
    for units in (3, 7, 10**11 // 3, 99_999_999_999):
        assert Fraction(_safe_scale(1, units)) >= Fraction(10**12, units)


def test_rng_argument_chooses_the_source():
    assert not noise_source(None).preview
    assert noise_source(7).preview
    assert noise_source(np.random.default_rng(1)).preview
    source = ReleaseNoise()
    assert noise_source(source) is source


def test_preview_draws_are_the_formula_to_the_bit_whatever_stands_beside_them():
    """Runs of equal budgets share their logarithms; that may not show."""
    rng = np.random.default_rng(2)
    values = rng.integers(-50, 50, 4000)
    units = np.repeat(rng.integers(1, 3 * 10**12, 400), 10)
    units[::7] = units[0]
    together = PreviewNoise(9).laplace(values, 3, units, KEYS[:4000], "test")
    alone = [
        PreviewNoise(9).laplace(values[i : i + 1], 3, units[i : i + 1], KEYS[i : i + 1], "test")[0]
        for i in range(0, 4000, 3)
    ]
    assert together[::3].tolist() == alone


@pytest.mark.parametrize("decay", [30, 3, 0.7, 0.1, 0.03, 0.0021, 0.0006, 0.0004, 1e-6])
@pytest.mark.parametrize("number", [9_000, 70_000])
def test_many_draws_of_one_price_are_the_formula_to_the_bit(decay: float, number: int) -> None:
    """They are looked up by the first bits of a uniform, in more pieces the more noise there is."""
    rng = np.random.default_rng(4)
    keys = rng.integers(2**63, size=number).astype(np.uint64)
    values, paid = rng.integers(-50, 50, number), to_units(str(decay))
    one = np.broadcast_to(np.array([paid]), number)
    found = PreviewNoise(3).laplace(values, 1, one, keys, "test")
    assert found.tolist() == PreviewNoise(3).laplace(values, 1, one.copy(), keys, "test").tolist()
    few = 1_000
    parts = [slice(begin, begin + few) for begin in range(0, number, few)]
    asked = [PreviewNoise(3).laplace(values[p], 1, one[p].copy(), keys[p], "test") for p in parts]
    assert found.tolist() == np.concatenate(asked).tolist()


def test_preview_draws_stay_what_they_were():
    """Seeds in lessons and saved scenarios name these draws."""
    values, units = np.zeros(8, dtype=np.int64), np.full(8, to_units(0.1))
    drawn = PreviewNoise(7).laplace(values, 1, units, KEYS[:8], "leaves")
    assert drawn.tolist() == [1, -9, -21, 5, -28, 19, -1, 32]


def test_opendp_itself_confirms_the_budget():
    for units, sensitivity in ((10**11, 1), (10**9 * 7 // 3, 2048)):
        epsilon = units / 1e12
        assert _opendp_laplace(sensitivity, units).map(sensitivity) <= epsilon * (1 + 1e-15)
        assert _opendp_lowest(sensitivity, units).map(sensitivity) <= epsilon * (1 + 1e-15)


@pytest.mark.statistical
def test_both_selections_follow_permute_and_flip():
    costs, n, epsilon = np.array([5, 1, 9, 100]), 6000, 0.1
    units, offsets = np.full(n, to_units(epsilon)), np.arange(n + 1) * 4
    for source in (PreviewNoise(3), ReleaseNoise()):
        chosen = source.lowest(np.tile(costs, n), offsets, 1, units, KEYS[:n], "test")
        assert selection_p_value(chosen, costs, epsilon) > 1e-6
