"""Presentation: the truth is hidden until it is asked for, and everything comes back at the end."""

import re

import numpy as np
import panel as pn
import pytest

from explorer.app import Compare, Country, Explore, Federated, Trips
from explorer.app.kit.html import EXACT
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
    assert exact <= {*page.table.widget.hidden_columns}
    assert "private" not in page.table.widget.hidden_columns
    # Sentences and figures that quote the truth go with the style that the browser sets.
    for pane in (page.readout.summary, page.readout.strip, page.explain.holder):
        assert EXACT in pane.stylesheets
    page.pressed("t", False)
    assert shown(page) == [True, True]
    assert all(each in tags(page) for each in true)
    assert not exact & {*page.table.widget.hidden_columns}
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
    hidden = {"true", "error of A %", "error of B %", "nearer"}
    assert hidden <= {*page.table.widget.hidden_columns}


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
    assert EXACT in page.readout.about.stylesheets
    page.pressed("t", False)
    assert "@true" in hover.tooltips


@pytest.mark.parametrize("page", [Explore, Trips, Federated])
def test_sentences_that_hold_the_map_against_the_truth_are_hidden_with_it(page) -> None:
    shown = page()
    parts = [each for each in press.parts(shown) if isinstance(each, pn.pane.HTML)]
    quoting = [
        each for each in parts if each.visible and re.search(r"\boff by\b", str(each.object))
    ]
    assert quoting
    for each in quoting:
        outside = re.sub(r'<span class="exact">.*?</span>', "", each.object)
        hidden = EXACT in each.stylesheets or each in press.parts(shown.explain.holder)
        assert hidden or "off by" not in outside
