"""Atoms of a country: counts of areas, of windows and of the whole are sums of them."""

import geopandas
import numpy as np
import pytest
import shapely

from explorer import AreaCounts, Areas, InputError, Points
from explorer.grid.areas.windows import Windows
from tests.country.nation import CRS, nation, people


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


def test_weights_are_records(areas):
    points = people()
    double = Points(points.x, points.y, CRS, weight=np.full(len(points), 2))
    twice, once = areas.count(double, cell=500.0), areas.count(points, cell=500.0)
    np.testing.assert_array_equal(twice.by_area, 2 * once.by_area)


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
    (([0, 1], [0], [1]), "one length"),
    (([11], [0], [1]), "outside"),
    (([0], [10**9], [1]), "outside"),
    (([0], [0], [-1]), "negative"),
])  # fmt: skip
def test_atoms_that_cannot_be_are_refused(areas, atoms, said):
    with pytest.raises(InputError, match=said):
        AreaCounts(Windows(areas, areas.lattice(500.0)), *atoms)


def test_bounds_and_crs_are_asked_for(areas):
    points = people()
    with pytest.raises(InputError, match="user"):
        areas.count(points, contribution_bound=2)
    with pytest.raises(InputError, match="CRS"):
        areas.count(Points(points.x, points.y, None))
    with pytest.raises(InputError, match="unit of privacy"):
        AreaCounts(Windows(areas, areas.lattice(500.0)), [], [], [], 2, "point")
