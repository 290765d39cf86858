"""One question in every form that people have it in: the same answer, or one sentence."""

from __future__ import annotations

import warnings
from pathlib import Path

import geopandas as gpd
import numpy as np
import pandas as pd
import pytest
import shapely

from explorer import AG, HTF, FrequencyMatrix, Grid, InputError, Release, compare, exact
from explorer.grid.pieces import OutsideWarning
from explorer.releases.answers import Answers

GRID = Grid.around(4.9, 52.37, 10_000, shape=64)
MATRIX = FrequencyMatrix(np.random.default_rng(3).poisson(6.0, (64, 64)), GRID)
RELEASE = HTF(epsilon=1).release(MATRIX, rng=7)
METRES = np.array([[-3000.0, -2000.0, 1000.0, 1500.0], [100.0, 200.0, 333.3, 4000.0]])
#: The boxes' corners in degrees lie on their edges; between them an edge bends by centimetres.
BENT = 1e-4


def frame() -> gpd.GeoDataFrame:
    """The boxes as rows of a table with an index of its own."""
    return gpd.GeoDataFrame(
        {"name": ["west", "east"], "other": [1, 2]},
        geometry=shapely.box(*METRES.T),
        crs=GRID.crs,
        index=pd.Index(["a", "b"], name="key"),
    )


def test_rectangles_as_polygons_are_the_rectangles() -> None:
    asked, sd = RELEASE.answer(METRES), RELEASE.answer(METRES).sd
    for form in (
        frame(),
        frame().geometry,
        shapely.box(*METRES.T),
        list(shapely.box(*METRES.T)),
    ):
        found = RELEASE.answer(form)
        np.testing.assert_allclose(found.value, asked.value, rtol=1e-9, atol=1e-9)
        np.testing.assert_allclose(found.sd, sd, rtol=1e-9, atol=1e-9)
        np.testing.assert_allclose(exact(MATRIX, form), exact(MATRIX, METRES), rtol=1e-9)
    one = RELEASE.answer(shapely.box(*METRES[0]))
    assert one.value == pytest.approx(asked.value[:1], rel=1e-9)


def test_arrays_in_the_grids_own_crs_are_metres() -> None:
    np.testing.assert_allclose(
        RELEASE.answer(METRES, crs=GRID.crs).value, RELEASE.answer(METRES).value, rtol=1e-9
    )
    # With its CRS a speck is asked as the speck it is.
    speck = [[4.88, 52.35, 4.9, 52.36]]
    assert RELEASE.answer(speck, crs=GRID.crs).value[0] < 1
    with pytest.raises(InputError, match="look like degrees"):
        RELEASE.answer(speck)
    with pytest.raises(InputError, match="look like degrees"):
        exact(MATRIX, speck)


def test_degrees_with_their_crs_are_where_they_are() -> None:
    """A box of degrees is asked as itself, its edges projected, and not as a box around it."""
    degrees = np.array([[4.87, 52.35, 4.92, 52.38]])
    corners = np.array(GRID.from_lonlat(degrees[0, [0, 2, 2, 0]], degrees[0, [1, 1, 3, 3]])).T
    by_hand = RELEASE.answer(shapely.Polygon(corners)).value[0]
    for found in (
        RELEASE.answer(degrees, crs=4326).value[0],
        RELEASE.answer(degrees, crs="EPSG:4326").value[0],
        RELEASE.answer(gpd.GeoSeries(shapely.box(*degrees.T), crs=4326)).value[0],
    ):
        assert found == pytest.approx(by_hand, rel=BENT)
    assert exact(MATRIX, degrees, crs=4326)[0] == pytest.approx(
        exact(MATRIX, shapely.Polygon(corners))[0], rel=BENT
    )


def test_a_box_over_the_antimeridian_takes_the_short_way() -> None:
    grid = Grid.around(180.0, -17.0, 40_000, shape=16)
    release = AG(epsilon=1).release(FrequencyMatrix(np.full((16, 16), 9), grid), rng=1)
    over = release.answer([[179.9, -17.1, -179.9, -16.9]], crs=4326)
    both = release.answer([[179.9, -17.1, 180, -16.9], [-180, -17.1, -179.9, -16.9]], crs=4326)
    assert over.value[0] == pytest.approx(both.value.sum(), rel=BENT)


@pytest.mark.parametrize("ending", ["gpkg", "geojson", "parquet"])
def test_files_of_polygons_in_any_crs(tmp_path: Path, ending: str) -> None:
    path = tmp_path / f"asked.{ending}"
    there = frame().to_crs(4326 if ending == "geojson" else 28992)
    there.to_parquet(path) if ending == "parquet" else there.to_file(path)
    for form in (path, str(path)):
        found = RELEASE.answer(form)
        np.testing.assert_allclose(found.value, RELEASE.answer(METRES).value, rtol=1e-3)
        assert found.to_frame()["name"].tolist() == ["west", "east"]
    np.testing.assert_allclose(exact(MATRIX, path), exact(MATRIX, METRES), rtol=1e-3)


def test_an_interval_is_of_the_level_that_is_asked() -> None:
    answers = Answers(np.array([10.0]), np.array([2.0]))
    # Two-sided points of the normal distribution, from any table of it.
    for level, z in ((0.5, 0.674490), (0.9, 1.644854), (0.95, 1.96), (0.99, 2.575829)):
        low, high = answers.interval(level)
        assert (high - low)[0] / 4 == pytest.approx(z, abs=1e-5)
    assert answers.interval(z=2)[0][0] == 6
    for wrong in ({"level": 1.96}, {"level": 0}, {"level": 1}, {"z": -1}, {"z": float("nan")}):
        with pytest.raises(InputError, match=r"level of an interval|z is"):
            answers.interval(**wrong)


def test_answers_are_equal_short_and_safe_to_show() -> None:
    many = RELEASE.answer(np.repeat(METRES, 500, axis=0))
    assert many == RELEASE.answer(np.repeat(METRES, 500, axis=0))
    assert many != RELEASE.answer(METRES)
    assert many != 3
    assert len(repr(many)) < 100
    rows = frame()
    rows["name"] = ["<img src=x onerror=alert(1)>", "east"]
    shown = RELEASE.answer(rows)._repr_html_()
    assert "<img" not in shown
    assert "95 % interval of the noise alone" in shown


@pytest.mark.parametrize(
    ("asked", "how", "sentence"),
    [
        (METRES, {"by": "bounding box"}, "by='coverage' alone"),
        (METRES, {"crs": "EPSG:nonsense"}, "CRS"),
        ([[181, 100, 200, 120]], {"crs": 4326}, "cannot be degrees"),
        ({"o": METRES}, {"crs": 4326}, "leave it out"),
        ("no/such/file.gpkg", {}, "There is no file"),
        (np.ones((2, 3)), {"crs": 4326}, "shape"),
        ([[4.9, 52.3, 4.9, 52.4]], {"crs": 4326}, "no area"),
    ],
)
def test_what_is_no_question_is_one_sentence(asked: object, how: dict, sentence: str) -> None:
    with pytest.raises(InputError, match=sentence):
        RELEASE.answer(asked, **how)


@pytest.mark.parametrize("ending", ["gpkg", "geojson", "json", "parquet", "geoparquet"])
def test_every_ending_is_what_it_says(tmp_path: Path, ending: str) -> None:
    path = tmp_path / f"map.{ending}"
    RELEASE.save(path)
    RELEASE.save(path)
    if ending.endswith("parquet"):
        table = gpd.read_parquet(path)
        assert Release.load(path).total == RELEASE.total
    else:
        table = gpd.read_file(path)
        assert {"density", "low", "high", "depth", "height", "first_row"} < set(table.columns)
        with pytest.raises(InputError, match="not a release"):
            Release.load(path)
    assert len(table) == RELEASE.n_leaves
    assert table["count"].sum() == pytest.approx(RELEASE.total)
    west, south, east, north = table.to_crs(GRID.crs).total_bounds
    # Within rounding of coordinates to seven decimals of a degree, a centimetre.
    assert (east - west, north - south) == pytest.approx((10_000, 10_000), abs=0.1)


@pytest.mark.parametrize("name", ["map.txt", "map", "map.shp"])
def test_other_endings_are_refused(tmp_path: Path, name: str) -> None:
    with pytest.raises(InputError, match=r"name it map\.parquet"):
        RELEASE.save(tmp_path / name)
    assert not list(tmp_path.iterdir())


def test_the_table_of_leaves() -> None:
    table = RELEASE.to_geodataframe()
    assert list(table.columns) == ["count", "noise_sd", "density", "low", "high", "geometry"]
    assert table.attrs["mechanism"] == "htf"
    assert table.attrs["preview"] is True
    np.testing.assert_allclose(table.density * table.area / 1e6, table["count"])
    assert {"depth", "cells"} < set(RELEASE.to_geodataframe(details=True).columns)
    assert RELEASE.to_geodataframe(crs=4326).crs.to_epsg() == 4326
    cells = HTF(epsilon=1).release(MATRIX.counts, rng=7)
    with pytest.raises(InputError, match="leave crs= out"):
        cells.to_geodataframe(crs=4326)


def test_polygons_off_the_map_are_told_and_boxes_beside_them_are_not() -> None:
    degrees = frame().to_crs(4326)
    swapped = shapely.transform(np.asarray(degrees.geometry.array), lambda places: places[:, ::-1])
    for ask in (RELEASE.answer, lambda where: exact(MATRIX, where)):
        asked = gpd.GeoSeries([*swapped, *degrees.geometry], crs=4326)
        with pytest.warns(OutsideWarning, match="2 polygons lie outside the map") as told:
            ask(asked)
        assert told[0].filename == __file__
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            ask(degrees)
    with pytest.warns(OutsideWarning) as told:
        compare(MATRIX, AG, [0.5, 1], asked, progress=False)
    assert len(told) == 1
