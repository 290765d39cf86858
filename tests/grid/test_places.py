"""Several places as one domain: axes in order, boxes there and back, boxes by place."""

import json
from typing import Any

import geopandas
import numpy as np
import pytest
import shapely

from explorer import (
    HTF,
    UG,
    FrequencyMatrix,
    Gravity,
    Grid,
    InputError,
    Ledger,
    Session,
    TripDomain,
    TripMatrix,
    exact,
    read_points,
)
from explorer.grid import kinds
from explorer.grid.cards import card
from explorer.grid.frames import place_of
from tests.helpers import card_of
from tests.refusals import refuses

HERE = Grid.around(2.35, 48.85, 8000, shape=(20, 40), name="here")
THERE = Grid.from_bounds(1000, 2000, 5000, 4000, "EPSG:32631", shape=(10, 8))
TRIPS = TripDomain((HERE, THERE))


def test_axes_are_rows_and_columns_of_each_place_in_turn():
    domain = TRIPS
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
    refuses(said, TRIPS.to_cells, boxes)


@pytest.mark.parametrize(("grids", "names", "said"), [
    ((), (), "grid for every place"), (HERE, (), "grid for every place"),
    ((HERE, THERE), ("a",), "one name to each"),
    ((HERE, THERE), ("a", "a"), "one name to each"),
    ((HERE, Grid.cells(3)), (), "use one unit"),
    ((Grid.cells(2048),) * 3, (), r"more than 2\^60"),
])  # fmt: skip
def test_what_are_no_places(grids, names, said):
    refuses(said, TripDomain, grids, names)


@pytest.mark.parametrize(
    "saved", [None, {}, {"kind": "areas"}, {"kind": "trips"}, {"kind": "trips", "places": [{}, {}]}]
)
def test_what_describes_no_domain(saved):
    with pytest.raises(InputError):
        kinds.from_plain(saved)


def test_boxes_of_cells_have_every_axis():
    refuses(r"give \(n, 2, 4\)", TRIPS.from_cells, [[0, 0, 1, 1]])


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


# Boxes given by place: what frames and numbers become, and what is refused.

GRID = Grid.around(2.35, 48.86, 10_000, shape=16)
DOMAIN = TripDomain([GRID, GRID])
MATRIX = TripMatrix([[0, 0, 9, 9], [8, 8, 8, 8], [8, 7, 0, 15]], [3, 5, 7], DOMAIN)


def frame(*shapes: Any, crs=GRID.crs):
    return geopandas.GeoDataFrame(geometry=list(shapes), crs=crs)


def test_frames_are_the_boxes_that_numbers_say():
    here, there = (-4000, -3000, 500, 250), (0, 0, 5000, 5000)
    given = {"to": frame(shapely.box(*there), None), "from": frame(shapely.box(*here), None)}
    nan = [np.nan] * 4
    numbers = [[here, there], [nan, nan]]
    assert np.allclose(DOMAIN.to_cells(given), DOMAIN.to_cells(numbers))
    assert exact(MATRIX, given).tolist() == exact(MATRIX, numbers).tolist()
    assert exact(MATRIX, {"from": None, "to": frame(shapely.Polygon())}).tolist() == [15]
    release = Gravity(epsilon=1).release(MATRIX, rng=1)
    assert np.array_equal(release.answer(given).value, release.answer(numbers).value)
    assert release.answer({"from": [nan]}).value[0] == pytest.approx(release.total)


def test_a_box_in_degrees_is_its_bounding_box_in_metres():
    lon, lat = np.array([2.33, 2.36]), np.array([48.85, 48.87])
    given = {"from": frame(shapely.box(lon[0], lat[0], lon[1], lat[1]), crs=4326)}
    x, y = GRID.from_lonlat(lon[[0, 0, 1, 1]], lat[[0, 1, 0, 1]])
    box = DOMAIN.from_cells(DOMAIN.to_cells(given))[0]
    # An edge of two kilometres bends by less than a metre.
    assert np.allclose(box[:4], [x.min(), y.min(), x.max(), y.max()], atol=1)
    assert np.allclose(box[4:], GRID.bounds)


def test_without_a_crs_shapes_are_in_the_unit_of_the_grid():
    cells = TripDomain([Grid.cells(8), Grid.cells((1, 5))])
    found = cells.to_cells({"to": geopandas.GeoSeries([shapely.box(1, 0, 3, 1)])})
    assert found.tolist() == [[[0, 0, 0, 1], [8, 8, 1, 3]]]


@pytest.mark.parametrize(("given", "why"), [
    ({}, "No place has boxes; give some for one of from, to"),
    ({"via": frame(None)}, "There is no place 'via' here; the places are from, to"),
    ({"from": frame(None), "o": frame(None)}, "'from' is named twice"),
    ({"from": frame(None), "to": frame(None, None)}, "1 of from, 2 of to"),
    ({"to": frame(shapely.Point(0, 0))}, "Row 1 of to is no polygon"),
    ({"to": frame(None, shapely.Point(0, 0).buffer(9))}, "Row 2 of to is not a box"),
    ({"to": frame(shapely.Point(2.35, 48.86).buffer(0.01), crs=4326)}, "not a box"),
    ({"to": frame(shapely.box(1e9, 0, 2e9, 1), crs=4326)}, "no place"),
    ({"to": [[1, 2, 3]]}, r"shape \(1, 3\)"), ({"to": [[5, 2, 1, 3]]}, "inside out"),
])  # fmt: skip
def test_what_is_no_box_is_refused(given, why):
    refuses(why, DOMAIN.to_cells, given)


def test_a_grid_of_cells_takes_no_crs():
    cells = TripDomain([Grid.cells(8), Grid.cells(8)])
    with pytest.raises(InputError, match="measured in cells; give boxes without a CRS"):
        cells.to_cells({"from": frame(shapely.box(0, 0, 1, 1))})


def test_places_have_names_and_words():
    assert [place_of(word, ["o", "s2", "d"]) for word in ("from", "Via", "D", "s2")] == [0, 1, 2, 1]
    assert [place_of(word, ["home", "work"]) for word in ("work", "origin")] == [1, 0]
    refuses("no place 'via'", place_of, "via", ["o", "d"])
    refuses("no place 'to'", place_of, "to", ["place"])


# Cards of objects in a notebook: what they are, and never an exact count.


def test_a_card_escapes_and_leaves_out_what_is_empty():
    made = card("<i>", {"a&b": "<x>", "none": None, "empty": ""}, badge="exact", note="1 < 2")
    assert "&lt;i&gt;" in made
    assert "a&amp;b" in made
    assert "&lt;x&gt;" in made
    assert "1 &lt; 2" in made
    assert made.count("<tr>") == 1
    assert "EXACT" in made


def test_counts_show_none_of_themselves(tmp_path):
    matrix = FrequencyMatrix.from_array(np.full((3, 7), 987))
    session = Session(matrix, 1, ledger=Ledger(tmp_path / "ledger.sqlite3"))
    points = read_points({"lon": [13.0] * 987, "lat": [52.0] * 987})
    for each in (matrix, session, points):
        shown = card_of(each)
        assert "EXACT" in shown
        assert "987" not in shown
        assert f"{987 * 21:,}" not in shown


def test_a_grid_says_where_it_is():
    shown = card_of(Grid.around(13.4, 52.5, "2km", shape=20, name="Town"))
    assert "Grid Town" in shown
    assert "100 x 100 m" in shown
    assert "13.4000, 52.5000" in shown
    assert "3 x 4" in card_of(Grid.cells((3, 4)))


@pytest.mark.parametrize("made", [HTF(0.5, T=4), UG(0.1)], ids=["changed", "as declared"])
def test_a_mechanism_says_what_differs(made):
    shown = card_of(made)
    assert ("T</th>" in shown) == isinstance(made, HTF)
    assert "epsilon" in shown
    assert str(made) == repr(made)
