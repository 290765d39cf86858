"""Every format that people have: counted as GeoPandas, or the library that wrote it, reads it."""

import bz2
import gzip
import io
import lzma
import re
import sqlite3
import zipfile
from contextlib import closing

import geopandas
import numpy as np
import pandas as pd
import pyarrow as pa
import pyogrio
import pytest
import shapely

from explorer import Grid, InputError, read_points, read_trips
from explorer.app.curator.own import read_upload
from explorer.cli import main
from explorer.points.counts_file import load_counts
from explorer.points.populations import population_of_file
from tests.refusals import refuses

RNG = np.random.default_rng(33)
#: The last row has no place.
TABLE = pd.DataFrame(
    {
        "lon": [*RNG.uniform(4.7, 5.1, 200).round(6), np.nan],
        "lat": [*RNG.uniform(52.2, 52.5, 200).round(6), np.nan],
        "who": [f"p{number % 40}" for number in range(201)],
        "n": RNG.integers(1, 5, 201),
    }
)
PLACED = TABLE[:200]
FRAME = geopandas.GeoDataFrame(
    PLACED[["who", "n"]], geometry=geopandas.points_from_xy(PLACED.lon, PLACED.lat), crs=4326
)
METRIC = FRAME.to_crs(28992)
GRID = Grid.around(4.9, 52.35, "20km", shape=16)
COUNT = ["--around", "4.9", "52.35", "--size", "20km", "--shape", "16", "--per", "record"]


def by(driver, name, frame=FRAME, **options):
    def write(folder):
        pyogrio.write_dataframe(frame, folder / name, driver=driver, **options)
        return folder / name

    return write


def zipped(write, name, folder_in=""):
    """All that is written, in an archive."""

    def pack(folder):
        inside = folder / "inside"
        inside.mkdir()
        write(inside)
        with zipfile.ZipFile(folder / name, "w", zipfile.ZIP_DEFLATED) as archive:
            for each in sorted(inside.rglob("*")):
                if each.is_file():
                    archive.write(each, f"{folder_in}{each.relative_to(inside).as_posix()}")
        return folder / name

    return pack


def to(name, method, *args, frame=TABLE, **options):
    """A file written by a method of a frame."""

    def write(folder):
        getattr(frame, method)(folder / name, *args, **options)
        return folder / name

    return write


def packed(pack, ending):
    def write(folder):
        path = folder / f"points.csv.{ending}"
        path.write_bytes(pack(TABLE.to_csv(index=False).encode()))
        return path

    return write


def zstd(content):
    sink = pa.BufferOutputStream()
    with pa.CompressedOutputStream(sink, "zstd") as stream:
        stream.write(content)
    return sink.getvalue().to_pybytes()


def sheet(folder):
    pytest.importorskip("python_calamine")
    return to("points.xlsx", "to_excel", index=False, engine="xlsxwriter")(folder)


def sqlite(folder):
    with closing(sqlite3.connect(folder / "points.db")) as opened:
        TABLE.to_sql("places", opened, index=False)
    return folder / "points.db"


def duck(folder):
    duckdb = pytest.importorskip("duckdb")
    with duckdb.connect(folder / "points.duckdb") as opened:
        opened.register("given", TABLE)
        opened.sql("CREATE TABLE places AS SELECT * FROM given")
    return folder / "points.duckdb"


csv = to("points.csv", "to_csv", index=False)
ARROW = {"geometry_encoding": "geoarrow", "schema_version": "1.1.0"}
LAYERS = {
    "GeoParquet": to("points.parquet", "to_parquet", frame=METRIC),
    "GeoParquet of arrays": to("points.parquet", "to_parquet", frame=FRAME, **ARROW),
    "GeoJSON": by("GeoJSON", "points.geojson"),
    "GeoPackage": by("GPKG", "points.gpkg", METRIC),
    "FlatGeobuf": by("FlatGeobuf", "points.fgb"),
    "FlatGeobuf in metres": by("FlatGeobuf", "points.fgb", METRIC),
    "FlatGeobuf of another name": lambda folder: by("FlatGeobuf", "points.fgb")(folder).rename(
        folder / "points.bin"
    ),
    "KML": by("LIBKML", "points.kml"),
    "KMZ": zipped(by("LIBKML", "doc.kml"), "points.kmz"),
    "GPX": by("GPX", "points.gpx", layer="waypoints", GPX_USE_EXTENSIONS="YES"),
    "FileGDB": by("OpenFileGDB", "points.gdb"),
    "zipped FileGDB": zipped(by("OpenFileGDB", "points.gdb"), "points.zip"),
    "FileGDB named .gdb.zip": zipped(by("OpenFileGDB", "points.gdb"), "points.gdb.zip", "in/"),
    "SpatiaLite": by("SQLite", "points.sqlite", METRIC, SPATIALITE="YES"),
    "SQLite with WKB": by("SQLite", "points.sqlite"),
    "Shapefile": by("ESRI Shapefile", "points.shp"),
    "zipped Shapefile": zipped(by("ESRI Shapefile", "points.shp"), "points.zip"),
    "Shapefile in a folder": zipped(by("ESRI Shapefile", "POINTS.shp", METRIC), "p.zip", "deep/a/"),
    "zipped GeoPackage": zipped(by("GPKG", "points.gpkg"), "points.zip"),
}
TABLES = {
    "CSV": csv,
    "TSV": to("points.tsv", "to_csv", index=False, sep="\t"),
    "gzip": packed(gzip.compress, "gz"),
    "bzip2": packed(bz2.compress, "bz2"),
    "xz": packed(lzma.compress, "xz"),
    "Zstandard": packed(zstd, "zst"),
    "zip": zipped(csv, "points.zip"),
    "Excel": sheet,
    "SQLite": sqlite,
    "DuckDB": duck,
    "Parquet": to("points.parquet", "to_parquet"),
    "Arrow": to("points.arrow", "to_feather"),
}


def counts(points):
    return GRID.count(points, per="record").counts


@pytest.mark.parametrize("name", [*LAYERS, *TABLES])
def test_every_format_is_counted_as_it_was_written(name, tmp_path):
    path = {**LAYERS, **TABLES}[name](tmp_path)
    columns = {"user": "ogr_who", "weight": "ogr_n"} if name == "GPX" else {}
    columns = columns or {"user": "who", "weight": "n"}
    points = read_points(path)
    assert len(points) == 200
    assert np.array_equal(counts(points), counts(read_points(FRAME)))
    assert GRID.count(path, per="record").total == counts(points).sum()
    blank = "1 row without a coordinate (null or not a number) was left out."
    assert (blank in points.notes) == (name in TABLES)
    weighed = read_points(path, **columns)
    assert int(weighed.weight.sum()) == int(PLACED.n.sum())
    assert np.unique(weighed.user).size == 40
    if path.is_file() and name not in ("Shapefile", "DuckDB", "Arrow"):
        # What a visitor sends is read by its own process, from memory, under any name.
        ending = ".csv" if name.endswith("name") else "".join(path.suffixes)
        sent = read_upload(path.read_bytes(), f"p{ending}")
        assert np.array_equal(counts(sent), counts(points))
    with pytest.raises(InputError) as refused:
        read_points(path, weight=columns["user"])
    assert not re.search(r"\bp\d+\b", str(refused.value).replace(path.name, ""))
    refuses("more than the 2 rows", read_points, path, max_rows=2)


@pytest.mark.parametrize("name", ["FlatGeobuf", "KMZ", "FileGDB", "zipped Shapefile", "gzip"])
def test_the_command_counts_them(name, tmp_path, capsys):
    path = {**LAYERS, **TABLES}[name](tmp_path)
    output = tmp_path / "counts.exact.parquet"
    code = main(["count", str(path), *COUNT, "-o", str(output)])
    assert code == 0, capsys.readouterr().err
    assert np.array_equal(load_counts(output).counts, counts(read_points(TABLE)))


def test_one_of_several_layers_is_named(tmp_path, capsys):
    path = tmp_path / "city.gdb"
    for layer, part in (("bus", FRAME[:50]), ("rail", FRAME[50:])):
        pyogrio.write_dataframe(part, path, driver="OpenFileGDB", layer=layer, append=path.exists())
    refuses(r"2 layers .* \('bus', 'rail'\); name one, such as layer", read_points, path)
    assert len(read_points(path, layer="rail")) == 150
    assert len(read_points(f"{path}::bus")) == 50
    line = ["count", str(path), *COUNT, "-o", str(tmp_path / "a.exact.parquet")]
    assert main(line) == 2
    assert "--layer bus" in capsys.readouterr().err
    assert main([*line, "--layer", "bus"]) == 0


@pytest.mark.parametrize(
    ("name", "driver"),
    [
        ("city.gpkg", {"driver": "GPKG"}),
        # Kinds of geometries are numbers there.
        ("city.sqlite", {"driver": "SQLite", "dataset_options": {"SPATIALITE": "YES"}}),
        ("city.sqlite", {"driver": "SQLite"}),
    ],
)
def test_layers_without_points_are_not_meant(name, driver, tmp_path):
    path = tmp_path / name
    roads = geopandas.GeoDataFrame(geometry=[shapely.LineString([(0, 0), (1, 1)])], crs=4326)
    pyogrio.write_dataframe(roads, path, layer="roads", **driver)
    pyogrio.write_dataframe(FRAME, path, layer="stops", append=True, **driver)
    pyogrio.write_dataframe(TABLE, path, layer="notes", append=True, **driver)
    points = read_points(path)
    assert len(points) == 200
    assert points.notes[0] == "The layer 'stops' was read."
    refuses("LineString where points were expected", read_points, path, layer="roads")


def test_gpx_tracks_are_their_points(tmp_path):
    path = tmp_path / "walk.gpx"
    points = "".join(
        f'<trkpt lat="{lat}" lon="{lon}"><time>2024-05-01T08:00:00Z</time></trkpt>'
        for lon, lat in zip(PLACED.lon, PLACED.lat, strict=True)
    )
    head = '<gpx version="1.1" creator="a" xmlns="http://www.topografix.com/GPX/1/1">'
    path.write_text(f"{head}<trk><trkseg>{points}</trkseg></trk></gpx>")
    walk = read_points(path, time="time")
    assert len(walk) == 200
    assert "The layer 'track_points' was read." in walk.notes
    path.write_text(f'{head}<wpt lat="1" lon="2"/><trk><trkseg>{points}</trkseg></trk></gpx>')
    refuses("'waypoints', 'track_points'", read_points, path)
    assert len(read_points(path, layer="waypoints")) == 1


def test_one_of_several_sheets_and_tables_is_named(tmp_path):
    pytest.importorskip("python_calamine")
    path = tmp_path / "points.xlsx"
    with pd.ExcelWriter(path, engine="xlsxwriter") as book:
        TABLE[:10].to_excel(book, sheet_name="May", index=False)
        TABLE[:20].to_excel(book, sheet_name="June", index=False)
        pd.DataFrame().to_excel(book, sheet_name="Empty")
    refuses(r"2 sheets .* \('May', 'June'\); name one", read_points, path)
    assert len(read_points(path, layer="June")) == 20
    refuses("no sheet 'July'", read_points, path, layer="July")
    pd.DataFrame(TABLE.to_numpy()).to_excel(path, header=False, index=False, engine="xlsxwriter")
    with pytest.raises(InputError, match="first row of this sheet") as refused:
        read_points(path)
    assert str(TABLE.lon[0]) not in str(refused.value)


def test_trips_are_read_from_a_sheet_and_a_table(tmp_path):
    ends = PLACED[["lon", "lat"]].to_numpy()
    trips = pd.DataFrame(
        {"o_lon": ends[:, 0], "o_lat": ends[:, 1], "d_lon": ends[::-1, 0], "d_lat": ends[::-1, 1]}
    )
    with closing(sqlite3.connect(tmp_path / "trips.db")) as opened:
        trips.to_sql("journeys", opened, index=False)
        trips[:7].to_sql("others", opened, index=False)
    assert len(read_trips(tmp_path / "trips.db", layer="journeys")) == 200
    assert len(read_trips(f"{tmp_path / 'trips.db'}::others")) == 7


def test_sqlite_that_is_open_elsewhere_is_refused(tmp_path):
    path = sqlite(tmp_path)
    with closing(sqlite3.connect(path)) as writer:
        writer.execute("PRAGMA journal_mode = WAL")
        with writer:
            writer.execute("INSERT INTO places VALUES (4.9, 52.3, 'p', 1)")
        refuses("still open in another program", read_points, path)
    assert len(read_points(path)) == 201


def test_views_are_not_computed(tmp_path):
    path = sqlite(tmp_path)
    with closing(sqlite3.connect(path)) as opened, opened:
        opened.execute("CREATE VIEW many AS SELECT * FROM places a, places b, places c")
    refuses("'many' is a view", read_points, path, layer="many")


def test_a_shapefile_without_a_part_says_which(tmp_path):
    path = by("ESRI Shapefile", "points.shp")(tmp_path)
    for ending in (".dbf", ".shx"):
        part = path.with_suffix(ending)
        content = part.read_bytes()
        part.unlink()
        refuses(rf"lacks its file ending in \{ending}", read_points, path)
        with zipfile.ZipFile(tmp_path / "p.zip", "w") as archive:
            for each in tmp_path.glob("points.*"):
                archive.write(each, each.name)
        refuses(rf"lacks its file ending in \{ending}", read_points, tmp_path / "p.zip")
        part.write_bytes(content)
    refuses("several files", read_points, path.read_bytes(), name="points.shp")


def test_a_copy_in_another_container_is_the_same_population(tmp_path):
    names = ["points.csv", "points.csv.gz", "points.zip", "points.gdb", "points.gdb.zip"]
    assert {population_of_file(str(tmp_path / name)) for name in names} == {"points"}
    assert population_of_file(f"{tmp_path / 'points.gpkg'}::rail") == "points"
    (tmp_path / "points.gdb").mkdir()
    assert population_of_file(str(tmp_path / "points.gdb")) == "points"


def test_files_without_a_place_say_so(tmp_path):
    gpx = tmp_path / "empty.gpx"
    gpx.write_text('<gpx version="1.1" xmlns="http://www.topografix.com/GPX/1/1"></gpx>')
    refuses("No layer of this file holds points", read_points, gpx)
    kml = tmp_path / "links.kml"
    link = "<NetworkLink><Link><href>other.kml</href></Link></NetworkLink>"
    kml.write_text(f'<kml xmlns="http://www.opengis.net/kml/2.2"><Document>{link}</Document></kml>')
    refuses("only links to other files", read_points, kml)


def test_kml_is_read_without_what_it_points_to(tmp_path):
    head = '<?xml version="1.0"?><kml xmlns="http://www.opengis.net/kml/2.2"><Document>'
    link = "<NetworkLink><Link><href>other.kml</href></Link></NetworkLink>"
    by("LIBKML", "other.kml")(tmp_path)
    place = "<Placemark><Point><coordinates>4.9,52.3</coordinates></Point></Placemark>"
    path = tmp_path / "links.kml"
    path.write_text(f"{head}{link}{place}</Document></kml>")
    assert len(read_points(path)) == 1
    entity = '<!DOCTYPE kml [<!ENTITY a SYSTEM "other.kml">]>'
    path.write_text(f"{head.replace('<kml', f'{entity}<kml')}{place}&a;</Document></kml>")
    with pytest.raises(InputError):
        read_points(path)
    with pytest.raises(InputError):
        read_points(io.BytesIO(path.read_bytes()), name="links.kml")
