"""Runs of trips: answers to rows with gaps, and every run on all maps."""

import re

import numpy as np
import pytest

from explorer import exact
from explorer.app.curator.explain import OFF
from explorer.evaluate.repeats import one_run, repeats
from explorer.mechanisms import DAFEntropy, Gravity
from tests.app.acts import Browser, words
from tests.app.press import press, put
from tests.app.trips.town import page, pictures, same


def opened(**choices):
    found = page(**choices)
    found.explain.choice.value = "Runs"
    put(found, "Number of runs", 10)
    return found


def said(found) -> str:
    return words(found.explain.open.view)


@pytest.mark.parametrize("places", [2, 3])
def test_dots_are_the_answers_of_other_previews_to_rows_with_gaps(places) -> None:
    found = opened(places=places)
    Browser(found.table.widget).select([])
    press(found, "Draw previews")
    boxes, matrix = found.rectangles.boxes, found.screen.data.matrix
    assert np.isnan(boxes).any()
    answers = np.array(list(repeats(matrix, DAFEntropy(epsilon=1.0), boxes, 10)))
    assert re.findall("<h3>(.*?)</h3>", said(found)) == ["Q1", "Q2"]
    for i, figure in enumerate(found.explain.open.figures[:2]):
        np.testing.assert_allclose(figure.dots.data["answer"], answers[:, i])
        assert figure.line.data["x"] == [exact(matrix, boxes)[i]]
        assert figure.here.data["x"] == pytest.approx([found.screen.answers.private[i]])


def test_rows_are_known_again_by_their_boxes_and_their_gaps() -> None:
    found = opened()
    press(found, "Draw previews")
    found.rectangles.select([1])
    found.boxes_changed()
    assert re.findall("<h3>(.*?)</h3>", said(found)) == ["Q2"]
    assert "Not asked" not in said(found)
    # The same box on the first map, and one in place of the gap.
    found.rectangles.move(1, (0.0, 0.0, 2000.0, 2000.0), place=1)
    found.boxes_changed()
    assert "Not asked in these runs: Q2." in said(found)
    found.rectangles.clear(1, 1)
    found.boxes_changed()
    assert "Not asked" not in said(found)


def test_a_run_is_on_all_maps_and_the_maps_are_given_back() -> None:
    found = opened()
    press(found, "Draw previews")
    own = pictures(found)
    put(found, "Run on the map", 4)
    screen = found.screen
    release = one_run(screen.data.matrix, DAFEntropy(epsilon=1.0), 3)
    assert same(pictures(found), [each.bytes for each in screen.paint(release)[0]])
    assert not any(np.array_equal(a, b) for a, b in zip(pictures(found), own, strict=True))
    run = "Run 4 of 10: a preview with other random noise, not private"
    assert run in found.maps.below.object
    assert run in found.maps.views[1].figure.html_attributes["aria-label"]
    # A zoom or another row is a new screen: the run stays on it.
    found.state.put(shows="difference")
    assert run in found.maps.below.object
    found.state.put(shows="private")
    found.explain.choice.value = OFF
    assert same(pictures(found), own)
    assert "Run 4" not in found.maps.below.object


def test_runs_lie_inside_leaves_as_the_page_does() -> None:
    found = opened(mechanism="gravity")
    press(found, "Draw previews")
    found.state.put(spread="uniform")
    assert "old settings" in said(found)
    press(found, "Draw again")
    assert "old settings" not in said(found)
    boxes = found.rectangles.boxes
    matrix = found.screen.data.matrix
    even = np.array(list(repeats(matrix, Gravity(epsilon=1.0), boxes, 10, "uniform")))
    maps = np.array(list(repeats(matrix, Gravity(epsilon=1.0), boxes, 10)))
    np.testing.assert_allclose(found.explain.open.figures[0].dots.data["answer"], even[:, 0])
    assert not np.allclose(even, maps)
