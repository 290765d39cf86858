"""The catalogue: the bundled city, known files, files with a description, downloads."""

import tomllib
from pathlib import Path

import numpy as np
import pytest

from explorer.cities import catalogue
from explorer.cities.catalogue import cities, describe
from explorer.cities.countries import countries, find
from tests.refusals import refuses

TABLES = tomllib.loads((Path(catalogue.__file__).parent / "cities.toml").read_text("utf8"))["city"]
TABLE = {"title": "Town", "file": "p.csv", "around": [10.0, 50.0], "size_km": 10}


def key(table):
    return str(table["key"])


@pytest.fixture
def folder(tmp_path, monkeypatch):
    """Return a folder of files that is the only one looked at."""
    monkeypatch.setenv("EXPLORER_DATA", str(tmp_path))
    monkeypatch.setenv("EXPLORER_CACHE", str(tmp_path / "cache"))
    (tmp_path / "p.csv").write_text("lon,lat\n10,50\n10.01,50\n")
    return tmp_path


def test_the_bundled_city_is_always_there(tmp_path, monkeypatch):
    monkeypatch.setenv("EXPLORER_DATA", str(tmp_path / "missing"))
    found = cities()
    assert next(iter(found)) == "madeup"
    points, matrix = found["madeup"].load(256)
    assert points is not None
    assert matrix.shape == (256, 256)
    assert 980_000 < matrix.total < 1_000_000
    assert found["madeup"].present
    # Beside it the made-up nation, and only what can be downloaded.
    rest = {"great-britain", "new-york-places", "new-york-2014"}
    assert set(found) == {"madeup", "nation", *rest}
    assert all(found[key].downloads for key in rest)


def test_every_known_file_has_a_grid_and_its_words():
    keys = [table["key"] for table in TABLES]
    assert len(keys) == len(set(keys))
    for table in TABLES:
        if table["file"].endswith(".npy"):
            continue
        city = describe({k: v for k, v in table.items() if k != "file"}, None)
        assert city.grid().unit == "m"
        assert 256 <= max(city.grid().shape) <= 1024
        assert city.title
        assert city.description.endswith(".")
        assert city.source.endswith(".")
        for download in city.downloads:
            kind, _, digits = download.checksum.partition(":")
            assert len(digits) == {"sha256": 64, "git": 40}[kind]
            assert download.url.startswith("https://")


# San Francisco is left out for its size.
@pytest.mark.parametrize(
    "table", [each for each in TABLES if each["key"] != "san-francisco"], ids=key
)
def test_a_known_file_covers_its_city(table, real_data):
    city = describe(table, real_data(table["file"]).parent)
    points, matrix = city.load(64)
    assert matrix.total > 0
    if points is not None:
        assert matrix.total / len(points) > 0.9


def test_a_file_with_a_description(folder):
    (folder / "my-town.city.toml").write_text(
        'title = "My town"\ndescription = "Bicycles."\nfile = "p.csv"\n'
        "around = [10.0, 50.0]\nsize_km = [10, 5]\ncells = 40\n[columns]\nlon = 'lon'\n"
    )
    city = cities()["my-town"]
    assert (city.title, city.description, city.cells) == ("My town", "Bicycles.", 40)
    points, matrix = city.load()
    assert points is not None
    assert (len(points), matrix.total, matrix.shape) == (2, 2, (20, 40))


def test_the_example_of_the_readme_is_a_description(folder):
    readme = (Path(catalogue.__file__).parents[2] / "data" / "README.md").read_text("utf8")
    example = readme.partition("```toml\n")[2].partition("```")[0]
    (folder / "trips.csv").write_text("start_lng,start_lat\n-89.65,39.78\n")
    (folder / "springfield.city.toml").write_text(example)
    city = cities()["springfield"]
    assert city.load()[1].total == 1
    for line in ("bounds = ", "crs = ", "boundary = ", "user = ", "weight = ", "time = "):
        assert f"# {line}" in example


def test_a_matrix_needs_no_extent(folder):
    np.save(folder / "m.npy", np.ones((4, 4), int))
    (folder / "m.city.toml").write_text('title = "M"\nfile = "m.npy"\n')
    assert cities()["m"].load()[1].total == 16


@pytest.mark.parametrize(("text", "said"), [
    ("not toml", "broken.city.toml is left out"),
    ('title = "T"\nfile = "p.csv"', "public extent is missing"),
    ('title = "T"\nfile = "gone.csv"\naround = [1, 2]\nsize_km = 1', "gone.csv is not there"),
    ('title = "T"\nfile = "../p.csv"\naround = [1, 2]\nsize_km = 1', "name of a file beside"),
    ('file = "p.csv"\naround = [1, 2]\nsize_km = 1', "'title' is missing"),
    ('title = "T"\nfile = "p.csv"\nshape = 5', "'shape' is unknown"),
    ('title = "T"\nfile = "p.csv"\n[columns]\nwest = 5', "'west' is unknown"),
    ('title = "T"\nfile = "p.csv"\n[[download]]\nurl = "http://a"', "Only the catalogue"),
])  # fmt: skip
def test_a_description_that_cannot_be_used_is_left_out(folder, text, said):
    (folder / "broken.city.toml").write_text(text)
    with pytest.warns(UserWarning, match=said):
        found = cities()
    assert "broken" not in found
    assert "madeup" in found


def test_the_bundled_city_cannot_be_replaced(folder):
    (folder / "madeup.city.toml").write_text(
        'title = "T"\nfile = "p.csv"\naround = [10.0, 50.0]\nsize_km = 1'
    )
    with pytest.warns(UserWarning, match="'madeup' is taken"):
        assert cities()["madeup"].title == "Port Amber"


def test_a_local_file_comes_before_its_download(folder):
    assert cities()["great-britain"].file is None
    (folder / "gb_road_accidents.parquet").write_bytes(b"PAR1 damaged")
    city = cities()["great-britain"]
    assert city.present
    refuses("could not be read as Parquet", city.load)


# The catalogue of countries.


def test_the_made_up_country_needs_no_file(monkeypatch, tmp_path):
    monkeypatch.setenv("EXPLORER_DATA", str(tmp_path))
    assert list(countries()) == ["nation"]
    areas = find("nation").areas()
    assert areas.levels == ("country", "region", "district")
    assert len(areas) == 165
    refuses("no country 'great-britain' here: choose one of nation", find, "great-britain")


def test_great_britain_appears_with_both_its_files(real_data, monkeypatch):
    files = [real_data(name) for name in ("gb_districts.parquet", "gb_road_accidents.parquet")]
    monkeypatch.setenv("EXPLORER_DATA", str(files[0].parent))
    known = find("great-britain")
    assert np.bincount(known.areas().level).tolist() == [1, 3, 11, 380]
    assert len(known.points()) == 140_029
