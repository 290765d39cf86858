"""Flows between zones: sums of answers whatever the tree and the maps, their tables and files."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

from explorer import DAFEntropy, Gravity, Grid, InputError, Mosaic, Release, TripDomain
from explorer.releases.flows import Zones, flow_values, flows, zone_boxes
from explorer.trips.matrix import TripMatrix

SHAPES = ((9, 6), (5, 7))


def trips(shapes, records=4000, seed=2, grids=None) -> TripMatrix:
    rng = np.random.default_rng(seed)
    sides = [side for shape in shapes for side in shape]
    where = np.stack([rng.binomial(side - 1, 0.3, records) for side in sides], axis=1)
    if grids is None:
        return TripMatrix.from_coordinates(where, shapes)
    return TripMatrix(where, np.ones(records, dtype=int), TripDomain(grids))


@pytest.fixture(scope="module")
def release() -> Release:
    return Gravity(epsilon=1.0).release(trips(SHAPES), rng=1)


def asked_one_by_one(release, found, pair):
    """What the release answers to the box of every flow."""
    axes = len(release.domain.shape)
    boxes = zone_boxes(axes, release.domain.shape, found.origins, found.destinations, pair)
    return release.answer(release.domain.from_cells(boxes))


@pytest.mark.parametrize("zones", [1, 2, 3, 5])
def test_a_flow_is_what_its_box_is_answered(release, zones) -> None:
    for spread in ("maps", "uniform"):
        here = release.spread(spread)
        found = flows(here, zones)
        answers = asked_one_by_one(here, found, (0, 1))
        # Both add up the same leaves; the sums differ in their last bits.
        assert found.value == pytest.approx(answers.value, abs=1e-9 * release.total)
        assert found.half_width == pytest.approx(1.96 * answers.sd)
        assert found.value.sum() == pytest.approx(release.total)
        assert len(found) == zones**4
        assert not found.simulated
        assert "noise alone" in found.covers


@pytest.mark.parametrize("pair", [(0, 1), (0, -1), (1, 2), (2, 0)])
def test_of_three_places_two_are_chosen_whatever_the_third_is(pair) -> None:
    release = Gravity(epsilon=5.0).release(trips(((4, 4), (6, 5), (3, 8)), 2000), rng=1)
    found = flows(release, 3, pair)
    assert found.value == pytest.approx(
        asked_one_by_one(release, found, [place % 3 for place in pair]).value, abs=1e-9 * 2000
    )
    names = [release.domain.names[place] for place in pair]
    assert [found.origins.name, found.destinations.name] == names
    assert flow_values(release, 3, pair) == pytest.approx(found.matrix())


def test_places_of_one_row_are_not_divided_there() -> None:
    release = Gravity(epsilon=1).release(trips(((1, 12), (8, 1)), 3000), rng=4)
    found = flows(release, 4)
    assert (found.origins.rows, found.origins.columns, found.destinations.columns) == (1, 4, 1)
    answers = asked_one_by_one(release, found, (0, 1))
    assert found.value == pytest.approx(answers.value, abs=1e-9 * 3000)


def test_edges_of_zones_are_floors_and_zones_tile_the_place() -> None:
    zones = Zones.of("from", Grid.cells((9, 6)), 4)
    rows, columns = zones.edges
    assert (rows.tolist(), columns.tolist()) == ([0, 2, 4, 6, 9], [0, 1, 3, 4, 6])
    held = np.zeros((9, 6), dtype=int)
    for (r0, c0), (r1, c1) in zones.cells:
        held[r0:r1, c0:c1] += 1
    assert (held == 1).all()
    # x runs along columns: the second zone of the first row is columns 1 and 2, rows 0 and 1.
    assert zones.boxes[1].tolist() == [1, 0, 3, 2]
    assert zones.centres[1].tolist() == [2, 1]
    assert zones.at(2.5, 0.5) == 1
    assert [zones.at(*middle) for middle in zones.centres] == list(range(16))
    assert (zones.at(6, 9), zones.at(6.1, 0)) == (15, None)
    assert zones.lonlat is None


def test_the_largest_in_three_directions(release) -> None:
    found = flows(release, 2)
    top = found.largest(5)
    assert top.value.tolist() == sorted(found.value, reverse=True)[:5]
    matrix = found.matrix()
    coming, going = found.largest(9, "incoming", 2), found.largest(9, "outgoing", 2)
    assert coming.value.tolist() == sorted(matrix[:, 2], reverse=True)
    assert going.value.tolist() == sorted(matrix[2], reverse=True)
    assert set(coming.destination) == set(going.origin) == {2}
    assert found.totals("incoming") == pytest.approx(matrix.sum(axis=0))
    assert found.totals("outgoing") == pytest.approx(matrix.sum(axis=1))
    assert np.isnan(top.matrix()).sum() == 16 - 5


def test_loops_are_flows_inside_one_zone_of_one_grid(release) -> None:
    assert not flows(release, 2).loops.any()
    both = flows(Gravity(epsilon=1).release(trips(((8, 8), (8, 8))), rng=1), 2)
    assert both.loops.sum() == 4
    assert not both.largest(16, loops=False).loops.any()
    assert len(both.largest(16, loops=False)) == 12


def test_what_stands_above_the_noise_is_shown() -> None:
    release = Gravity(epsilon=0.1).release(trips(((8, 8), (8, 8))), rng=1)
    found = flows(release, 4)
    assert found.threshold == pytest.approx(30)
    assert found.shown.tolist() == (found.value >= 30).tolist()
    wider = found.with_half_width(found.value)
    assert wider.holds_zero.all()
    assert wider.simulated
    assert "simulation" in wider.covers
    assert not found.with_half_width(found.value / 2).holds_zero[found.value > 0].any()


def test_flow_maps_read_the_tables(tmp_path) -> None:
    grid = Grid.around(-122.42, 37.77, 8000, shape=8)
    release = Gravity(epsilon=1).release(trips(((8, 8), (8, 8)), grids=[grid, grid]), rng=1)
    found = flows(release, 4)
    paths = found.largest(10).to_csv(tmp_path / "trips.csv")
    assert [path.name for path in paths] == ["trips.csv", "trips-locations.csv"]
    rows, places = (pd.read_csv(path) for path in paths)
    assert rows.columns.tolist() == ["origin", "dest", "count", "half_width"]
    assert places.columns.tolist() == ["id", "name", "lat", "lon"]
    # One grid for both places: every zone once.
    assert len(places) == 16
    assert {*rows.origin, *rows.dest} <= {*places.id}
    largest = places.set_index("id").loc[[rows.origin[0], rows.dest[0]]]
    x, y = grid.from_lonlat(largest.lon, largest.lat)
    one, two = found.largest(1).origin[0], found.largest(1).destination[0]
    assert np.stack([x, y], 1) == pytest.approx(found.origins.centres[[one, two]], abs=0.5)
    assert rows["count"][0] == pytest.approx(found.value.max(), rel=1e-5)


def test_what_cannot_be_is_refused_in_a_sentence(release) -> None:
    one_place = Mosaic(epsilon=1).release(np.ones((8, 8), dtype=int), rng=1)
    for what, words in [
        (lambda: flows(one_place, 2), "of one"),
        (lambda: flows(release, 6), "choose at most 5"),
        (lambda: flows(release, 0), "1 or more"),
        (lambda: flows(release, 2.5), "whole number"),
        (lambda: flows(release, 2, (0, 0)), "two different ones"),
        (lambda: flows(release, 2, (0, 2)), "two different ones"),
        (lambda: flows(release, 2).largest(3, "sideways"), "incoming or outgoing"),
        (lambda: flows(release, 2).largest(0), "1 or more"),
        (lambda: flows(release, 2).largest(3, "incoming"), "0 to 3"),
        (lambda: flows(release, 2).largest(3, "outgoing", 4), "0 to 3"),
        (lambda: flows(release, 2).largest(3, zone=1), "leave it out"),
    ]:
        with pytest.raises(InputError, match=words):
            what()
    wide = DAFEntropy(epsilon=0.1).release(trips(((64, 64), (64, 64)), 200), rng=1)
    with pytest.raises(InputError, match="choose fewer zones"):
        flows(wide, 64)


def test_places_on_grids_of_their_own_have_locations_of_their_own(release, tmp_path) -> None:
    rows, places = (pd.read_csv(path) for path in flows(release, 2).to_csv(tmp_path / "a.csv"))
    assert len(places) == 8
    assert places.columns.tolist() == ["id", "name", "y", "x"]
    assert set(places.id[:4]) == set(rows.origin)
    assert set(places.id[4:]) == set(rows.dest)
