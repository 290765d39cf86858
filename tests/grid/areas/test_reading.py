"""Tables of areas: every kind of file, what is mended and said, what is refused."""

import sqlite3
from contextlib import closing

import geopandas
import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
import shapely
from shapely.geometry import GeometryCollection, LineString, MultiPolygon, Point, Polygon, box

from explorer import Areas, InputError
from explorer.grid import polygon_files
from tests.refusals import refuses

SQUARES = [box(0, 1, 1, 2), box(0, 0, 2, 1), box(1, 1, 2, 2)]
FRAME = geopandas.GeoDataFrame(
    {"part": ["north", "south", "north"], "name": ["a", "c", "b"]}, geometry=SQUARES, crs=4326
)
ENDLESS = Polygon([(0, 0), (np.inf, 1), (1, 1)])
BOW = Polygon([(3, 0), (5, 2), (5, 0), (3, 2)])


def changed(**columns: object):
    return FRAME.assign(**columns)


def test_the_layer_with_the_columns_is_taken(tmp_path):
    path = tmp_path / "a.gpkg"
    FRAME.drop(columns="part").to_file(path, layer="others")
    FRAME.to_file(path, layer="areas")
    assert len(Areas.read(path, ["part", "name"])) == 3
    refuses("2 layers that could be meant", Areas.read, path, "name")


def test_the_key_knows_names_boundaries_and_rules():
    def key(frame=FRAME, *levels: str, **rules: float):
        return Areas.read(frame, levels or ("part", "name"), **rules).key

    moved = changed(geometry=[*SQUARES[:2], box(1, 1, 2, 2.0000001)])
    others = {key(), key(moved), key(changed(name=["a", "c", "B"])), key(FRAME, "name")}
    others |= {
        key(FRAME.iloc[::-1]),
        key(nearest=5.0),
        key(FRAME.set_crs(4258, allow_override=True)),
    }
    assert len(others) == 7
    assert key() == key(FRAME.copy())


def test_branches_may_have_fewer_levels():
    areas = Areas.read(changed(name=["a", None, "b"]), ["part", "name"])
    assert areas.paths == ((), ("north",), ("south",), ("north", "a"), ("north", "b"))
    assert areas.lowest.tolist() == [3, 2, 4]
    assert areas.notes == ("1 area ends above the lowest level.",)


def test_names_lose_what_a_terminal_would_obey():
    areas = Areas.read(changed(name=["a\x1b[31m\n\tb", 7.0, np.int64(7)]), ["part", "name"])
    assert [path[-1] for path in areas.paths[3:]] == ["a [31m b", "7", "7"]


def test_collections_keep_their_polygons():
    mixed = GeometryCollection(
        [SQUARES[0], LineString([(0, 0), (1, 1)]), GeometryCollection([Point(9, 9)])]
    )
    areas = Areas.read(changed(geometry=[mixed, *SQUARES[1:]]), "name")
    assert areas.notes == ("2 parts that are no polygon, such as stray lines, left out.",)
    assert areas.geometry[0].equals(SQUARES[0])


def test_invalid_rings_are_mended_by_their_structure():
    areas = Areas.read(changed(geometry=[BOW, *SQUARES[1:]]), "name")
    assert shapely.is_valid(areas.geometry).all()
    assert areas.notes == ("1 area has invalid rings, mended: first 'a'.",)
    assert areas.assign([3.2, 4.8, 4.0], [1.0, 1.0, 0.5]).tolist() == [0, 0, -1]


def test_rows_without_a_polygon_are_left_out():
    areas = Areas.read(changed(geometry=[None, SQUARES[1], Polygon()]), ["part", "name"])
    assert areas.paths == ((), ("south",), ("south", "c"))
    assert areas.notes == ("2 areas have no polygon, left out: first 'north' > 'a'.",)


@pytest.mark.parametrize("shape", [
    # As a number runs on, as it jumps, and cut as RFC 7946 has it.
    Polygon([(177, -19), (182, -19), (182, -16), (177, -16)]),
    Polygon([(177, -19), (-178, -19), (-178, -16), (177, -16)]),
    MultiPolygon([box(177, -19, 180, -16), box(-180, -19, -178, -16)]),
])  # fmt: skip
def test_areas_across_the_antimeridian(shape):
    frame = geopandas.GeoDataFrame({"n": ["Fiji"]}, geometry=[shape], crs=4326)
    areas = Areas.read(frame, ["n"])
    assert areas.assign([178, -179, 181, 0, 176], [-17] * 5).tolist() == [0, 0, 0, -1, -1]
    # Five degrees by three at 17.5 south, and not the way around the Earth.
    assert areas.sizes[0] == pytest.approx(
        5 * 3 * 111.3 * 110.7 * np.cos(np.radians(17.5)), rel=0.01
    )
    grid = areas.lattice(5_000.0).grid
    assert 520_000 < grid.width < 560_000
    if shape.geom_type == "Polygon":
        assert areas.notes == ("1 area crosses the antimeridian, cut there.",)


def test_a_hole_across_the_antimeridian_stays_a_hole():
    shell = [(170, -10), (-170, -10), (-170, 10), (170, 10)]
    hole = [(178, -2), (-178, -2), (-178, 2), (178, 2)]
    frame = geopandas.GeoDataFrame({"n": ["a"]}, geometry=[Polygon(shell, [hole])], crs=4326)
    areas = Areas.read(frame, ["n"])
    assert areas.assign([175, -175, 179, -179, 180], [0, 0, 0, 0, 5]).tolist() == [0, 0, -1, -1, 0]


def test_small_overlaps_are_said():
    frame = changed(geometry=[box(0, 1, 1.00005, 2), *SQUARES[1:]])
    areas = Areas.read(frame, "name")
    (note,) = areas.notes
    assert note.startswith("1 pair of areas overlaps, by 0.62 km2 at most")
    assert areas.assign([1.00002], [1.5])[0] == 0


@pytest.mark.parametrize(("shapes", "said"), [
    ([box(0, 1, 1.01, 2), *SQUARES[1:]], "'a' and 'b' overlap by 123 km2;"),
    ([box(0, 0, 2, 2), *SQUARES[1:]], r"and 1 more pair does\); each"),
    # A tenth of a small area is much of it, though it is little ground.
    ([box(0, 0, 0.009, 0.009), box(0, 0, 0.002, 0.009), SQUARES[2]], "'a' and 'c' overlap"),
    ([SQUARES[0], box(0.4, 1.4, 0.6, 1.6), SQUARES[2]], "'a' and 'c' overlap"),
])  # fmt: skip
def test_large_overlaps_are_refused_by_name(shapes, said):
    refuses(said, Areas.read, changed(geometry=shapes), "name")


@pytest.mark.parametrize(
    ("frame", "levels", "said"),
    [
        (FRAME, ["country", "name"], "no column 'country'; choose among 'part', 'name'"),
        (FRAME, [], "Name the columns"),
        (FRAME.rename(columns={"part": "name"}), ["name"], "Two columns"),
        (FRAME, ["name", "name"], "named twice"),
        (FRAME.iloc[:0], ["name"], "no area in this table"),
        (changed(name=["a", "c", "a"]), ["part", "name"], "Rows 1 and 3 are both the area 'north'"),
        (changed(name=["a", "c", None]), ["part", "name"], "Row 3 is the area 'north', and other"),
        (changed(name=["a", "c", ""]), ["name"], "Row 3 of the areas has no name in 'name'"),
        (changed(name=["a", "c", "b" * 201]), ["name"], "more than 200 letters"),
        (FRAME.set_crs(None, allow_override=True), ["name"], "have no CRS"),
        (changed(geometry=[Point(0, 0), *SQUARES[1:]]), ["name"], "'a' is a Point; areas are poly"),
        (changed(geometry=[box(0, 1, 1, 99), *SQUARES[1:]]), ["name"], "has a corner that"),
        ([1, 2], ["name"], "the path of a file"),
        ("nowhere.gpkg", ["name"], "There is no file nowhere.gpkg"),
    ],
)  # fmt: skip
def test_what_cannot_be_areas_is_refused(frame, levels, said):
    with pytest.raises(InputError, match=said) as error:
        Areas.read(frame, levels)
    assert str(error.value).count(". ") == 0


@pytest.mark.parametrize("nearest", [-1, float("nan"), 1e9, "far", True])
def test_a_distance_is_metres(nearest):
    refuses("nearest area is", Areas.read, FRAME, "name", nearest=nearest)


@pytest.mark.parametrize(("name", "content", "said"), [
    ("a.gpkg", b"SQLite format 3\0" + b"x" * 200, "could not be read"),
    ("a.parquet", b"PAR1 and no more", "could not be read as areas"),
    ("a.geojson", b'{"type": "FeatureCollection", "features": [', "could not be read"),
    ("a.csv", b"name,x\na,1\n", "a table without a geometry"),
    ("a.shp", b"", "is empty"),
])  # fmt: skip
def test_a_file_that_is_none_is_refused(tmp_path, name, content, said):
    path = tmp_path / name
    path.write_bytes(content)
    refuses(said, Areas.read, path, "name")


def sqlite(table, path):
    with closing(sqlite3.connect(path)) as opened:
        table.to_sql("areas", opened, index=False)


def arrow(table, path):
    table = pa.Table.from_pandas(table, preserve_index=False)
    with pa.OSFile(str(path), "wb") as opened, pa.ipc.new_file(opened, table.schema) as to:
        to.write_table(table)


TABLES = {
    "csv": lambda table, path: table.to_csv(path, index=False),
    "xlsx": lambda table, path: table.to_excel(path, index=False),
    "sqlite": sqlite,
    "arrow": arrow,
}


@pytest.mark.parametrize(("ending", "shapes"), [
    ("csv", FRAME.to_wkt()["geometry"]), ("sqlite", FRAME.to_wkt()["geometry"]),
    ("xlsx", FRAME.to_wkt()["geometry"]), ("sqlite", FRAME.to_wkb()["geometry"]),
    ("arrow", FRAME.to_wkb()["geometry"]),
])  # fmt: skip
def test_shapes_may_be_texts_or_bytes_of_a_table(tmp_path, ending, shapes):
    # The last row has no shape.
    table = pd.DataFrame({"name": [*FRAME["name"], "d"], "the_geom": [*shapes, None]})
    if ending == "xlsx":
        table["mixed"] = [1, "text", None, 2.5]
    TABLES[ending](table, tmp_path / f"areas.{ending}")
    read = Areas.read(tmp_path / f"areas.{ending}", "name", crs=FRAME.crs)
    assert read.key == Areas.read(FRAME, "name").key


def test_a_long_text_is_refused_before_it_is_unpacked(tmp_path, monkeypatch):
    monkeypatch.setattr(polygon_files, "MAX_ROWS", 3)
    (tmp_path / "long.csv").write_text("name,the_geom\n" + "a,POINT (0 0)\n" * 4 + '"open')
    refuses("There are 4 areas, more than 3", Areas.read, tmp_path / "long.csv", "name")


def test_parquet_without_a_geometry_and_with_too_much_text(tmp_path):
    plain, huge = tmp_path / "plain.parquet", tmp_path / "huge.parquet"
    pq.write_table(pa.table({"name": ["a"]}), plain)
    refuses("Parquet without a geometry", Areas.read, plain, "name")
    # 200 kB that would be a gigabyte of names.
    names = pa.DictionaryArray.from_arrays(np.zeros(10_000, np.int32), ["x" * 100_000])
    shapes = pa.array([shapely.to_wkb(SQUARES[0])] * 10_000)
    frame_meta = tmp_path / "meta.parquet"
    FRAME.to_parquet(frame_meta)
    geo = pq.read_schema(frame_meta).metadata[b"geo"]
    table = pa.table({"name": names, "geometry": shapes}).replace_schema_metadata({"geo": geo})
    pq.write_table(table, huge)
    assert huge.stat().st_size < 300_000
    refuses("too much text", Areas.read, huge, "name")


def test_great_britain(great_britain):
    areas = great_britain
    lines, overlaps = areas.notes
    assert lines == "346 parts that are no polygon, such as stray lines, left out."
    assert overlaps.startswith("58 pairs of areas overlap, by 0.027 km2 at most")
    assert shapely.get_num_coordinates(areas.geometry).sum() == pytest.approx(353_034, abs=10)
    # 228,000 to 230,000 km2, by who counts the estuaries.
    assert 225_000 < areas.sizes.sum() < 235_000
