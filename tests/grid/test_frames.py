"""Boxes given by place: what frames and numbers become, and what is refused."""

from typing import Any

import geopandas
import numpy as np
import pytest
import shapely

from explorer.errors import InputError
from explorer.grid.frames import place_of
from explorer.grid.grid import Grid
from explorer.grid.places import TripDomain
from explorer.mechanisms import Gravity
from explorer.points.truth import exact
from explorer.trips.matrix import TripMatrix

GRID = Grid.around(2.35, 48.86, 10_000, shape=16)
DOMAIN = TripDomain([GRID, GRID])
MATRIX = TripMatrix([[0, 0, 9, 9], [8, 8, 8, 8], [8, 7, 0, 15]], [3, 5, 7], DOMAIN)


def frame(*shapes: Any, crs: Any = GRID.crs) -> geopandas.GeoDataFrame:
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
    ({"from": None}, "No place has boxes"),
    ({"via": frame(None)}, "There is no place 'via' here; the places are from, to"),
    ({"from": frame(None), "o": frame(None)}, "'from' is named twice"),
    ({"from": frame(None), "to": frame(None, None)}, "1 of from, 2 of to"),
    ({"to": frame(shapely.Point(0, 0))}, "Row 1 of to is no polygon"),
    ({"to": frame(None, shapely.Point(0, 0).buffer(9))}, "Row 2 of to is not a box"),
    ({"to": frame(shapely.Point(2.35, 48.86).buffer(0.01), crs=4326)}, "not a box"),
    ({"to": frame(shapely.box(1e9, 0, 2e9, 1), crs=4326)}, "no place"),
    ({"to": "everywhere"}, "neither polygons nor numbers"),
    ({"to": [[1, 2, 3]]}, r"shape \(1, 3\)"),
    ({"to": [[1, 2, np.nan, 3]]}, "not a finite number"),
    ({"to": [[5, 2, 1, 3]]}, "inside out"),
])  # fmt: skip
def test_what_is_no_box_is_refused(given, why):
    with pytest.raises(InputError, match=why):
        DOMAIN.to_cells(given)


def test_a_grid_of_cells_takes_no_crs():
    cells = TripDomain([Grid.cells(8), Grid.cells(8)])
    with pytest.raises(InputError, match="measured in cells; give boxes without a CRS"):
        cells.to_cells({"from": frame(shapely.box(0, 0, 1, 1))})


def test_places_have_names_and_words():
    assert [place_of(word, ["o", "s2", "d"]) for word in ("from", "Via", "D", "s2")] == [0, 1, 2, 1]
    assert [place_of(word, ["home", "work"]) for word in ("work", "origin")] == [1, 0]
    with pytest.raises(InputError, match="no place 'via'"):
        place_of("via", ["o", "d"])
    with pytest.raises(InputError, match="no place 'to'"):
        place_of("to", ["place"])
