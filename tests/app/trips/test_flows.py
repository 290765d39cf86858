"""The panels below the maps of trips: flows between zones, and all mechanisms compared."""

import csv
import io

import numpy as np
import param
import pytest

from explorer import TripDomain, TripMatrix
from explorer.app import Trips
from explorer.app.trips.flow_work import FlowChoice, FlowJob, find_flows
from explorer.errors import InputError
from explorer.grid.grid import Grid
from explorer.releases.flows import flows
from explorer.trips.found import exact_flows
from explorer.views.flows import SURE, UNSURE
from tests.app import press
from tests.app.acts import words

RNG = np.random.default_rng(5)
GRID = Grid.around(2.35, 48.85, 8000, shape=16)
CELLS = np.clip(np.floor(RNG.normal([4, 4, 11, 11], 1.5, (6000, 4))), 0, 15).astype(int)
MATRIX = TripMatrix(CELLS, np.ones(6000, int), TripDomain([GRID, GRID]))


@pytest.fixture(autouse=True)
def few_runs(monkeypatch) -> None:
    """Intervals from two runs: how good they are is tested where they are simulated."""
    for module in ("curator.error_bars", "trips.flows"):
        monkeypatch.setattr(f"explorer.app.{module}.RUNS", 2)
    monkeypatch.setattr("explorer.app.trips.comparison.RUNS", 1)


@pytest.fixture
def page() -> Trips:
    page = Trips(MATRIX)
    page.explain.choice.value = "Flows"
    return page


def test_the_largest_flow_is_said_drawn_and_in_the_table(page) -> None:
    panel = page.explain.open
    every = flows(page.screen.release, 8)
    first = every.largest(1, loops=False)
    start = every.origins.labels[first.origin[0]]
    stop = every.destinations.labels[first.destination[0]]
    assert f"from zone {start} to zone {stop}: {first.value[0]:,.0f} ±" in words(panel.view)
    true = exact_flows(MATRIX, every.origins, every.destinations, (0, 1))
    assert f"in truth {true[first.origin[0], first.destination[0]]:,.0f}" in words(panel.view)
    arcs = panel.map.arcs.data
    assert arcs["count"][-1] == first.value[0], "the largest lies on top"
    assert max(arcs["width"]) == arcs["width"][-1]


def test_arcs_run_from_zone_to_zone_and_are_grey_where_there_may_be_nobody(page) -> None:
    found = page.explain.open.found
    drawn = found.every.largest(50, loops=False)
    drawn = drawn.select(drawn.value > 0)
    arcs = found.picture.arcs
    middles = found.every.origins.centres
    curves = zip(arcs["xs"], arcs["ys"], strict=True)
    ends = np.array([[xs[0], ys[0], xs[-1], ys[-1]] for xs, ys in curves])
    expected = np.hstack([middles[drawn.origin], middles[drawn.destination]])[::-1]
    np.testing.assert_allclose(ends, expected)
    colours = np.where(drawn.holds_zero, UNSURE, SURE)[::-1]
    assert arcs["colour"] == colours.tolist()


def test_a_zone_that_is_clicked_shows_what_leaves_it(page) -> None:
    panel = page.explain.open
    x, y = panel.found.every.origins.centres[18]
    panel.tapped(x, y)
    assert (panel.found.choice.direction, panel.found.choice.zone) == ("outgoing", 18)
    assert set(panel.found.drawn.origin) <= {18}
    panel.tapped(float("nan"), "x")
    panel.tapped(1e9, 1e9)
    assert panel.found.choice.zone == 18
    press.put(panel, "Flows", "incoming")
    assert panel.found.choice.direction == "incoming"
    assert set(panel.found.drawn.destination) == {panel.found.choice.zone}


def test_the_matrix_holds_every_flow(page) -> None:
    panel = page.explain.open
    counts = panel.matrix.source.data["count"][0]
    np.testing.assert_allclose(counts, panel.found.every.matrix(), rtol=1e-6)
    assert counts.shape == (64, 64)


def test_simulated_intervals_take_the_place_of_those_of_the_noise(page) -> None:
    panel = page.explain.open
    assert panel.found.every.simulated
    assert "by simulation" in words(panel.view)


def test_zones_with_counts_of_their_own_are_a_setting_of_the_mechanism(page) -> None:
    panel = page.explain.open
    press.put(panel, "Zones of a place", 4)
    press.press(panel, "Give these zones counts of their own")
    assert page.state.parameter("zones") == 4
    assert page.screen.drawn.parameters["zones"] == 4
    press.press(panel, "Take these zones' own counts back")
    assert page.state.parameter("zones") is None


def test_flows_and_zones_are_saved_as_flow_maps_read_them(page) -> None:
    panel = page.explain.open
    assert not any(save.visible for save in panel.saves), "a preview is not handed out"
    with pytest.raises(param.Skip):
        panel.saves[0].callback()
    assert "A preview is not private" in page.message.sentence
    press.draw_release(page)
    table = list(csv.DictReader(io.StringIO(press.download(panel, "Save flows as CSV").decode())))
    assert list(table[0]) == ["origin", "dest", "count", "half_width"]
    assert len(table) == 4096
    zones = list(csv.DictReader(io.StringIO(press.download(panel, "Save zones as CSV").decode())))
    assert {row["origin"] for row in table} == {row["id"] for row in zones}


def test_against_the_truth_by_level(page) -> None:
    said = words(page.explain.open.view)
    assert "of these truly empty" in said
    assert "16 × 16" in said


def test_what_is_no_choice_is_refused(page) -> None:
    panel = page.explain.open
    before = panel.found
    for zones in (3, "8", None):
        with pytest.raises(InputError, match="number of zones"):
            panel._choose(zones=zones)
    for most in (1000, 1.5):
        with pytest.raises(InputError, match="number of arcs"):
            panel._number(most)
    assert panel.found is before


def test_no_zones_finer_than_the_grid_are_offered() -> None:
    page = Trips(TripMatrix.from_coordinates([[0, 0, 1, 1]] * 50, [4, 4]))
    page.explain.choice.value = "Flows"
    panel = page.explain.open
    assert list(panel.zones.options.values()) == [2, 4]
    assert len(panel.found.every) == 256
    assert page.message.sentence == ""


def test_zones_of_their_own_are_offered_where_they_count_and_fit() -> None:
    cells = np.hstack([CELLS, CELLS[:, :2]])
    page = Trips(TripMatrix(cells, np.ones(len(cells), int), TripDomain([GRID] * 3)))
    page.explain.choice.value = "Flows"
    panel = page.explain.open
    press.put(panel, "Zones of a place", 16)
    press.press(panel, "Give these zones counts of their own")
    assert "16,777,216 flows" in page.message.sentence
    assert page.state.parameter("zones") is None
    page.state.set_parameter("partition", "fixed boxes")
    page.settings_changed()
    assert not panel.own.visible


def test_into_one_begins_with_the_busiest_zone(page) -> None:
    panel = page.explain.open
    for zones in (4, 8):
        press.put(panel, "Zones of a place", zones)
        press.put(panel, "Flows", "incoming")
        assert panel.found.choice.zone == np.argmax(panel.found.every.totals("incoming"))


def test_three_places_have_three_pairs() -> None:
    cells = np.hstack([CELLS, CELLS[:, :2]])
    page = Trips(TripMatrix(cells, np.ones(len(cells), int), TripDomain([GRID] * 3)))
    page.explain.choice.value = "Flows"
    panel = page.explain.open
    assert list(panel.pair.options) == ["from … to", "from … via", "via … to"]
    press.put(panel, "From and to", (0, 1))
    found = find_flows(FlowJob(page.screen, FlowChoice(pair=(0, 1))))
    np.testing.assert_allclose(panel.found.every.value, found.every.value)


def test_all_mechanisms_are_compared_only_when_asked() -> None:
    page = Trips(MATRIX)
    page.explain.choice.value = "Compared"
    panel = page.explain.open
    assert panel.found is None
    press.press(panel, "Compare all mechanisms")
    rows = panel.found.rows
    assert {"Gravity", "DAF-Entropy", "EUG"} <= {row.title for row in rows}
    known = [row.overall for row in rows]
    assert known == sorted(known)
    assert f"over all kinds {rows[0].title} is off least" in words(panel.view)
    page.state.put(epsilon=0.3)
    assert "The settings have changed since" in words(panel.view)
