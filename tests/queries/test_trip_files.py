"""Files of boxes on several places: read, written, refused."""

import json

import numpy as np
import pytest

from explorer.errors import InputError
from explorer.grid.grid import Grid
from explorer.grid.places import TripDomain
from explorer.queries.trip_files import read_place, read_trip_boxes, write_trip_boxes

GRID = Grid.around(2.35, 48.86, 10_000, shape=16)
DOMAIN = TripDomain([GRID, GRID], ("o", "d"))
NAN = [np.nan] * 4


def test_what_is_written_is_read_back():
    boxes = np.array([[[0, 0, 1, 2.5], NAN], [NAN, [-5, -4, 3, 2]], [NAN, NAN]], dtype=float)
    text = write_trip_boxes(boxes, ["=a", "b", "c"], DOMAIN, {"value": np.array([1.5, np.nan, 3])})
    assert text.splitlines()[0] == "name,o_x0,o_y0,o_x1,o_y1,d_x0,d_y0,d_x1,d_y1,value"
    assert text.splitlines()[2] == "b,,,,,-5.0,-4.0,3.0,2.0,"
    found, names = read_trip_boxes(text.encode(), DOMAIN)
    assert np.array_equal(found, boxes, equal_nan=True)
    assert names == ["=a", "b", "c"]


def test_other_words_decimal_commas_and_a_place_left_out():
    text = "to_x0;to_y0;to_x1;to_y1;Name\n0,5;0;1000;2000;\n;;;;b\n;;;;\n"
    found, names = read_trip_boxes(text.encode(), DOMAIN)
    assert np.array_equal(found, [[NAN, [0.5, 0, 1000, 2000]], [NAN, NAN]], equal_nan=True)
    # A row of nothing at all, as spreadsheets leave them, is no question.
    assert names == ["Q1", "b"]


@pytest.mark.parametrize(("text", "why"), [
    ("name,x0,y0,x1,y1\na,0,0,1,1\n", "no CSV with columns of places such as name,o_x0"),
    ("via_x0,via_y0,via_x1,via_y1\n0,0,1,1\n", "no place 'via'"),
    ("o_x0,o_y0,o_x1\n0,0,1\n", "lacks some of o_x0, o_y0, o_x1, o_y1"),
    ("o_x0,o_y0,o_x1,o_y1\n0,0,1,\n", "Line 2 of it.csv lacks a number in o_y1"),
    ("o_x0,o_y0,o_x1,o_y1\n0,0,1,inf\n", "lacks a number"),
    ("o_x0,o_y0,o_x1,o_y1\n0,0,-1,1\n", "'Q1' in it.csv is inside out"),
    ("o_x0,o_y0,o_x1,o_y1\n2.3,48.8,2.4,48.9\n", "look like degrees"),
    ("o_x0,o_y0,o_x1,o_y1\n", "holds no rectangle"),
    ("\0", "no CSV with columns"),
    ("", "is empty"),
    ("o_x0,o_y0,o_x1,o_y1,from_x0,from_y0,from_x1,from_y1\n0,0,1,1,0,0,1,1\n", "boxes of o twice"),
])  # fmt: skip
def test_what_is_refused(text, why):
    with pytest.raises(InputError, match=why):
        read_trip_boxes(text.encode(), DOMAIN, "it.csv")


def geojson(*geometries: object) -> bytes:
    features = [
        {"type": "Feature", "properties": {"name": f"n{i}"}, "geometry": each}
        for i, each in enumerate(geometries)
    ]
    return json.dumps({"type": "FeatureCollection", "features": features}).encode()


def test_a_feature_without_a_shape_is_anywhere():
    ring = [[2.34, 48.85], [2.36, 48.85], [2.36, 48.87], [2.34, 48.87], [2.34, 48.85]]
    square = {"type": "Polygon", "coordinates": [ring]}
    alone = read_place(geojson(square), GRID)[0]
    empty = {"type": "Polygon", "coordinates": []}
    found, names = read_place(geojson(None, square, empty), GRID)
    assert np.array_equal(found, [NAN, alone[0], NAN], equal_nan=True)
    assert names == ["n0", "n1", "n2"]
    assert np.isnan(read_place(geojson(None), GRID)[0]).all()
    with pytest.raises(InputError, match="not a polygon"):
        read_place(geojson(None, {"type": "Point", "coordinates": [2, 48]}), GRID)
    with pytest.raises(InputError, match="not complete GeoJSON"):
        read_place(b'{"type": ', GRID)
