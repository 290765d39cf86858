"""Whose privacy: a user column needs a bound, single records have to be insisted on."""

from pathlib import Path

import geopandas
import numpy as np
import pandas as pd
import pytest
import yaml
from shapely import box

from explorer import Grid, Ledger, Release
from explorer.grid.countable import UnitWarning
from explorer.points.counts_file import load_counts
from tests.commands.refusals import refusal
from tests.publish.folders import ABOUT

AROUND = "--around -122.42 37.77 --size 20km"
MAP = f"{AROUND} --shape 16 --lon lon --lat lat"
#: What every command that draws is given besides whom to protect.
COMMANDS = {
    "release": f"release points.csv {MAP} --epsilon 1 -o map.parquet",
    "count": f"count points.csv {MAP} -o counts",
    "publish": f"publish points.csv {MAP} --epsilon 1 -o folder --about about.yaml",
    "country": "country points.csv --areas areas.gpkg --levels land --cell 4km --lon lon --lat lat"
    " --epsilon 1 -o country.gpkg",
    "trips": f"trips points.csv {AROUND} --grid 4 --places lon:lat,d_lon:d_lat --epsilon 1 -o t",
}
#: Columns that say whose records these are, and some that only look like it.
USERS = ("user_id", "Driver", "anonymous customer-no", "deviceId", "IMSI")
NO_USERS = ("passenger_count", "user_type", "device_speed", "id")


def points(column, ending="csv"):
    """Write a file of 400 trips by 50 users."""
    ends = np.random.default_rng(3).normal([-122.42, 37.77, -122.42, 37.77], 0.02, (400, 4))
    table = pd.DataFrame(ends, columns=["lon", "lat", "d_lon", "d_lat"])
    table[column] = np.arange(400) % 50
    if ending == "geojson":
        places = geopandas.points_from_xy(table.lon, table.lat, crs=4326)
        geopandas.GeoDataFrame(table[[column]], geometry=places).to_file("points.geojson")
    else:
        table.to_csv("points.csv", index=False)
        table.to_parquet("points.parquet")


@pytest.fixture(autouse=True)
def _folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    Path("about.yaml").write_text(yaml.safe_dump(ABOUT.facts()))
    area = geopandas.GeoSeries([box(-122.6, 37.6, -122.2, 37.9)], crs=4326)
    geopandas.GeoDataFrame({"land": ["A"]}, geometry=area).to_file("areas.gpkg")


@pytest.mark.parametrize("command", COMMANDS)
def test_known_users_need_a_bound_or_an_insistence(command, capsys):
    points("user_id")
    line = COMMANDS[command].split()
    for unit in (["--user", "user_id"], []):
        said = refusal(capsys, *line, *unit)
        assert all(flag in said for flag in ("--contribution-bound 10", "--per record", "--user"))
    for wrong in ("--contribution-bound 2", "--per people", "--per user",
                  "--user user_id --contribution-bound 2 --per record"):  # fmt: skip
        refusal(capsys, *line, *wrong.split())
    assert not Ledger().path.exists()


@pytest.mark.parametrize("ending", ["csv", "parquet", "geojson"])
@pytest.mark.parametrize("column", USERS)
def test_columns_of_users_are_known_in_every_kind_of_file(column, ending, run, capsys):
    points(column, ending)
    place = "" if ending == "geojson" else " --lon lon --lat lat"
    line = f"release points.{ending} {AROUND} --shape 16 --epsilon 1{place}"
    said = refusal(capsys, *f"{line} -o map.parquet".split())
    assert repr(column) in said
    assert not Ledger().path.exists()
    # A preview spends nothing, and what is insisted on is done.
    run(f"{line} --preview 1")
    run(f"{line} --per record -o map.parquet")
    assert Release.load("map.parquet").unit == "point"


@pytest.mark.parametrize("column", NO_USERS)
def test_other_columns_stop_nothing(column, run):
    points(column)
    run(COMMANDS["release"])


@pytest.mark.parametrize(("unit", "wanted"), [
    ("--contribution-bound 2", ("user", 2)), ("--per record", ("point", 1)),
])  # fmt: skip
def test_the_unit_that_is_said_is_the_one_of_the_release(unit, wanted, run):
    points("user_id")
    for command in ("release", "count"):
        run(f"{COMMANDS[command]} --user user_id {unit}")
    for drawn in (Release.load("map.parquet"), load_counts("counts.exact.parquet")):
        assert (drawn.unit, drawn.contribution_bound) == wanted


def test_python_warns_of_a_column_of_users(monkeypatch):
    points("user_id")
    grid = Grid.around(-122.42, 37.77, 20_000, shape=16)
    columns = {"lon": "lon", "lat": "lat"}
    with pytest.warns(UnitWarning, match="user='user_id'") as caught:
        grid.count("points.csv", **columns)
    assert caught[0].filename == __file__
    monkeypatch.setattr("warnings.warn", pytest.fail)
    for more in ({"per": "record"}, {"user": "user_id", "contribution_bound": 2}):
        grid.count("points.csv", **columns, **more)
