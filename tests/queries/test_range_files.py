"""Boxes and polygons of files: every format gives the same shapes, and a bad one a sentence."""

import csv
import io
import json
import struct
import zipfile

import geopandas as gpd
import numpy as np
import pytest
import shapely
from shapely.geometry import Polygon, box

from explorer import Grid, InputError
from explorer.grid import polygon_files
from explorer.queries import range_files
from explorer.queries.range_files import read_polygons, read_ranges, write_polygons
from tests.refusals import refuses

GRID = Grid.around(13.4, 52.5, 5000, shape=64)
SHAPES = [
    shapely.Polygon([(0, 0), (900, 100), (0, 800)]),
    shapely.Polygon(
        [(-900, -900), (-100, -900), (-100, 0)], [[(-300, -800), (-200, -800), (-200, -700)]]
    ),
    shapely.MultiPolygon(
        [shapely.box(1000, 1000, 1200, 1300), shapely.box(1400, 1000, 1500, 1300)]
    ),
]


WARDS = gpd.GeoDataFrame(
    {"NAME_2": ["A", None, "=C"], "code": ["x1", "x2", None], "number": [7, 8, 9]},
    geometry=SHAPES, crs=GRID.crs,
)  # fmt: skip


def zipped(folder, skip="", twice=False):
    WARDS.to_file(folder / "wards.shp")
    packed = io.BytesIO()
    with zipfile.ZipFile(packed, "w") as archive:
        for path in folder.glob("wards.*"):
            if path.suffix != skip:
                archive.write(path, f"in/{path.name}")
        if twice:
            archive.write(folder / "wards.shp", "other.shp")
    return packed.getvalue()


@pytest.mark.parametrize("ending", ["gpkg", "parquet", "zip", "geojson", "own.geojson", "csv"])
def test_areas_of_every_format_are_asked_as_they_are_with_names_of_any_column(tmp_path, ending):
    path = tmp_path / f"areas.{ending}"
    if ending == "zip":
        path.write_bytes(zipped(tmp_path))
    elif ending == "parquet":
        WARDS.to_parquet(path)
    elif ending == "csv":
        shapes = WARDS.geometry.to_wkt()
        WARDS.drop(columns="geometry").assign(wkt=shapes).to_csv(path, index=False)
    else:
        WARDS.to_crs({"geojson": 4326, "own.geojson": 25833}.get(ending, GRID.crs)).to_file(path)
    usual = read_ranges(path, GRID)
    assert usual.named == ("name_2" if ending == "csv" else "NAME_2")
    assert usual.names == ["A", "", "=C"]
    assert dict(usual.texts) == {usual.named: usual.names, "code": ["x1", "x2", ""]}
    coded = read_ranges(path.read_bytes(), GRID, path.name, "code")
    assert (coded.column, coded.names) == ("code", ["x1", "x2", ""])
    assert coded.texts == usual.texts
    assert read_ranges(path, GRID, name_column="number").names == ["7", "8", "9"]
    choose = rf"have no column 'mayor'; choose among .*{usual.named}.*code"
    refuses(choose, read_ranges, path, GRID, name_column="mayor")
    for found in (usual, coded):
        for shape, wanted in zip(found.shapes, SHAPES, strict=True):
            assert shapely.hausdorff_distance(shape, wanted) < 0.1
            assert shape.area == pytest.approx(wanted.area, rel=1e-3)
        np.testing.assert_allclose(found.boxes, [shape.bounds for shape in found.shapes])


def test_boxes_and_polygons_stand_in_one_csv():
    text = f'name,x0,y0,x1,y1,wkt\nHome,0,0,10,20,\nHill,,,,,"{SHAPES[0].wkt}"\n'
    found = read_ranges(text.encode(), GRID)
    assert found.names == ["Home", "Hill"]
    assert found.shapes[0] is None
    assert found.boxes.tolist() == [[0, 0, 10, 20], [0, 0, 900, 800]]
    alone = read_ranges(f'name;wkt\nHill;"{SHAPES[0].wkt}"\n'.encode(), GRID)
    assert alone.shapes[0].equals(SHAPES[0])


@pytest.mark.parametrize(("content", "sentence"), [
    (b"\0\0\x27\x0a0000", "zip all of them"), (b"PK\x03\x04 broken", "damaged or locked"),
    (b"PAR1 broken", "could not be read"),
    (b"name,wkt\nA,POLYGON ((\n", "Line 2 of x has a wkt that is no polygon"),
    (b"name,wkt\nA,POINT (1 2)\n", "a Point"),
    (b'{"type": "FeatureCollection", "features": []}', "holds no rectangle"),
])  # fmt: skip
def test_what_cannot_be_read_is_said_in_one_sentence(content, sentence):
    with pytest.raises(InputError, match=sentence) as caught:
        read_ranges(content, GRID, "x")
    assert str(caught.value).count("\n") == 0


def test_an_archive_is_one_shapefile_and_no_bomb(tmp_path, monkeypatch):
    with pytest.raises(InputError, match=r"lacks its file ending in \.dbf"):
        read_ranges(zipped(tmp_path, skip=".dbf"), GRID, "x.zip")
    with pytest.raises(InputError, match="has 2 files that could be meant"):
        read_ranges(zipped(tmp_path, twice=True), GRID, "x.zip")
    content = zipped(tmp_path)
    monkeypatch.setattr(polygon_files, "MAX_BYTES", 100)
    refuses("unpacks to more", read_ranges, content, GRID, "x.zip")
    monkeypatch.setattr(range_files, "MOST_BYTES", 100)
    refuses("larger than", read_ranges, content, GRID, "x.zip")


def test_a_map_without_places_on_the_earth_takes_csv_alone(tmp_path):
    WARDS.to_file(tmp_path / "a.gpkg")
    refuses("measured in cells", read_ranges, tmp_path / "a.gpkg", Grid.cells((8, 8)))
    text = 'name,wkt\nA,"POLYGON ((0 0, 5 0, 0 5, 0 0))"\n'
    assert read_ranges(text.encode(), Grid.cells((8, 8))).shapes[0].area == 12.5


def test_a_polygon_that_was_moved_elsewhere_is_asked_where_it_is():
    from explorer.queries.files import write_rectangles

    boxes = np.array([SHAPES[0].bounds])
    saved = json.loads(write_rectangles(boxes, ["A"], GRID, "geojson", polygons=SHAPES[:1]))
    exactly = read_ranges(json.dumps(saved).encode(), GRID).shapes[0]
    assert exactly.equals(SHAPES[0])
    ((ring,)) = saved["features"][0]["geometry"]["coordinates"]
    for place in ring:
        place[0] += 0.01
    moved = read_ranges(json.dumps(saved).encode(), GRID).shapes[0]
    assert moved.bounds[0] == pytest.approx(680, abs=10)


def patched(content, record, at, value):
    """Other bytes ``at`` the place of a field in every record of an archive of one kind."""
    begin = content.find(record)
    while begin >= 0:
        content = content[: begin + at] + value + content[begin + at + len(value) :]
        begin = content.find(record, begin + 1)
    return content


_ENTRY, _END = b"PK\1\2", b"PK\5\6"


@pytest.mark.parametrize(("cause", "record", "at", "value"), [
    (RuntimeError, _ENTRY, 8, b"\1\0"),  # locked by a password
    (NotImplementedError, _ENTRY, 10, b"\x63\0"),  # packed in no known way
    (ValueError, _END, 16, b"\xff\xff\xff\x7f"),  # begins before its own beginning
    ((EOFError, zipfile.BadZipFile), _ENTRY, 20, struct.pack("<II", 2**24, 2**24)),  # cut off
    (zipfile.BadZipFile, _ENTRY, 16, b"\1\2\3\4"),  # other bytes than were packed
])  # fmt: skip
def test_whatever_is_wrong_with_an_archive_is_one_sentence(tmp_path, cause, record, at, value):
    content = zipped(tmp_path)
    damaged = patched(content, record, at, value)
    assert damaged != content
    with pytest.raises(InputError, match="damaged or locked") as refused:
        read_ranges(damaged, GRID, "x.zip")
    assert "\n" not in str(refused.value)
    assert isinstance(refused.value.__cause__, cause)


# Polygons as questions: their files, and the files of their answers.

FRAME = gpd.GeoDataFrame(
    {"name": ["=1+1", None]},
    geometry=[Polygon([(10, 50), (11, 50), (10, 51)]), box(12, 50, 13, 51)],
    crs=4326,
)


def test_files_without_polygons_or_a_crs_are_refused(tmp_path):
    for frame, said in (
        (FRAME.iloc[:0], "holds 0 polygons"),
        (FRAME.set_crs(None, allow_override=True), "have no CRS"),
    ):
        frame.to_parquet(tmp_path / "a.parquet")
        refuses(said, read_polygons, tmp_path / "a.parquet")


def test_answers_are_written_with_and_without_the_polygons():
    columns = {"value": [1.5, float("nan")], "leaves": [3, 4]}
    names = ["=1+1", "b"]
    document = json.loads(write_polygons(FRAME.to_crs(3857).geometry, names, "geojson", columns))
    first, second = document["features"]
    assert first["properties"] == {"name": "=1+1", "value": 1.5, "leaves": 3}
    assert second["properties"]["value"] is None
    assert shapely.geometry.shape(first["geometry"]).equals_exact(FRAME.geometry[0], 1e-9)
    rows = list(csv.reader(io.StringIO(write_polygons(FRAME.geometry, names, "csv", columns))))
    assert rows == [["name", "value", "leaves"], ["'=1+1", "1.5", "3"], ["b", "", "4"]]
