"""Several places as one domain: axes in order, boxes there and back, saved and read."""

import json

import numpy as np
import pytest

from explorer.errors import InputError
from explorer.grid import kinds
from explorer.grid.domain import Domain
from explorer.grid.grid import Grid
from explorer.grid.places import TripDomain

HERE = Grid.around(2.35, 48.85, 8000, shape=(20, 40), name="here")
THERE = Grid.from_bounds(1000, 2000, 5000, 4000, "EPSG:32631", shape=(10, 8))
TRIPS = TripDomain((HERE, THERE))


def test_axes_are_rows_and_columns_of_each_place_in_turn():
    domain: Domain = TRIPS
    assert (domain.kind, domain.unit, domain.shape) == ("trips", "m", (20, 40, 10, 8))
    assert domain.axis_names == ("from row", "from column", "to row", "to column")
    cells = Grid.cells(3)
    assert TripDomain((cells,) * 3).axis_names[2:4] == ("via row", "via column")
    assert TripDomain((cells,) * 4).axis_names[-1] == "place 4 column"
    assert TripDomain((cells, cells), ("home", "work")).axis_names[0] == "home row"


def test_boxes_are_those_of_each_grid():
    rng = np.random.default_rng(0)
    here = np.sort(rng.uniform(-4000, 4000, (9, 2, 2)), axis=1).reshape(-1, 4)
    there = np.sort(rng.uniform(1000, 4000, (9, 2, 2)), axis=1).reshape(-1, 4)
    both = np.hstack([here, there])
    cells = TRIPS.to_cells(both)
    assert cells.shape == (9, 2, 4)
    assert np.array_equal(cells[:, :, :2], HERE.to_cells(here))
    assert np.array_equal(cells[:, :, 2:], THERE.to_cells(there))
    assert np.allclose(TRIPS.from_cells(cells), both, atol=1e-7)
    assert TRIPS.to_cells([]).shape == (0, 2, 4)
    assert TRIPS.from_cells([]).shape == (0, 8)


@pytest.mark.parametrize("domain", [TRIPS, HERE, Grid.cells(4)])
def test_a_domain_survives_being_saved(domain):
    again = kinds.from_plain(json.loads(json.dumps(kinds.to_plain(domain))))
    assert again == domain


@pytest.mark.parametrize(("boxes", "said"), [
    ([[0, 0, 1, 1]], r"of from and to in each row, \(n, 2, 4\) or \(n, 8\)"),
    ([["a"] * 8], "numbers"),
    ([[0, 0, 1, 1, 0, 0, np.nan, 1]], "not a finite number"),
    ([[0, 0, 1, 1, 1, 0, 0, 1]], "inside out"),
])  # fmt: skip
def test_boxes_that_are_none_are_refused(boxes, said):
    with pytest.raises(InputError, match=said):
        TRIPS.to_cells(boxes)


@pytest.mark.parametrize(("grids", "names", "said"), [
    ((), (), "grid for every place"),
    (HERE, (), "grid for every place"),
    ((HERE, "there"), (), "grid for every place"),
    ((HERE, THERE), ("a",), "one name to each"),
    ((HERE, THERE), ("a", "a"), "one name to each"),
    ((HERE, Grid.cells(3)), (), "use one unit"),
    ((Grid.cells(2048),) * 3, (), r"more than 2\^60"),
])  # fmt: skip
def test_what_are_no_places(grids, names, said):
    with pytest.raises(InputError, match=said):
        TripDomain(grids, names)


@pytest.mark.parametrize(
    "saved", [None, {}, {"kind": "areas"}, {"kind": "trips"}, {"kind": "trips", "places": [{}, {}]}]
)
def test_what_describes_no_domain(saved):
    with pytest.raises(InputError):
        kinds.from_plain(saved)


def test_boxes_of_cells_have_every_axis():
    with pytest.raises(InputError, match=r"give \(n, 2, 4\)"):
        TRIPS.from_cells([[0, 0, 1, 1]])


def test_boxes_may_be_written_place_by_place_and_nan_is_anywhere():
    here, there = [-1000, -500, 0, 2000], [1500, 2500, 4500, 4000]
    flat = TRIPS.to_cells([[*here, *there]])
    assert np.array_equal(TRIPS.to_cells([[here, there]]), flat)
    anywhere = TRIPS.to_cells([[here, [np.nan] * 4], [[np.nan] * 4] * 2])
    assert np.array_equal(anywhere[0, :, :2], flat[0, :, :2])
    assert anywhere[0, :, 2:].tolist() == [[0, 0], [10, 8]]
    assert anywhere[1].tolist() == [[0] * 4, [20, 40, 10, 8]]


def test_one_place_and_grids_of_1024_cells():
    one = TripDomain([HERE])
    assert (one.shape, one.names, one.grids) == ((20, 40), ("place",), (HERE,))
    assert not kinds.alike(one, HERE)
    assert kinds.from_plain(json.loads(json.dumps(kinds.to_plain(one)))) == one
    assert TripDomain([Grid.cells(1024)] * 3).shape == (1024,) * 6
    assert kinds.alike(TRIPS, TripDomain([HERE, THERE], ["home", "work"]))
