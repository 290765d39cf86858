"""Points that a visitor sends are booked as the people their file is named after, or as named."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from explorer.app import Explore
from explorer.app.country.upload import CountryUploadForm
from explorer.app.curator.own import OwnPoints
from explorer.app.curator.upload import UploadForm
from explorer.app.explore.page import Explore as Page
from explorer.app.trips.upload import TripUploadForm
from explorer.errors import InputError
from explorer.points.matrix import FrequencyMatrix
from explorer.points.points import read_points
from explorer.privacy.ledger import Ledger
from tests.app import press

EIGHT = FrequencyMatrix.from_array(np.full((8, 8), 9))
PLACES = pd.DataFrame(
    {
        "lon": np.random.default_rng(2).normal(2.35, 0.01, 90),
        "lat": np.random.default_rng(3).normal(48.85, 0.01, 90),
    }
)


@pytest.fixture(autouse=True)
def own_book(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("EXPLORER_LEDGER", str(tmp_path / "spends.sqlite3"))
    monkeypatch.setenv("EXPLORER_EPSILON_CAP", "0.5")


def sent(name: str, content: bytes, width: float = 8.0, named: str = "") -> Page:
    """A page on which a file was chosen, an extent typed, and the button pressed."""
    page = Explore(EIGHT, side=256, mechanism="uniform", epsilon=0.3)
    form = page.upload
    form.file.param.update(value=content, filename=name)
    form.lon.value, form.lat.value, form.width.value = 2.35, 48.85, width
    form.population.value = named
    press.press(page, "Load these points")
    assert page.screen.data.city[0] == "yours", page.message.sentence
    return page


def csv() -> bytes:
    return PLACES.to_csv(index=False).encode()


def package(tmp_path: Path, crs: str) -> bytes:
    import geopandas as gpd

    where = gpd.points_from_xy(PLACES["lon"], PLACES["lat"], crs="EPSG:4326")
    path = tmp_path / "places.gpkg"
    gpd.GeoDataFrame(geometry=where).to_crs(crs).to_file(path, driver="GPKG")
    return path.read_bytes()


BOUNDARIES = json.dumps(
    {
        "type": "FeatureCollection",
        "features": [
            {
                "type": "Feature",
                "properties": {"country": "one", "region": name},
                "geometry": {
                    "type": "Polygon",
                    "coordinates": [[[x, 48], [x + 1, 48], [x + 1, 49], [x, 49], [x, 48]]],
                },
            }
            for x, name in ((1.0, "west"), (2.0, "east"))
        ],
    }
).encode()


def booked() -> list[str]:
    return [row.population for row in Ledger().rows()]


def refused(page: Page, whose: str) -> None:
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
    refused(sent("Riders 2024.gpkg", package(tmp_path, "EPSG:32631")), "riders 2024")
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
    assert name.value == "  "
    refused(page, "points")


def test_a_drawn_one_is_offered_under_the_name_that_it_has_now() -> None:
    first = sent("riders.csv", csv())
    press.draw_release(first)
    first.close()
    page = sent("other.csv", csv())
    assert page.drawing.waiting() == []
    press.put(page, "Population, if not the file's name", "Riders")
    assert [each.population for each in page.drawing.waiting()] == ["riders"]
    assert "epsilon 0.3 of 0.5 spent" in page.drawer.releases.heading


def test_after_a_draw_another_file_can_be_named_and_a_name_that_is_none_is_refused() -> None:
    page = sent("riders.csv", csv())
    press.draw_release(page)
    page.upload.file.param.update(value=csv(), filename="b.csv")
    press.put(page, "Population, if not the file's name", "x" * 201)
    press.press(page, "Load these points")
    assert "population has a name" in page.message.sentence
    assert page.parts.own_population == "riders"
    press.put(page, "Population, if not the file's name", "walkers")
    press.press(page, "Load these points")
    assert page.parts.own_population == "walkers"


def test_what_a_cell_brings_along_is_named_by_its_records() -> None:
    points = read_points(PLACES, name="Riders")
    assert OwnPoints(points, "Yours").population == "riders"
    assert OwnPoints(read_points(PLACES), "Yours").population.startswith("records ")
    with pytest.raises(InputError, match="population has a name"):
        _ = OwnPoints(points, "Yours", named="x" * 201).population


@pytest.mark.parametrize("form", [UploadForm, TripUploadForm, CountryUploadForm])
def test_every_form_says_whose_they_are(form) -> None:
    used, content = (
        [],
        {
            UploadForm: csv(),
            TripUploadForm: b"o_lon,o_lat,d_lon,d_lat\n" + b"2.35,48.85,2.36,48.85\n" * 3,
            CountryUploadForm: csv(),
        }[form],
    )
    made = form(lambda work, done: done(work()), used.append, pytest.fail)
    made.file.param.update(value=content, filename="Riders.csv")
    if form is CountryUploadForm:
        made.boundaries.param.update(value=BOUNDARIES, filename="areas.geojson")
        made.levels.value = "country,region"
    else:
        made.lon.value, made.lat.value = 2.35, 48.85
    press.press(made, f"Load these {form.WHAT}")
    assert [own.population for own in used] == ["riders"]
