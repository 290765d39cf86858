"""Scenarios of trips: there and back, refused in a sentence, and as a script that runs."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given, settings

from explorer import exact
from explorer.app import Trips
from explorer.app.state.trips import TripsState
from explorer.cities import trip_sets
from explorer.errors import InputError
from explorer.grid.grid import Grid
from explorer.points.truth import of_all_records
from explorer.scenario import (
    Box,
    Choice,
    Row,
    Scenario,
    code,
    example_boxes,
    presets,
    row_of,
    to_python,
)
from tests.scenario.frame import as_the_page_begins, cells_of, ids, refuses, run, there_and_back
from tests.scenarios import trip_scenarios

ROW = Row([(0, 0, 1000, 1000.5), None], "From here")


@settings(max_examples=40)
@given(trip_scenarios())
def test_it_comes_back_from_yaml_link_and_plain_values(one) -> None:
    there_and_back(one)


def test_what_is_left_out_is_that_of_the_page() -> None:
    state = TripsState()
    assert as_the_page_begins("trips", state).places == state.places


def test_a_file_says_places_rows_and_looks() -> None:
    one = Scenario(page="trips", boxes=[ROW], look={"spread": "uniform"}, seed=None)
    assert (
        one.to_yaml()
        == """\
scenario: 1
page: trips
city: madeup
places: o,d
side: 64
mechanisms:
- gravity
epsilon: 1.0
release: true
boxes:
- name: From here
  edges:
  - [0, 0, 1000, 1000.5]
  - anywhere
look:
  spread: uniform
"""
    )


def test_people_may_write_rows_as_they_are_used_to() -> None:
    text = """
    scenario: 1
    page: trips
    places: o,s1,d
    boxes:
      - [[0, 0, 9, 9], anywhere, [1, 1, 2, 2]]
      - {name: To, edges: [anywhere, null, [0, 0, 1_000, 9]]}
    """
    first, second = Scenario.from_yaml(text).boxes
    assert first == Row([Box(0, 0, 9, 9), None, Box(1, 1, 2, 2)])
    assert second == Row([None, None, (0, 0, 1000, 9)], "To")


def test_rows_are_those_of_the_table() -> None:
    edges = np.array([[0, 0, 1000, 1000.5], [math.nan] * 4])
    assert row_of(edges, "From here") == ROW
    np.testing.assert_array_equal(ROW.edges, edges)
    assert row_of(edges[0], "Q1") == Box(0, 0, 1000, 1000.5, "Q1")


def test_without_rows_it_has_the_two_examples_of_the_page() -> None:
    grids = [Grid.cells(100)] * 3
    district, fringe = (40, 45, 57.5, 57.5), (62.5, 60, 72.5, 70)
    rows = (Row([district, None, district], "Q1"), Row([district, None, fringe], "Q2"))
    assert example_boxes(*grids) == rows
    assert Scenario(page="trips", places="o,s1,d").boxes_on(*grids) == rows
    assert Scenario(page="trips", boxes=[]).boxes_on(*grids[:2]) == ()


BAD = [
    ({"places": "o"}, "The places are 'o': give two or more such as o,d or o,s1,d"),
    ({"places": "o,o"}, "The places are 'o,o': name each of them once"),
    ({"places": ["o", "d"]}, "The places are ['o', 'd']: give two or more"),
    ({"places": None}, "The places are None"),
    ({"page": "explore", "places": "o,d"}, "Only a scenario of the page trips has places"),
    ({"side": 2048}, "grid side of a scenario is 2048: choose one of 16, 32"),
    ({"side": None}, "The side of the scenario is empty"),
    ({"epsilon": None}, "The epsilon of the scenario is empty"),
    ({"page": "explore", "side": 64}, "grid side of a scenario is 64: choose one of 256"),
    ({"mechanisms": ["htf"]}, "HTF is not for trips: choose one of identity, uniform, quadtree"),
    ({"mechanisms": ["mean"]}, "mechanism of a scenario is 'mean': choose one of identity"),
    ({"page": "explore", "mechanisms": ["gravity"]}, "Gravity is not for maps: choose one of"),
    ({"page": "compare", "mechanisms": ["htf", "eug"]}, "EUG is not for maps"),
    ({"mechanisms": ["gravity", "eug"]}, "page trips has one mechanism"),
    ({"lesson": "averaging"}, "Only a scenario of the page learn has a lesson"),
    ({"sweep": {"seeds": 3}}, "page trips has no error curves: leave the sweep out"),
    ({"look": {"right": "difference"}}, "look of a scenario has an entry 'right' that is unknown"),
    ({"look": {"spread": "even"}}, "look 'spread' of a scenario is 'even': choose one of maps"),
    ({"look": {"partition": 1}}, "look 'partition' of a scenario is"),
    ({"look": None}, "The look of the scenario is empty"),
    ({"page": "explore", "look": {"spread": "maps"}}, "entry 'spread' that is unknown"),
    ({"boxes": [[0, 0, 1, 1]]}, "has a box for each of two or more places"),
    ({"boxes": [[[0, 0, 1, 1]]]}, "has a box for each of two or more places"),
    ({"boxes": [[[0, 0, 1], "anywhere"]]}, "has a box for each of two or more places"),
    ({"boxes": [[[0, 0, 1, 1], "here"]]}, "has a box for each of two or more places"),
    ({"boxes": [["anywhere", "anywhere"]]}, "needs a box for one of its places at least"),
    ({"boxes": [[[0, 0, 0, 1], "anywhere"]]}, "has no area"),
    ({"boxes": [[[0, 0, math.nan, 1], "anywhere"]]}, "eastern edge of a box of a scenario is nan"),
    ({"boxes": [{"edges": [[0, 0, 1, 1]] * 2, "to": 1}]}, "row of a scenario has an entry 'to'"),
    ({"boxes": [{"name": "x" * 41, "edges": [[0, 0, 1, 1]] * 2}]}, "longer than 40 characters"),
    (
        {"boxes": [[[0, 0, 1, 1], "anywhere"], [[0, 0, 1, 1]] * 3]},
        "Row 2 of the scenario has 3 boxes and its trips have 2 places, o,d",
    ),
    ({"places": "o,s1,d", "boxes": [[[0, 0, 1, 1]] * 2]}, "has 2 boxes and its trips have 3"),
    ({"page": "explore", "boxes": [[[0, 0, 1, 1]] * 2]}, "A box of the scenario has four edges"),
    ({"boxes": [[[0, 0, 1, 1]] * 2] * 201}, "has 201 boxes: give at most 200"),
]


@pytest.mark.parametrize(("change", "said"), BAD, ids=ids(BAD))
def test_what_does_not_belong_together_is_one_sentence(change, said) -> None:
    refuses("trips", change, said)


def test_two_presets_are_of_trips() -> None:
    found = {key: each for key, each in presets().items() if each.page == "trips"}
    assert list(found) == ["08-from-here-where-to", "09-even-inside-leaves"]
    first, second = found.values()
    grids = trip_sets.find("madeup").domain(first.places.split(","), first.side).grids
    for row in first.boxes_on(*grids):
        for box, grid in zip(row.boxes, grids, strict=True):
            x0, y0, x1, y1 = grid.bounds
            assert box is None or (
                x0 <= box.west < box.east <= x1 and y0 <= box.south < box.north <= y1
            )
    assert second.look.spread == "uniform"


def test_the_preset_of_even_leaves_shows_what_it_says() -> None:
    names = run(to_python(presets()["09-even-inside-leaves"]))
    even, true = names["answers"].value, names["true"]
    by_maps = names["release"].spread("maps").answer(names["boxes"]).value
    assert (np.abs(by_maps - true) < np.abs(even - true)).all()


# Scripts and notebooks.


@pytest.fixture(scope="module")
def page() -> Trips:
    return Trips(side=16, mechanism="uniform")


SCREENS = {
    "gravity": {"mechanisms": [{"gravity": {"zones": 4, "inference": "leaves"}}]},
    "even": {"look": {"spread": "uniform"}, "epsilon": 0.2, "seed": 9},
    "examples": {"mechanisms": ["eug"], "boxes": None, "look": {"spread": "uniform"}},
    "people, a stop": {
        "places": "o,s1,d",
        "mechanisms": ["daf-entropy"],
        "contribution_bound": 2,
        "boxes": [[None, (-900, -900, 1200.5, 800), None]],
    },
}


@pytest.mark.parametrize("name", SCREENS)
def test_the_script_answers_as_the_page_does(name, page, capsys) -> None:
    boxes = [ROW, [(-3000, -2000, 250.125, 999), (-1500, 0, 4000, 7000)]]
    page.scenarios.open(Scenario(page="trips", side=16, **{"boxes": boxes, **SCREENS[name]}))
    shown = page.screen.answers
    names = run(to_python(page.scenarios.present()))
    matrix, persons = names["matrix"], names["matrix"].unit != "point"
    every = of_all_records(matrix)
    whole = 100.0 * every.lattice / every.total if persons else 1.0
    assert (names["answers"].value * shown.scale).tolist() == shown.private.tolist()
    assert (names["answers"].sd * shown.scale).tolist() == shown.sd.tolist()
    assert (names["true"] * whole).tolist() == shown.true.tolist()
    assert names["matrix"].key == page.parts.data.matrix.key
    printed = capsys.readouterr().out.splitlines()
    assert "Preview" in printed[0]
    digits = ",.2f" if persons else ",.1f"
    first = f"{page.rectangles.names[0]}: private {format(shown.private[0], digits)} "
    assert printed[1].startswith(first)


def test_a_screen_without_rows_has_a_script_too() -> None:
    one = Scenario(page="trips", side=16, mechanisms=["uniform"], boxes=[])
    names = run(to_python(one))
    assert len(names["answers"].value) == len(names["true"]) == 0


def test_the_script_says_what_is_counted_and_how_a_release_is_drawn() -> None:
    text = to_python(Scenario(page="trips", contribution_bound=5, seed=None, boxes=[ROW]))
    assert text.startswith("# Gravity on Port Amber, made-up trips with epsilon 1\n")
    assert "contribution_bound=5" in text
    assert "release(matrix, ledger=Ledger())" in text
    assert "rng" not in text
    with pytest.raises(InputError, match="There are no trips 'atlantis' here"):
        to_python(Scenario(page="trips", city="atlantis"))


def test_the_notebook_ends_with_the_page() -> None:
    one = Scenario(page="trips", side=16, mechanisms=["uniform"], boxes=[ROW], title="A \\ title")
    cells, lines = cells_of(one)
    names = run("\n".join(cells))
    np.testing.assert_array_equal(names["true"], exact(names["matrix"], [ROW.edges]))
    assert lines[0] == "from explorer.app import Trips"
    assert lines[-1] == "Trips(scenario=scenario)"
    assert run("\n".join(lines[1:-1]))["scenario"] == one
    assert code.releases(one) == ["release"]


def test_every_mechanism_of_trips_can_be_chosen_with_each_of_its_defaults() -> None:
    for key, kind in TripsState.offered().items():
        assert Choice.read(kind()) == Choice(key)
