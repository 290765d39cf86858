"""A screen: cities that are read once, what changes computed anew, numbers and causes of errors."""

import gc
import re
import weakref
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from types import SimpleNamespace

import numpy as np
import pytest

from explorer.app import Explore
from explorer.app.curator import data
from explorer.app.curator.answers import COLUMNS, BoxAnswers, answer_boxes, median_error
from explorer.app.curator.screen import Job, Look, compute, map_error, summary
from explorer.app.kit.labels import CURATOR, DRAWN, PREVIEW
from explorer.app.mappage import readout
from explorer.app.mappage.maps import MapPair
from explorer.app.mappage.readout import Question, find_causes
from explorer.app.state import ExploreState
from explorer.app.work.cache import Shelf
from explorer.errors import InputError
from explorer.grid.grid import Grid
from explorer.inspection.errors import error_split
from explorer.mechanisms import HTF, UG, QuadTree, Uniform
from explorer.points.matrix import FrequencyMatrix
from explorer.points.points import Points
from explorer.points.truth import exact
from explorer.privacy.ledger import Ledger
from explorer.releases.overlap import cut_leaves
from explorer.views import palette
from explorer.views.partition import Leaves
from explorer.views.pictures import leaf_map, leaf_scale, of_leaves
from explorer.views.viewport import Viewport
from tests.app.acts import Browser

GRID = Grid.around(2.35, 48.85, 8000, shape=64)
MATRIX = FrequencyMatrix.from_array(
    np.random.default_rng(6).negative_binomial(1, 0.1, (64, 64)), GRID
)
BOXES = np.array([[-3000.0, -2000, 1000, 1500], [0, 0, 250, 125]])

# Cities.


@pytest.fixture
def catalogue(monkeypatch):
    """A catalogue of two tiny cities that counts how often each is read."""
    reads: list[tuple[str, object]] = []

    def city(key, title, is_matrix=False):
        def load(side, contribution_bound=None):
            reads.append((key, side))
            if is_matrix:
                return None, FrequencyMatrix.from_array(np.ones((6, 9), int)), None
            x, y, users = np.array([0.5, 1.5]), np.array([0.5, 0.5]), np.array([0, 0])
            points = Points(x, y, crs=None, user=users, notes=("<i>2 rows</i>",))
            return points, *points.place_on(Grid.cells((side, side)), contribution_bound)

        return SimpleNamespace(
            title=title, is_matrix=is_matrix, has_users=not is_matrix, load_placed=load
        )

    known = {"tiny": city("tiny", "<b>Tiny</b>"), "matrix": city("matrix", "Matrix", True)}
    monkeypatch.setattr(data.cities, "cities", lambda: known)
    for shelf in ("_CITIES", "_HEATS"):
        monkeypatch.setattr(data, shelf, Shelf(4))
    return reads


def test_a_city_is_read_once_and_another_grid_shares_its_points(catalogue) -> None:
    with ThreadPoolExecutor(8) as pool:
        cities = list(pool.map(lambda _: data.load_city("tiny", 4), range(8)))
    assert len({id(city) for city in cities}) == 1
    assert catalogue == [("tiny", 4)]
    assert data.is_loaded("tiny", 4)
    assert not data.is_loaded("tiny", 8)
    four, eight = cities[0], data.load_city("tiny", 8)
    assert four.heat is eight.heat
    assert eight.matrix.shape == (8, 8)
    assert four.title == "‹b›Tiny‹/b›"
    assert "<" not in four.notes[0]
    matrix = data.load_city("matrix", 1024)
    assert matrix.matrix.shape == (6, 9)
    assert matrix.heat is None
    assert catalogue[2:] == [("matrix", None)]


@pytest.mark.usefixtures("catalogue")
def test_a_bound_makes_a_record_a_user_and_the_true_map_is_of_all_records() -> None:
    points, users = data.load_city("tiny", 4), data.load_city("tiny", 4, 1)
    assert (points.matrix.unit, points.matrix.total) == ("point", 2)
    assert (users.matrix.unit, users.matrix.contribution_bound) == ("user", 1)
    assert (users.matrix.total, users.every.total) == (1, 2)
    assert not data.is_loaded("tiny", 4, 2)
    # Two dots of three pixels on a side, and of cells both.
    view = Viewport.whole(users.grid, 16)
    assert (users.truth(view, True).shown > 0).sum() == 18
    assert users.truth(view, False).cells.sum() == points.truth(view, False).cells.sum()


@pytest.mark.usefixtures("catalogue")
def test_a_failed_read_is_one_sentence_and_tried_again() -> None:
    with pytest.raises(InputError, match="tiny, matrix"):
        data.load_city("<nowhere>", 4)
    known = data.cities.cities()
    good = known["tiny"].load_placed

    def bad(*_):
        raise InputError("gone")

    known["tiny"].load_placed = bad
    with pytest.raises(InputError):
        data.load_city("tiny", 4)
    known["tiny"].load_placed = good
    assert data.load_city("tiny", 4).matrix.total == 2


# What is computed.


@pytest.fixture
def job() -> Job:
    view = Viewport.whole(GRID, 200)
    return Job(data.own_city(MATRIX), HTF(epsilon=0.5), 7, 0, view, Look(), BOXES)


def test_the_screen_shows_what_the_python_api_says(job) -> None:
    screen = compute(job)
    release = HTF(epsilon=0.5).release(MATRIX, rng=7)
    np.testing.assert_array_equal(screen.release.counts, release.counts)
    np.testing.assert_allclose(screen.answers.private, release.answer(BOXES).value)
    np.testing.assert_allclose(screen.answers.sd, release.answer(BOXES).sd)
    np.testing.assert_allclose(screen.answers.true, exact(MATRIX, BOXES))
    error = np.abs(MATRIX.counts - release.density()).sum() / MATRIX.total
    assert screen.error == pytest.approx(error)
    # A scale from the release uses no exact number: the private counts alone move it.
    scale = compute(replace(job, look=Look(scale_from="release"))).scale
    assert scale.source == "release"
    assert scale.top in {m * 10.0**k for m in (1, 2, 5) for k in range(6)}


def test_what_did_not_change_is_not_computed_again(job) -> None:
    first = compute(job)
    second = compute(replace(job, look=Look(right="difference"), previous=first))
    assert second.release is first.release
    assert second.left_bytes is first.left_bytes
    assert not np.array_equal(second.right_bytes, first.right_bytes)
    linear = compute(replace(job, look=Look(scale="linear"), previous=first))
    assert linear.left_bytes is not first.left_bytes
    third = compute(replace(job, mechanism=HTF(epsilon=2.0), previous=first))
    assert third.release.epsilon == 2
    assert third.left_bytes is first.left_bytes


def test_zooming_a_drawn_release_does_not_draw_it_again(job) -> None:
    for wrong in ({"seed": None}, {"ledger": Ledger()}):
        with pytest.raises(ValueError, match="booked in a ledger"):
            replace(job, **wrong)
    booked = replace(job, seed=None, ledger=Ledger())
    drawn = compute(replace(booked, draw=1))
    assert not drawn.release.preview
    zoomed = Viewport.of((0, 0, 1000, 1000), 200, 200, GRID)
    again = compute(replace(booked, draw=1, view=zoomed, previous=drawn))
    assert again.release is drawn.release
    assert again.view == zoomed
    assert compute(replace(booked, draw=2, previous=drawn)).release is not drawn.release


def test_true_maps_are_shared_and_do_not_pile_up(job) -> None:
    first = weakref.ref(compute(job).truth)
    assert compute(job).truth is first()
    for width in range(100, 140):
        compute(replace(job, view=Viewport.whole(GRID, width)))
    gc.collect()
    assert first() is None


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


# The two maps.


class Shown:
    """Two maps, and the job of what they show."""

    def __init__(self, job: Job) -> None:
        self.state = ExploreState()
        self.maps = MapPair(self.state, GRID, list, lambda _box: None)
        self.job = replace(job, view=self.maps.viewport())

    def show(self, **changes) -> None:
        screen = compute(replace(self.job, **changes))
        self.maps.show(screen)
        self.maps.caption(screen)
        self.job = replace(self.job, previous=screen)


def test_maps_say_what_they_show_and_the_true_one_is_sent_once(job) -> None:
    shown = Shown(job)
    shown.show()
    heads, bars = shown.maps.heads, shown.maps.bars.panes
    assert CURATOR.capitalize() in heads[0].object
    assert PREVIEW in heads[1].object
    assert "scale from the exact data" in bars[0].object
    left, right = shown.maps.left.image.data, shown.maps.right.image.data
    shown.show(mechanism=HTF(epsilon=2.0))
    assert shown.maps.left.image.data is left
    assert shown.maps.right.image.data is not right
    shown.show(look=Look(scale_from="release", scale="linear"))
    assert all("linear, scale from the release" in bar.object for bar in bars)
    shown.state.put(right="difference", palette="magma")
    shown.show(look=Look(right="difference"))
    assert tuple(shown.maps.left.mapper.palette) == palette.PALETTES["magma"]
    assert tuple(shown.maps.right.mapper.palette) == palette.DIFFERENCE
    assert "Private − true" in bars[1].object
    shown.show(seed=None, draw=1, ledger=Ledger())
    assert DRAWN in heads[1].object
    assert PREVIEW not in heads[1].object


def test_the_partition_lies_where_it_was_asked_for(job) -> None:
    shown = Shown(job)
    shown.show()
    for on, over, left, right in (
        (True, "private", False, True),
        (True, "truth", True, False),
        (True, "both", True, True),
        (False, "both", False, False),
    ):
        shown.state.put(partition=on, partition_over=over)
        shown.maps.restyle()
        assert shown.maps.left.lines.boxes.visible is left
        assert shown.maps.right.lines.boxes.visible is right


# Numbers.


def answers(true, private, **more) -> BoxAnswers:
    true, private = np.array(true, float), np.array(private, float)
    ones = np.ones(len(true))
    return BoxAnswers(true=true, private=private, sd=ones, touched=ones.astype(int), **more)


def test_relative_error_is_in_percent_and_unknown_where_nothing_is() -> None:
    got = answers([100, 0, 50], [110, 5, 40])
    np.testing.assert_allclose(got.relative[[0, 2]], [10, -20])
    assert np.isnan(got.relative[1])
    assert median_error(got) == 15
    assert np.isnan(median_error(answers([0], [3])))


@pytest.mark.parametrize(
    "mechanism", [Uniform(epsilon=1.0), UG(epsilon=5.0, inside="interpolated"), HTF(epsilon=1.0)]
)
def test_map_error_is_the_sum_over_cells(mechanism) -> None:
    matrix = FrequencyMatrix.from_array(np.arange(48).reshape(6, 8))
    release = mechanism.release(matrix, rng=3)
    expected = np.abs(matrix.counts - release.density()).sum() / matrix.total
    assert map_error(matrix, release, Leaves.of(release)) == pytest.approx(expected)


def test_the_sentence_holds_the_numbers_of_the_table() -> None:
    release = HTF(epsilon=1.0).release(MATRIX, rng=3)
    got = answer_boxes(release, MATRIX, BOXES)
    text = summary("HTF", "a test", release, got)
    worst = int(np.argmax(np.abs(got.difference)))
    for number in (release.n_leaves, got.private[worst], got.true[worst]):
        assert f"{number:,.0f}" in text
    assert "preview" in text
    assert "epsilon 1 per record" in text


def test_what_is_written_adds_up() -> None:
    """A person subtracts what she reads: 235,746 less 245,256 is 9,510, not 9,509."""
    got = answers(
        [245_256.4, 10_125.4, 3.5],
        [235_746.6, 11_794.6, 4.5],
        spread=np.array([235_000.2, 11_000.7, 4.0]),
    )
    columns = {each.name: each.values(got) for each in COLUMNS}
    np.testing.assert_array_equal(columns["difference"], columns["private"] - columns["true"])
    noise, uneven = got.shown_causes()
    np.testing.assert_array_equal(noise + uneven, columns["difference"])
    for bar, *parts in zip(columns["noise / uneven areas"], noise, uneven, strict=True):
        texts = re.findall(r"</i>([^<]*)<", bar)
        assert [float(text.replace("−", "-").replace(",", "")) for text in texts] == parts
    np.testing.assert_allclose(got.shown_difference(2), [-9509.8, 1669.2, 1.0])


# Causes of errors.


@pytest.mark.parametrize("mechanism", ["htf", "mosaic", "identity", "privlet"])
def test_both_parts_add_up_to_the_difference_in_the_table(mechanism) -> None:
    page = Explore(MATRIX, mechanism=mechanism, epsilon=0.5)
    got = page.screen.answers
    split = error_split(MATRIX, page.screen.release, page.rectangles.boxes)
    np.testing.assert_allclose(got.noise, split.noise, atol=1e-6)
    np.testing.assert_allclose(got.uniformity, split.uniformity, atol=1e-6)
    np.testing.assert_allclose(got.noise + got.uniformity, got.difference)


def test_a_selected_row_marks_the_leaves_it_cuts_and_says_how_many() -> None:
    page = Explore(MATRIX, epsilon=0.5)
    pane, marked = page.readout.causes.view, page.maps.marks[0]
    Browser(page.table.widget).select([1])
    for epsilon in (0.5, 2.0):
        page.state.put(epsilon=epsilon)
        cells = GRID.to_cells(page.rectangles.boxes)[1]
        inside, cut = cut_leaves(page.screen.release.tree, cells)
        assert 0 < len(cut) == len(marked.cut.data["x0"])
        assert f"Q2 holds {inside:,} leaves whole and cuts {len(cut):,}" in pane.object
        assert inside + len(cut) == page.screen.answers.touched[1]
    Browser(page.table.widget).select([])
    assert len(marked.cut.data["x0"]) == 0
    assert "Select a row" in pane.object


def test_more_leaves_than_can_be_drawn_are_the_largest(monkeypatch) -> None:
    page = Explore(MATRIX, epsilon=0.5)
    asked = Question(page.screen, ("Q1", "Q2"), (0,))
    every = find_causes(asked).cut
    monkeypatch.setattr(readout, "MOST_BOXES", 5)
    found = find_causes(asked)
    assert len(found.cut) == 5
    assert "Only the 5 largest are marked" in found.sentence
    areas, smallest = (np.prod(cut[:, 2:] - cut[:, :2], axis=1) for cut in (every, found.cut))
    assert smallest.min() >= np.sort(areas)[-5] * (1 - 1e-9)
