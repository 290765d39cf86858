"""Small maps: the pictures of each epsilon, drawn once and coloured alike."""

import numpy as np
import pytest

from explorer.app.compare.small import SmallMaps
from explorer.app.curator.data import own_city
from explorer.app.curator.screen import Look
from explorer.app.curator.small import SmallJob, compute_small
from explorer.app.state.compare import CompareState
from explorer.app.work.job import Superseded
from explorer.mechanisms import HTF, UG
from tests.app.acts import words
from tests.helpers import city

LOOK = Look(points=False)


@pytest.fixture(scope="module")
def data():
    return own_city(city())


def job(data, look=LOOK, previous=None, seed=1, factor=1):
    made = [kind(epsilon=e * factor) for kind in (HTF, UG) for e in (0.01, 1.0)]
    return SmallJob(data, made, seed, look, previous)


def test_each_picture_is_its_own_release(data) -> None:
    screen = compute_small(job(data))
    for made, small in zip(job(data).mechanisms, screen.thumbnails, strict=True):
        release = made.release(data.matrix, rng=1)
        assert small.leaves == release.n_leaves
        # The mean of the picture times the cells is the map's total: nothing is lost on the way.
        assert small.picture.mean() * 64 * 64 == pytest.approx(release.total, rel=1e-4)


def test_another_colouring_draws_nothing_again(data) -> None:
    first = compute_small(job(data))
    second = compute_small(job(data, Look("difference", points=False), first))
    assert all(a is b for a, b in zip(first.thumbnails, second.thumbnails, strict=True))
    assert not np.array_equal(first.pictures[0], second.pictures[0])
    third = compute_small(job(data, previous=second, seed=2))
    assert third.thumbnails[0] is not first.thumbnails[0]
    assert len(third.stored) == 4


def test_the_scale_is_the_one_of_the_large_maps(data) -> None:
    screen = compute_small(job(data))
    flat = screen.thumbnails[3].picture
    top = data.top("log")
    full = flat >= top
    assert (screen.pictures[3][full] == 255).all()
    assert (screen.pictures[3][flat < 0.9 * top] < 255).all()


def test_it_stops_when_it_is_not_wanted(data) -> None:
    def stop(_done: float) -> None:
        raise Superseded

    with pytest.raises(Superseded):
        compute_small(job(data), stop)


def test_captions_say_mechanism_epsilon_and_leaves(data) -> None:
    state = CompareState()
    maps = SmallMaps(state, data.grid, (0.01, 1.0))
    screen = compute_small(job(data))
    maps.show(screen)
    spoken = [view.figure.html_attributes["aria-label"] for view in maps.views]
    assert spoken[1].startswith("Small map A, HTF at epsilon 1: ")
    assert spoken[2].startswith("Small map B, UG at epsilon 0.01: ")
    assert f"{screen.thumbnails[1].leaves:,}" in words(maps.view)
    np.testing.assert_array_equal(maps.views[3].image.data["image"][0], screen.pictures[3])


def test_the_room_for_small_maps_says_what_will_stand_there(data) -> None:
    """Drawing takes seconds, and a phone showed 700 pixels of nothing."""
    state = CompareState(mechanism="ag")
    maps = SmallMaps(state, data.grid, (0.01, 1.0))
    said = words(maps.view)
    assert "A: AG" in said
    assert "B: Mosaic" in said
    assert said.count("<b>epsilon 0.01</b>: being drawn") == 2
    assert said.count("<b>epsilon 1</b>: being drawn") == 2
    for each in maps.views:
        # What waits lies under the picture and is as large.
        waiting, picture = each.figure.renderers
        edges = [getattr(waiting.glyph, name) for name in ("left", "bottom", "right", "top")]
        assert edges == list(data.grid.bounds)
        assert picture.data_source is each.image
    maps.show(compute_small(job(data)))
    assert "being drawn" not in words(maps.view)
