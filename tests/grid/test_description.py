"""A public extent written down becomes a grid."""

import geopandas
import pytest
from shapely.geometry import box

from explorer.errors import InputError
from explorer.grid.description import declared_grid
from explorer.grid.grid import Grid


def test_around_a_place():
    square = declared_grid({"around": [-89.65, 39.78], "size_km": 15}, 512, "Springfield")
    assert square == Grid.around(-89.65, 39.78, 15_000, shape=512, name="Springfield")
    wide = declared_grid({"around": [1, 2], "size_km": [20, 5]}, 100)
    assert (wide.shape, wide.cell_width, wide.cell_height) == ((25, 100), 200, 200)


def test_bounds():
    grid = declared_grid({"bounds": [0, 0, 700_000, 1_300_000], "crs": "EPSG:27700"}, 1300)
    assert grid.shape == (1300, 700)
    assert grid.bounds == (0, 0, 700_000, 1_300_000)
    exact = declared_grid({"bounds": [0, 0, 9, 1], "crs": "EPSG:27700"}, (3, 7))
    assert exact.shape == (3, 7)
    thin = declared_grid({"bounds": [0, 0, 9000, 1], "crs": "EPSG:27700"}, 5)
    assert thin.shape == (1, 5)


def test_a_boundary(tmp_path):
    path = tmp_path / "limits.geojson"
    geopandas.GeoDataFrame(geometry=[box(10, 50, 10.2, 50.1)], crs=4326).to_file(path)
    grid = declared_grid({"boundary": path}, 64)
    assert grid.bounds == Grid.from_boundary(path, 1).bounds
    assert grid.shape[1] == 64
    assert declared_grid({"boundary": path, "crs": "EPSG:25832"}, 64).crs == "EPSG:25832"


@pytest.mark.parametrize(("extent", "cells", "said"), [
    ({}, 10, "public extent is missing"),
    ({"around": [1, 2]}, 10, "public extent is missing"),
    ({"bounds": [0, 0, 1, 1]}, 10, "public extent is missing"),
    ({"around": 5, "size_km": 1}, 10, "'around' is 5; give longitude and latitude"),
    ({"around": ["1", "2"], "size_km": 1}, 10, "as two numbers"),
    ({"around": [1, 2], "size_km": "big"}, 10, "'size_km' is 'big'"),
    ({"around": [1, 2], "size_km": [1, 2, 3]}, 10, "as two numbers"),
    ({"around": [1, 2], "size_km": -1}, 10, "not an area"),
    ({"bounds": [0, 0, 1], "crs": "EPSG:27700"}, 10, "four numbers"),
    ({"bounds": [0, 0, 1, 1], "crs": "EPSG:4326"}, 10, "not measured in metres"),
    ({"boundary": "nowhere.gpkg"}, 10, "There is no file"),
    ({"around": [1, 2], "size_km": 1}, 0, "1 or more"),
    ({"around": [1, 2], "size_km": 1}, 5000, "fewer rows and columns"),
    ({"around": [1, 2], "size_km": 1}, "many", "1 or more"),
    ({"around": [1, 2], "size_km": 1}, True, "1 or more"),
    ({"around": [1, 2], "size_km": 1}, (1, 2, 3), "1 or more"),
])  # fmt: skip
def test_what_declares_no_extent(extent, cells, said):
    with pytest.raises(InputError, match=said):
        declared_grid(extent, cells)  # type: ignore[arg-type]
