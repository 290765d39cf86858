"""The Compare page without a browser: two mechanisms, a third map, small maps, sweeps."""

import io
import re

import numpy as np
import pandas as pd
import pytest
import shapely

from explorer import HTF, UG, Mosaic, exact
from explorer.app import Compare
from explorer.app.compare.stage import nearer, score
from explorer.app.compare.sweep import Kept, series_of
from explorer.app.compare.sweep_view import SweepView
from explorer.app.curator.answers import BoxAnswers
from explorer.app.curator.data import own_city
from explorer.app.curator.screen import Look
from explorer.app.curator.small import SmallJob, compute_small
from explorer.app.curator.start import present
from explorer.grid.grid import Grid
from explorer.points.matrix import FrequencyMatrix
from explorer.scenario import Pair, Scenario, Sweep, carried, to_python
from tests.app import press
from tests.app.acts import drag, words

MATRIX = FrequencyMatrix.from_array(
    np.random.default_rng(9).poisson(9, (32, 32)), Grid.around(2.35, 48.85, 8000, shape=32)
)


@pytest.fixture(autouse=True)
def own_results(monkeypatch) -> None:
    """Results of other tests must not count."""
    monkeypatch.setattr(SweepView.__init__, "__defaults__", (Kept(),))


@pytest.fixture
def page() -> Compare:
    return Compare(MATRIX, epsilon=0.5, chosen=["ug", "htf"], seeds=2)


def test_the_table_has_the_answers_of_both_for_the_same_noise(page) -> None:
    shown, boxes = page.table.widget.value, page.rectangles.boxes
    true = exact(MATRIX, boxes)
    a, b = (
        kind(epsilon=0.5).release(MATRIX, rng=page.state.seed).answer(boxes).value
        for kind in (HTF, Mosaic)
    )
    np.testing.assert_array_equal(shown["true"], np.round(true))
    np.testing.assert_array_equal(shown["A"], np.round(a))
    np.testing.assert_array_equal(shown["B"], np.round(b))
    np.testing.assert_allclose(shown["error of A %"], 100 * (a - true) / true, atol=6e-4)
    best = ["A" if x < y else "B" for x, y in zip(abs(a - true), abs(b - true), strict=True)]
    assert list(shown["nearer"]) == best
    said = score(page.pair)
    assert f"A (HTF) is nearer to the truth in {best.count('A')} of 2 boxes" in said
    assert f"B (Mosaic) in {best.count('B')}" in said


def test_a_tenth_of_a_point_is_a_tie() -> None:
    true = np.array([100.0, 100, 100, 0])
    both = (
        BoxAnswers(true=true, private=true + off, sd=np.ones(4), touched=np.ones(4, np.int64))
        for off in ([5, -20, 7, 1], [-6, 10, -7.05, 0])
    )
    assert nearer(*both) == ["A", "B", "both", "B"]


def test_both_follow_epsilon_and_each_keeps_its_settings_also_swapped(page) -> None:
    first = page.pair.a.release
    page.state.b.set_parameter("inside", "uniform")
    assert page.pair.a.release is first, "only what changed is drawn again"
    page.state.put(epsilon=2.0)
    page.state.put(mechanism="ug")
    assert page.pair.a.release.mechanism == "ug"
    assert {page.pair.a.release.epsilon, page.pair.b.release.epsilon} == {2.0}
    assert page.pair.b.release.inside == "uniform"
    page = Compare(MATRIX, a=HTF(T=5, epsilon=0.3), b="ag")
    assert page.state.epsilon == page.state.b.epsilon == 0.3
    leaves = page.pair.a.release.n_leaves
    press.press(page, "Swap A and B")
    assert page.state.mechanism == "ag"
    assert page.state.b.instance().T == 5
    assert page.pair.b.release.n_leaves == leaves
    assert "B: HTF" in press.text(page)


# Other noise, and a third map.


def test_the_same_mechanism_can_have_other_noise_and_b_less_a_is_a_map() -> None:
    page = Compare(MATRIX, a="htf", b="htf", epsilon=0.5)
    press.put(page, "Third map", "change")
    a, b = page.releases
    assert np.array_equal(a.counts, b.counts)
    assert set(np.unique(page.pair.change)) == {128}, "no difference"
    press.put(page, "B has other random noise", True)
    again, other = page.releases
    assert np.array_equal(again.counts, a.counts)
    seed = page.state.seeds_of_sides[1]
    assert np.array_equal(other.counts, HTF(epsilon=0.5).release(MATRIX, rng=seed).counts)
    assert not np.array_equal(other.counts, a.counts)
    change = (page.answers.loc["B"] - page.answers.loc["A"])["private"].round()
    (tags,) = page.tags(page.rectangles.boxes, page.rectangles.names)[2:]
    said = [float(text.split("  ")[1].replace(",", "").replace("−", "-")) for text, _ in tags]
    assert said == pytest.approx(change.tolist(), abs=1)
    press.press(page, "New draw")
    assert not np.array_equal(page.releases[0].counts, other.counts), "A is not what B was"


def test_truth_as_a_third_map_is_there_only_when_asked(page) -> None:
    assert len(page.maps.views) == 2
    page.maps.ranges.look_at(500.0, 500.0, 4000.0)
    press.put(page, "Third map", "truth")
    assert len(page.maps.views) == 3
    assert page.maps.ranges.bounds == pytest.approx((-1500, -1500, 2500, 2500))
    (tags,) = page.tags(page.rectangles.boxes, page.rectangles.names)[2:]
    true = page.answers.loc["A"]["true"]
    assert [text.split("  ")[1] for text, _ in tags] == [f"{each:,.0f}" for each in true]
    page.state.put(epsilon=1.0, right="difference")
    bars = [bar.object for bar in page.maps.bars.panes]
    assert ["too few" in bar for bar in bars] == [True, True, False]
    press.put(page, "Third map", "none")
    assert len(page.maps.views) == 2


def test_a_scenario_keeps_other_noise_and_the_third_map() -> None:
    one = Scenario(
        page="compare", mechanisms=["htf", "htf"], seed=4, pair={"apart": True, "third": "change"}
    )
    for again in (Scenario.from_yaml(one.to_yaml()), Scenario.from_link(one.to_link())):
        assert again == one
    page = Compare("madeup", scenario=one, side=256)
    assert len(page.maps.views) == 3
    assert present("compare", page.state, page.rectangles).pair == one.pair
    # The script draws what the screen shows.
    said = to_python(one)
    assert "rng=4)" in said
    assert f"rng={page.state.seeds_of_sides[1]})" in said
    # Another page has no such choice, and one that comes back to Compare has it again.
    assert carried(one, "explore").pair == Pair()
    assert carried(carried(one, "explore"), "compare", one).pair == one.pair


# Small maps.


def test_small_maps_are_releases_of_each_epsilon_drawn_once(page) -> None:
    captions = re.findall("epsilon .*? leaf|epsilon .*? leaves", words(page.stage.small_view))
    made = [kind(epsilon=e) for kind in (HTF, Mosaic) for e in (0.01, 0.1, 1.0, 10.0)]
    for caption, each in zip(captions, made, strict=True):
        leaves = each.release(MATRIX, rng=page.state.seed).n_leaves
        assert caption.startswith(f"epsilon {each.epsilon:g}</b>: {leaves:,} lea")
    data, look = own_city(MATRIX), Look(points=False)
    first = compute_small(SmallJob(data, made[:2], 1, look, None))
    for each, small in zip(made, first.thumbnails, strict=False):
        release = each.release(MATRIX, rng=1)
        # The mean of the picture times the cells is the map's total.
        assert small.picture.mean() * 32 * 32 == pytest.approx(release.total, rel=1e-4)
    second = compute_small(SmallJob(data, made[:2], 1, Look("difference", points=False), first))
    assert all(a is b for a, b in zip(first.thumbnails, second.thumbnails, strict=True))
    assert not np.array_equal(first.pictures[0], second.pictures[0])


# Sweeps.


def results(page):
    """Curves, candlesticks and ranking; empty axes say nothing."""
    return next(each for each in page.sweep.view if "Ranking" in press.text(each))


def test_a_sweep_ends_in_curves_sticks_ranking_and_a_file(page) -> None:
    assert not results(page).visible
    press.press(page, "Start the sweep")
    assert page.sweep.sweep.phase == "finished"
    # Three mechanisms (B is among them), seven epsilons, two repetitions.
    assert page.sweep.sweep.done == 3 * 7 * 2
    assert results(page).visible
    assert {curve.name for curve in page.sweep.findings.curves} == {"UG", "HTF", "Mosaic"}
    assert "lowest" in press.text(page.sweep)
    table = pd.read_csv(io.BytesIO(press.download(page, "Save the results")))
    assert len(table.task.unique()) == 42
    assert set(table.workload) == {"random", "sq2", "sq6", "sq10", "drawn"}
    # Another metric or workload draws nothing.
    draws: list = []
    page.sweep.sweep.start = draws.append
    for metric in ("mae", "mre20", "mreRho median"):
        page.state.put(metric=metric)
        assert page.sweep.findings.question.metric == metric
        assert len(page.sweep.findings.curves) == 3
    page.state.put(workload="drawn", at=1.0)
    assert len(page.sweep.findings.ranks) == 3
    assert not draws
    # Of boxes that were moved there are no results yet.
    drag(page.stage.maps.views[0].figure, (-2000.0, -2000.0, 2000.0, 1500.0))
    assert not page.sweep.findings.curves
    assert not results(page).visible


def test_a_sweep_draws_mosaic_for_boxes_of_every_size(page) -> None:
    page.state.put(chosen=["mosaic", "ug"], with_sides=False, seeds=2)
    press.put(page, "Mosaic made for regions, blocks and single cells, too", True)
    made = {each.name: each.mechanism for each in series_of(page.state)}
    assert {name: each.focus for name, each in made.items() if name != "UG"} == {
        "Mosaic": 0.2,
        "Mosaic: regions": 0.0,
        "Mosaic: blocks": 0.5,
        "Mosaic: single cells": 1.0,
    }
    styles = [each.style for each in series_of(page.state)]
    assert len({(each.colour, each.marker, each.dash) for each in styles}) == 5
    again = Scenario(page="compare", sweep=Sweep(named=True, sides=False))
    assert Scenario.from_yaml(again.to_yaml().encode()) == again
    state = Compare("madeup", scenario=again, side=256).state
    assert (state.with_named, state.with_sides) == (True, False)


def test_a_sweep_asks_polygons_too(page) -> None:
    """The curves of a triangle, and its errors are those that the table of answers says."""
    page.state.put(workload="drawn", chosen=["ug"], with_sides=False, seeds=2, metric="mae")
    while len(page.rectangles):
        page.rectangles.remove(0)
    page.rectangles.add_shape(shapely.Polygon([(-900.0, -900.0), (900.0, -900.0), (0.0, 900.0)]))
    page.boxes_changed()
    press.press(page, "Start the sweep")
    (curve,) = page.sweep.findings.curves
    asked = page.rectangles.queries
    drawn = [UG(epsilon=curve.x[0]).release(MATRIX, rng=seed) for seed in (0, 1)]
    true = exact(MATRIX, asked)[0]
    wrong = [abs(each.answer(asked.shapes[0]).value[0] - true) for each in drawn]
    assert curve.middle[0] == pytest.approx(np.mean(wrong), rel=1e-9)


def test_what_no_browser_sends_leaves_a_choice_that_exists(page) -> None:
    boxes = press.find(page, "Mechanisms in the sweep")
    for sent in (5, None, ["Oracle"], "HTF", [["HTF"]], [None]):
        press.send(boxes, value=sent)
        # Names that do not exist are dropped; what is no list at all is refused.
        wanted = [] if isinstance(sent, list | str) else ["ug", "htf"]
        assert boxes.value == page.state.chosen == wanted
        assert page.message.sentence or isinstance(sent, list | str)
