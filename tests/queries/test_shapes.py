"""Rectangles as shapes on the Earth: edges, antimeridian, poles."""

import numpy as np
import pyproj
import pytest
import shapely

from explorer import Grid
from explorer.queries.shapes import are_rectangles, box_shapes, boxes_of_degrees, boxes_of_rings
from tests.refusals import refuses

EARTH = 6_371_000.0
CITY = Grid.around(-122.42, 37.77, 20_000)
COUNTRY = Grid.from_bounds(200_000, 5_500_000, 900_000, 6_800_000, "EPSG:32630", shape=64)


def sagitta(chord, latitude):
    """How far an edge that is straight in one projection bulges in another, in metres."""
    return chord**2 / (8 * EARTH) * np.tan(np.radians(latitude))


def polygons(shape):
    parts = shape["coordinates"]
    return [np.array(part[0]) for part in (parts if shape["type"] == "MultiPolygon" else [parts])]


@pytest.mark.parametrize("grid", [CITY, COUNTRY])
def test_corners_are_where_the_projection_puts_them(grid):
    x0, y0, x1, y1 = grid.bounds
    (shape,) = box_shapes(np.array([grid.bounds]), grid)
    (ring,) = polygons(shape)
    assert np.array_equal(ring[0], ring[-1])
    assert shapely.is_ccw(shapely.LinearRing(ring))
    back = pyproj.Transformer.from_crs("EPSG:4326", grid.crs, always_xy=True)
    x, y = back.transform(*ring.T)
    edge = np.minimum.reduce([abs(x - x0), abs(x - x1), abs(y - y0), abs(y - y1)])
    assert edge.max() < 1e-3  # nine decimals of a degree are a tenth of a millimetre
    for corner in [(x0, y0), (x1, y0), (x1, y1), (x0, y1)]:
        assert np.hypot(x - corner[0], y - corner[1]).min() < 1e-3


def test_box_of_degrees_holds_every_place_of_it():
    degrees = [-6.0, 50.0, 2.0, 58.0]
    (box,) = boxes_of_degrees([degrees], COUNTRY)
    lon, lat = np.meshgrid(np.linspace(-6, 2, 801), np.linspace(50, 58, 801))
    x, y = COUNTRY.from_lonlat(lon.ravel(), lat.ravel())
    dense = [x.min(), y.min(), x.max(), y.max()]
    # Eight degrees of the northern edge in 64 parts: what lies between two places of it.
    gap = sagitta(8 / 64 * 111_000, 58)
    assert np.abs(box - dense).max() < gap
    # The corners alone would miss much more than that.
    corners = COUNTRY.from_lonlat([-6, 2, 2, -6], [50, 50, 58, 58])
    assert corners[1].min() - box[1] > 20 * gap


@pytest.mark.parametrize("lon", [180.0, -179.95, 179.9])
def test_a_box_over_the_antimeridian_is_cut(lon):
    grid = Grid.around(lon, -17.0, 60_000)
    (shape,) = box_shapes(np.array([grid.bounds]), grid)
    parts = polygons(shape)
    assert len(parts) == 2
    assert all(np.abs(part[:, 0]).max() <= 180.0 for part in parts)
    assert all(np.ptp(part[:, 0]) < 1.0 for part in parts)
    assert all(shapely.is_ccw(shapely.LinearRing(part)) for part in parts)
    area = sum(abs(pyproj.Geod(ellps="WGS84").polygon_area_perimeter(*p.T)[0]) for p in parts)
    assert area == pytest.approx(60_000**2, rel=1e-4)
    # West above east is the short way across.
    (over,) = boxes_of_degrees([[179.8, -17.1, -179.8, -16.9]], grid)
    assert over[2] - over[0] == pytest.approx(0.4 * 111_320 * np.cos(np.radians(17)), rel=0.01)


@pytest.mark.parametrize("pole", [90.0, -90.0])
def test_a_box_over_a_pole_holds_the_pole(pole):
    grid = Grid.around(0.0, pole, 400_000)
    (shape,) = box_shapes(np.array([[-90_000.0, -50_000.0, 110_000.0, 70_000.0]]), grid)
    parts = polygons(shape)
    assert all(np.abs(part[:, 0]).max() <= 180.0 for part in parts)
    whole = shapely.union_all([shapely.Polygon(part) for part in parts])
    for lon in range(-179, 180, 7):
        assert whole.contains(shapely.Point(lon, np.copysign(89.7, pole)))
    assert not whole.contains(shapely.Point(10, np.copysign(88.0, pole)))
    assert shapely.box(-180, -90, 180, 90).covers(whole)


def test_rectangles_without_area_or_place():
    line, place = box_shapes(np.array([[0.0, 0.0, 0.0, 9.0], [5.0, 5.0, 5.0, 5.0]]), CITY)
    assert line["type"] == place["type"] == "Polygon"
    (beyond,) = box_shapes(np.array([[3e7, 3e7, 4e7, 4e7]]), CITY)
    assert beyond is None
    assert box_shapes(np.zeros((0, 4)), CITY) == []


def test_degrees_that_cannot_be_used_are_refused():
    for degrees, why in [
        ([4000.0, 0.0, 5000.0, 1.0], "not in degrees"),
        ([0.0, 0.0, np.nan, 1.0], "not a finite number"),
        ([-122.3, 37.7, -122.5, 37.8], "inside out"),
        ([-122.5, 37.8, -122.3, 37.7], "inside out"),
        # The antipode: its projection surrounds the whole map.
        ([57.5, -37.8, 57.7, -37.7], "no place"),
    ]:
        refuses(why, boxes_of_degrees, [degrees], CITY)
    refuses("in cells", boxes_of_degrees, [[0, 0, 1, 1]], Grid.cells(8))


def filled(rings, holes, grid):
    """Whether one shape counts as a rectangle."""
    outer, inner = ([np.array(ring, dtype=float) for ring in each] for each in (rings, holes))
    boxes = boxes_of_rings([outer], grid)[0]
    return bool(are_rectangles([outer], [inner], boxes, grid)[0])


def corners(west, south, east, north):
    return [[west, south], [east, south], [east, north], [west, north], [west, south]]


WIDE = corners(-122.45, 37.75, -122.41, 37.79)


@pytest.mark.parametrize(
    ("rings", "holes", "is_one"),
    [
        ([WIDE], [], True),
        ([WIDE[:-1]], [], True),  # not closed
        ([WIDE[::-1]], [], True),  # clockwise
        ([WIDE[:3]], [], False),
        ([[*WIDE[:2], [-122.41, 37.77], [-122.43, 37.77], [-122.43, 37.79], WIDE[3]]], [], False),
        ([WIDE], [corners(-122.44, 37.76, -122.43, 37.77)], False),
        # Two halves are a rectangle; with a gap between, they are not.
        ([corners(-122.45, 37.75, -122.43, 37.79), corners(-122.43, 37.75, -122.41, 37.79)], [],
         True),
        ([corners(-122.45, 37.75, -122.44, 37.79), corners(-122.42, 37.75, -122.41, 37.79)], [],
         False),
        ([[[-122.45, 37.75], [-122.41, 37.79], [-122.41, 37.75], [-122.45, 37.79]]], [], False),
        # Ten metres of a road, rounded to a tenth of a metre.
        ([corners(-122.450001, 37.750001, -122.449888, 37.750002)], [], True),
    ],
)  # fmt: skip
def test_a_rectangle_is_told_by_what_it_fills(rings, holes, is_one):
    assert filled(rings, holes, CITY) is is_one


def test_a_rectangle_of_degrees_is_one_until_meridians_turn_it_far():
    # 2 degrees west of the central meridian at 58: turned by 2 sin(58) = 1.7 degrees = 0.03, so
    # a square lacks 0.06 of its box, and 1 x 4 lacks 0.03 (1 / 4 + 4) = 0.13.
    square = corners(-5.19, 58.0, -4.81, 58.2)
    assert filled([square], [], COUNTRY)
    assert not filled([corners(-5.05, 58.0, -4.95, 58.2)], [], COUNTRY)
    # The same loss with a piece of it missing is no rectangle of degrees either.
    assert not filled([[*square[:2], [-4.81, 58.1], [-4.91, 58.2], square[3]]], [], COUNTRY)
