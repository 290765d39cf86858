"""Presentation: the truth is hidden until it is asked for, and everything comes back at the end."""

import re

import numpy as np
import panel as pn
import pytest

from explorer.app import Compare, Country, Explore, Federated, Trips
from explorer.grid.grid import Grid
from explorer.points.matrix import FrequencyMatrix
from tests.app import press


@pytest.fixture
def matrix():
    grid = Grid.around(2.35, 48.85, 8000, shape=64, name="Test town")
    return FrequencyMatrix.from_array(np.random.default_rng(9).poisson(9, (64, 64)), grid)


def tags(page) -> str:
    return " ".join(
        text for boxes in page.maps.boxes for tags in boxes.tags for text in tags.data["text"]
    )


def texts(page) -> str:
    """All that is written on a page."""
    return " ".join(
        str(each.object) for each in press.parts(page) if isinstance(each, pn.pane.HTML)
    )


def shown(page) -> list[bool]:
    return [card.visible for card in page.maps.frame[0]]


def test_no_true_number_is_on_the_screen_before_it_is_asked_for(matrix) -> None:
    page = Explore(matrix)
    true = [f"{value:,.0f}" for value in page.answers.true]
    assert all(each in tags(page) for each in true)
    page.maps.draft(0, (0.0, 0.0, 900.0, 900.0), [("4,711", "green"), ("4,700  -0.2 %", "blue")])
    page.pressed("p", False)
    assert shown(page) == [False, True]
    assert not any(each in tags(page) for each in (*true, "4,711"))
    assert "%" not in tags(page)
    exact = {"true", "difference", "noise / uneven areas", "error %"}
    assert not exact & {*page.table.widget.value.columns}
    assert "private" in page.table.widget.value.columns
    assert not any(each in texts(page) for each in true)
    assert not len(page.maps.left.image.data["image"])
    page.pressed("t", False)
    assert shown(page) == [True, True]
    assert all(each in tags(page) for each in true)
    assert exact <= {*page.table.widget.value.columns}
    assert len(page.maps.left.image.data["image"])
    page.pressed("t", False)
    assert shown(page) == [False, True]


def test_the_end_brings_everything_back(matrix) -> None:
    page = Explore(matrix, palette="magma")
    page.tools.shows.value = "swipe"
    before = tags(page)
    page.pressed("p", False)
    assert page.state.palette == "paper"
    page.pressed("p", False)
    assert page.state.palette == "magma"
    assert page.tools.shows.value == "swipe"
    assert tags(page) == before
    # By itself the other key does nothing: who does not present has the truth on the screen.
    page.pressed("t", False)
    assert tags(page) == before


def test_boxes_that_are_drawn_meanwhile_say_nothing_true(matrix) -> None:
    page = Explore(matrix)
    page.pressed("p", False)
    page.drawn((-1000.0, -1000.0, 500.0, 500.0))
    assert tags(page).count("Q3") == 2
    assert f"{page.answers.true['Q3']:,.0f}" not in tags(page)
    assert "%" not in tags(page)


def test_on_compare_both_maps_stay_and_nobody_is_nearer(matrix) -> None:
    page = Compare(matrix)
    page.pressed("p", False)
    assert shown(page) == [True, True]
    assert "%" not in tags(page)
    page.state.put(third="truth")
    page.pressed("p", False)
    assert shown(page) == [True, True, True]
    page.pressed("p", False)
    assert shown(page) == [True, True, False]
    exact = {"true", "error of A %", "error of B %", "nearer"}
    assert not exact & {*page.table.widget.value.columns}


@pytest.mark.parametrize(
    ("page", "choice", "exact", "private"),
    [
        (Explore, "right", "difference", "private"),
        (Explore, "colour", "error", "density"),
        (Compare, "right", "difference", "private"),
        (Federated, "right", "difference", "private"),
        (Trips, "shows", "true", "private"),
        (Trips, "shows", "difference", "private"),
        (Country, "shows", "true", "private"),
    ],
)
def test_maps_that_are_painted_with_the_truth_are_hidden_with_it(
    page, choice, exact, private
) -> None:
    shown = page(**{choice: exact})
    shown.pressed("p", False)
    assert getattr(shown.state, choice) == private
    shown.pressed("t", False)
    assert getattr(shown.state, choice) == exact
    shown.pressed("t", False)
    assert getattr(shown.state, choice) == private
    # What is chosen meanwhile waits for them.
    shown.state.put(**{choice: exact})
    screen = shown.pair.a if page is Compare else shown.screen
    assert not screen.look.exact
    shown.pressed("p", False)
    assert getattr(shown.state, choice) == exact


def test_what_was_chosen_meanwhile_stays() -> None:
    page = Trips(shows="true")
    page.pressed("p", False)
    page.state.put(shows="difference")
    page.pressed("t", False)
    assert page.state.shows == "difference"


def test_a_country_says_nothing_true_at_the_pointer_either() -> None:
    page = Country()
    hover = page.maps.choropleth.hover
    assert "@true" in hover.tooltips
    page.pressed("p", False)
    assert "@true" not in hover.tooltips
    assert np.isnan(page.maps.choropleth.source.data["true"]).all()
    assert not {"true", "difference", "error %"} & {*page.readout.areas.widget.value.columns}
    page.pressed("t", False)
    assert "@true" in hover.tooltips
    assert np.isfinite(page.maps.choropleth.source.data["true"]).all()
    assert "true" in page.readout.areas.widget.value.columns


@pytest.mark.parametrize("page", [Explore, Trips, Federated, Compare, Country])
def test_nothing_is_said_of_how_far_the_map_is_off(page) -> None:
    shown, off = page(), re.compile(r"off by \d|\d in truth|, truly|nearer to the truth in")
    assert off.search(texts(shown))
    shown.pressed("p", False)
    assert not off.search(texts(shown))
    assert "exact counts: do not share" not in texts(shown)
    shown.pressed("t", False)
    assert off.search(texts(shown))


def test_a_panel_is_shown_with_the_exact_counts_alone(matrix) -> None:
    page = Explore(matrix)
    page.pressed("p", False)
    page.explain.choice.value = "Leaves"
    assert page.explain.open is None
    page.pressed("t", False)
    assert page.explain.open is not None
    page.pressed("t", False)
    assert page.explain.open is None
    assert page.maps.covered == frozenset()
