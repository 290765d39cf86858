"""The made-up nation: the same for everybody, of any number of points, with sound boundaries."""

import numpy as np
import pyarrow.parquet as pq
import pytest
import shapely

from explorer.cities import nation, nation_plan
from explorer.cities.catalogue import cities
from explorer.errors import InputError
from explorer.points.partitions import scan_points


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
    done: list[float] = []
    files = nation.write(tmp_path / "points", 7_400, progress=done.append)
    assert [path.name for path in files] == [f"part-0000{i}.parquet" for i in range(3)]
    assert [pq.read_metadata(path).num_row_groups for path in files] == [3, 3, 2]
    lon = np.concatenate([pq.read_table(path)["lon"].to_numpy() for path in files])
    assert np.array_equal(lon[7_000:], nation.row_group(7, 400)[0])
    assert np.array_equal(lon, nation.points(7_400).x)
    assert done[-1] == 1.0
    assert scan_points(tmp_path / "points").rows == 7_400
    with pytest.raises(InputError, match="is not empty"):
        nation.write(tmp_path / "points", 5)
    with pytest.raises(InputError, match="give 1 or more"):
        nation.write(tmp_path / "other", 0)


def test_people_live_on_land_in_towns_of_ranked_sizes():
    points = nation.points(100_000)
    areas = nation.boundaries()
    tree = shapely.STRtree(shapely.points(points.x, points.y))
    area, point = tree.query(areas.geometry.to_numpy(), predicate="intersects")
    inside = len(np.unique(point)) / 100_000
    assert 0.98 < inside < 1.0
    of_district = np.bincount(area, minlength=len(areas))
    assert of_district.min() > 20
    assert of_district.max() > 20 * np.median(of_district)
    share = np.sort(nation_plan.plan().share)[::-1]
    assert np.allclose(share * np.arange(1, len(share) + 1), share[0])


def test_the_catalogue_has_it():
    city = cities()["nation"]
    assert city.present
    assert city.grid(1024).crs == nation.grid().crs
    assert city.grid(1024).height == nation.grid().height
