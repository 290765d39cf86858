"""A screen from choices: what changed is computed anew, what did not is the same object."""

import gc
import weakref
from dataclasses import replace

import numpy as np
import pytest

from explorer.app.curator.data import own_city
from explorer.app.curator.screen import Job, Look, compute
from explorer.grid.grid import Grid
from explorer.mechanisms import HTF, QuadTree
from explorer.points.matrix import FrequencyMatrix
from explorer.points.truth import exact
from explorer.privacy.ledger import Ledger
from explorer.views.partition import Leaves
from explorer.views.pictures import leaf_map, leaf_scale, of_leaves
from explorer.views.viewport import Viewport

BOXES = np.array([[-3000.0, -2000, 1000, 1500], [0, 0, 250, 125]])


@pytest.fixture
def job():
    counts = np.random.default_rng(6).negative_binomial(1, 0.1, (64, 64))
    grid = Grid.around(2.35, 48.85, 8000, shape=64)
    data = own_city(FrequencyMatrix.from_array(counts, grid))
    view = Viewport.whole(grid, 200)
    return Job(data, HTF(epsilon=0.5), 7, 0, view, Look(), BOXES)


def test_the_screen_shows_what_the_python_api_says(job) -> None:
    screen = compute(job)
    release = HTF(epsilon=0.5).release(job.data.matrix, rng=7)
    np.testing.assert_array_equal(screen.release.counts, release.counts)
    np.testing.assert_allclose(screen.answers.private, release.answer(BOXES).value)
    np.testing.assert_allclose(screen.answers.sd, release.answer(BOXES).sd)
    np.testing.assert_allclose(screen.answers.true, exact(job.data.matrix, BOXES))
    error = np.abs(job.data.matrix.counts - release.density()).sum() / job.data.matrix.total
    assert screen.error == pytest.approx(error)
    assert screen.right_bytes.shape == screen.left_bytes.shape == (200, 200)


def test_a_new_look_keeps_the_release_and_sends_no_true_map_again(job) -> None:
    first = compute(job)
    second = compute(replace(job, look=Look(right="difference"), previous=first))
    assert second.release is first.release
    assert second.left_bytes is first.left_bytes
    assert not np.array_equal(second.right_bytes, first.right_bytes)
    linear = compute(replace(job, look=Look(scale="linear"), previous=first))
    assert linear.left_bytes is not first.left_bytes


def test_a_new_setting_draws_anew_and_keeps_the_true_map(job) -> None:
    first = compute(job)
    second = compute(replace(job, mechanism=HTF(epsilon=2.0), previous=first))
    assert second.release.epsilon == 2
    assert second.left_bytes is first.left_bytes


def test_zooming_a_drawn_release_does_not_draw_it_again(job) -> None:
    booked = replace(job, seed=None, ledger=Ledger())
    drawn = compute(replace(booked, draw=1))
    assert not drawn.release.preview
    zoomed = Viewport.of((0, 0, 1000, 1000), 200, 200, job.data.grid)
    again = compute(replace(booked, draw=1, view=zoomed, previous=drawn))
    assert again.release is drawn.release
    assert again.view == zoomed
    another = compute(replace(booked, draw=2, previous=drawn))
    assert another.release is not drawn.release


def test_there_is_no_release_without_a_ledger(job) -> None:
    for wrong in ({"seed": None}, {"ledger": Ledger()}):
        with pytest.raises(ValueError, match="booked in a ledger"):
            replace(job, **wrong)


def test_a_scale_from_the_release_uses_no_exact_number(job) -> None:
    screen = compute(replace(job, look=Look(scale_from="release")))
    assert screen.scale.source == "release"
    # A neighbouring city with the same noise could only differ through the private counts.
    assert screen.scale.top in {m * 10.0**k for m in (1, 2, 5) for k in range(6)}


def test_true_maps_are_shared_and_do_not_pile_up(job) -> None:
    first = weakref.ref(compute(job).truth)
    assert compute(job).truth is first()
    for width in range(100, 140):
        compute(replace(job, view=Viewport.whole(job.data.grid, width)))
    gc.collect()
    assert first() is None


def test_an_empty_city_has_a_screen() -> None:
    nothing = own_city(FrequencyMatrix.from_array(np.zeros((16, 16), int)))
    view = Viewport.whole(nothing.grid, 64)
    screen = compute(Job(nothing, HTF(epsilon=1.0), 7, 0, view, Look(), np.zeros((0, 4))))
    assert np.isnan(screen.error)
    assert not screen.left_bytes.any()


@pytest.mark.parametrize("by", ["depth", "size", "noise", "error"])
def test_the_private_map_can_say_something_of_each_leaf(by) -> None:
    rng = np.random.default_rng(3)
    matrix = FrequencyMatrix.from_array(rng.poisson(4, (16, 16)), Grid.cells((16, 16)))
    release = QuadTree(epsilon=1.0, height=4).release(matrix, rng=2)
    leaves = Leaves.of(release)
    true = matrix.count(leaves.lower, leaves.upper)
    values = of_leaves(release, leaves, by, true)
    expected = {
        "depth": 4 - release.height,
        "size": np.prod(release.upper - release.lower, axis=1),
        "noise": release.sd,
        "error": 100 * np.abs(release.counts - true) / np.maximum(true, 1),
    }[by]
    np.testing.assert_allclose(values, expected)
    scale = leaf_scale(values, by)
    # An error is a fact about the data, so its scale must never reach an audience.
    assert scale.source == ("data" if by == "error" else "release")
    view = Viewport.whole(Grid.cells((16, 16)), 16)
    painted = scale.encode(leaf_map(values, leaves, view, release.grid))
    rows, cols = leaves.lower.T
    np.testing.assert_array_equal(painted[rows, cols], scale.encode(values.astype(np.float32)))
