"""A grid over a declared extent, however people have it."""

import geopandas
import numpy as np
import pytest
import shapely

from explorer import Grid, InputError, read_points

BERLIN = (13.25, 52.43, 13.55, 52.61)


def corners(grid: Grid) -> np.ndarray:
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
    list(BERLIN),
    np.array(BERLIN),
    shapely.box(*BERLIN),
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
    (BERLIN, {"cell": 40, "shape": 9}, "not both"),
    (BERLIN, {"cell": "40"}, "not a length"),
    (BERLIN, {"cell": 0}, "give a length"),
    (BERLIN, {"cell": -1}, "give a length"),
    (BERLIN, {"cell": 1e-300}, "give larger ones"),
    (BERLIN, {"cell": float("nan")}, "give a length"),
    (BERLIN, {"cell": 1}, "give larger ones"),
    ((400_000, 100_000, 500_000, 200_000), {}, "no degrees"),
    ((13.5, 52.6, 13.6, 52.4), {}, "enclose no area"),
    ((-180, -90, 180, 90), {}, "gone around the Earth"),
    ((1, 2, 3), {}, "west, south, east, north"),
    (None, {}, "west, south, east, north"),
    (float("nan"), {}, "west, south, east, north"),
    ((0, 0, float("nan"), 1), {}, "no degrees"),
    ("nowhere.geojson", {}, "nowhere.geojson"),
    (shapely.Point(13, 52), {}, "made of polygons"),
    ((0, 0, 9, 9), {"crs": "nothing"}, "not a known CRS"),
])  # fmt: skip
def test_what_is_no_extent(extent, options, sentence):
    with pytest.raises(InputError, match=sentence):
        Grid.of(extent, **options)


def test_points_are_no_extent():
    lon, lat = [13.3, 13.4], [52.5, 52.5]
    frame = geopandas.GeoDataFrame(geometry=geopandas.points_from_xy(lon, lat), crs=4326)
    with pytest.raises(InputError, match="must not be that of the points"):
        Grid.of(read_points(frame))
    with pytest.raises(InputError, match="made of polygons"):
        Grid.of(frame)
