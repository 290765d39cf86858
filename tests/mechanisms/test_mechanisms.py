"""What every mechanism promises: exact without noise, whole budget, seeds, odd grids, refusals."""

import math

import numpy as np
import param
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import explorer
from explorer import InputError, Release
from explorer.cli import main
from explorer.inspection import decision
from explorer.mechanisms import (
    HB,
    HTF,
    UG,
    Identity,
    Mechanism,
    QuadTree,
    Uniform,
    all_mechanisms,
    mechanism,
    trip_mechanisms,
)
from explorer.mechanisms.duration import DRAWS_A_SECOND, duration
from explorer.points.matrix import FrequencyMatrix
from explorer.privacy.epsilon_range import largest_epsilon
from explorer.privacy.ledger import Ledger
from explorer.privacy.noise import PreviewNoise, ReleaseNoise
from explorer.releases import inference
from explorer.releases.units import to_units
from explorer.teaching import neighbours
from explorer.teaching.previews import taught
from explorer.testing import mechanism_checks, registered
from explorer.testing.counts import counted
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


@pytest.mark.parametrize("kind", [kind for kind in ALL if 4 not in kind.dimensions])
def test_counts_of_other_dimensions_are_refused_in_a_sentence(kind):
    trips = TripMatrix.from_coordinates([[1, 2, 3, 4]], [8, 8])
    with pytest.raises(InputError, match=f"^{kind.title} takes counts of 2 dimensions, these have"):
        kind().release(trips, rng=1)


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


class Strips(Mechanism):
    """The map in strips from south to north, each counted."""

    key, title, summary = "strips", "Strips", "Strips from south to north, each counted."
    paper = "tests"
    lesson_settings = {"strips": 2}  # noqa: RUF012

    strips = param.Integer(default=4, bounds=(1, 64), label="Strips", doc="Number of strips.")

    def plan(self, curator):
        """One count a strip."""
        strips = curator.open().grid(np.array([self.strips, 1]))
        curator.count(strips, curator.units, "strips")
        return inference.leaves(curator.transcript(), ["strips"])

    @property
    def shape_is_public(self):
        """Always."""
        return True


@pytest.fixture
def strips():
    with registered(Strips):
        yield


@pytest.mark.usefixtures("strips")
def test_the_command_line_lists_it_and_takes_its_flags(tmp_path, capsys, monkeypatch) -> None:
    monkeypatch.setenv("EXPLORER_LEDGER", str(tmp_path / "ledger.sqlite3"))
    assert main(["mechanisms"]) == 0
    listed = [" ".join(line.split()) for line in capsys.readouterr().out.splitlines()]
    assert "strips Strips from south to north, each counted. tests" in listed
    assert main(["mechanisms", "strips"]) == 0
    assert "--strips\n    Number of strips. (1 to 64; default 4)" in capsys.readouterr().out
    path = str(tmp_path / "map.parquet")
    words = [
        "release",
        "--city",
        "madeup",
        "--shape",
        "32",
        "--mechanism",
        "strips",
        "--strips",
        "3",
    ]
    assert main([*words, "--epsilon", "1", "--preview", "1", "-o", path]) == 0
    loaded = Release.load(path)
    assert loaded.n_leaves == loaded.parameters["strips"] == 3


@pytest.mark.usefixtures("strips")
def test_two_neighbours_show_its_exact_distribution() -> None:
    matrix = FrequencyMatrix.from_array(np.arange(64).reshape(8, 8))
    made = taught("strips", 0.5)
    assert made.settings() == {"strips": 2}
    assert made.has_known_distribution
    cells = neighbours.leaf_at(made.release(matrix, rng=0), (0, 0))
    assert cells.tolist() == [[0, 0], [4, 8]]
    units = neighbours.draws_inside(made.release(matrix, rng=0), cells)
    assert neighbours.exact_distributions(units, 1, 10, 11).largest == pytest.approx(0.5)


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


@pytest.mark.parametrize("kind", {**all_mechanisms(), **trip_mechanisms()}.values())
def test_every_node_says_why(kind):
    shape = (6, 4, 5, 6) if 4 in kind.dimensions else (24, 30)
    counts = np.random.default_rng(1).poisson(2, shape)
    counts[(0,) * len(shape)] = 3000
    release = kind(epsilon=0.5).release(counted(counts), rng=1)
    said = {decision(release, node).kind for node in range(min(len(release.tree), 400))}
    assert said
    assert "unknown" not in said
