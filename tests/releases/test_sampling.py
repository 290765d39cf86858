"""Synthetic points lie as the released counts do, and nothing else is known of them."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from explorer import UG, FrequencyMatrix, Grid, InputError, Mosaic
from explorer.testing import towns

GRID = Grid.around(-30, 40, "20km", shape=(24, 20))
COUNTS = FrequencyMatrix(towns(GRID.shape).counts, GRID)


@pytest.fixture(scope="module")
def uniform():
    return UG(epsilon=1.0, grid_size=6).release(COUNTS, rng=3)


@pytest.fixture(scope="module")
def interpolated():
    return Mosaic(epsilon=1.0).release(COUNTS, rng=3)


@pytest.mark.statistical
@pytest.mark.parametrize("name", ["uniform", "interpolated"])
def test_points_lie_in_leaves_in_proportion_to_their_counts(name, request) -> None:
    release = request.getfixturevalue(name)
    n = 40_000
    points = release.sample(n, rng=1)
    found = np.bincount(points["leaf"], minlength=release.n_leaves)
    weight = np.maximum(release.counts, 0)
    if not release.is_uniform:
        inside = np.maximum(release.density(), 0).ravel()
        weight = np.bincount(release.owners.ravel(), inside, minlength=release.n_leaves)
    share = weight / weight.sum()
    expected = n * share
    # Counts of a multinomial; of many leaves one is 5 deviations away once in a million.
    assert np.abs(found - expected).max() < 5 * np.sqrt(expected.max())
    assert (found[weight == 0] == 0).all()
    # Each lies in the leaf that it names.
    x0, y0, x1, y1 = release.boxes()[points["leaf"]].T
    assert ((points.geometry.x >= x0) & (points.geometry.x <= x1)).all()
    assert ((points.geometry.y >= y0) & (points.geometry.y <= y1)).all()


@pytest.mark.statistical
def test_places_inside_a_leaf_are_even_or_follow_the_density(uniform, interpolated) -> None:
    points = uniform.sample(40_000, rng=2)
    boxes = uniform.boxes()[points["leaf"]]
    part = (points.geometry.x - boxes[:, 0]) / (boxes[:, 2] - boxes[:, 0])
    assert abs(part.mean() - 0.5) < 5 / np.sqrt(12 * 40_000)
    n = 60_000
    points = interpolated.sample(n, rng=2)
    col = ((points.geometry.x - GRID.bounds[0]) / GRID.cell_width).astype(int)
    row = ((points.geometry.y - GRID.bounds[1]) / GRID.cell_height).astype(int)
    found = np.zeros(GRID.shape)
    np.add.at(found, (row, col), 1)
    density = np.maximum(interpolated.density(), 0)
    expected = n * density / density.sum()
    assert np.abs(found - expected).max() < 6 * np.sqrt(expected.max())


def test_a_sample_says_what_it_is_and_a_seed_repeats_it(uniform) -> None:
    points = uniform.sample(10, rng=5)
    assert points.equals(uniform.sample(10, rng=5))
    assert not points.equals(uniform.sample(10, rng=6))
    assert points.equals(uniform.sample(10, rng=np.random.default_rng(5)))
    assert points.crs == GRID.crs
    assert points.attrs["synthetic"]
    assert "Synthetic points" in points.attrs["said"]
    assert points.attrs["preview"]
    assert len(uniform.sample(0)) == 0


@pytest.mark.parametrize("n", [-1, 2.5, True, "9", 10**8])
def test_another_number_is_refused(n, uniform) -> None:
    with pytest.raises(InputError, match="whole number of points"):
        uniform.sample(n)


def test_other_dice_and_empty_maps_are_refused(uniform) -> None:
    with pytest.raises(InputError, match="rng is"):
        uniform.sample(3, rng="seven")
    tree = replace(uniform.tree, value=-np.abs(uniform.tree.value))
    empty = replace(uniform, tree=tree)
    with pytest.raises(InputError, match="no positive count"):
        empty.sample(3)
