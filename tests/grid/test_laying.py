"""A grid over a declared extent, however people have it; degrees where metres are asked."""

import geopandas
import numpy as np
import pytest
import shapely
from shapely.geometry import box

from explorer import Grid, InputError, read_points
from explorer.grid.degrees import refuse_degrees
from explorer.grid.description import declared_grid
from tests.refusals import refuses

BERLIN = (13.25, 52.43, 13.55, 52.61)


def corners(grid):
    x0, y0, x1, y1 = grid.bounds
    return np.array(grid.to_lonlat([x0, x1, x0, x1], [y0, y0, y1, y1])).T


def test_a_box_in_degrees_lies_inside_its_grid():
    grid = Grid.of(BERLIN, shape=64)
    lon = np.linspace(BERLIN[0], BERLIN[2], 33)
    for lat in (BERLIN[1], BERLIN[3]):
        x, y = grid.from_lonlat(lon, np.full(33, lat))
        x0, y0, x1, y1 = grid.bounds
        # The edge of a box is a curve in metres: between two corners of it less than a metre.
        assert x.min() >= x0 - 1
        assert x.max() <= x1 + 1
        assert y.min() >= y0 - 1
        assert y.max() <= y1 + 1


@pytest.mark.parametrize("extent", [
    list(BERLIN), np.array(BERLIN), shapely.box(*BERLIN),
    geopandas.GeoSeries([shapely.box(*BERLIN)], crs=4326),
    geopandas.GeoDataFrame(geometry=[shapely.box(*BERLIN)], crs=4326),
], ids=['list', 'array', 'polygon', 'series', 'frame'])  # fmt: skip
def test_every_kind_of_extent_is_the_same_grid(extent):
    assert Grid.of(extent, cell="50m") == Grid.of(BERLIN, cell=50)


def test_a_file_is_an_extent(tmp_path):
    path = tmp_path / "city.geojson"
    geopandas.GeoSeries([shapely.box(*BERLIN)], crs=4326).to_file(path)
    assert Grid.of(path, cell=50) == Grid.of(BERLIN, cell=50)
    assert Grid.of(path, shape=9, crs=25833).crs.to_epsg() == 25833


def test_cells_of_a_size_are_squares_and_the_extent_grows_on_all_sides_alike():
    bounds = (100.0, 200.0, 1100.0, 650.0)
    grid = Grid.of(bounds, cell="0.3km", crs="EPSG:27700", name="strip")
    assert (grid.shape, grid.cell_width, grid.cell_height) == ((2, 4), 300, 300)
    assert grid.bounds == (0.0, 125.0, 1200.0, 725.0)
    assert grid.name == "strip"
    assert Grid.of(bounds, crs="EPSG:27700").shape == (461, 1024)
    # Rounding adds no cell.
    assert Grid.of((0, 0, 0.3, 0.3), cell=0.1, crs="EPSG:27700").shape == (3, 3)


def test_an_extent_may_cross_the_antimeridian():
    grid = Grid.of((177, -20, -178, -15), shape=8)
    assert grid.width < 600_000
    assert np.isfinite(corners(grid)).all()


def test_lengths_are_written_as_people_write_them():
    assert Grid.around(13.4, 52.5, "20km") == Grid.around(13.4, 52.5, 20_000)
    assert Grid.around(13.4, 52.5, "20 km", "500m").height == 500


@pytest.mark.parametrize(("extent", "options", "sentence"), [
    (BERLIN, {"cell": 40, "shape": 9}, "not both"), (BERLIN, {"cell": "40"}, "not a length"),
    (BERLIN, {"cell": 0}, "give a length"), (BERLIN, {"cell": 1e-300}, "give larger ones"),
    (BERLIN, {"cell": 1}, "give larger ones"),
    ((400_000, 100_000, 500_000, 200_000), {}, "no degrees"),
    ((13.5, 52.6, 13.6, 52.4), {}, "enclose no area"),
    ((-180, -90, 180, 90), {}, "gone around the Earth"),
    ((1, 2, 3), {}, "west, south, east, north"), ("nowhere.geojson", {}, "nowhere.geojson"),
    (shapely.Point(13, 52), {}, "made of polygons"),
    ((0, 0, 9, 9), {"crs": "nothing"}, "not a known CRS"),
])  # fmt: skip
def test_what_is_no_extent(extent, options, sentence):
    refuses(sentence, Grid.of, extent, **options)


def test_points_are_no_extent():
    lon, lat = [13.3, 13.4], [52.5, 52.5]
    frame = geopandas.GeoDataFrame(geometry=geopandas.points_from_xy(lon, lat), crs=4326)
    with pytest.raises(InputError, match="must not be that of the points"):
        Grid.of(read_points(frame))
    refuses("made of polygons", Grid.of, frame)


# Degrees where metres are asked are refused, and nothing else is.

AMSTERDAM = Grid.around(4.9, 52.37, 10_000, shape=64)
DEGREES = np.array([[4.88, 52.35, 4.9, 52.36], [4.9, 52.36, 4.93, 52.38]])


@pytest.mark.parametrize(
    "boxes", [DEGREES, DEGREES[:1], DEGREES[:, [1, 0, 3, 2]]], ids=["two", "one", "latitude first"]
)
def test_degrees_are_refused(boxes):
    refuses(r"look like degrees.*crs=4326", AMSTERDAM.to_cells, boxes)


@pytest.mark.parametrize("boxes", [
    # Boxes near the middle, whose metres could be degrees of some other place.
    [[-90, -90, 90, 90]],
    [[0, 0, 150, 150], [4.88, 52.35, 200.0, 300.0]],
    # A place, and nothing at all.
    [[4.9, 52.37, 4.9, 52.37]],
    np.zeros((0, 4)),
    # Small, but not a speck: a metre each way, or some metres on a map of large cells.
    [[0.0, 0.0, 1.0, 1.0]],
    [[10.0, 10.0, 13.0, 13.5]],
])  # fmt: skip
def test_metres_are_left_alone(boxes):
    refuse_degrees(AMSTERDAM, np.array(boxes, dtype=float).reshape(-1, 4))


@pytest.mark.parametrize("box", [
    [2.3, 48.8, 2.4, 48.9], [48.8, 2.3, 48.9, 2.4], [-122.5, 37.7, -122.4, 37.8],
    [10, 10, 10.5, 10.5],
])  # fmt: skip
def test_degrees_of_another_place_are_refused_too(box):
    """As metres they are specks, whose answer was 8e-6 without a word."""
    refuses(r"another place.*crs=4326", AMSTERDAM.to_cells, [box])


def test_on_a_map_of_tiny_cells_half_a_metre_is_no_speck():
    room = Grid.around(4.9, 52.37, 20, shape=64)
    refuse_degrees(room, np.array([[2.3, 4.8, 2.4, 4.9]]))


def test_cells_have_no_degrees():
    refuse_degrees(Grid.cells(64), DEGREES)


def test_polygons_without_a_crs_are_looked_at_too():
    refuses("look like degrees", AMSTERDAM.pieces, shapely.box(*DEGREES[0]))
    cells, parts = AMSTERDAM.pieces(shapely.box(*DEGREES[0]), crs=4326)
    assert len(cells) > 50
    assert parts.sum() == pytest.approx(len(cells), rel=0.2)


# A public extent written down becomes a grid.


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
    ({"around": 5, "size_km": 1}, 10, "'around' is 5; give longitude and latitude"),
    ({"around": [1, 2], "size_km": "big"}, 10, "'size_km' is 'big'"),
    ({"bounds": [0, 0, 1], "crs": "EPSG:27700"}, 10, "four numbers"),
    ({"bounds": [0, 0, 1, 1], "crs": "EPSG:4326"}, 10, "not measured in metres"),
    ({"boundary": "nowhere.gpkg"}, 10, "There is no file"),
    ({"around": [1, 2], "size_km": 1}, 0, "1 or more"),
    ({"around": [1, 2], "size_km": 1}, 5000, "fewer rows and columns"),
    ({"around": [1, 2], "size_km": 1}, True, "1 or more"),
])  # fmt: skip
def test_what_declares_no_extent(extent, cells, said):
    with pytest.raises(InputError, match=said):
        declared_grid(extent, cells)  # type: ignore[arg-type]
