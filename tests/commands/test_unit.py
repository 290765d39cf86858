"""Whose privacy: a user column needs a bound, single records have to be insisted on."""

from pathlib import Path

import geopandas
import numpy as np
import pytest
import shapely
import yaml

from explorer import Grid, Release
from explorer.cli import main
from explorer.grid.countable import UnitWarning
from explorer.points.counts_file import load_counts
from explorer.privacy.ledger import Ledger
from tests.commands.refusals import refusal
from tests.publish.folders import ABOUT

HERE = ["--around", "-122.42", "37.77", "--size", "20km"]
#: What every command that draws is given besides the points and whom to protect.
COMMANDS = {
    "release": ["release", "FILE", *HERE, "--shape", "16", "--epsilon", "1", "-o", "map.parquet"],
    "count": ["count", "FILE", *HERE, "--shape", "16", "-o", "counts"],
    "publish": [
        *("publish", "FILE", *HERE, "--shape", "16", "--epsilon", "1", "-o", "folder"),
        *("--about", "about.yaml"),
    ],
    "country": [
        *("country", "FILE", "--areas", "areas.gpkg", "--levels", "land", "--cell", "4km"),
        *("--epsilon", "1", "-o", "country.gpkg"),
    ],
    "trips": ["trips", "FILE", *HERE, "--grid", "4", "--epsilon", "1", "-o", "trips.parquet"],
}
#: Columns that say whose records these are, and some that only look like it.
USERS = ("user_id", "Driver", "anonymous customer-no", "deviceId", "IMSI")
NO_USERS = ("passenger_count", "user_type", "device_speed", "id")


def points(folder: Path, column: str, ending: str = ".csv") -> str:
    """A file of 400 trips by 50 users."""
    rng = np.random.default_rng(3)
    table = geopandas.pd.DataFrame(
        rng.normal([-122.42, 37.77, -122.42, 37.77], 0.02, (400, 4)),
        columns=["lon", "lat", "d_lon", "d_lat"],
    )
    table[column] = np.arange(400) % 50
    if ending == ".parquet":
        table.to_parquet(folder / "points.parquet")
    elif ending == ".geojson":
        places = geopandas.points_from_xy(table.lon, table.lat, crs="EPSG:4326")
        geopandas.GeoDataFrame(table[[column]], geometry=places).to_file(folder / "points.geojson")
    else:
        table.to_csv(folder / "points.csv", index=False)
    area = shapely.box(-122.6, 37.6, -122.2, 37.9)
    geopandas.GeoDataFrame({"land": ["A"]}, geometry=[area], crs="EPSG:4326").to_file(
        folder / "areas.gpkg"
    )
    return f"points{ending}"


def given(command: str, file: str) -> list[str]:
    """The command line, with the places of a trip where it takes trips."""
    places = {
        "trips": ["--places", "lon:lat,d_lon:d_lat"],
        "count": ["--lon", "lon", "--lat", "lat"],
    }
    line = [file if word == "FILE" else word for word in COMMANDS[command]]
    return [*line, *places.get(command, places["count"])]


@pytest.fixture(autouse=True)
def here(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "about.yaml").write_text(yaml.safe_dump(ABOUT.facts()))
    return tmp_path


@pytest.mark.parametrize("command", COMMANDS)
def test_known_users_need_a_bound_or_an_insistence(command, here, capsys):
    line = given(command, points(here, "user_id"))
    for unit in (["--user", "user_id"], []):
        said = refusal(capsys, *line, *unit)
        assert "--contribution-bound 10" in said
        assert "--per record" in said
        assert "--user" in said
    for wrong in (["--contribution-bound", "2"], ["--per", "people"], ["--per", "user"]):
        refusal(capsys, *line, *wrong)
    refusal(capsys, *line, "--user", "user_id", "--contribution-bound", "2", "--per", "record")
    assert not Ledger().path.exists()


@pytest.mark.parametrize("ending", [".csv", ".parquet", ".geojson"])
@pytest.mark.parametrize("column", USERS)
def test_columns_of_users_are_known_in_every_kind_of_file(column, ending, here, capsys):
    line = COMMANDS["release"][2:-2]
    file = points(here, column, ending)
    place = [] if ending == ".geojson" else ["--lon", "lon", "--lat", "lat"]
    said = refusal(capsys, "release", file, *line, *place, "-o", "map.parquet")
    assert repr(column) in said
    assert not Ledger().path.exists()
    # A preview spends nothing, and what is insisted on is done.
    assert main(["release", file, *line, *place, "--preview", "1"]) == 0
    insisted = ["--per", "record", "-o", "map.parquet"]
    assert main(["release", file, *line, *place, *insisted]) == 0
    assert Release.load("map.parquet").unit == "point"


@pytest.mark.parametrize("column", NO_USERS)
def test_other_columns_stop_nothing(column, here):
    assert main(given("release", points(here, column))) == 0


@pytest.mark.parametrize("unit", [["--contribution-bound", "2"], ["--per", "record"]])
def test_the_unit_that_is_said_is_the_one_of_the_release(unit, here):
    line = given("release", points(here, "user_id"))
    assert main([*line, "--user", "user_id", *unit]) == 0
    drawn = Release.load("map.parquet")
    wanted = ("user", 2) if unit[0] == "--contribution-bound" else ("point", 1)
    assert (drawn.unit, drawn.contribution_bound) == wanted
    assert main([*given("count", "points.csv"), "--user", "user_id", *unit]) == 0
    matrix = load_counts("counts.exact.parquet")
    assert (matrix.unit, matrix.contribution_bound) == wanted


def test_python_warns_of_a_column_of_users(here):
    file, grid = points(here, "user_id"), Grid.around(-122.42, 37.77, 20_000, shape=16)
    columns = {"lon": "lon", "lat": "lat"}
    with pytest.warns(UnitWarning, match="user='user_id'") as caught:
        grid.count(file, **columns)
    assert caught[0].filename == __file__
    for more in ({"per": "record"}, {"user": "user_id", "contribution_bound": 2}):
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr("warnings.warn", pytest.fail)
            grid.count(file, **columns, **more)
