"""A public boundary becomes the bounding box of a grid."""

import geopandas
import numpy as np
import pytest
from shapely.geometry import GeometryCollection, LineString, MultiPolygon, Point, Polygon, box

from explorer import Grid
from explorer.grid.extent import boundary_bounds
from explorer.grid.projection import as_crs
from tests.refusals import refuses

SQUARE = geopandas.GeoDataFrame(geometry=[box(10.0, 50.0, 10.2, 50.1)], crs=4326)


def test_the_box_holds_curved_edges_and_is_centred():
    (x0, y0, x1, y1), crs = boundary_bounds(SQUARE)
    # 0.2 degrees of longitude at 50 north are 14.3 km, 0.1 of latitude 11.1 km.
    assert 14_200 < x1 - x0 < 14_400
    assert 11_100 < y1 - y0 < 11_200
    grid = Grid.from_boundary(SQUARE, shape=10)
    assert grid.crs == crs
    lon, lat = np.linspace(10.0, 10.2, 500), np.full(500, 50.0)
    assert grid.from_lonlat(lon, lat)[1].min() >= y0 - 1.0


def test_a_crs_can_be_given():
    bounds, crs = boundary_bounds(SQUARE, as_crs(25832))
    assert crs.to_epsg() == 25832
    assert bounds == Grid.from_boundary(SQUARE, shape=3, crs="EPSG:25832").bounds
    refuses("not measured in metres", Grid.from_boundary, SQUARE, crs="EPSG:4326")


def test_islands_on_both_sides_of_the_antimeridian():
    fiji = MultiPolygon([box(177.0, -19.0, 180.0, -16.0), box(-180.0, -19.0, -178.0, -16.0)])
    bounds, _ = boundary_bounds(geopandas.GeoDataFrame(geometry=[fiji], crs=4326))
    # Five degrees of longitude at 16 south: 535 km, and not the way around the Earth.
    assert 520_000 < bounds[2] - bounds[0] < 545_000


def test_collections_with_stray_lines_are_polygons_still():
    mixed = GeometryCollection([box(10.0, 50.0, 10.2, 50.1), LineString([(10, 50), (10.1, 50)])])
    bounds, _ = boundary_bounds(geopandas.GeoDataFrame(geometry=[mixed], crs=4326))
    assert bounds == boundary_bounds(SQUARE)[0]


def test_great_britain(real_data):
    bounds, _ = boundary_bounds(real_data("gb_districts.parquet"), as_crs(27700))
    assert 0 <= bounds[0] < 10_000
    assert 650_000 < bounds[2] < 660_000
    assert 1_210_000 < bounds[3] < 1_225_000


@pytest.mark.parametrize(("boundary", "said"), [
    (geopandas.GeoDataFrame(geometry=[Point(1, 1)], crs=4326), "made of polygons"),
    (geopandas.GeoDataFrame(geometry=[None, Polygon()], crs=4326), "polygons"),
    (geopandas.GeoDataFrame(geometry=[box(0, 0, 1, 1)]), "no CRS"),
    (geopandas.GeoDataFrame(geometry=[box(0, 0, 1e9, 1e9)], crs=27700), "not on the Earth"),
    ("nowhere.geojson", "There is no file nowhere.geojson"),
])  # fmt: skip
def test_what_is_no_boundary_is_refused(boundary, said):
    refuses(said, boundary_bounds, boundary)
