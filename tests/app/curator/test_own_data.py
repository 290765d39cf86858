"""A visitor's own data: from a cell or a form, with a declared extent, users and a population."""

import json
import tempfile
from pathlib import Path

import geopandas as gpd
import numpy as np
import pandas as pd
import pytest
import shapely

from explorer.app import Compare, Explore, Learn, Trips
from explorer.app.country.page import CountryUploadForm
from explorer.app.curator.own import OwnPoints, UploadForm, read_upload
from explorer.app.trips.page import TripUploadForm
from explorer.errors import InputError
from explorer.grid.grid import Grid
from explorer.grid.projection import LONLAT, as_crs, transform
from explorer.mechanisms import HTF
from explorer.points.matrix import FrequencyMatrix
from explorer.points.points import read_points
from explorer.privacy.ledger import Ledger
from tests.app import press

EXTENT = (2.25, 48.75, 2.45, 48.95)
RNG = np.random.default_rng(5)
PLACES = pd.DataFrame({"lon": RNG.normal(2.35, 0.02, 900), "lat": RNG.normal(48.85, 0.02, 900)})
PEOPLE = PLACES.assign(user_id=np.arange(900) // 3)
EIGHT = FrequencyMatrix.from_array(np.full((8, 8), 9))


def csv(frame: pd.DataFrame = PLACES) -> bytes:
    return frame.to_csv(index=False).encode()


@pytest.fixture(autouse=True)
def own_ledger(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("EXPLORER_LEDGER", str(tmp_path / "spends.sqlite3"))
    monkeypatch.setenv("EXPLORER_EPSILON_CAP", "0.5")


# What a cell brings to a page, and what the page gives back.


def test_points_of_every_kind_are_counted_on_the_extent(tmp_path: Path) -> None:
    file = tmp_path / "my.csv"
    PLACES.to_csv(file, index=False)
    pages = [
        Explore(given, extent=extent, side=256, mechanism="uniform", epsilon=1)
        for given, extent in (
            (PLACES, EXTENT),
            (str(file), EXTENT),
            (file, Grid.of(EXTENT, shape=7)),
            (read_points(PLACES), EXTENT),
            ((PLACES.lon.to_numpy(), PLACES.lat.to_numpy()), EXTENT),
        )
    ]
    for page in pages:
        assert page.parts.data.matrix.total == 900
        assert page.parts.data.grid.shape == (256, 256)
        assert page.release.total == pages[0].release.total, "a preview of the same counts"
    pages[0].state.put(side=512)
    assert pages[0].parts.data.grid.shape == (512, 512), "points are counted anew"
    assert Learn(PLACES, extent=EXTENT).parts.data.matrix.total == 900


@pytest.mark.parametrize("kind", [Explore, Compare, Trips])
def test_users_need_a_bound_or_an_insistence(kind) -> None:
    given = PEOPLE.rename(columns={"user_id": "who"})
    if kind is Trips:
        given = given.rename(columns={"lon": "o_lon", "lat": "o_lat"})
        given = given.assign(d_lon=given.o_lon, d_lat=given.o_lat)
    side = 16 if kind is Trips else 256
    with pytest.raises(InputError, match=r"bound=10 .* bound=0"):
        kind(given, extent=EXTENT, user="who", side=side)
    for bound, unit, total in ((1, "user", 300), (0, "point", 900)):
        page = kind(given, extent=EXTENT, user="who", side=side, bound=bound, epsilon=1.0)
        assert page.parts.data.matrix.unit == unit
        assert kind is Trips or page.parts.data.matrix.total == total
        assert kind is Trips or ("counted" in page.answers) == (bound > 0)


def test_no_release_of_points_whose_users_were_left_out() -> None:
    page = Explore(PEOPLE, extent=EXTENT, side=256, mechanism="uniform", epsilon=0.1)
    page.drawing.press()
    assert "“user_id”" in page.message.sentence
    insisted = Explore(PEOPLE, extent=EXTENT, side=256, mechanism="uniform", epsilon=0.1, bound=0)
    insisted.drawing.press()
    assert "“user_id”" not in insisted.message.sentence


def test_what_is_true_is_of_all_records_and_what_is_counted_is_said() -> None:
    page = Explore(PEOPLE, extent=EXTENT, user="user_id", side=256, bound=1, mechanism="ug")
    page.boxes = [(-20_000, -20_000, 20_000, 20_000)]
    (row,) = page.answers.itertuples()
    assert (row.true, row.counted, row.from_clipping) == (900, 300, -600)
    assert row.from_noise + row.from_spread + row.from_clipping == pytest.approx(row.error)
    said = "Of about 900 records on the map, 300 are counted (at most 1 per person)."
    for pane in (page.drawer.counted, page.readout.summary):
        assert said in str(pane.object)
    page.state.put(bound=0)
    assert "from_clipping" not in page.answers
    assert page.drawer.counted.object == ""


@pytest.mark.parametrize(
    ("given", "more", "said"),
    [
        ("my.csv", {}, "need an extent"),
        ("my.csv", {"extent": EXTENT}, "There is no file 'my.csv'"),
        ("madeup", {"extent": EXTENT}, "for points of your own"),
        (None, {"user": "who"}, "for points of your own"),
        (EIGHT, {"extent": EXTENT}, "not for counts"),
        (np.ones((4, 4), int), {"user": "who"}, "column of users is for points"),
        (read_points(PLACES), {"extent": EXTENT, "user": "who"}, "read already"),
        (object(), {"extent": EXTENT}, "cannot be read"),
        (np.ones((4, 4)) * 0.5, {}, "whole"),
        ("madeup", {"height": "tall"}, "give pixels"),
        (5, {}, "5 is nothing that this page shows"),
    ],
)
def test_what_cannot_be_shown_is_refused_in_a_sentence(given, more, said) -> None:
    with pytest.raises(InputError, match=said):
        Explore(given, **more)


def test_boxes_go_in_and_out_and_a_release_has_no_truth() -> None:
    matrix = Grid.of(EXTENT, shape=64).count(read_points(PLACES))
    page = Explore(matrix, mechanism="ug", boxes=[(-900, -800, 100, 250.5)])
    assert page.boxes.name.tolist() == page.answers.index.tolist() == ["Q1"]
    page.boxes = [(0, 0, 500, 500), (-500, -500, 0, 0)]
    assert len(page.answers) == len(page.boxes) == 2
    for degrees in ([EXTENT], shapely.box(*EXTENT)):
        with pytest.raises(InputError, match="look like degrees"):
            page.boxes = degrees
    assert len(page.boxes) == 2
    with pytest.raises(InputError, match=r"no truth.*Explore\(release\)"):
        Compare(HTF(1.0).release(matrix, rng=1))


# The form.


class Visit:
    """A form whose work happens at once."""

    def __init__(self, *units) -> None:
        self.said: list[str] = []
        self.used: list[OwnPoints] = []
        self.form = UploadForm(self.run, self.used.append, self.said.append, *units)

    def run(self, work, done) -> None:
        try:
            done(work())
        except InputError as error:
            self.said.append(str(error))

    def load(self, data=None, name="points.csv", place=(2.35, 48.85, 8.0)) -> None:
        self.form.file.param.update(value=data, filename=name)
        self.form.lon.value, self.form.lat.value, self.form.width.value = place
        press.press(self.form, "Load these points")


def test_without_a_declared_extent_the_file_is_not_opened() -> None:
    visit = Visit()
    for place in ((None, 48.85, 8.0), (2.35, 99.0, 8.0), (2.35, 48.85, -1.0), (10**400, 48.8, 8.0)):
        visit.load(csv(), place=place)
    assert "Declare" in visit.said[0]
    assert len(visit.said) == 4
    assert not visit.used
    visit.load(csv())
    grid = visit.used[0].grid(256)
    # The same extent, whatever the points are: it is public.
    assert grid.bounds == (-4000, -4000, 4000, 4000)
    assert visit.form.file.value is None


def test_ambiguous_columns_are_asked_for() -> None:
    ends = {"o_lon": "lon", "o_lat": "lat", "d_lon": "lon", "d_lat": "lat"}
    frame = pd.DataFrame({new: PLACES[old] for new, old in ends.items()})
    visit = Visit()
    assert not visit.form.lon_column.visible
    visit.load(csv(frame))
    assert len(visit.said) == 1
    assert visit.form.lon_column.visible
    visit.form.lon_column.value, visit.form.lat_column.value = "d_lon", "d_lat"
    visit.load(csv(frame))
    assert len(visit.used) == 1


def test_metres_are_read_once_their_crs_is_named() -> None:
    x, y = transform(LONLAT, as_crs(32631), PLACES["lon"], PLACES["lat"])
    metres = csv(pd.DataFrame({"x": x, "y": y}))
    visit = Visit()
    visit.load(metres)
    assert "“EPSG:27700” in “CRS”" in visit.said.pop()
    assert visit.form.crs.visible
    for typed in ("/etc/passwd", "EPSG:1"):
        visit.form.crs.value = typed
        visit.load(metres)
        assert "not a known CRS" in visit.said.pop()
    for typed in ("EPSG:32631", "32631"):
        visit.form.crs.value = typed
        visit.load(metres)
        own = visit.used.pop()
        grid = own.grid(16)
        assert grid.count(own.points).total == grid.count(read_points(PLACES)).total > 400
    # Degrees are not taken for metres.
    visit.load(csv())
    assert "leave out the field “CRS”" in visit.said.pop()


def test_one_of_several_layers_is_asked_for(tmp_path) -> None:
    path = tmp_path / "city.gpkg"
    shapes = gpd.points_from_xy(PLACES["lon"], PLACES["lat"], crs=4326)
    for layer, rows in (("bus", 100), ("rail", 400)):
        gpd.GeoDataFrame(geometry=shapes[:rows]).to_file(path, layer=layer)
    visit = Visit()
    visit.load(path.read_bytes(), "city.gpkg")
    assert "'bus', 'rail'" in visit.said[0]
    visit.form.layer.value = "rail"
    visit.load(path.read_bytes(), "city.gpkg")
    assert len(visit.used[0].points) == 400


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
def test_what_is_no_file_of_points_is_one_sentence_and_nothing_stays_on_disk(data, name) -> None:
    before = set(Path(tempfile.gettempdir()).glob("explorer-*"))
    with pytest.raises(InputError) as refused:
        read_upload(data, name)
    assert "\n" not in str(refused.value)
    assert "explorer-" not in str(refused.value), "a path of the server is shown"
    assert set(Path(tempfile.gettempdir()).glob("explorer-*")) == before


@pytest.mark.parametrize("ending", ["csv", "parquet"])
def test_too_many_rows_are_one_sentence(ending, monkeypatch) -> None:
    data = csv() if ending == "csv" else PLACES.to_parquet(index=False)
    monkeypatch.setattr("explorer.app.curator.own.MOST_ROWS", 900)
    assert len(read_upload(data, f"points.{ending}")) == 900
    monkeypatch.setattr("explorer.app.curator.own.MOST_ROWS", 899)
    with pytest.raises(InputError, match="899") as refused:
        read_upload(data, f"points.{ending}")
    assert "\n" not in str(refused.value)


def test_a_column_that_seems_to_name_users_is_asked_about() -> None:
    visit = Visit({"each record": 0, "ten": 10})
    form, people = visit.form, csv(PEOPLE)
    assert not form.unit.visible
    visit.load(people)
    assert not visit.used
    assert "“user_id”" in visit.said[0]
    assert (form.user_column.value, form.unit.value, form.unit.visible) == ("user_id", 10, True)
    assert "Loading protects ten." in form.about_unit.object
    visit.load(people)
    assert visit.used[0].bound == 10
    assert visit.used[0].points.user is not None
    # Single records are protected where that is insisted on, with the column or without.
    other = csv(PEOPLE.assign(other=0))
    for _ in range(2):
        form.user_column.value = ""
        visit.load(other)
        assert len(visit.used) == 1
    assert "name the column" in visit.said[-1]
    form.unit.value = 0
    visit.load(other)
    assert visit.used[1].bound == 0
    assert visit.used[1].points.user is None


# The population that a release of them is booked on.


def sent(name: str, content: bytes, width: float = 8.0, named: str = "") -> Explore:
    """A page on which a file was chosen, an extent typed, and the button pressed."""
    page = Explore(EIGHT, side=256, mechanism="uniform", epsilon=0.3)
    form = page.upload
    form.file.param.update(value=content, filename=name)
    form.lon.value, form.lat.value, form.width.value = 2.35, 48.85, width
    form.population.value = named
    press.press(page, "Load these points")
    assert page.screen.data.city[0] == "yours", page.message.sentence
    return page


def booked() -> list[str]:
    return [row.population for row in Ledger().rows()]


def refused(page: Explore, whose: str) -> None:
    before = booked()
    press.press(page, "Draw a release")
    assert "spent epsilon 0.3 of a cap of 0.5" in page.message.sentence
    assert booked() == before == [whose]


def test_the_cap_of_a_file_holds_over_grids_extents_spellings_and_visits(tmp_path) -> None:
    page = sent("Riders 2024.csv", csv())
    press.press(page, "Draw a release")
    assert "of the population “riders 2024”" in press.text(page)
    press.press(page, press.priced(page))
    assert booked() == ["riders 2024"]
    press.put(page, "Grid", 512)
    refused(page, "riders 2024")
    refused(sent("riders 2024.csv", csv(), width=9.0), "riders 2024")
    where = gpd.GeoDataFrame(geometry=gpd.points_from_xy(PLACES.lon, PLACES.lat, crs=4326))
    where.to_crs("EPSG:32631").to_file(tmp_path / "places.gpkg")
    refused(sent("Riders 2024.gpkg", (tmp_path / "places.gpkg").read_bytes()), "riders 2024")
    # Of another name: another grid of it is another population.
    press.draw_release(sent("walkers.csv", csv(), width=7.0))
    assert booked() == ["riders 2024", "walkers"]


def test_the_population_can_be_named_and_renamed_before_the_first_draw() -> None:
    page = sent("points.csv", csv(), named="Riders")
    press.press(page, "Draw a release")
    assert "“riders”" in press.text(page)
    old = press.find(page, press.priced(page))
    name = press.find(page, "Population, if not the file's name")
    name.value = "Walkers"
    assert press.priced(page) == "", "a price of other people stands there"
    old.clicks += 1
    assert booked() == []
    name.value = "  "
    press.draw_release(page)
    assert booked() == ["points"]
    name.value = "riders"
    assert "is booked on “points”, so that name stays" in page.message.sentence
    refused(page, "points")


def test_what_a_cell_brings_along_is_named_by_its_records() -> None:
    points = read_points(PLACES, name="Riders")
    assert OwnPoints(points, "Yours").population == "riders"
    assert OwnPoints(read_points(PLACES), "Yours").population.startswith("records ")
    with pytest.raises(InputError, match="population has a name"):
        _ = OwnPoints(points, "Yours", named="x" * 201).population


def square(x: float, name: str) -> dict:
    corners = [[x, 48], [x + 1, 48], [x + 1, 49], [x, 49], [x, 48]]
    return {
        "type": "Feature",
        "properties": {"country": "one", "region": name},
        "geometry": {"type": "Polygon", "coordinates": [corners]},
    }


@pytest.mark.parametrize("kind", [UploadForm, TripUploadForm, CountryUploadForm])
def test_every_form_names_the_population_after_the_file(kind) -> None:
    used: list[OwnPoints] = []
    form = kind(lambda work, done: done(work()), used.append, pytest.fail)
    trips = b"o_lon,o_lat,d_lon,d_lat\n" + b"2.35,48.85,2.36,48.85\n" * 3
    content = trips if kind is TripUploadForm else csv()
    form.file.param.update(value=content, filename="Riders.csv")
    if kind is CountryUploadForm:
        areas = {"type": "FeatureCollection", "features": [square(1, "west"), square(2, "east")]}
        form.boundaries.param.update(value=json.dumps(areas).encode(), filename="areas.geojson")
        form.levels.value = "country,region"
    else:
        form.lon.value, form.lat.value = 2.35, 48.85
    press.press(form, f"Load these {form.WHAT}")
    assert [own.population for own in used] == ["riders"]
