"""What every mechanism promises: exact without noise, whole budget, seeds, odd grids, refusals."""

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import explorer
from explorer import FrequencyMatrix, InputError
from explorer.mechanisms import Mechanism, all_mechanisms, mechanism
from explorer.privacy.noise import PreviewNoise
from explorer.releases.units import to_units
from tests.helpers import NoNoise, city, run

ALL = list(all_mechanisms().values())


@pytest.mark.parametrize("kind", ALL)
def test_without_noise_leaf_counts_are_exact(kind):
    matrix = city((48, 37), 5000)
    # Split inference shrinks on purpose, by what the noise would have been.
    linear = {"inference": "least squares"} if "inference" in kind.tunables() else {}
    release, _ = run(kind(epsilon=0.5, **linear), matrix, NoNoise())
    assert release.counts == pytest.approx(matrix.count(release.lower, release.upper), abs=1e-6)


@pytest.mark.parametrize("kind", ALL)
def test_every_path_spends_exactly_epsilon(kind):
    for epsilon in (0.01, 0.1, 0.3, 1.0):
        release, desk = run(kind(epsilon=epsilon), city((48, 37), 5000), PreviewNoise(3))
        tree = release.tree
        paths = tree.path_spent[tree.leaves].sum(axis=1)
        before = sum(to_units(part) for _, part in release.elsewhere)
        assert set((paths + before).tolist()) == {desk.units}
        assert desk.spent == desk.units
        assert math.isclose(sum(part for _, part in release.stages()), epsilon)
        assert math.isclose(sum(row.epsilon for row in release.ledger), epsilon)
        assert [row.stage for row in release.ledger] == [name for name, _ in release.stages()]


@pytest.mark.parametrize("kind", ALL)
def test_a_seed_repeats_bit_for_bit_and_another_changes_every_leaf(kind):
    matrix = city((32, 32), 4000)
    first, again, other = (kind(epsilon=0.05).release(matrix, rng=s) for s in (1, 1, 2))
    assert np.array_equal(first.tree.value, again.tree.value)
    assert np.array_equal(first.lower, again.lower)
    if first.n_leaves == other.n_leaves and np.array_equal(first.lower, other.lower):
        # Scale 20 and more: equal draws are rare.
        assert np.mean(first.counts == other.counts) < 0.1
    assert first.total != other.total
    assert first.preview


@pytest.mark.parametrize("kind", ALL)
def test_a_generator_is_a_seed_too(kind):
    matrix = city((16, 16), 400)
    a, b = (kind().release(matrix, rng=np.random.default_rng(5)) for _ in range(2))
    assert np.array_equal(a.counts, b.counts)


@pytest.mark.parametrize("kind", ALL)
def test_noise_of_different_leaves_is_different(kind):
    # Split inference makes an empty map exactly empty.
    linear = {"inference": "least squares"} if "inference" in kind.tunables() else {}
    release = kind(epsilon=0.01, **linear).release(np.zeros((32, 32), dtype=int), rng=4)
    if release.n_leaves > 10:
        assert len(np.unique(release.counts)) > release.n_leaves // 4


@pytest.mark.parametrize("kind", ALL)
def test_release_grade_noise_differs_from_draw_to_draw(kind):
    matrix = city((16, 16), 800)
    # One leaf of scale 20 is drawn alike with probability 1/80: four times, 2 in a million.
    first, *others = [kind(epsilon=0.05).release(matrix) for _ in range(4)]
    assert not first.preview
    assert not all(np.array_equal(first.counts, other.counts) for other in others)


@pytest.mark.parametrize("kind", ALL)
@pytest.mark.parametrize(
    "counts",
    [
        np.zeros((1, 1)),
        np.zeros((1, 9)),
        np.zeros((7, 1)),
        np.zeros((5, 5)),
        [[10**9]],
        np.eye(3) * 10**9,
        [[1]],
        np.ones((3, 50)),
        np.diag([10**6] + [0] * 29),
    ],
    ids=lambda c: f"{np.shape(c)}",
)
def test_odd_grids_give_a_valid_release(kind, counts):
    for epsilon in (0.001, 0.1, 10.0):
        release = kind(epsilon=epsilon).release(counts, rng=1)
        assert np.isfinite(release.counts).all()
        assert np.isfinite(release.sd).all()
        area = np.prod(release.upper - release.lower, axis=1).sum()
        assert area == np.size(counts)


@pytest.mark.parametrize("kind", ALL)
@pytest.mark.parametrize("epsilon", [0, -5, 1e-12, math.nan, math.inf, 11, 1e9, "0.1", None, True])
def test_impossible_epsilons_are_refused_in_a_sentence(kind, epsilon):
    with pytest.raises(InputError, match=r"Epsilon is .*: give a number, 0\.000001 to 10\."):
        kind(epsilon=epsilon)


@pytest.mark.parametrize(
    ("key", "settings_", "words"),
    [
        ("htf", {"height": 30}, "Height is 30: give a whole number, 0 to 22"),
        ("htf", {"height": 2.5}, "whole number"),
        ("htf", {"T": 0}, "T is 0"),
        ("htf", {"stop_rule": "never"}, "choose one of 'count'"),
        ("htf", {"stop_cuont": 5}, "no parameter 'stop_cuont'"),
        ("ug", {"grid_size": 0}, "Grid size is 0"),
        ("ag", {"alpha": 1.0}, "Alpha is 1"),
        ("quadtree", {"height": -1}, "Height is -1"),
    ],
)
def test_values_out_of_bounds_are_refused_in_a_sentence(key, settings_, words):
    with pytest.raises(InputError, match=words):
        mechanism(key)(**settings_)


@pytest.mark.parametrize("rng", ["abc", 1.7, True, math.nan, [1]])
def test_what_is_not_a_seed_is_refused(rng):
    with pytest.raises(InputError, match="rng is"):
        explorer.HTF().release([[1]], rng=rng)


def test_only_opendp_makes_a_release():
    assert explorer.Uniform().release([[19_954]], rng=NoNoise()).preview
    assert not explorer.Uniform().release([[19_954]]).preview


@pytest.mark.parametrize("huge", [10**400, -(10**400)])
def test_numbers_of_hundreds_of_digits_are_refused(huge):
    with pytest.raises(InputError):
        explorer.HTF(epsilon=huge)
    with pytest.raises(InputError):
        explorer.HTF(T=huge)


@pytest.mark.parametrize("setting", ["abc", "nan", "-1", "0.05", "inf"])
def test_an_impossible_largest_epsilon_is_refused(setting):
    from explorer.mechanisms.base import _largest_epsilon

    with pytest.raises(InputError, match="EXPLORER_MAX_EPSILON"):
        _largest_epsilon(setting)


def test_a_height_of_zero_is_one_leaf():
    assert explorer.HTF(height=0).release(city(), rng=1).n_leaves == 1


def test_registry_has_the_names_of_the_papers():
    assert list(all_mechanisms())[:6] == ["identity", "uniform", "ug", "ag", "quadtree", "htf"]
    with pytest.raises(InputError, match="choose one of identity"):
        mechanism("kd")


@pytest.mark.parametrize("kind", ALL)
def test_parameters_are_declared_with_bounds_label_and_help(kind):
    for name in ["epsilon", *kind.tunables()]:
        declared = kind.param[name]
        assert declared.label
        assert declared.doc
        assert getattr(declared, "bounds", None) or declared.objects
        assert hasattr(explorer, kind.__name__)
    assert kind().relevant() <= set(kind.tunables())
    assert kind.summary
    assert kind.paper


def test_the_base_class_has_no_plan():
    with pytest.raises(InputError, match="Choose one"):
        Mechanism().release([[1]])


@settings(max_examples=60)
@given(
    st.sampled_from(ALL),
    st.integers(1, 12),
    st.integers(1, 12),
    st.floats(0.001, 10),
    st.integers(0, 2**32),
    st.integers(0, 400),
)
def test_any_small_matrix_gives_a_tiling_within_budget(kind, rows, cols, epsilon, seed, people):
    counts = np.random.default_rng(seed).multinomial(
        people, np.full(rows * cols, 1 / (rows * cols))
    )
    matrix = FrequencyMatrix.from_array(counts.reshape(rows, cols))
    release, desk = run(kind(epsilon=epsilon), matrix, PreviewNoise(seed))
    assert np.prod(release.upper - release.lower, axis=1).sum() == rows * cols
    assert desk.spent == desk.units
