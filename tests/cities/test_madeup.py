"""Made-up places, trips, base maps and boundaries are the same for everybody."""

import geopandas
import numpy as np
import pyarrow.parquet as pq
import pytest
import shapely

from explorer import TripDomain, scan_points
from explorer.cities import madeup, nation, trip_sets
from explorer.cities.base_maps import base_map
from explorer.cities.nation import grid as nation_grid
from explorer.cities.trip_sets import made_up_trips
from tests.refusals import refuses


@pytest.fixture(scope="module")
def points():
    return madeup.points()


@pytest.fixture(scope="module")
def places(points):
    """Return kilometres east and north of the centre."""
    x, y = madeup.grid(1).from_lonlat(points.x, points.y)
    return x / 1000, y / 1000


def test_the_same_seed_gives_the_same_people(points):
    again = madeup.points()
    assert np.array_equal(points.x, again.x)
    assert np.array_equal(points.y, again.y)
    other = madeup.points(seed=1)
    assert not np.any(points.x[:1000] == other.x[:1000])


def test_the_plan_is_the_same_for_every_seed(points):
    # Counts of two samples of 10^6 on 8 x 8 cells differ by their own chance alone: the sum of
    # (a - b)^2 / (a + b) over 64 cells is about chi-squared with 63 degrees of freedom.
    first = madeup.grid(8).count(points).counts
    second = madeup.grid(8).count(madeup.points(seed=2)).counts
    used = first + second > 0
    chi2 = np.sum((first - second)[used] ** 2 / (first + second)[used])
    assert chi2 < 63 + 6 * np.sqrt(2 * 63)


def test_nobody_is_in_the_sea_and_the_river_is_crossed_on_bridges(places):
    x, y = places
    assert not madeup.in_sea(x, y).any()
    wet = madeup.in_river(x, y)
    # All of them on main roads.
    assert 0 < wet.sum() < 0.01 * x.size
    corners = madeup.raster().roads
    wet_x, wet_y = x[wet][:300], y[wet][:300]
    away = np.hypot(wet_x[:, None] - corners[:, 0], wet_y[:, None] - corners[:, 1]).min(axis=1)
    assert away.max() < 0.1


# Base maps of the catalogue: the made-up ones, and files beside the points.


def test_names_of_port_amber_stand_where_they_belong_and_parks_are_where_nobody_lives():
    base = base_map("madeup")
    x, y = base.places.T / 1000
    wet = madeup.in_water(x, y)
    assert [name for name, is_wet in zip(base.names, wet, strict=True) if is_wet] == [
        "Amber Bay",
        "River Lant",
    ]
    assert len(set(base.names)) == len(base.names) == 27
    # Outlines of parks enclose the places that the plan calls parks.
    parks = [
        shapely.Polygon(line)
        for line, kind in zip(base.lines, base.kinds, strict=True)
        if kind == "park"
    ]
    rng = np.random.default_rng(3)
    for park in parks:
        x0, y0, x1, y1 = np.array(park.bounds) / 1000
        px, py = rng.uniform(x0, x1, 400), rng.uniform(y0, y1, 400)
        inside = shapely.contains_xy(park, 1000 * px, 1000 * py)
        assert (inside == madeup.in_park(px, py)).mean() > 0.97


def test_the_base_map_of_a_made_up_place_lies_on_its_grid():
    city = base_map("madeup")
    assert len(city.on(madeup.grid(64)).names) == 27
    nation = base_map("nation")
    drawn = nation.on(nation_grid(64))
    assert len(drawn.names) == 11
    assert set(drawn.kinds) == {"border"}


def test_a_file_beside_the_points_is_the_base_map_of_its_key(tmp_path, monkeypatch):
    monkeypatch.setenv("EXPLORER_DATA", str(tmp_path))
    assert base_map("springfield") is None
    assert base_map("../springfield") is None
    frame = geopandas.GeoDataFrame(
        {"name": ["Evergreen Terrace"]}, geometry=[shapely.Point(10, 50)], crs="EPSG:4326"
    )
    path = tmp_path / "springfield.base_map.geojson"
    frame.to_file(path)
    found = base_map("springfield")
    assert list(found.names) == ["Evergreen Terrace"]
    path.write_text("no map")
    refuses("could not be read", base_map, "springfield")


# The made-up trips are the same for everybody and have what real trips have.


@pytest.fixture(scope="module")
def trips():
    return made_up_trips()


@pytest.fixture(scope="module")
def km(trips):
    """East and north of the centre in kilometres, (3 places, 2, n)."""
    metres = [madeup.grid(1).from_lonlat(x, y) for x, y in zip(trips.x, trips.y, strict=True)]
    return np.array(metres) / 1000


def test_they_are_the_same_for_the_same_seed(trips):
    assert len(trips) == 100_000
    assert trips.places == ("o", "s1", "d")
    domain = TripDomain([madeup.grid(64)] * 3)
    trip_sets._made.cache_clear()
    first = domain.count(trips, per="record").key
    assert domain.count(made_up_trips(), per="record").key == first
    assert domain.count(made_up_trips(seed=1), per="record").key != first
    assert trips.user is not None
    assert len(np.unique(trips.user)) > 10_000


def test_any_places_in_any_order(trips):
    ends = made_up_trips(places="d, o")
    assert ends.places == ("d", "o")
    assert np.array_equal(ends.x[1], trips.x[0])
    assert np.array_equal(ends.y[0], trips.y[2])
    for wrong in ("o,s2", ("o", "o"), ()):
        refuses("give some of o, s1 and d", made_up_trips, places=wrong)
    refuses("0 or more", made_up_trips, -1)


def test_nearly_all_lie_on_the_public_grid_and_nobody_in_water_or_parks(trips, km):
    for x, y in km:
        assert np.abs(km).max() < madeup.HALF + 0.001
        # A centimetre of room: the places have been to degrees and back.
        assert (madeup.in_water(x, y) | madeup.in_park(x, y)).mean() < 1e-3
    inside = TripDomain([madeup.grid(64)] * 3).count(trips, per="record").total
    assert 0.95 * len(trips) < inside < len(trips)


# The made-up nation: the same for everybody, of any number of points, with sound boundaries.


def test_boundaries_are_a_tree_without_gaps_inside_the_public_grid():
    areas = nation.boundaries()
    assert list(areas.columns) == ["country", "region", "district", "geometry"]
    assert areas.geometry.is_valid.all()
    assert not areas["district"].duplicated().any()
    assert not set(areas["district"]) & set(areas["region"])
    # A region lies in one country; one country is a single region, one region a single district.
    assert areas.groupby("region")["country"].nunique().max() == 1
    assert areas.groupby("country")["region"].nunique().min() == 1
    assert areas.groupby("region")["district"].nunique().min() == 1
    west, south, east, north = nation.grid().bounds
    x0, y0, x1, y1 = areas.to_crs(nation.grid().crs).total_bounds
    assert west < x0 < x1 < east
    assert south < y0 < y1 < north
    metric = areas.to_crs(nation.grid().crs).geometry
    # Neighbours overlap and leave gaps by no more than corners on the coast allow: 0.01 % here.
    whole = shapely.union_all(metric.to_numpy())
    assert abs(metric.area.sum() / whole.area - 1) < 1e-4
    assert len(shapely.get_parts(whole)) == 3


def test_row_groups_are_made_alone_in_any_order_and_files_hold_them(tmp_path, monkeypatch):
    late = nation.row_group(7, 1_000)
    assert all(map(np.array_equal, late, nation.row_group(7, 1_000)))
    assert not np.array_equal(late[0], nation.row_group(8, 1_000)[0])
    assert not np.array_equal(late[0], nation.row_group(7, 1_000, seed=2)[0])
    monkeypatch.setattr(nation, "GROUP", 1_000)
    monkeypatch.setattr(nation, "GROUPS", 3)
    done = []
    files = nation.write(tmp_path / "points", 7_400, progress=done.append)
    assert [path.name for path in files] == [f"part-0000{i}.parquet" for i in range(3)]
    assert [pq.read_metadata(path).num_row_groups for path in files] == [3, 3, 2]
    lon = np.concatenate([pq.read_table(path)["lon"].to_numpy() for path in files])
    assert np.array_equal(lon[7_000:], nation.row_group(7, 400)[0])
    assert np.array_equal(lon, nation.points(7_400).x)
    assert done[-1] == 1.0
    assert scan_points(tmp_path / "points").rows == 7_400
    refuses("is not empty", nation.write, tmp_path / "points", 5)
    refuses("give 1 or more", nation.write, tmp_path / "other", 0)
