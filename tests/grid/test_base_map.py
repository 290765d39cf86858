"""Base maps: what a file says, what of it lies on a grid, and what a bad file is told."""

from typing import Any

import geopandas
import numpy as np
import pytest
import shapely

from explorer import Grid
from explorer.grid.base_map import MOST_CORNERS, BaseMap
from tests.refusals import refuses

GRID = Grid.around(10.0, 50.0, 10_000, shape=16)


def frame(**columns: Any):
    """A coast through the middle, a park, two places, and one far away; in degrees."""
    shapes = [
        shapely.LineString([(9.0, 50.0), (11.0, 50.0)]),
        shapely.box(10.01, 50.01, 10.03, 50.02),
        shapely.Point(10.0, 50.0),
        shapely.Point(10.01, 50.0),
        shapely.Point(20.0, 50.0),
        None,
        shapely.GeometryCollection([shapely.LineString([(10.0, 49.98), (10.0, 50.02)])]),
    ]
    return geopandas.GeoDataFrame(columns, geometry=shapes, crs="EPSG:4326")


def named():
    return frame(
        name=["the coast", "a park", "Suburb", "City", "Elsewhere", "", None],
        kind=["water", "park", None, "nonsense", "place", "road", "road"],
        rank=[None, None, 2, 1, 3, None, None],
    )


@pytest.mark.parametrize("suffix", [".geojson", ".gpkg", ".parquet", ".shp"])
def test_a_file_says_lines_with_their_kinds_and_names_by_rank(tmp_path, suffix):
    path, given = tmp_path / f"x{suffix}", named()
    if suffix == ".parquet":
        given.to_parquet(path)
    elif suffix == ".shp":
        # A Shapefile holds shapes of one kind.
        given = given[[isinstance(each, shapely.Point) for each in given.geometry]]
        given.to_file(path)
    else:
        given.to_file(path)
    base = BaseMap.read(path)
    assert list(base.names) == ["City", "Suburb", "Elsewhere"]
    assert base.places[0] == pytest.approx([10.01, 50.0])
    assert list(base.of) == ["place", "place", "place"]
    if suffix != ".shp":
        assert list(base.kinds) == ["water", "road", "park"]


def test_on_a_grid_it_is_cut_projected_and_has_no_bends_that_nobody_sees(tmp_path):
    named().to_file(tmp_path / "x.gpkg")
    base = BaseMap.read(tmp_path / "x.gpkg").on(GRID)
    assert list(base.names) == ["City", "Suburb"]
    x, y = GRID.from_lonlat([10.01], [50.0])
    assert base.places[0] == pytest.approx([x[0], y[0]], abs=0.01)
    assert sorted(base.kinds) == ["park", "road", "water"]
    x0, y0, x1, y1 = shapely.total_bounds(base.lines)
    assert x0 >= GRID.bounds[0]
    assert y1 <= GRID.bounds[3]
    assert x1 <= GRID.bounds[2]
    assert y0 >= GRID.bounds[1]
    # The whole coast on the grid, and nothing beyond.
    coast = base.lines[list(base.kinds).index("water")]
    assert coast.length == pytest.approx(10_000, rel=1e-3)


def test_a_browser_gets_so_many_corners_and_those_of_the_longest_lines():
    rng = np.random.default_rng(5)
    lines = [
        shapely.LineString(np.array([10.0, 50.0]) + rng.normal(0, 0.02, (300, 2)))
        for _ in range(200)
    ]
    base = BaseMap(lines, ["road"] * 200).on(GRID)
    corners = shapely.get_num_coordinates(base.lines).sum()
    assert MOST_CORNERS * 0.9 < corners <= MOST_CORNERS
    lengths = shapely.length(base.lines)
    assert (np.diff(lengths) <= 0).all()


@pytest.mark.parametrize(("made", "said"), [
    (lambda path: path.write_text("no map"), "could not be read"),
    (frame()[5:6].to_file, "holds no shapes"),
    (
        lambda path: path.write_text(
            '{"type": "FeatureCollection", "features": [{"type": "Feature", "properties": {},'
            ' "geometry": {"type": "Point", "coordinates": ["a", 1]}}]}'
        ),
        "could not be read",
    ),
])  # fmt: skip
def test_a_bad_file_is_refused_in_one_sentence(tmp_path, made, said):
    path = tmp_path / "x.geojson"
    made(path)
    refuses(said, BaseMap.read, path)
