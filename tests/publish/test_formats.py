"""All formats of a folder say the same, read by programs that are not ours."""

from __future__ import annotations

import json
from pathlib import Path

import duckdb
import geopandas
import numpy as np
import pyogrio
import pyproj
import pytest
import rasterio
import shapely

from explorer.grid.grid import Grid
from explorer.publish import geotiff
from explorer.publish.leaves import leaves_of, why_none
from explorer.publish.tables import write_geojson
from explorer.releases.release import Release
from tests.publish.folders import GRID, drawn, folder_of

SETTINGS = {
    "quadtree": {"inference": "least squares"},
    "privtree": {},
    "mosaic": {},
    "privlet": {},
}


@pytest.fixture(scope="module", params=SETTINGS)
def made(request, tmp_path_factory) -> tuple[Path, Release]:
    release = drawn(request.param, **SETTINGS[request.param])
    return folder_of(tmp_path_factory.mktemp("out") / request.param, release), release


def test_counts_sums_and_places_agree_in_every_format(made: tuple[Path, Release]) -> None:
    folder, release = made
    counts, boxes = release.counts, release.boxes()
    lon, lat = GRID.to_lonlat(boxes[:, [0, 2]].ravel(), boxes[:, [1, 3]].ravel())
    west, east = lon.reshape(-1, 2).T
    south, north = lat.reshape(-1, 2).T

    package = pyogrio.read_dataframe(folder / "leaves.gpkg", layer="leaves")
    assert np.array_equal(package["leaf"], np.arange(len(counts)))
    assert np.array_equal(package["count"], counts)
    assert np.abs(shapely.bounds(package.geometry) - boxes).max() < 1e-6
    corner = pyproj.Transformer.from_crs(package.crs, 4326, always_xy=True)
    assert np.abs(corner.transform(*boxes[:, :2].T) - np.array([west, south])).max() < 1e-9

    parquet = geopandas.read_parquet(folder / "release.parquet")
    assert np.array_equal(parquet["leaf"], package["leaf"])
    assert np.array_equal(parquet["count"], counts)
    assert np.array_equal(parquet.geometry.bounds.to_numpy(), shapely.bounds(package.geometry))
    assert parquet.crs.equals(GRID.crs)

    lines = pyogrio.read_dataframe(folder / "leaves.geojson")
    assert lines.crs == 4326
    assert np.array_equal(lines["leaf"], package["leaf"])
    assert np.abs(lines["count"] - counts).max() <= 1e-6
    corners = shapely.get_coordinates(lines.geometry).reshape(len(counts), 5, 2)
    assert np.abs(corners[:, 0] - np.stack([west, south], 1)).max() < 1e-9
    assert np.abs(corners[:, 2] - np.stack([east, north], 1)).max() < 1e-9

    query = "select leaf, count, x0, y0, x1, y1 from read_csv(?) order by leaf"
    table = duckdb.execute(query, [str(folder / "leaves.csv")]).fetchnumpy()
    assert np.array_equal(table["leaf"], np.arange(len(counts)))
    assert np.abs(table["count"] - counts).max() <= 1e-6
    edges = np.stack([table[name] for name in ("x0", "y0", "x1", "y1")], axis=1)
    assert np.abs(edges - boxes).max() < 1e-6
    query = "select sum(count), count(*), min(leaf), max(leaf) from read_parquet(?)"
    total, number, first, last = duckdb.execute(query, [str(folder / "release.parquet")]).fetchone()
    assert (number, first, last) == (len(counts), 0, len(counts) - 1)

    with rasterio.open(folder / "density.tif") as picture:
        density = picture.read(1)
        assert np.array_equal(density[::-1], release.density())
        assert tuple(picture.bounds) == GRID.bounds
        there = pyproj.Transformer.from_crs(picture.crs.to_wkt(), 4326, always_xy=True)
        assert np.abs(there.transform(*boxes[:, :2].T) - np.array([west, south])).max() < 1e-9

    sums = [
        total,
        package["count"].sum(),
        lines["count"].sum(),
        table["count"].sum(),
        density.sum(),
    ]
    # Of up to a thousand leaves, half of the sixth decimal each.
    assert np.abs(np.array(sums) - release.total).max() < 1e-3
    assert release.counts.sum() == pytest.approx(release.total)


def test_an_estimate_is_offered_where_its_deviations_add_up(made: tuple[Path, Release]) -> None:
    folder, release = made
    said = json.loads((folder / "manifest.json").read_bytes())["release"]["unbiased_estimate"]
    names = pyogrio.read_info(folder / "leaves.gpkg")["fields"].tolist()
    has = release.mechanism in ("quadtree", "privtree")
    assert ("estimate" in names, "estimate_sd" in names) == (has, has)
    assert (why_none(release) == "") == has
    assert said == (why_none(release) or "estimate, with estimate_sd")
    frame = geopandas.read_parquet(folder / "release.parquet")
    assert (frame["non_negative"] == np.maximum(frame["count"], 0)).all()


@pytest.mark.statistical
def test_the_deviation_of_any_union_is_exact() -> None:
    """Least squares errs alike in neighbours; the estimates of a folder do not."""
    from explorer.mechanisms import QuadTree
    from explorer.points.matrix import FrequencyMatrix

    counts = FrequencyMatrix(np.full((8, 8), 5), Grid.around(-30, 40, "8km", shape=8))
    made = QuadTree(epsilon=1.0, inference="least squares")
    taken = np.arange(64) % 3 == 0
    errors = []
    for seed in range(2000):
        columns = leaves_of(made.release(counts, rng=seed)).columns
        errors.append(columns["estimate"][taken].sum() - 5 * taken.sum())
    sd = np.sqrt((columns["estimate_sd"][taken] ** 2).sum())
    # A sample deviation of 2,000 draws errs by 1.6 % (their kurtosis is near that of a normal).
    assert np.std(errors) == pytest.approx(sd, rel=0.08)
    assert abs(np.mean(errors)) < 4 * sd / np.sqrt(2000)


def test_a_picture_is_laid_out_for_the_cloud(tmp_path: Path) -> None:
    grid = Grid.around(-30, 40, "20km", shape=(700, 1100))
    density = np.random.default_rng(1).random(grid.shape)
    path = tmp_path / "density.tif"
    geotiff.write(path, density, grid, {"title": "a <b> & c"})
    with rasterio.open(path) as picture:
        assert picture.overviews(1) == [2, 4, 8]
        assert picture.block_shapes == [(256, 256)]
        assert picture.tags()["title"] == "a <b> & c"
        small = picture.read(1, out_shape=(350, 550))
        whole = picture.read(1)
    assert np.array_equal(whole[::-1], density)
    assert np.allclose(small, whole.reshape(350, 2, 550, 2).mean(axis=(1, 3)))
    # All directories come first, then tiles from the smallest overview to the whole map.
    read = geotiff.read(path)
    assert [level.shape for level in read.levels] == [
        (700, 1100),
        (350, 550),
        (175, 275),
        (88, 138),
    ]
    # The directories come first, then the tiles of the smallest overview, the whole map's last.
    firsts = [min(places) for places in read.places]
    assert firsts == sorted(firsts, reverse=True)
    assert sum(len(places) for places in read.places) == 15 + 6 + 2 + 1
    assert min(firsts) < 2000


@pytest.mark.parametrize(
    ("crs", "shape"), [("EPSG:32633", (20, 40)), ("EPSG:27700", (7, 5)), (None, (30, 31))]
)
def test_a_picture_lies_where_the_map_does(crs, shape, tmp_path: Path) -> None:
    if crs is None:
        grid = Grid.around(179.95, -17.0, "30km", shape=shape)
    else:
        grid = Grid.from_bounds(500_000, 200_000, 504_000, 202_000, crs=crs, shape=shape)
    geotiff.write(tmp_path / "a.tif", np.ones(shape), grid, {})
    x0, y0, x1, y1 = grid.bounds
    with rasterio.open(tmp_path / "a.tif") as picture:
        there = pyproj.Transformer.from_crs(picture.crs.to_wkt(), 4326, always_xy=True)
        assert tuple(picture.bounds) == pytest.approx(grid.bounds, abs=1e-9)
    found = np.array(there.transform([x0, x1], [y0, y1]))
    assert np.abs(found - grid.to_lonlat([x0, x1], [y0, y1])).max() < 1e-9


def test_leaves_on_the_antimeridian_are_cut_there(tmp_path: Path) -> None:
    from dataclasses import replace

    grid = Grid.around(180.0, -17.0, "20km", shape=GRID.shape)
    release = replace(drawn("privtree"), domain=grid)
    leaves = leaves_of(release)
    write_geojson(tmp_path / "a.geojson", leaves, {})
    frame = pyogrio.read_dataframe(tmp_path / "a.geojson")
    bounds = frame.bounds
    parts = frame.geometry.geom_type == "MultiPolygon"
    assert parts.any()
    assert not parts.all()
    assert bounds.minx.min() >= -180
    assert bounds.maxx.max() <= 180
    west = frame.geometry[~parts].bounds
    assert ((west.maxx - west.minx) < 1).all()
