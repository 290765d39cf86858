"""The release of a country: its table, answers by coverage, maps inside, its files."""

from __future__ import annotations

import sqlite3
import subprocess
import sys
from contextlib import closing

import geopandas
import numpy as np
import pytest
import shapely

from explorer import CountryRelease, InputError, Release
from explorer.country.mechanism import Country
from explorer.grid.areas.areas import Areas
from explorer.testing import NoNoise
from tests.country.nation import nation, people
from tests.releases.test_release import rewrite


@pytest.fixture(scope="module")
def counts():
    return nation().count(people(), cell=500.0)


@pytest.fixture(scope="module")
def made(counts) -> CountryRelease:
    return Country(epsilon=1).release(counts, rng=4)


@pytest.fixture(scope="module")
def exact(counts) -> CountryRelease:
    """No noise, one count a cell: what is left is how answers are put together."""
    return Country(epsilon=1, inside="identity").release(counts, rng=NoNoise())


def test_the_table_has_every_area_with_its_interval(made) -> None:
    frame = made.areas()
    assert list(frame.columns) == [
        *("level", "path", "name", "count", "low", "high", "unbiased", "sd", "geometry")
    ]
    assert len(frame) == 20
    assert frame["path"].iloc[1] == "East"
    np.testing.assert_allclose(frame["high"] - frame["low"], 2 * 1.96 * frame["sd"])
    lowest = frame[frame["level"] == 3]
    assert all(
        one.equals(other)
        for one, other in zip(lowest.geometry, made.windows.areas.geometry, strict=True)
    )
    assert (frame["sd"] > 0).all()


def test_no_figure_of_the_release_is_exact(counts, made) -> None:
    """Not one count of an area or a cell that it may not know is among its arrays."""
    assert not np.any(made.areas()["unbiased"].to_numpy() == counts.by_node)
    assert "2991" not in repr(made)
    assert made.preview
    assert "not private" in repr(made)


def test_unions_of_areas_are_exact_sums(made) -> None:
    frame = made.areas().set_index("path")
    one = made.answer([[("East", "Coast"), ("West", "Lakes", "Tarn")]])
    wanted = frame.loc[["East/Coast", "West/Lakes/Tarn"], "count"].sum()
    assert one.sd_exact
    np.testing.assert_allclose(one.value, wanted)
    single = made.answer(["Port", "North", ("East",)])
    np.testing.assert_allclose(
        single.value, frame.loc[["East/Coast/Port", "North", "East"]]["count"]
    )
    np.testing.assert_allclose(single.sd, frame.loc[["East/Coast/Port", "North", "East"]]["sd"])


def test_the_sd_of_unions_is_that_of_draws(counts) -> None:
    """400 draws against the linear form; the mean of squares within 5 standard errors."""
    plan = Country(epsilon=0.5, inside="none", budgets="uniform", consistency="least squares")
    where = [["Port", "Vale", "Moor"], ["Bay", "Coast", "Ford"], ["Tor", "Peak"]]
    drawn = [plan.release(counts, rng=seed) for seed in range(400)]
    asked = [each.answer(where) for each in drawn]
    truth = np.array([
        counts.by_area[row].sum() for row in _members(drawn[0], where)
    ])  # fmt: skip
    scores = (np.array([each.value for each in asked]) - truth) / asked[0].sd
    assert np.all(np.abs((scores**2).mean(axis=0) - 1) < 5 * np.sqrt(5 / 400))


def _members(release, where) -> list[list[int]]:
    windows = release.windows
    nodes = [[windows.people.of[windows.find(name)] for name in names] for names in where]
    return [sorted({int(a) for node in each for a in windows.members(node)}) for each in nodes]


def test_rectangles_without_noise_are_counted_by_cells(counts, exact) -> None:
    """On edges of cells, over sea and borders: what the cells hold, whichever area they are of."""
    grid = counts.windows.grid
    national = counts.national().counts
    rng = np.random.default_rng(0)
    for _ in range(20):
        low = rng.integers(0, 60, 2)
        high = low + rng.integers(1, 40, 2)
        high = np.minimum(high, grid.shape)
        box = grid.from_cells(np.array([[low, high]], dtype=float))
        wanted = national[low[0] : high[0], low[1] : high[1]].sum()
        assert exact.answer(box).value[0] == pytest.approx(wanted, abs=1e-6)


def test_a_polygon_is_not_its_bounding_box(exact) -> None:
    west, south, east, north = exact.windows.grid.bounds
    triangle = shapely.Polygon([(west, south), (east, south), (west, north)])
    whole = exact.answer([[west, south, east, north]]).value[0]
    half = exact.answer(triangle).value[0]
    other = exact.answer(shapely.box(west, south, east, north).difference(triangle)).value[0]
    assert 0 < half < whole
    assert half + other == pytest.approx(whole, rel=1e-6)


def test_other_crs_and_other_areas(made) -> None:
    frame = made.areas()
    lowest = frame[frame["level"] == 3]
    asked = made.answer(lowest.to_crs("EPSG:4326"))
    # Edges that are straight in metres are not in degrees: slivers of border cells.
    np.testing.assert_allclose(asked.value, lowest["count"], rtol=2e-3)
    rows = [(f"new {i}",) for i in range(2)]
    shapes = [shapely.box(0, 0, 20_000, 12_000), shapely.box(0, 12_000, 20_000, 45_000)]
    other = Areas.read(
        geopandas.GeoDataFrame(rows, columns=["name"], geometry=shapes, crs=lowest.crs), ["name"]
    )
    np.testing.assert_allclose(
        made.answer(other).value, made.answer(geopandas.GeoSeries(shapes, crs=lowest.crs)).value
    )
    assert 0 < made.answer(other).value[0] < made.total
    own = made.answer(made.windows.areas)
    np.testing.assert_allclose(own.value, lowest["count"])
    assert own.sd_exact


def test_the_map_inside_is_a_release_on_its_window(made, exact, counts) -> None:
    inner = made.inside(("East", "Coast", "Port"))
    assert isinstance(inner, Release)
    frame = made.areas().set_index("name")
    assert inner.total == pytest.approx(frame.loc["Port", "count"])
    assert inner.grid.crs == made.windows.grid.crs
    assert (inner.preview, inner.unit) == (True, "point")
    assert inner.answer(inner.grid.from_cells([[[0, 0], inner.grid.shape]])).value[0] > 0
    window = counts.windows.of([0])
    np.testing.assert_allclose(exact.inside("Port").density(), counts.inside(window).counts)
    written = made.areas().set_index("name").path["Port"]
    np.testing.assert_array_equal(made.inside(written).density(), inner.density())
    with pytest.raises(InputError, match="no map inside"):
        made.inside("East")
    with pytest.raises(InputError, match="no area"):
        made.inside("Atlantis")


@pytest.mark.parametrize("count", [0.0, 0.5, 1.0, 40.0])
def test_a_map_is_scaled_to_any_count_of_its_area(exact, count: float) -> None:
    maps = [area_map for area_map in exact.maps if area_map is not None]
    assert maps
    for area_map in maps:
        assert area_map.density(count).sum() == pytest.approx(count)


@pytest.mark.parametrize("ending", ["gpkg", "parquet"])
@pytest.mark.parametrize("inside", ["mosaic", "htf", "privlet", "none"])
def test_a_file_brings_everything_back(counts, tmp_path, ending: str, inside: str) -> None:
    made = Country(epsilon=1, inside=inside).release(counts, rng=2)
    path = tmp_path / f"nation.{ending}"
    made.save(path)
    again = CountryRelease.load(path)
    assert again.windows.areas.key == made.windows.areas.key
    one, other = (release.areas().drop(columns="geometry") for release in (made, again))
    np.testing.assert_array_equal(one, other)
    np.testing.assert_array_equal(made.density(), again.density())
    box = np.array([[0.0, 0.0, 26_000.0, 16_000.0]])
    np.testing.assert_array_equal(made.answer(box).sd, again.answer(box).sd)
    assert (again.ledger, again.parameters) == (made.ledger, dict(made.parameters))
    assert (again.preview, again.units, repr(again)) == (made.preview, made.units, repr(made))


def test_levels_of_any_names_become_layers(tmp_path) -> None:
    """Once drawn it is paid: a table that differs by its case alone must not stop its saving."""
    levels = ["Whole", "whole", "gpkg_contents"]
    frame = geopandas.GeoDataFrame(
        [("a", "b", "c"), ("a", "b", "d")],
        columns=levels,
        geometry=[shapely.box(10, 50, 10.1, 50.1), shapely.box(10.1, 50, 10.2, 50.1)],
        crs=4326,
    )
    areas = Areas.read(frame, levels)
    points = {"lon": [10.05, 10.15], "lat": [50.05, 50.05]}
    release = Country(epsilon=1, inside="none").release(areas.count(points), rng=1)
    release.save(tmp_path / "odd.gpkg")
    again = CountryRelease.load(tmp_path / "odd.gpkg")
    np.testing.assert_array_equal(again.areas()["count"], release.areas()["count"])


def test_files_that_are_none_are_refused(made, tmp_path) -> None:
    with pytest.raises(InputError, match="neither"):
        made.save(tmp_path / "nation.shp")
    with pytest.raises(InputError, match="no release file"):
        CountryRelease.load(tmp_path / "nothing.gpkg")
    for name in ("text.gpkg", "text.parquet"):
        (tmp_path / name).write_text("no release")
        with pytest.raises(InputError, match="not a release of areas"):
            CountryRelease.load(tmp_path / name)
    frame = geopandas.GeoDataFrame({"a": [1]}, geometry=[shapely.Point(0, 0)], crs=4326)
    frame.to_parquet(tmp_path / "other.parquet")
    with pytest.raises(InputError, match="not a release of areas"):
        CountryRelease.load(tmp_path / "other.parquet")
    made.save(tmp_path / "areas.parquet")
    with pytest.raises(InputError, match="format"):
        Release.load(tmp_path / "areas.parquet")


@pytest.mark.parametrize(("name", "value"), [
    ("units", -5), ("contribution_bound", 0), ("preview", "no"), ("nodes", 10**12),
    ("lattice", {"bounds": [0, 0, 1, 1], "shape": [9, 9]}), ("arrays", "AAAA"), ("stages", ["x"]),
    ("mechanism", "<script>"), ("areas", {}),
])  # fmt: skip
def test_damaged_files_are_refused(made, tmp_path, name: str, value) -> None:
    path = tmp_path / "nation.parquet"
    made.save(path)
    rewrite(path, lambda facts: facts.update({name: value}))
    with pytest.raises(InputError):
        CountryRelease.load(path)


def test_a_file_loads_where_nothing_exact_can_be(made, tmp_path) -> None:
    path = tmp_path / "nation.gpkg"
    made.save(path)
    code = (
        "import sys\nfrom explorer.releases.country import CountryRelease\n"
        f"made = CountryRelease.load({str(path)!r})\nmade.areas(), made.answer(['Port'])\n"
        "packages = {name.split('.')[1] for name in sys.modules if name.startswith('explorer.')}\n"
        "assert not packages & {'points', 'privacy', 'mechanisms', 'country', 'cities'}, packages"
    )
    subprocess.run([sys.executable, "-c", code], check=True)


@pytest.mark.parametrize("where", [
    [[0, 0, 1]], [[5.0, 0, 1, 1]], shapely.Point(0, 0), "Atlantis", [("East", "Port")],
    [np.nan, 0, 1, 1],
])  # fmt: skip
def test_questions_that_are_none_are_refused(made, where) -> None:
    with pytest.raises(InputError):
        made.answer(where)


def test_a_package_that_computes_its_tables_is_refused(made, tmp_path) -> None:
    """A file from elsewhere is looked at before GDAL opens it."""
    path = tmp_path / "nation.gpkg"
    made.save(path)
    with closing(sqlite3.connect(path)) as opened, opened:
        opened.execute("CREATE VIEW other AS SELECT 1 AS fid")
    with pytest.raises(InputError, match="not a release of areas"):
        CountryRelease.load(path)
