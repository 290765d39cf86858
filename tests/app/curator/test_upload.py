"""A visitor's own points: the extent is declared, the file is checked, nothing is left behind."""

import gzip
import tempfile
from pathlib import Path

import geopandas as gpd
import numpy as np
import pandas as pd
import pytest

from explorer.app.curator.own import OwnPoints
from explorer.app.curator.upload import UploadForm, read_upload
from explorer.errors import InputError
from explorer.grid.projection import LONLAT, as_crs, transform
from tests.app import press


def csv(**columns) -> bytes:
    return pd.DataFrame(columns).to_csv(index=False).encode()


@pytest.fixture
def places():
    rng = np.random.default_rng(5)
    return {"lon": rng.normal(2.35, 0.02, 500), "lat": rng.normal(48.85, 0.02, 500)}


class Visit:
    """A form whose work happens at once."""

    def __init__(self) -> None:
        self.said: list[str] = []
        self.used: list[OwnPoints] = []
        self.form = UploadForm(self.run, self.used.append, self.said.append)

    def run(self, work, done) -> None:
        try:
            done(work())
        except InputError as error:
            self.said.append(str(error))

    def load(self, data=None, name="points.csv", place=(2.35, 48.85, 8.0)) -> None:
        self.form.file.param.update(value=data, filename=name)
        self.form.lon.value, self.form.lat.value, self.form.width.value = place
        press.press(self.form, "Load these points")


def test_points_and_declared_extent_reach_the_page(places) -> None:
    visit = Visit()
    visit.load(csv(**places))
    assert not visit.said
    own = visit.used[0]
    assert len(own.points) == 500
    grid = own.grid(256)
    assert grid.shape == (256, 256)
    assert grid.width == 8000
    # The same extent, whatever the points are: it is public.
    assert grid.bounds == (-4000, -4000, 4000, 4000)
    assert visit.form.file.value is None


def test_rows_may_stand_for_several_records(places) -> None:
    visit = Visit()
    visit.form.weight_column.value = "n"
    assert "50 times epsilon" in visit.form.about_unit.object
    visit.load(csv(**places, n=np.arange(500) % 3))
    assert visit.used[0].points.weight.sum() == np.sum(np.arange(500) % 3)


def test_without_a_declared_extent_the_file_is_not_opened(places) -> None:
    visit = Visit()
    visit.load(csv(**places), place=(None, 48.85, 8.0))
    assert "Declare" in visit.said[0]
    visit.load(csv(**places), place=(2.35, 99.0, 8.0))
    visit.load(csv(**places), place=(2.35, 48.85, -1.0))
    assert len(visit.said) == 3
    assert not visit.used


def test_ambiguous_columns_are_asked_for(places) -> None:
    columns = {"o_lon": places["lon"], "o_lat": places["lat"]}
    columns |= {"d_lon": places["lon"], "d_lat": places["lat"]}
    visit = Visit()
    assert not visit.form.lon_column.visible
    visit.load(csv(**columns))
    assert len(visit.said) == 1
    assert visit.form.lon_column.visible
    visit.form.lon_column.value, visit.form.lat_column.value = "d_lon", "d_lat"
    visit.load(csv(**columns))
    assert len(visit.used) == 1


def test_metres_are_read_once_their_crs_is_named(places) -> None:
    """The sentence asks for a CRS, and the form has a field for it: what it says helps."""
    x, y = transform(LONLAT, as_crs(32631), places["lon"], places["lat"])
    visit = Visit()
    assert not visit.form.crs.visible
    visit.load(csv(x=x, y=y))
    assert "crs='EPSG:27700'" in visit.said.pop()
    assert visit.form.crs.visible
    for typed in ("/etc/passwd", "EPSG:1"):
        visit.form.crs.value = typed
        visit.load(csv(x=x, y=y))
        assert "not a known CRS" in visit.said.pop()
    for typed in ("EPSG:32631", "32631"):
        visit.form.crs.value = typed
        visit.load(csv(x=x, y=y))
        own = visit.used.pop()
        grid = own.grid(16)
        assert grid.count(own.points).total == grid.count(places).total > 400
        assert "taken as WGS 84 / UTM zone 31N" in " ".join(own.points.notes)
    # Degrees are not taken for metres, and without the CRS they are read.
    visit.load(csv(**places))
    assert "leave out crs=..." in visit.said.pop()
    visit.form.crs.value = ""
    visit.load(csv(**places))
    assert len(visit.used) == 1


def test_one_of_several_layers_is_asked_for(places, tmp_path) -> None:
    path = tmp_path / "city.gpkg"
    shapes = gpd.points_from_xy(places["lon"], places["lat"], crs=4326)
    for layer, rows in (("bus", 100), ("rail", 400)):
        gpd.GeoDataFrame(geometry=shapes[:rows]).to_file(path, layer=layer)
    visit = Visit()
    visit.load(path.read_bytes(), "city.gpkg")
    assert "'bus', 'rail'" in visit.said[0]
    assert visit.form.layer.visible
    visit.form.layer.value = "rail"
    visit.load(path.read_bytes(), "city.gpkg")
    assert len(visit.used[0].points) == 400


def test_a_compressed_table_is_the_same_population(places) -> None:
    visit = Visit()
    visit.load(gzip.compress(csv(**places)), "riders.csv.gz")
    assert len(visit.used[0].points) == 500
    assert visit.used[0].population == "riders"


def test_no_file_is_said() -> None:
    visit = Visit()
    visit.load(None)
    assert "No file" in visit.said[0]


@pytest.mark.parametrize(
    ("data", "name"),
    [
        (b"x", "evil.exe"),
        (b"x", ""),
        (b"x", "../../etc/passwd"),
        (b"PK\x03\x04", "points.zip"),
        (b"\x00\x01\x02", "points.parquet"),
        (b"", "points.csv"),
        (b"\xff\xfe\x00", "points.csv"),
        (b'{"type": "nonsense"}', "points.geojson"),
        (b"not a database", "points.gpkg"),
        (b"a,b\n1,2\n", "points.csv"),
    ],
)
def test_what_is_not_a_file_of_points_is_one_sentence(data, name) -> None:
    with pytest.raises(InputError) as refused:
        read_upload(data, name)
    assert "\n" not in str(refused.value)
    assert "explorer-" not in str(refused.value), "a path of the server is shown"


def test_nothing_stays_on_disk(places) -> None:
    before = set(Path(tempfile.gettempdir()).glob("explorer-*"))
    read_upload(csv(**places), "x.csv")
    with pytest.raises(InputError):
        read_upload(b"junk", "x.parquet")
    assert set(Path(tempfile.gettempdir()).glob("explorer-*")) == before


@pytest.mark.parametrize("ending", ["csv", "parquet"])
def test_too_many_rows_are_one_sentence(places, ending, monkeypatch) -> None:
    frame = pd.DataFrame(places)
    data = csv(**places) if ending == "csv" else frame.to_parquet(index=False)
    monkeypatch.setattr("explorer.app.curator.upload.MOST_ROWS", 500)
    assert len(read_upload(data, f"points.{ending}")) == 500
    monkeypatch.setattr("explorer.app.curator.upload.MOST_ROWS", 499)
    with pytest.raises(InputError, match="499") as refused:
        read_upload(data, f"points.{ending}")
    assert "\n" not in str(refused.value)


def test_a_declared_extent_that_no_float_holds_is_one_sentence(places) -> None:
    visit = Visit()
    visit.load(csv(**places), place=(10**400, 48.85, 8.0))
    assert "longitude" in visit.said[0]
    assert not visit.used


@pytest.fixture
def people(places):
    return {**places, "user_id": np.arange(500) // 5}


def test_a_column_of_users_asks_for_a_bound(people) -> None:
    visit = Visit()
    form = visit.form = UploadForm(
        visit.run, visit.used.append, visit.said.append, {"each record": 0, "two": 2, "ten": 10}
    )
    assert not form.unit.visible
    form.user_column.value_input = "u"
    assert form.unit.visible
    form.user_column.value_input = ""
    assert not form.unit.visible
    form.user_column.value = "user_id"
    assert form.unit.visible
    assert form.unit.value == 10
    # What the button does is said above it.
    assert "Loading protects ten." in form.about_unit.object
    visit.load(csv(**people))
    assert visit.used[0].bound == 10
    form.unit.value = 0
    assert "Loading protects each record." in form.about_unit.object
    visit.load(csv(**people))
    assert visit.used[1].bound == 0


def test_a_column_that_seems_to_name_users_is_asked_about(people) -> None:
    visit = Visit()
    form = visit.form = UploadForm(
        visit.run, visit.used.append, visit.said.append, {"each record": 0, "ten": 10}
    )
    visit.load(csv(**people))
    assert not visit.used
    assert "“user_id”" in visit.said[0]
    assert (form.user_column.value, form.unit.value, form.unit.visible) == ("user_id", 10, True)
    visit.load(csv(**people))
    assert visit.used[0].bound == 10
    assert visit.used[0].points.user is not None
    # Single records are protected where that is insisted on, with the column or without.
    form.user_column.value = ""
    visit.load(csv(**people, other=np.zeros(500)))
    assert len(visit.used) == 1
    form.user_column.value = ""
    visit.load(csv(**people, other=np.zeros(500)))
    assert "name the column" in visit.said[-1]
    form.unit.value = 0
    visit.load(csv(**people, other=np.zeros(500)))
    assert visit.used[1].bound == 0
    assert visit.used[1].points.user is None
