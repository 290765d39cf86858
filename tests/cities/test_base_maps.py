"""Base maps of the catalogue: the made-up ones, and files beside the points."""

import geopandas
import numpy as np
import pytest
import shapely

from explorer import InputError
from explorer.cities import madeup, madeup_plan
from explorer.cities.base_maps import base_map
from explorer.cities.madeup_map import base_map as port_amber
from explorer.cities.nation import grid as nation_grid


def test_shores_of_port_amber_part_water_from_land():
    base = port_amber()
    x, y = np.meshgrid(np.linspace(-9.9, 9.9, 300), np.linspace(-9.9, 9.9, 300))
    wet = madeup_plan.in_water(x.ravel(), y.ravel())
    shores = [line for line, kind in zip(base.lines, base.kinds, strict=True) if kind == "water"]
    tree = shapely.STRtree(shores)
    # Between two neighbours in a row, one wet and one dry, there is a shore within a step of them.
    changes = np.flatnonzero((wet[:-1] != wet[1:]) & (np.diff(x.ravel()) > 0))
    middle = shapely.points(
        500 * (x.ravel()[changes] + x.ravel()[changes + 1]), 1000 * y.ravel()[changes]
    )
    _, far = tree.query_nearest(middle, return_distance=True, all_matches=False)
    assert len(changes) > 300
    assert np.quantile(far, 0.98) < 66


def test_names_of_port_amber_stand_where_they_belong_and_parks_are_where_nobody_lives():
    base = port_amber()
    x, y = base.places.T / 1000
    wet = madeup_plan.in_water(x, y)
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
        assert (inside == madeup_plan.in_park(px, py)).mean() > 0.97


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
    with pytest.raises(InputError, match="could not be read"):
        base_map("springfield")
