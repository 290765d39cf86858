"""Points are cropped, projected and counted as one by one; rows without a place; exact answers."""

import geopandas
import numpy as np
import pytest
import shapely
from hypothesis import given
from hypothesis import strategies as st

from explorer import (
    AreaCounts,
    Areas,
    FrequencyMatrix,
    Grid,
    InputError,
    Points,
    TripDomain,
    exact,
)
from explorer.grid.areas.windows import Windows
from explorer.grid.plans import GridPlan
from explorer.grid.projection import LONLAT, as_crs, transform
from explorer.points import counting as binning
from explorer.points.cleaning import (
    BEYOND,
    FINE,
    INFINITE,
    MISSING,
    NO_LATITUDE,
    ORIGIN,
    REASONS,
    SWAPPED,
    ZERO,
    judge,
    refuse_columns,
)
from explorer.points.counting import count_and_place, count_records
from tests.country.nation import CRS, nation, people
from tests.helpers import around
from tests.refusals import refuses


def count_block(points, grid, bound=None, progress=None):
    plan = GridPlan(grid, points.crs, len(points))
    return count_records(points, plan, bound, progress).dense(plan.size)[0].reshape(grid.shape)


def one_by_one(grid, points):
    """Count with the projection of each point and numpy's own histogram."""
    x, y = points.x, points.y
    if points.crs is not None and grid.crs is not None:
        x, y = transform(points.crs, grid.crs, x, y)
    x0, y0, x1, y1 = grid.bounds
    inside = (x >= x0) & (x <= x1) & (y >= y0) & (y <= y1)
    counted = np.histogram2d(y[inside], x[inside], grid.shape, [[y0, y1], [x0, x1]])[0]
    return counted.astype(np.int64)


@pytest.mark.parametrize(("lon", "lat", "size"), [
    (-122.42, 37.77, 20e3),  # a city: by lattice
    (180.0, -16.5, 20e3),  # across the antimeridian
    (-179.99, 65.0, 100e3),
    (20.0, 90.0, 50e3),  # around a pole
    (0.0, -90.0, 2000e3),
    (15.0, 89.95, 50e3),  # a pole near the edge
    (100.0, 70.0, 2000e3),
    (0.0, 0.0, 15_000e3),
])  # fmt: skip
def test_counts_are_those_of_each_point_projected(lon, lat, size):
    grid = Grid.around(lon, lat, size, shape=(50, 70))
    points = around(grid, 60_000)
    counts = count_block(points, grid)
    # Of points 0.6 of the side from the centre at most, (1 / 1.2)^2 are inside.
    assert abs(counts.sum() / 60_000 - 1 / 1.44) < 5 * np.sqrt(0.7 * 0.3 / 60_000)
    # A point within the lattice's 10^-5 m of an edge may fall on either side of it.
    assert np.abs(counts - one_by_one(grid, points)).sum() <= 2


def test_points_in_metres_and_in_another_projection():
    grid = Grid.from_bounds(400e3, 200e3, 450e3, 260e3, "EPSG:27700", (60, 50))
    rng = np.random.default_rng(1)
    x, y = rng.uniform(390e3, 460e3, 20_000), rng.uniform(190e3, 270e3, 20_000)
    same = Points(x, y, crs=as_crs(27700))
    counts = count_block(same, grid)
    assert np.array_equal(counts, one_by_one(grid, same))
    lon, lat = grid.to_lonlat(x, y)
    web = Points(*transform(LONLAT, as_crs(3857), lon, lat), crs=as_crs(3857))
    moved = count_block(web, grid)
    assert np.abs(moved - counts).sum() <= 4


def test_chunks_do_not_change_counts(monkeypatch):
    grid = Grid.around(10.0, 50.0, 10e3, shape=16)
    points = around(grid, 5_000)
    rng = np.random.default_rng(2)
    mixed = Points(
        points.x, points.y, user=rng.integers(0, 40, 5_000), weight=rng.integers(0, 4, 5_000)
    )
    whole = count_block(mixed, grid, 7)
    monkeypatch.setattr(binning, "CHUNK", 512)
    said = []
    parts = count_block(mixed, grid, 7, said.append)
    assert np.array_equal(whole, parts)
    assert said == sorted(said)
    assert len(said) == 10
    assert said[-1] == 1.0


PLACES = st.lists(
    st.tuples(
        st.floats(allow_nan=True, allow_infinity=True, width=32) | st.sampled_from([0.0, 3.0, 4.0]),
        st.floats(-1, 6) | st.sampled_from([0.0, 5.0, np.nan]),
        st.integers(0, 3),
        st.integers(0, 5),
    ),
    max_size=30,
)


@given(PLACES, st.integers(1, 6))
def test_records_outside_use_nothing_of_the_bound(places, bound):
    table = np.array(places, float).reshape(-1, 4)
    points = Points(table[:, 0], table[:, 1], None, user=table[:, 2], weight=table[:, 3])
    inside = (table[:, 0] >= 0) & (table[:, 0] <= 4) & (table[:, 1] >= 0) & (table[:, 1] <= 5)
    of_user = np.bincount(table[inside, 2].astype(int), table[inside, 3])
    counts = count_block(points, Grid.cells((5, 4)), bound)
    assert counts.sum() == np.minimum(of_user, bound).sum()
    assert (counts <= count_block(points, Grid.cells((5, 4)))).all()


@pytest.mark.parametrize("weighted", [False, True])
def test_a_record_is_placed_in_the_cell_that_it_was_counted_in(weighted):
    grid = Grid.around(10.0, 50.0, 10e3, shape=(37, 50))
    here = around(grid, 20_000)
    rng = np.random.default_rng(3)
    weight = rng.integers(0, 4, 20_000) if weighted else None
    points = Points(here.x, here.y, weight=weight)
    counts, placed = count_and_place(points, grid)
    assert np.array_equal(counts, count_block(points, grid))
    again = np.zeros_like(counts)
    records = 1 if placed.records is None else placed.records.astype(np.int64)
    np.add.at(again, (placed.row.astype(int), placed.column.astype(int)), records)
    assert np.array_equal(again, counts)


@given(st.lists(st.tuples(st.floats(0, 4), st.floats(0, 5)), min_size=1, max_size=30))
def test_single_precision_moves_no_record_over_an_edge_of_a_cell(places):
    x, y = np.array(places).T
    # Whatever the cells, the corner included: also a value that single precision rounds up.
    x = np.concatenate([x, [4.0, np.nextafter(4.0, 0), np.nextafter(1.0, 0)]])
    y = np.concatenate([y, [5.0, np.nextafter(5.0, 0), np.nextafter(3.0, 0)]])
    counts, placed = count_and_place(Points(x, y, None), Grid.cells((5, 4)))
    again = np.zeros_like(counts)
    np.add.at(again, (placed.row.astype(int), placed.column.astype(int)), 1)
    assert np.array_equal(again, counts)
    assert placed.column.dtype == placed.row.dtype == np.float32


# Rows without a usable place are counted by reason and said in sentences.

NAN, INF = np.nan, np.inf
CASES = [
    (1.0, 2.0, FINE, FINE), (-180.0, -90.0, FINE, FINE), (360.0, 90.0, FINE, FINE),
    (0.0, 51.5, FINE, FINE), (-73.9, 0.0, FINE, FINE), (0.0, 0.0, ZERO, ORIGIN),
    (-0.0, 0.0, ZERO, ORIGIN), (NAN, 1.0, MISSING, MISSING), (INF, NAN, MISSING, MISSING),
    (1.0, -INF, INFINITE, INFINITE), (51.5, 120.0, SWAPPED, FINE), (400.0, 10.0, BEYOND, FINE),
    (-181.0, -91.0, BEYOND, FINE), (-122.0, 95.0, NO_LATITUDE, FINE), (51.5, 361.0, BEYOND, FINE),
]  # fmt: skip


@pytest.mark.parametrize("degrees", [True, False])
def test_each_row_gets_its_reason(degrees):
    x, y, in_degrees, in_metres = (np.array(values) for values in zip(*CASES, strict=True))
    reasons, rows = judge(x, y, degrees)
    assert reasons.tolist() == (in_degrees if degrees else in_metres).tolist()
    assert rows.tolist() == np.bincount(reasons, minlength=REASONS).tolist()
    # By itself, where a row that is fine is judged in a shorter way.
    alone = [judge(x[i : i + 1], y[i : i + 1], degrees)[0][0] for i in range(len(x))]
    assert alone == reasons.tolist()


def test_columns_that_are_mostly_impossible_are_refused():
    for counts, said in [
        ([1, 0, 0, 0, 0, 9, 0], "look swapped; give lon='b', lat='a'"),
        ([1, 0, 0, 0, 9, 0, 0], "not degrees; say what they are with crs="),
        # Beyond 90 alone is a slip of the latitude, not another CRS.
        ([1, 1, 1, 1, 0, 1, 1], "no longitude and latitude"),
        ([1, 0, 0, 0, 1, 1, 1], "no longitude and latitude"),
    ]:
        refuses(said, refuse_columns, np.array(counts), "a", "b")
    for counts in ([9, 0, 0, 0, 4, 4, 1], [0, 5, 5, 5, 0, 0, 0], [0] * 7):
        refuse_columns(np.array(counts), "a", "b")


# Exact answers against brute force, in cells and in metres, and the HTF workload.


def test_exact_counts_cells_by_area():
    counts = np.arange(12).reshape(3, 4)
    matrix = FrequencyMatrix.from_array(counts)
    assert exact(matrix, [[0, 0, 4, 3]])[0] == counts.sum()
    assert exact(matrix, [[1, 0, 2, 3]])[0] == counts[:, 1].sum()
    assert exact(matrix, [[0.5, 0, 1.25, 1]])[0] == pytest.approx(0.25 * 1 + 0.5 * 0)
    assert exact(matrix, [[-5, -5, 100, 0.5]])[0] == pytest.approx(counts[0].sum() / 2)


class Sparse:
    """Trips as a list of cells: counts that are not dense."""

    def __init__(self, domain, records):
        self.domain, self.records = domain, records

    def count(self, lower, upper):
        inside = (lower[:, None] <= self.records) & (self.records < upper[:, None])
        return inside.all(axis=2).sum(axis=1)


@pytest.mark.parametrize("whole", [True, False])
@pytest.mark.parametrize("shape", [(7, 9), (4, 5, 3, 6), (2, 3, 4, 2, 3, 2)], ids=len)
def test_counts_of_any_dimension_are_exact_and_cells_count_by_area(shape, whole):
    rng = np.random.default_rng(len(shape))
    grids = tuple(Grid.cells(pair) for pair in np.reshape(shape, (-1, 2)).tolist())
    domain = TripDomain(grids) if len(grids) > 1 else grids[0]
    records = rng.integers(0, shape, (300, len(shape)))
    boxes = np.sort(rng.uniform(-1, np.array(shape) + 1, (40, 2, len(shape))), axis=1)
    # Some lie inside a single cell along some axis, some have no extent there.
    boxes[30:, 1] = boxes[30:, 0] + rng.choice([0.0, 0.3, 2.0], (10, len(shape)))
    boxes = np.round(boxes) if whole else boxes
    found = exact(Sparse(domain, records), domain.from_cells(boxes))
    # Each record lies evenly in its cell.
    held = np.minimum(boxes[:, None, 1], records + 1) - np.maximum(boxes[:, None, 0], records)
    wanted = np.clip(held, 0, 1).prod(axis=2).sum(axis=1)
    assert found == pytest.approx(wanted, abs=1e-9)
    if whole:
        assert np.array_equal(found, np.round(found))
    if len(grids) == 1:
        dense = np.zeros(shape, dtype=int)
        np.add.at(dense, tuple(records.T), 1)
        matrix = FrequencyMatrix.from_array(dense)
        assert found == pytest.approx(exact(matrix, domain.from_cells(boxes)), abs=1e-9)


# Atoms of a country: counts of areas, of windows and of the whole are sums of them.


@pytest.fixture(scope="module")
def areas():
    return nation()


def test_atoms_add_up_to_what_shapely_finds(areas):
    points = people()
    counts = areas.count(points, cell=500.0)
    places = shapely.points(points.x, points.y)
    taken = np.zeros(len(points), dtype=bool)
    for area, shape in enumerate(areas.geometry):
        here = shapely.covers(shape, places) & ~taken
        taken |= here
        assert counts.by_area[area] == here.sum()
        window = counts.windows.of([area])
        assert counts.inside(window).total == here.sum()
        assert counts.inside(window).counts[window.land == 0].sum() == 0
    assert counts.by_node[0] == taken.sum() == counts.national().total
    assert (counts.unit, counts.contribution_bound) == ("point", 1)


def test_the_window_of_several_holds_all_of_them(areas):
    counts = areas.count(people(), cell=500.0)
    windows = counts.windows
    node = int(windows.people.of[windows.find("West")])
    window = windows.of(windows.members(node))
    assert counts.inside(window).total == counts.by_area[window.members].sum()
    alone = sum(windows.of([area]).parts.sum() for area in window.members)
    assert window.parts.sum() == pytest.approx(alone, rel=1e-5)
    assert window.land.max() <= 1


def test_coarse_windows_hold_whole_fine_cells():
    """An area of 900 cells has a window of twice the side; nobody is lost in one over both."""
    shapes = [shapely.box(0, 0, 20_000, 3_000), shapely.box(11_011, 3_000, 14_000, 5_003)]
    frame = geopandas.GeoDataFrame({"name": ["long", "low"]}, geometry=shapes, crs=CRS)
    areas = Areas.read(frame, ["name"])
    counts = areas.count(people(), cell=22.0)
    windows = counts.windows
    assert windows.lattice.scale.tolist() == [2, 1]
    whole = windows.of([0, 1])
    assert whole.scale >= 2
    assert counts.inside(whole).total == counts.by_node[0] > 0
    land = whole.land.sum() * (22.0 * whole.scale) ** 2
    assert land == pytest.approx(shapely.area(areas.geometry).sum(), rel=1e-3)


def test_ranges_of_the_row_are_nodes(areas):
    counts = areas.count(people(), cell=500.0)
    tree = counts.windows.people
    first, behind = tree.ranges
    found = counts.count(first[:, np.newaxis], behind[:, np.newaxis])
    np.testing.assert_array_equal(found, counts.by_node[tree.top])


def test_the_key_names_counts_and_areas(areas):
    one, same = areas.count(people(), cell=500.0), areas.count(people(), cell=500.0)
    fewer, finer = areas.count(people(3999), cell=500.0), areas.count(people(), cell=250.0)
    assert one.key == same.key
    assert len({one.key, fewer.key, finer.key}) == 3
    # No count in what ends up in logs.
    assert repr(one) == "AreaCounts(11 areas, unit of privacy: point)"


def test_the_order_of_atoms_does_not_matter(areas):
    windows = Windows(areas, areas.lattice(500.0))
    one = AreaCounts(windows, [0, 3, 0], [7, 9, 7], [1, 2, 3])
    # One that holds nobody is none.
    other = AreaCounts(windows, [0, 0, 3, 5], [7, 7, 9, 8], [2, 2, 2, 0])
    assert one.key == other.key
    assert one.by_area[[0, 3]].tolist() == [4, 2]


@pytest.mark.parametrize(("atoms", "said"), [
    (([0, 1], [0], [1]), "one length"), (([11], [0], [1]), "outside"),
    (([0], [10**9], [1]), "outside"), (([0], [0], [-1]), "negative"),
])  # fmt: skip
def test_atoms_that_cannot_be_are_refused(areas, atoms, said):
    refuses(said, AreaCounts, Windows(areas, areas.lattice(500.0)), *atoms)


def test_bounds_and_crs_are_asked_for(areas):
    points = people()
    refuses("user", areas.count, points, contribution_bound=2)
    refuses("CRS", areas.count, Points(points.x, points.y, None))
    with pytest.raises(InputError, match="unit of privacy"):
        AreaCounts(Windows(areas, areas.lattice(500.0)), [], [], [], 2, "point")
