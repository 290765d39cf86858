"""What a release shows of the flows that are there, and what it shows that is not."""

import json

import numpy as np
import pytest

from explorer import Gravity, Grid, InputError, TripDomain, exact, read_trips
from explorer.releases.flows import Flows, flows, zone_boxes
from explorer.trips import found as finding
from explorer.trips.found import exact_flows, found
from explorer.trips.matrix import TripMatrix


def trips(seed=0, records=3000) -> TripMatrix:
    rng = np.random.default_rng(seed)
    return TripMatrix.from_coordinates(rng.binomial(8, 0.3, (records, 6)), [(9, 12)] * 3)


@pytest.mark.parametrize("pair", [(0, 1), (0, -1), (2, 1)])
def test_true_flows_are_what_the_boxes_hold(pair):
    matrix = trips()
    release = Gravity(epsilon=1).release(matrix, rng=1)
    private = flows(release, 4, pair)
    truth = exact_flows(matrix, private.origins, private.destinations, pair)
    places = [place % 3 for place in pair]
    boxes = zone_boxes(6, matrix.shape, private.origins, private.destinations, places)
    assert truth.ravel().tolist() == exact(matrix, matrix.domain.from_cells(boxes)).tolist()
    assert truth.sum() == matrix.total


def test_false_and_missed_flows_are_counted(monkeypatch):
    matrix = TripMatrix([[0, 0, 0, 0], [0, 0, 1, 1], [1, 0, 0, 0]], [100, 40, 5], trips2().domain)
    release = Gravity(epsilon=0.1).release(matrix, rng=1)
    true = flows(release, 2)
    # Released: 0->0 as it is, 0->3 lost, 1->1 made up. 30 stand above the noise.
    value = np.zeros((4, 4))
    value[0, 0], value[1, 1] = 90.0, 50.0
    shown = Flows(**{**vars(true), "value": value.ravel()})
    monkeypatch.setattr(finding, "flows", lambda *_: shown)
    row = found(matrix, release, levels=(2,)).iloc[0]
    assert row.to_dict() == {
        "zones": 2, "flows": 16, "shown": 2, "shown_empty": 1, "large": 2, "missed": 1,
        "top": 3, "top_found": 1,
    }  # fmt: skip


def trips2() -> TripMatrix:
    return TripMatrix.from_coordinates([[0, 0, 0, 0]], [2, 2])


def test_without_noise_nothing_is_made_up_and_little_missed():
    matrix = trips(records=20_000)
    table = found(matrix, Gravity(epsilon=10).release(matrix, rng=1))
    # Zones of 16 are finer than 9 rows of cells.
    assert table.zones.tolist() == [2, 4, 8]
    assert table.flows.tolist() == [16, 256, 4096]
    assert table.shown_empty[0] == table.missed[0] == 0
    assert table.top_found[0] == table.top[0]
    assert (table.missed <= table.large).all()


def test_other_trips_are_refused():
    release = Gravity(epsilon=1).release(trips2(), rng=1)
    with pytest.raises(InputError, match="other trips"):
        found(trips(), release)


@pytest.mark.slow
def test_flows_of_two_cities_are_found_as_in_the_study(real_data, reference_data):
    """Shares of false and missed flows by level, against the study's means of 4 seeds."""
    known = json.loads(reference_data("trips/flows.json").read_text())["discovery"]
    for name, file, around in [
        ("sf:o,d:64", "sf_cabspotting_trips", (-122.42, 37.77, 20_000.0)),
        ("san:o,d:64", "santiago_taxi_od", (-70.65, -33.46, 36_000.0)),
    ]:
        grid = Grid.around(*around, shape=64)
        matrix = TripDomain([grid, grid]).count(read_trips(real_data(f"{file}.parquet"), "o,d"))
        for epsilon in (0.1, 1.0):
            tables = [
                found(matrix, Gravity(epsilon=epsilon).release(matrix, rng=s)) for s in range(4)
            ]
            mean = sum(tables) / len(tables)
            for row in mean.itertuples():
                figures = known[f"{name}|{epsilon}|gravity|{int(row.zones)}"]
                # Counts of flows: both means have errors of about sqrt(n) / 2, so 3 sqrt(2) times
                # that, and one flow for small numbers.
                for here, there in [
                    (row.shown_empty, figures["fdr_empty"] * figures["shown"]),
                    (row.missed, figures["fnr"] * figures["true_ge"]),
                ]:
                    assert abs(here - there) <= 3 * np.sqrt(max(here, there, 1) / 2) + 1
                assert row.large == figures["true_ge"]
