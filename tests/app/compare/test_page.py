"""The Compare page without a browser: what a notebook or a script gets."""

import io
import re

import numpy as np
import pandas as pd
import pytest
import shapely

from explorer import HTF, UG, Mosaic, exact
from explorer.app import Compare
from explorer.app.compare.kept import Kept
from explorer.app.compare.series import series_of
from explorer.app.compare.sweep_view import SweepView
from explorer.app.kit.labels import CURATOR, PREVIEW
from explorer.errors import InputError
from explorer.grid.grid import Grid
from explorer.points.matrix import FrequencyMatrix
from explorer.scenario import Scenario, Sweep
from tests.app import press
from tests.app.acts import Browser, control, drag, words


@pytest.fixture(scope="module")
def matrix():
    grid = Grid.around(2.35, 48.85, 8000, shape=32, name="Test <town>")
    return FrequencyMatrix.from_array(np.random.default_rng(9).poisson(9, (32, 32)), grid)


@pytest.fixture(autouse=True)
def own_results(monkeypatch) -> None:
    """Results of other tests must not count."""
    monkeypatch.setattr(SweepView.__init__, "__defaults__", (Kept(),))


@pytest.fixture
def page(matrix):
    return Compare(matrix, epsilon=0.5, chosen=["ug", "htf"], seeds=2)


def results(page):
    """Curves, candlesticks and ranking; empty axes say nothing."""
    return next(each for each in page.sweep.view if "Ranking" in press.text(each))


def test_the_table_has_the_answers_of_both_for_the_same_noise(page, matrix) -> None:
    shown, boxes = page.table.widget.value, page.rectangles.boxes
    true = exact(matrix, boxes)
    a = HTF(epsilon=0.5).release(matrix, rng=page.state.seed).answer(boxes).value
    b = Mosaic(epsilon=0.5).release(matrix, rng=page.state.seed).answer(boxes).value
    np.testing.assert_array_equal(shown["true"], np.round(true))
    np.testing.assert_array_equal(shown["A"], np.round(a))
    np.testing.assert_array_equal(shown["B"], np.round(b))
    np.testing.assert_allclose(shown["error of A %"], 100 * (a - true) / true, atol=6e-4)
    nearer = ["A" if x < y else "B" for x, y in zip(abs(a - true), abs(b - true), strict=True)]
    assert list(shown["nearer"]) == nearer


def test_it_says_that_it_shows_exact_counts_and_previews(page) -> None:
    said = words(page.body)
    assert said.count(PREVIEW) == 2
    assert "A: HTF" in said
    assert "B: Mosaic" in said
    assert CURATOR.capitalize() in said


def test_both_follow_epsilon_and_each_keeps_its_settings(page) -> None:
    page.state.put(epsilon=2.0)
    page.state.b.set_parameter("inside", "uniform")
    page.state.put(mechanism="ug")
    assert page.pair.a.release.mechanism == "ug"
    assert {page.pair.a.release.epsilon, page.pair.b.release.epsilon} == {2.0}
    assert page.pair.b.release.inside == "uniform"
    page.state.b.put(mechanism="htf")
    assert page.pair.b.title == "HTF"


def test_swapping_takes_the_settings_along(matrix) -> None:
    page = Compare(matrix, a=HTF(T=5, epsilon=0.3), b="ag")
    assert page.state.epsilon == page.state.b.epsilon == 0.3
    before = page.pair
    press.press(page, "Swap A and B")
    assert page.state.mechanism == "ag"
    assert page.state.b.instance().T == 5
    assert page.pair.b.release.n_leaves == before.a.release.n_leaves
    assert "B: HTF" in press.text(page)


def test_differences_change_both_maps_and_their_bars(page) -> None:
    counts = [view.image.data["image"][0] for view in page.stage.maps.views]
    page.state.put(right="difference")
    differences = [view.image.data["image"][0] for view in page.stage.maps.views]
    for old, new in zip(counts, differences, strict=True):
        assert not np.array_equal(old, new)
    assert all("too few" in bar.object for bar in page.stage.maps.bars.panes)
    assert page.stage.maps.views[0].mapper.palette == page.stage.small.views[0].mapper.palette


def test_the_small_maps_are_the_four_epsilons_of_both(page, matrix) -> None:
    captions = re.findall("epsilon .*? leaf|epsilon .*? leaves", words(page.stage.small_view))
    for side, kind in enumerate((HTF, Mosaic)):
        for i, epsilon in enumerate((0.01, 0.1, 1.0, 10.0)):
            leaves = kind(epsilon=epsilon).release(matrix, rng=page.state.seed).n_leaves
            assert captions[4 * side + i].startswith(f"epsilon {epsilon:g}</b>: {leaves:,} lea")


def test_a_sweep_ends_in_curves_sticks_ranking_and_a_file(page) -> None:
    assert not results(page).visible
    press.press(page, "Start the sweep")
    assert page.sweep.sweep.phase == "finished"
    # Three mechanisms (B is among them), seven epsilons, two repetitions.
    assert page.sweep.sweep.done == 3 * 7 * 2
    found = page.sweep.findings
    assert results(page).visible
    assert {curve.name for curve in found.curves} == {"UG", "HTF", "Mosaic"}
    assert found.seeds == 2
    assert "lowest" in press.text(page.sweep)
    assert page.sweep.curves.figure.html_attributes["aria-label"].startswith("Mean relative")
    table = pd.read_csv(io.BytesIO(press.download(page, "Save the results")))
    assert len(table.task.unique()) == 42
    assert set(table.workload) == {"random", "sq2", "sq6", "sq10", "drawn"}


def test_only_what_is_ticked_is_drawn(page) -> None:
    page.state.put(chosen=["htf"])
    press.put(page, "A (HTF) and B (Mosaic) as they are set", False)
    press.press(page, "Start the sweep")
    assert page.sweep.sweep.done == 7 * 2
    assert {curve.name for curve in page.sweep.findings.curves} == {"HTF"}
    page.state.put(chosen=[])
    press.press(page, "Start the sweep")
    assert "No mechanism is in the sweep" in page.message.sentence


def test_a_scenario_leaves_a_and_b_out_of_its_sweep() -> None:
    one = Scenario(page="compare", sweep=Sweep(mechanisms=("htf",), sides=False))
    again = Scenario.from_yaml(one.to_yaml().encode())
    assert again == one
    assert Compare("madeup", scenario=again, side=256).state.with_sides is False


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
    press.press(page, "Start the sweep")
    assert page.sweep.sweep.done == 7 * 2 * 5
    assert {curve.name for curve in page.sweep.findings.curves} == set(made)
    again = Scenario(page="compare", sweep=Sweep(named=True))
    assert Scenario.from_yaml(again.to_yaml().encode()) == again
    assert Compare("madeup", scenario=again, side=256).state.with_named is True


def test_results_of_an_earlier_sweep_are_said_to_be_some(page) -> None:
    assert "No sweep has been started" in press.text(page.sweep)
    page.sweep.start()
    again = SweepView(page.state, page._source, pytest.fail)
    again.refresh()
    assert "Results of an earlier sweep are shown" in press.text(again)
    assert "No sweep has been started" not in press.text(again)


def test_another_metric_or_workload_costs_nothing(page) -> None:
    page.sweep.start()
    draws = []
    page.sweep.sweep.start = draws.append
    for metric in ("mae", "mre20", "mreRho median"):
        page.state.put(metric=metric)
        assert page.sweep.findings.question.metric == metric
        assert len(page.sweep.findings.curves) == 3
    page.state.put(workload="drawn", at=1.0)
    assert len(page.sweep.findings.ranks) == 3
    assert not draws


def test_moved_boxes_have_no_results_until_they_are_asked(page) -> None:
    page.sweep.start()
    page.state.put(workload="drawn")
    assert page.sweep.findings.curves
    drag(page.stage.maps.views[0].figure, (-2000.0, -2000.0, 2000.0, 1500.0))
    assert not page.sweep.findings.curves
    assert not results(page).visible
    page.sweep.start()
    assert len(page.sweep.findings.curves) == 3


def test_without_boxes_there_is_nothing_to_ask_about(page) -> None:
    while len(page.rectangles):
        page.rectangles.select([0])
        control(page.body, "Delete box").clicks += 1
    assert "No box has been drawn" in words(page.body)
    page.state.put(workload="drawn")
    page.sweep.start()
    assert "Draw a box on the map first" in words(page.message.view)
    assert page.sweep.sweep.phase == "idle"


def test_a_sweep_asks_polygons_too(page) -> None:
    """The curves of a triangle, and its errors are those that the table of answers says."""
    page.state.put(workload="drawn", chosen=["ug"], with_sides=False, seeds=2)
    while len(page.rectangles):
        page.rectangles.remove(0)
    page.rectangles.add_shape(shapely.Polygon([(-900.0, -900.0), (900.0, -900.0), (0.0, 900.0)]))
    page.boxes_changed()
    press.press(page, "Start the sweep")
    (curve,) = page.sweep.findings.curves
    assert "left out" not in press.text(page.sweep)
    matrix, asked = page.parts.data.matrix, page.rectangles.queries
    page.state.put(metric="mae")
    (curve,) = page.sweep.findings.curves
    true = exact(matrix, asked)[0]
    drawn = [UG(epsilon=curve.x[0]).release(matrix, rng=seed) for seed in (0, 1)]
    wrong = [abs(each.answer(asked.shapes[0]).value[0] - true) for each in drawn]
    assert curve.middle[0] == pytest.approx(np.mean(wrong), rel=1e-9)
    # Another polygon is another question.
    page.rectangles.add_shape(shapely.Polygon([(-900.0, -900.0), (900.0, -900.0), (900.0, 900.0)]))
    page.boxes_changed()
    assert not page.sweep.findings.curves


@pytest.mark.parametrize("shape", [(1, 1), (1, 40), (2, 3)])
def test_tiny_matrices_have_a_page(shape) -> None:
    page = Compare(FrequencyMatrix.from_array(np.full(shape, 5)), epsilon=1.0)
    assert page.pair is not None
    assert page.page() is not None


def test_a_city_without_points_has_a_page_and_a_sweep() -> None:
    nobody = FrequencyMatrix.from_array(np.zeros((16, 16), int))
    page = Compare(nobody, right="difference", chosen=["ug", "uniform"], seeds=2)
    page.sweep.start()
    assert page.sweep.sweep.phase == "finished"


def test_an_unknown_city_or_choice_is_one_sentence(matrix) -> None:
    with pytest.raises(InputError, match="no city"):
        Compare("atlantis")
    with pytest.raises(InputError, match="Mechanism is"):
        Compare(matrix, b="oracle")
    with pytest.raises(InputError, match="Epsilon"):
        Compare(matrix, epsilon=-1)


@pytest.mark.parametrize("sent", [["Oracle"], "HTF", 5, None, [["HTF"]], [None]])
def test_what_no_browser_sends_leaves_a_choice_that_exists(page, sent) -> None:
    boxes = press.find(page, "Mechanisms in the sweep")
    press.send(boxes, value=sent)
    assert boxes.value == page.state.chosen
    # Names that do not exist are dropped; what is no list at all is refused.
    assert page.state.chosen == ([] if isinstance(sent, list | str) else ["ug", "htf"])
    assert page.message.view.visible == (not isinstance(sent, list | str))


def test_strings_of_a_file_reach_the_page_made_safe(page) -> None:
    drag(page.stage.maps.views[0].figure, (0.0, 0.0, 900.0, 900.0))
    Browser(page.table.widget).edit(2, "box", "<img src=x onerror=alert(1)>")
    shown = [words(page.body), *page.table.widget.value["box"]]
    assert "img" in shown[-1]
    shown += [page.stage.maps.views[0].figure.html_attributes["aria-label"]]
    assert not any("<img" in text or "<town" in text for text in shown)


def test_it_shows_itself_in_a_notebook(page) -> None:
    assert list(page.__panel__()[0][0]) == [page.drawer.view, page.scenarios.view]
