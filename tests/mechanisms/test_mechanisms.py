"""What every mechanism promises: exact without noise, whole budget, seeds, odd grids, refusals."""

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import explorer
from explorer import FrequencyMatrix, InputError
from explorer.mechanisms import (
    Identity,
    Mechanism,
    QuadTree,
    Uniform,
    all_mechanisms,
    mechanism,
)
from explorer.privacy.epsilon_range import largest_epsilon
from explorer.privacy.ledger import Ledger
from explorer.privacy.noise import PreviewNoise, ReleaseNoise
from explorer.releases.units import to_units
from explorer.testing import mechanism_checks
from explorer.trips.matrix import TripMatrix
from tests.helpers import NoNoise, run

ALL = list(all_mechanisms().values())


@pytest.mark.parametrize("check", mechanism_checks(*ALL), ids=str)
def test_it_keeps_the_promises_of_every_mechanism(check):
    check()


@pytest.mark.parametrize("kind", ALL)
def test_noise_of_different_leaves_is_different(kind):
    # Split inference makes an empty map exactly empty.
    linear = {"inference": "least squares"} if "inference" in kind.tunables() else {}
    release = kind(epsilon=0.01, **linear).release(np.zeros((32, 32), dtype=int), rng=4)
    if release.n_leaves > 10:
        assert len(np.unique(release.counts)) > release.n_leaves // 4


@pytest.mark.parametrize(
    ("key", "settings_", "words"),
    [
        ("htf", {"height": 30}, "Height is 30: give a whole number, 0 to 22"),
        ("htf", {"height": 2.5}, "whole number"),
        ("htf", {"T": 0}, "T is 0"),
        ("htf", {"stop_rule": "never"}, "choose one of count, optimal"),
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


@pytest.mark.parametrize("setting", ["abc", "nan", "-1", "0.05", "inf"])
def test_an_impossible_largest_epsilon_is_refused(setting):
    with pytest.raises(InputError, match="EXPLORER_MAX_EPSILON"):
        largest_epsilon(setting)


@pytest.mark.parametrize("kind", ALL)
def test_every_mechanism_is_a_name_of_the_package(kind):
    assert getattr(explorer, kind.__name__) is kind
    assert kind.__name__ in explorer.__all__


@pytest.mark.parametrize(
    "epsilon", [0, -5, 1e-12, math.nan, math.inf, 11, 1e9, 10**400, "0.1", None, True]
)
def test_impossible_epsilons_are_refused_in_a_sentence(epsilon):
    with pytest.raises(InputError, match=r"Epsilon is .*: give a number, 0\.000001 to 10\."):
        explorer.HTF(epsilon=epsilon)


def test_counts_of_other_dimensions_are_refused_in_a_sentence():
    class Flat(explorer.Uniform):
        title, dimensions = "Flat", (1, 3)

    with pytest.raises(InputError, match="Flat takes counts of 1 or 3 dimensions, these have 2: "):
        Flat().release([[1]], rng=1)


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


class Poser(ReleaseNoise):
    """OpenDP's noise under a flag that says otherwise."""

    preview = True


def test_what_is_called_a_release_is_booked_and_nothing_else(tmp_path) -> None:
    for source, called in ((Poser(), "preview"), (None, "release"), (3, "preview")):
        ledger = Ledger(tmp_path / f"{called} of {type(source).__name__}.json")
        counts = FrequencyMatrix.from_array(np.ones((4, 4), dtype=int))
        made = Uniform(epsilon=0.1).release(counts, source, ledger=ledger)
        assert made.preview == (called == "preview")
        assert ledger.spent(counts.key) == (0 if made.preview else to_units(0.1))


@pytest.mark.parametrize(
    ("side", "mechanism", "words"),
    [
        *((512, made, "would publish 68,719,476,736 numbers")
          for made in (Identity(), QuadTree(), QuadTree(height=9))),
        # 2^24 parts, as many as a preview may have.
        *((64, made, "16,777,216 numbers .* 4,194,304 .* in a release")
          for made in (Identity(), QuadTree(), QuadTree(height=6))),
    ],
)  # fmt: skip
def test_too_many_parts_are_one_sentence_before_anything_is_booked(
    side, mechanism, words, tmp_path
) -> None:
    trips = TripMatrix.from_coordinates([[1, 2, 3, 4]], [side, side])
    ledger = Ledger(tmp_path / "ledger.json")
    with pytest.raises(InputError, match=words):
        mechanism.release(trips, ledger=ledger)
    assert ledger.spent(trips.key) == 0
    assert QuadTree(height=3).release(trips, rng=1).n_leaves == 8**4
    if side == 64:
        mechanism._check_size(trips.shape, preview=True)
        # Maps keep their limit.
        mechanism._check_size((4096, 4096), preview=False)
