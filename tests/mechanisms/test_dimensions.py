"""Mechanisms on counts of more or fewer dimensions than a map's two."""

from __future__ import annotations

import numpy as np
import pytest

from explorer import Identity, InputError, Mosaic, PrivTree, QuadTree, Uniform, all_mechanisms
from explorer.grid.grid import Grid
from explorer.grid.places import TripDomain
from explorer.mechanisms import Mechanism, steering
from explorer.privacy.audit.replay import Recording
from explorer.privacy.noise import PreviewNoise
from explorer.releases.units import to_units
from explorer.testing import BlindNoise, NoNoise

ANY = [Identity, Uniform, QuadTree, PrivTree, Mosaic]
SHAPE = (5, 4, 3, 4)


class Dense:
    """Counts in an array of any number of dimensions, counted box by box."""

    unit, contribution_bound, key = "point", 1, "tests"

    def __init__(self, counts: np.ndarray) -> None:
        self.counts = counts
        pairs = [counts.shape[i : i + 2] for i in range(0, counts.ndim, 2)]
        self.domain = TripDomain(tuple(Grid.cells(pair) for pair in pairs))

    def count(self, lower: np.ndarray, upper: np.ndarray) -> np.ndarray:
        """Records in boxes."""
        boxes = zip(lower, upper, strict=True)
        found = [self.counts[tuple(map(slice, low, high))].sum() for low, high in boxes]
        return np.array(found, dtype=np.int64)


@pytest.fixture
def crowd() -> Dense:
    counts = np.random.default_rng(1).poisson(0.4, SHAPE)
    counts[1, 2, 0, 3] = 5000
    return Dense(counts)


@pytest.mark.parametrize("kind", ANY)
def test_every_path_spends_epsilon_and_leaves_tile_four_dimensions(kind, crowd) -> None:
    release = kind(epsilon=0.5).release(crowd, rng=1)
    covered = np.zeros(SHAPE, dtype=int)
    for lower, upper in zip(release.lower, release.upper, strict=True):
        covered[tuple(map(slice, lower, upper))] += 1
    assert np.all(covered == 1)
    tree = release.tree
    assert set(tree.path_spent[tree.leaves].sum(axis=1).tolist()) == {to_units(0.5)}
    assert release.inside == "uniform"


@pytest.mark.parametrize("kind", ANY)
def test_without_noise_counts_are_exact(kind, crowd) -> None:
    linear = {"inference": "least squares"} if "inference" in kind.tunables() else {}
    release = kind(epsilon=0.5, **linear).release(crowd, rng=NoNoise())
    np.testing.assert_allclose(release.counts, crowd.count(release.lower, release.upper), atol=1e-9)


@pytest.mark.parametrize("kind", ANY)
def test_a_replay_on_a_neighbour_finds_no_more_than_epsilon(kind, crowd) -> None:
    def publish(counts, source):
        return kind(epsilon=0.5).release(counts, rng=source)

    run = Recording.of(publish, crowd, PreviewNoise(3))
    for cell in ((1, 2, 0, 3), (4, 3, 2, 3), (0, 0, 0, 0)):
        more = crowd.counts.copy()
        more[cell] += 1
        loss = run.replay(Dense(more))
        assert not loss.exceeds(to_units(0.5))


@pytest.mark.parametrize(
    "kind", [each for each in all_mechanisms().values() if 4 not in each.dimensions]
)
def test_the_others_refuse_in_a_sentence(kind: type[Mechanism], crowd) -> None:
    with pytest.raises(InputError, match=f"^{kind.title} takes counts of 2 dimensions, these have"):
        kind().release(crowd, rng=BlindNoise(0))


def test_mosaics_figures_on_a_map_are_those_of_its_note() -> None:
    assert steering.enough(2) == 10.0
    assert steering.base_levels(2) == 3
    # About 64 parts are always there.
    assert [2 ** (d * steering.base_levels(d)) for d in range(1, 7)] == [64, 64, 64, 256, 32, 64]
