"""Whom counts protect is said, and never taken from a column that was forgotten."""

import geopandas as gpd
import numpy as np
import pandas as pd
import pytest

from explorer import HTF, Grid, InputError, read_points, scan_points

GRID = Grid.around(4.9, 52.37, 10_000, shape=16)


def table(n: int = 60) -> pd.DataFrame:
    rng = np.random.default_rng(1)
    return pd.DataFrame(
        {
            "lon": 4.9 + rng.uniform(-0.05, 0.05, n),
            "lat": 52.37 + rng.uniform(-0.03, 0.03, n),
            "who": np.arange(n) % 7,
        }
    )


def test_users_without_a_bound_are_refused_however_points_come(tmp_path):
    path = tmp_path / "points.parquet"
    table().to_parquet(path)
    for points in (read_points(table(), user="who"), scan_points(path, user="who")):
        with pytest.raises(InputError, match=r"contribution_bound=10.*per='record'"):
            GRID.count(points)
        assert GRID.count(points, per="record").unit == "point"
        bounded = GRID.count(points, 3)
        assert bounded.unit == "user"
        assert bounded.total == 21
    with pytest.raises(InputError, match="say whom to protect"):
        GRID.count(path, user="who")
    assert GRID.count(table()).total == 60


def test_units_that_do_not_fit_are_refused():
    points = read_points(table(), user="who")
    for how, sentence in (
        ({"contribution_bound": 3, "per": "record"}, "leave it out"),
        ({"per": "user"}, "say whom to protect"),
        ({"per": "people"}, "each 'record' or each 'user'"),
    ):
        with pytest.raises(InputError, match=sentence):
            GRID.count(points, **how)


def test_a_series_of_points_is_read_and_records_are_no_counts():
    table_ = table()
    series = gpd.GeoSeries.from_xy(table_.lon, table_.lat, crs=4326)
    assert GRID.count(series).total == 60
    assert GRID.count(series.to_crs(GRID.crs)).total == 60
    for records in (read_points(table_), series, series.to_frame("geometry")):
        with pytest.raises(InputError, match=r"count them first, grid\.count\(points\)"):
            HTF(epsilon=1).release(records)
