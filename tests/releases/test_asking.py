"""Questions to a release: boxes, and polygons as themselves."""

from __future__ import annotations

import warnings
from dataclasses import replace
from pathlib import Path

import geopandas
import geopandas as gpd
import numpy as np
import pandas as pd
import pytest
import shapely
from shapely.geometry import LineString, MultiPolygon, Point, Polygon, box

from explorer import (
    AG,
    HTF,
    UG,
    FrequencyMatrix,
    Grid,
    Identity,
    InputError,
    Mosaic,
    Privlet,
    QuadTree,
    Release,
    TripDomain,
    compare,
    exact,
)
from explorer.grid.pieces import OutsideWarning
from explorer.releases.answers import Answers
from explorer.releases.asking import variance_of

GRID = Grid.around(-122.42, 37.77, 16_000, shape=32)
COUNTS = np.random.default_rng(5).poisson(20, (32, 32))
MATRIX = FrequencyMatrix(COUNTS, GRID)
TRIANGLE = Polygon([(-7_000, -7_000), (6_500, -3_000), (-1_000, 7_500)])
RING = Polygon(
    [(-5_000, -5_000), (5_000, -5_000), (5_000, 5_000), (-5_000, 5_000)],
    [[(-2_100, -2_000), (2_300, -2_000), (0, 3_000)]],
)


@pytest.mark.parametrize("mechanism", [QuadTree(), UG(), Identity(), Mosaic(), Privlet()])
def test_a_box_as_a_polygon_is_answered_as_the_box(mechanism) -> None:
    release = mechanism.release(MATRIX, rng=3)
    boxes = np.array([[-8_000, -8_000, 8_000, 8_000], [-3_333, -7_000, 4_444, 1_234]])
    shapes = [box(*each) for each in boxes]
    asked, expected = release.answer(shapes), release.answer(boxes)
    assert asked.value == pytest.approx(expected.value, rel=1e-9, abs=1e-6)
    assert asked.sd == pytest.approx(expected.sd, rel=1e-9)
    assert asked.sd_exact == expected.sd_exact
    assert release.touched(shapes).tolist() == release.touched(boxes).tolist()


@pytest.mark.parametrize("mechanism", [QuadTree(), Identity(), Mosaic()])
def test_answers_to_parts_add_up_to_the_whole(mechanism) -> None:
    release = mechanism.release(MATRIX, rng=3)
    rest = shapely.difference(box(*GRID.bounds), TRIANGLE)
    value = release.answer([TRIANGLE, rest]).value
    assert value.sum() == pytest.approx(release.total)
    assert release.answer(TRIANGLE).value == pytest.approx(value[:1])
    assert exact(MATRIX, [TRIANGLE, rest]).sum() == pytest.approx(COUNTS.sum())


def test_the_truth_of_a_polygon_is_by_area() -> None:
    rows, cols = np.mgrid[0:32, 0:32]
    edges = np.stack([cols, rows, cols + 1, rows + 1], axis=-1).reshape(-1, 4) * 500.0 - 8_000
    parts = shapely.area(shapely.intersection(RING, shapely.box(*edges.T))) / 500.0**2
    assert exact(MATRIX, RING)[0] == pytest.approx(parts @ COUNTS.ravel())
    # Its bounding box holds what lies in the hole as well.
    assert exact(MATRIX, [RING.bounds])[0] > 1.05 * exact(MATRIX, RING)[0]


@pytest.mark.parametrize("mechanism", [QuadTree(), UG(), Privlet()])
def test_the_noise_of_a_polygon_is_what_its_draws_say(mechanism) -> None:
    release = mechanism.release(MATRIX, rng=0)
    asked = [TRIANGLE, RING]
    answers = [mechanism.release(MATRIX, rng=seed).answer(asked) for seed in range(400)]
    same = [each for each in answers if np.allclose(each.sd, answers[0].sd)]
    # The grid of UG hangs on a noisy total: compare draws of one partition.
    values = np.array([each.value for each in same])
    assert len(values) > 100
    ratio = values.std(axis=0, ddof=1) / same[0].sd
    # The sd of a Laplace sample's sd is at most sqrt(5 / (4 n)) of it.
    assert np.abs(ratio - 1).max() < 5 * np.sqrt(1.25 / len(values))
    assert release.answer(asked).sd_exact


def test_a_sum_of_leaves_has_the_noise_of_its_node() -> None:
    tree = QuadTree(height=6).release(MATRIX, rng=3).tree
    for node in (0, 1, 3, 7):
        below = np.flatnonzero(
            (tree.lower[tree.leaves] >= tree.lower[node]).all(axis=1)
            & (tree.upper[tree.leaves] <= tree.upper[node]).all(axis=1)
        )
        found = variance_of(tree, tree.leaves[below], np.ones(len(below)))
        assert np.sqrt(found) == pytest.approx(tree.sd[node])


@pytest.mark.filterwarnings("ignore::explorer.grid.pieces.OutsideWarning")
def test_what_lies_outside_the_grid_counts_nothing() -> None:
    release = Identity().release(MATRIX, rng=3)
    far, wide = box(20_000, 0, 30_000, 10_000), box(-90_000, -80_000, 70_000, 60_000)
    beside = Polygon([(-30_000, -30_000), (-9_000, 0), (-30_000, 30_000)])
    answers = release.answer([far, wide, beside, MultiPolygon([far, beside])])
    assert answers.value == pytest.approx([0, release.total, 0, 0])
    assert answers.sd[0] == 0
    slanted = Polygon([(-40_000, -9_000), (3_000, -9_000), (3_000, 9_000), (-20_000, 9_000)])
    kept = shapely.intersection(slanted, box(*GRID.bounds))
    assert release.answer(slanted).value == pytest.approx(release.answer(kept).value)


def test_invalid_rings_and_stray_lines_do_no_harm() -> None:
    release = Identity().release(MATRIX, rng=3)
    bow = Polygon([(0, 0), (4_000, 4_000), (4_000, 0), (0, 4_000)])
    mended = shapely.make_valid(bow, method="structure", keep_collapsed=False)
    assert release.answer(bow).value == pytest.approx(release.answer(mended).value)
    mixed = shapely.GeometryCollection([TRIANGLE, LineString([(0, 0), (1, 1)])])
    assert release.answer(mixed).value == pytest.approx(release.answer(TRIANGLE).value)


@pytest.mark.parametrize(
    ("asked", "said"),
    [
        (Point(0, 0), "is a Point; give polygons"),
        ([TRIANGLE, LineString([(0, 0), (1, 1)])], "Row 2 is a LineString"),
        (Polygon(), "Polygon 1 is missing"),
        (geopandas.GeoSeries([TRIANGLE, None]), "Polygon 2 is missing"),
        (Polygon([(0, 0), (np.inf, 0), (0, 1)]), "not a finite number"),
        (geopandas.GeoSeries([box(-200, -95, 0, 0)], crs=4326), "cannot be degrees"),
    ],
)
def test_what_is_no_polygon_is_refused(asked: object, said: str) -> None:
    with pytest.raises(InputError, match=said):
        QuadTree().release(MATRIX, rng=3).answer(asked)


def test_a_polygon_with_a_crs_needs_a_grid_with_one() -> None:
    release = QuadTree().release(FrequencyMatrix.from_array(COUNTS), rng=3)
    with pytest.raises(InputError, match="measured in cells"):
        release.answer(geopandas.GeoSeries([box(0, 0, 1, 1)], crs=4326))
    assert release.answer([box(0, 0, 32, 32)]).value == pytest.approx(release.total)


def test_several_places_have_no_polygon() -> None:
    release = replace(
        QuadTree().release(MATRIX, rng=3), domain=TripDomain((GRID, GRID), ("from", "to"))
    )
    with pytest.raises(InputError, match="has 4 axes"):
        release.answer(TRIANGLE)


HERE = Grid.around(4.9, 52.37, 10_000, shape=64)
COUNTED = FrequencyMatrix(np.random.default_rng(3).poisson(6.0, (64, 64)), HERE)
RELEASE = HTF(epsilon=1).release(COUNTED, rng=7)
METRES = np.array([[-3000.0, -2000.0, 1000.0, 1500.0], [100.0, 200.0, 333.3, 4000.0]])
#: The boxes' corners in degrees lie on their edges; between them an edge bends by centimetres.
BENT = 1e-4


def frame() -> gpd.GeoDataFrame:
    """The boxes as rows of a table with an index of its own."""
    return gpd.GeoDataFrame(
        {"name": ["west", "east"], "other": [1, 2]},
        geometry=shapely.box(*METRES.T),
        crs=HERE.crs,
        index=pd.Index(["a", "b"], name="key"),
    )


def test_arrays_in_the_grids_own_crs_are_metres() -> None:
    np.testing.assert_allclose(
        RELEASE.answer(METRES, crs=HERE.crs).value, RELEASE.answer(METRES).value, rtol=1e-9
    )
    # With its CRS a speck is asked as the speck it is.
    speck = [[4.88, 52.35, 4.9, 52.36]]
    assert RELEASE.answer(speck, crs=HERE.crs).value[0] < 1
    with pytest.raises(InputError, match="look like degrees"):
        RELEASE.answer(speck)
    with pytest.raises(InputError, match="look like degrees"):
        exact(COUNTED, speck)


def test_degrees_with_their_crs_are_where_they_are() -> None:
    """A box of degrees is asked as itself, its edges projected, and not as a box around it."""
    degrees = np.array([[4.87, 52.35, 4.92, 52.38]])
    corners = np.array(HERE.from_lonlat(degrees[0, [0, 2, 2, 0]], degrees[0, [1, 1, 3, 3]])).T
    by_hand = RELEASE.answer(shapely.Polygon(corners)).value[0]
    for found in (
        RELEASE.answer(degrees, crs=4326).value[0],
        RELEASE.answer(degrees, crs="EPSG:4326").value[0],
        RELEASE.answer(gpd.GeoSeries(shapely.box(*degrees.T), crs=4326)).value[0],
    ):
        assert found == pytest.approx(by_hand, rel=BENT)
    assert exact(COUNTED, degrees, crs=4326)[0] == pytest.approx(
        exact(COUNTED, shapely.Polygon(corners))[0], rel=BENT
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
    np.testing.assert_allclose(exact(COUNTED, path), exact(COUNTED, METRES), rtol=1e-3)


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


@pytest.mark.parametrize(
    ("asked", "how", "sentence"),
    [
        (METRES, {"by": "bounding box"}, "by='coverage' alone"),
        (METRES, {"crs": "EPSG:nonsense"}, "CRS"),
        ([[181, 100, 200, 120]], {"crs": 4326}, "cannot be degrees"),
        ({"o": METRES}, {"crs": 4326}, "leave it out"),
        ("no/such/file.gpkg", {}, "There is no file"),
        (np.ones((2, 3)), {"crs": 4326}, "shape"),
        ([[0, 0, 1]], {}, "shape"),
        ([[1, 0, 0, 1]], {}, "inside out"),
        ([[0, 0, np.nan, 1]], {}, "finite"),
        ([[0, 0, np.inf, 1]], {}, "finite"),
        ([["a", 0, 1, 1]], {}, "numbers"),
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
    west, south, east, north = table.to_crs(HERE.crs).total_bounds
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
    cells = HTF(epsilon=1).release(COUNTED.counts, rng=7)
    with pytest.raises(InputError, match="leave crs= out"):
        cells.to_geodataframe(crs=4326)


def test_polygons_off_the_map_are_told_and_boxes_beside_them_are_not() -> None:
    degrees = frame().to_crs(4326)
    swapped = shapely.transform(np.asarray(degrees.geometry.array), lambda places: places[:, ::-1])
    for ask in (RELEASE.answer, lambda where: exact(COUNTED, where)):
        asked = gpd.GeoSeries([*swapped, *degrees.geometry], crs=4326)
        with pytest.warns(OutsideWarning, match="2 polygons lie outside the map") as told:
            ask(asked)
        assert told[0].filename == __file__
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            ask(degrees)
    with pytest.warns(OutsideWarning) as told:
        compare(COUNTED, AG, [0.5, 1], asked, progress=False)
    assert len(told) == 1


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
