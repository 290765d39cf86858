"""Polygons as questions: their files, and the files of their answers."""

import csv
import io
import json

import geopandas
import pytest
from shapely.geometry import Polygon, box, shape

from explorer.errors import InputError
from explorer.queries.polygons import read_polygons, write_polygons

FRAME = geopandas.GeoDataFrame(
    {"name": ["=1+1", None]},
    geometry=[Polygon([(10, 50), (11, 50), (10, 51)]), box(12, 50, 13, 51)],
    crs=4326,
)


@pytest.mark.parametrize("ending", ["gpkg", "geojson", "parquet", "shp"])
def test_polygons_are_read_with_their_names(tmp_path, ending):
    path = tmp_path / f"a.{ending}"
    FRAME.to_parquet(path) if ending == "parquet" else FRAME.to_file(path)
    shapes, names = read_polygons(path)
    assert names == ["=1+1", "Q2"]
    assert shapes.geom_equals(FRAME.geometry).all()
    FRAME[["geometry"]].to_parquet(tmp_path / "b.parquet")
    assert read_polygons(tmp_path / "b.parquet")[1] == ["Q1", "Q2"]


@pytest.mark.parametrize("ending", ["gpkg", "geojson", "parquet", "shp"])
def test_another_column_may_hold_the_names(tmp_path, ending):
    path = tmp_path / f"a.{ending}"
    made = FRAME.assign(ward=["north", "south"], code=[7, 8])
    made.to_parquet(path) if ending == "parquet" else made.to_file(path)
    assert read_polygons(path, "ward")[1] == ["north", "south"]
    assert read_polygons(path, "code")[1] == ["7", "8"]
    with pytest.raises(InputError) as refused:
        read_polygons(path, "mayor")
    said = str(refused.value)
    assert said == "The polygons have no column 'mayor'; choose among 'name', 'ward', 'code'."


def test_files_without_polygons_or_a_crs_are_refused(tmp_path):
    for frame, said in (
        (FRAME.iloc[:0], "holds 0 polygons"),
        (FRAME.set_crs(None, allow_override=True), "have no CRS"),
    ):
        frame.to_parquet(tmp_path / "a.parquet")
        with pytest.raises(InputError, match=said):
            read_polygons(tmp_path / "a.parquet")


def test_answers_are_written_with_and_without_the_polygons():
    columns = {"value": [1.5, float("nan")], "leaves": [3, 4]}
    names = ["=1+1", "b"]
    document = json.loads(write_polygons(FRAME.to_crs(3857).geometry, names, "geojson", columns))
    first, second = document["features"]
    assert first["properties"] == {"name": "=1+1", "value": 1.5, "leaves": 3}
    assert second["properties"]["value"] is None
    assert shape(first["geometry"]).equals_exact(FRAME.geometry[0], 1e-9)
    rows = list(csv.reader(io.StringIO(write_polygons(FRAME.geometry, names, "csv", columns))))
    assert rows == [["name", "value", "leaves"], ["'=1+1", "1.5", "3"], ["b", "", "4"]]
