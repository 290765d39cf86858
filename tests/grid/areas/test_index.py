"""Which area covers a place: the index against GEOS, where floats are at their worst."""

import pickle
import tracemalloc
from dataclasses import replace

import geopandas
import numpy as np
import pandas
import pytest
import shapely
from shapely.geometry import MultiPolygon, Polygon, box

from explorer import Areas
from explorer.grid.plane import edges_of


def areas_of(shapes, crs=4326, **rules: float):
    names = [f"a{number}" for number in range(len(shapes))]
    return Areas.read(geopandas.GeoDataFrame({"n": names}, geometry=shapes, crs=crs), "n", **rules)


def crooked(seed=3, cells=40):
    """Voronoi cells with crooked edges, a hole with an island in it, and small overlaps."""
    rng = np.random.default_rng(seed)
    places = shapely.points(rng.uniform(0, 1, (cells, 2)))
    frame = box(0, 0, 1, 1)
    tiles = shapely.get_parts(shapely.voronoi_polygons(shapely.multipoints(places)))
    tiles = shapely.intersection(tiles, frame)
    bent = [shapely.segmentize(tile, 0.02) for tile in tiles]
    shapes = [
        shapely.transform(each, lambda xy: xy + 0.01 * np.sin(40 * xy[:, ::-1])) for each in bent
    ]
    inner = shapes[0].buffer(-0.02)
    shapes[0] = shapes[0].difference(inner)
    shapes.append(inner.buffer(-0.01))
    # A sliver of the neighbour, 1e-5 degrees wide.
    shapes[5] = shapes[5].buffer(5e-6)
    return shapes


def hard_places(areas, number, seed=1):
    """Vertices, one ulp beside them, places on edges, midpoints, corners of cells, and odd ones."""
    rng = np.random.default_rng(seed)
    edges, _ = edges_of(areas.geometry)
    chosen = edges[rng.integers(len(edges), size=number)]
    x, y, xb, yb = chosen.T
    part = rng.random(number)
    index = areas.index
    rows, cols = index.labels.shape
    u, v = rng.integers(cols, size=number), rng.integers(rows, size=number)
    cell_x, cell_y = u / index.frame[2] + index.frame[0], v / index.frame[3] + index.frame[1]
    up, down = np.inf, -np.inf
    places = [
        (x, y),
        (np.nextafter(x, up), y),
        (np.nextafter(x, down), y),
        (x, np.nextafter(y, up)),
        (x, np.nextafter(y, down)),
        (x + part * (xb - x), y + part * (yb - y)),
        ((x + xb) / 2, (y + yb) / 2),
        (rng.permutation(x), y),
        (x, rng.permutation(y)),
        (cell_x, cell_y),
        (np.nextafter(cell_x, down), np.nextafter(cell_y, down)),
        (rng.uniform(x.min(), x.max(), number), rng.uniform(y.min(), y.max(), number)),
    ]
    return np.concatenate([p[0] for p in places]), np.concatenate([p[1] for p in places])


def by_geos(geometry, x, y):
    """The first polygon that covers each place, closed; -1 for none."""
    first = np.full(len(x), len(geometry))
    tree = shapely.STRtree(shapely.points(x, y))
    area, place = tree.query(geometry, predicate="intersects")
    np.minimum.at(first, place, area)
    return np.where(first == len(geometry), -1, first)


def compare(areas, x, y):
    found, expected = areas.assign(x, y, areas.crs), by_geos(areas.geometry, x, y)
    wrong = np.flatnonzero(found != expected)
    assert not len(wrong), (x[wrong[0]], y[wrong[0]], found[wrong[0]], expected[wrong[0]])


@pytest.mark.parametrize("scale", [1.0, 1e-3, 137.0])
def test_the_index_says_what_geos_says(scale):
    shapes = [shapely.transform(each, lambda xy: xy * scale) for each in crooked()]
    shapes[5] = shapes[5] if scale == 1.0 else shapely.make_valid(shapes[5])
    areas = areas_of(shapes, 4326 if scale < 100 else 3035)
    compare(areas, *hard_places(areas, 4_000))


def test_whole_numbers_and_shared_corners():
    # Every place of interest is a float without rounding; squares, triangles and a ring.
    ring = Polygon([(4, 0), (8, 0), (8, 4), (4, 4)], [[(5, 1), (7, 1), (7, 3), (5, 3)]])
    shapes = [box(0, 0, 4, 4), ring, box(5, 1, 7, 3), Polygon([(0, 4), (8, 4), (4, 8)])]
    # Level edges, beside which the edges after them decide.
    comb = [
        (14, 0),
        (20, 0),
        (20, 3),
        (18, 3),
        (18, 1),
        (17, 1),
        (17, 2),
        (16, 2),
        (16, 3),
        (14, 3),
    ]
    combs = Polygon(comb), Polygon([(x, 8 - y) for x, y in comb])
    areas = areas_of([*shapes, MultiPolygon([box(10, 0, 11, 1), box(11, 1, 12, 2)]), *combs], 3035)
    x, y = (each.ravel() for each in np.mgrid[-1:21:0.25, -1:9:0.25])
    compare(areas, x, y)
    assert areas.assign([4, 5, 6, 4, 11], [2, 2, 2, 4, 1], 3035).tolist() == [0, 1, 2, 0, 4]


def test_places_that_are_none_lie_nowhere():
    areas = areas_of([box(0, 0, 1, 1)])
    x = [np.nan, np.inf, -np.inf, 0.5, 0.5, 0.5, 1e300, 720.5]
    y = [0.5, 0.5, 0.5, np.nan, np.inf, -np.inf, 0.5, 0.5]
    assert areas.assign(x, y).tolist() == [-1] * 7 + [0]
    assert areas.assign([], []).tolist() == []


def test_an_overlap_goes_to_the_first_in_the_file():
    left, right = box(0, 0, 0.1001, 0.05), box(0.1, 0, 0.2, 0.05)
    assert areas_of([left, right]).assign([0.10005], [0.02])[0] == 0
    assert areas_of([right, left]).assign([0.10005], [0.02])[0] == 0
    assert areas_of([right, left]).assign([0.05], [0.02])[0] == 1


def test_longitudes_of_another_turn_are_the_same_places():
    fiji = Polygon([(177, -19), (182, -19), (182, -16), (177, -16)])
    areas = areas_of([fiji, box(-178, -19, -175, -16)])
    lon = [178, 181, -179, 180, -180, 539.5, 185, 186]
    assert areas.assign(lon, [-17] * 8).tolist() == [0, 0, 0, 0, 0, 0, 1, -1]


def test_the_nearest_area_takes_what_lies_beside_it():
    square = box(4_000_000, 3_000_000, 4_010_000, 3_010_000)
    other = box(4_010_100, 3_000_000, 4_020_000, 3_010_000)
    x = np.array([4_005_000, 4_010_030, 4_010_050, 4_010_070, 3_999_930, 3_999_800.0])
    y = np.full(6, 3_005_000.0)
    assert areas_of([square, other], 3035).assign(x, y, 3035).tolist() == [0, -1, -1, -1, -1, -1]
    near = areas_of([square, other], 3035, nearest=100.0)
    found = near.assign(x, y, 3035).tolist()
    # The plane of distances is another one: the middle may fall to either.
    assert found[:2] + found[3:] == [0, 0, 1, 0, -1]
    assert near.key != areas_of([square, other], 3035).key


def test_great_britain(great_britain, real_data):
    areas = great_britain
    records = pandas.read_parquet(real_data("gb_road_accidents.parquet"))
    x, y = records["lon"].to_numpy(), records["lat"].to_numpy()
    compare(areas, x, y)
    found = areas.assign(x, y)
    assert np.count_nonzero(found < 0) == 253
    lost = found < 0
    near = replace(areas, nearest=100.0).assign(x[lost], y[lost])
    assert np.count_nonzero(near >= 0) == 227
    compare(areas, *hard_places(areas, 2_000))


def test_what_is_sent_to_a_worker_assigns_as_here():
    areas = areas_of(crooked(), nearest=500.0)
    x, y = hard_places(areas, 500)
    found = areas.assign(x, y)
    before = len(pickle.dumps(areas))
    areas.lattice(1_000.0)
    areas.outlines(100.0)
    sent = pickle.dumps(areas)
    assert len(sent) < 1.01 * before
    there = pickle.loads(sent)
    # The index went along: nothing is built there.
    assert "index" in vars(there)
    assert there.assign(x, y).tolist() == found.tolist()
    assert there.key == areas.key


@pytest.mark.slow
def test_great_britain_ten_million_places(great_britain):
    areas = great_britain
    compare(areas, *hard_places(areas, 100_000))
    rng = np.random.default_rng(20_261_122)
    west, south, east, north = shapely.total_bounds(areas.geometry)
    found, expected = np.zeros((2, len(areas) + 1), dtype=np.int64)
    for _ in range(10):
        x, y = rng.uniform(west, east, 1_000_000), rng.uniform(south, north, 1_000_000)
        found += np.bincount(areas.assign(x, y) + 1, minlength=len(found))
        expected += np.bincount(by_geos(areas.geometry, x, y) + 1, minlength=len(found))
    assert found.sum() == 10_000_000
    assert found.tolist() == expected.tolist()


def test_long_edges_take_little_memory():
    """2,000 teeth of a comb, each across the whole map."""
    x = np.repeat(np.arange(2_000), 2)
    y = np.tile([0, 5_000, 5_000, 0], 1_000) + 1
    areas = areas_of([Polygon([*zip(x, y, strict=True), (x[-1], 0), (0, 0)])], crs=3857)
    tracemalloc.start()
    try:
        assert len(areas.index.labels) > 500
        assert tracemalloc.get_traced_memory()[1] < 1e8
    finally:
        tracemalloc.stop()
