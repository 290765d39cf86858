"""A file opens no other file and fetches nothing, whatever it says and however it is called."""

import io
import json
import sqlite3
import threading
from contextlib import closing
from http.server import BaseHTTPRequestHandler, HTTPServer
from pathlib import Path

import geopandas
import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pyogrio
import pytest
import shapely
from shapely.geometry import Point

from explorer import InputError, read_points
from explorer.app.curator.own import read_upload
from explorer.grid.areas.foreign import foreign_areas
from explorer.grid.extent import boundary_bounds
from explorer.grid.geojson import Features
from explorer.points.foreign import foreign_points
from tests.refusals import refuses

#: One of each kind of ending, which says no more than whether content without a signature is text.
ENDINGS = (".csv", ".txt", ".parquet", ".json", ".gpkg", ".kml", ".zip", ".xlsx")
#: What is read, by the names of the drivers that can write it.
OWN = set(
    "GPKG GeoJSON GeoJSONSeq JSONFG CSV FlatGeobuf KML LIBKML GPX SQLite XLSX ODS".split()  # noqa: SIM905
)
POINTS = geopandas.GeoDataFrame({"n": [1, 2]}, geometry=[Point(1, 2), Point(3, 4)], crs=4326)


@pytest.fixture
def canary(tmp_path):
    """A file of the server that no visitor may see."""
    path = tmp_path / "secret.geojson"
    POINTS.to_file(path)
    return path


@pytest.fixture
def address():
    """An address, and the requests that have arrived there."""
    asked = []

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self):
            asked.append(self.path)
            self.send_response(404)
            self.end_headers()

        do_HEAD = do_POST = do_GET

        def log_message(self, *_: object):
            pass

    server = HTTPServer(("127.0.0.1", 0), Handler)
    thread = threading.Thread(target=server.serve_forever)
    thread.start()
    yield f"http://127.0.0.1:{server.server_port}", asked
    server.shutdown()
    thread.join()
    server.server_close()


def disguises(path):
    """Documents that make some driver of GDAL read ``path``, a file or an address."""
    pipeline = f"gdal vector pipeline ! read {path} ! write --output-format=stream streamed_dataset"
    algorithm = {"type": "gdal_streamed_alg", "command_line": pipeline}
    collection = {"type": "FeatureCollection", "features": []}
    return {
        "GDALG": json.dumps(algorithm),
        "GDALG behind a feature": json.dumps({**collection, **algorithm}),
        "GDALG beside a collection": json.dumps({"a": algorithm, **collection}),
        "VRT": f'<OGRVRTDataSource><OGRVRTLayer name="secret"><SrcDataSource>{path}'
        "</SrcDataSource></OGRVRTLayer></OGRVRTDataSource>",
        "WFS": f"<OGRWFSDataSource><URL>{path}</URL></OGRWFSDataSource>",
        "OGC API": json.dumps({"links": [{"rel": "data", "href": f"{path}/collections"}]}),
        "ESRI JSON": json.dumps(
            {"geometryType": "esriGeometryPoint", "features": [], "next": path}
        ),
        "linked CRS": json.dumps(
            {**collection, "crs": {"type": "link", "properties": {"href": path}}}
        ),
        "named CRS": json.dumps(
            {**collection, "crs": {"type": "name", "properties": {"name": f"+init={path}:1"}}}
        ),
    }


@pytest.mark.parametrize("ending", ENDINGS)
def test_no_disguise_reads_a_file_or_fetches_an_address(ending, canary, address, tmp_path):
    url, asked = address
    for place in (str(canary), f"/vsicurl/{url}/points.csv", url):
        for name, document in disguises(place).items():
            sent = tmp_path / f"sent{ending}"
            sent.write_text(document)
            for read in (
                lambda sent=sent: read_upload(sent.read_bytes(), f"points{ending}"),
                lambda sent=sent: read_points(sent.read_bytes(), name=f"points{ending}"),
                lambda sent=sent: read_points(sent),
            ):
                try:
                    points = read()
                except InputError:
                    continue
                assert len(points) == 0, (name, place)
            with pytest.raises(InputError):
                boundary_bounds(sent)
    assert asked == []


def heads(path):
    """What files of the drivers that only read, or that ask a service, may begin with."""
    link = f"<SrcDataSource>{path}</SrcDataSource>"
    return {
        "ADBC": f"ADBC:{path}",
        "AIVector": "arc.adf",
        "AVCBin": "arc.adf tic.adf",
        "AVCE00": f"EXP  0 {path}\nARC  2\n",
        "AmigoCloud": f"AmigoCloud:{path}",
        "CSW": f"CSW:{path}",
        "Carto": f"Carto:{path}",
        "EDIGEO": f"BOMT 12:{path}\nCSET 3:IRV\n",
        "EEDA": f"EEDA:{path}",
        "ESRIJSON": json.dumps({"geometryType": "esriGeometryPoint", "features": [], "url": path}),
        "Elasticsearch": f"<OGRElasticsearch><URL>{path}</URL></OGRElasticsearch>",
        "GDALG": disguises(path)["GDALG"],
        "GPSBabel": f"GPSBabel:nmea:{path}",
        "GTFS": f"agency_id,agency_name,agency_url\n1,a,{path}\n",
        "HTTP": path,
        "LVBAG": f'<bagStand:bagStand xmlns:bagStand="{path}"></bagStand:bagStand>',
        "MEM": "MEM:::",
        "NGW": f"NGW:{path}/resource/1",
        "OAPIF": disguises(path)["OGC API"],
        "OGCAPI": f"OGCAPI:{path}",
        "OGR_PDS": "PDS_VERSION_ID = PDS3\n^TABLE = ".ljust(60) + f'"{path}"\nOBJECT = TABLE\n',
        "OGR_VRT": f"<OGRVRTDataSource><OGRVRTLayer>{link}</OGRVRTLayer></OGRVRTDataSource>",
        "OSM": f'<?xml version="1.0"?><osm version="0.6"><!-- {path} --></osm>',
        "PGDUMP": f"PGDUMP:{path}",
        "PLSCENES": f"PLScenes:{path}",
        "SXF": f"SXF\0{path}",
        "TopoJSON": json.dumps({"type": "Topology", "objects": {}, "arcs": [], "url": path}),
        "VFK": f"&HVERZE;{path}\n",
        "WFS": disguises(path)["WFS"],
    }


def written(folder):
    """A file of two points by every driver that can write one."""
    found = {}
    for driver, may in pyogrio.list_drivers(write=True).items():
        if "w" not in may or driver in ("MEM", "PGDUMP", "GPSBabel"):
            continue
        path = folder / f"points.{driver.replace(' ', '-').lower()}"
        try:
            POINTS.to_file(path, driver=driver)
        except Exception:  # drivers of services, and those that want other endings
            continue
        # Of those that write a folder, the largest file in it.
        parts = [each for each in (path, *path.rglob("*")) if each.is_file()]
        if parts:
            found[driver] = max(parts, key=lambda each: each.stat().st_size)
    return found


def test_a_file_of_no_driver_opens_anything_under_any_ending(canary, address, tmp_path):
    url, asked = address
    folder = tmp_path / "written"
    folder.mkdir()
    sent = {name: path.read_bytes() for name, path in written(folder).items() if path.is_file()}
    for place in (str(canary), f"/vsicurl/{url}/points.csv"):
        sent |= {f"{name} {place}": head.encode() for name, head in heads(place).items()}
    # Whatever nothing is known of goes by the name of its driver and an address, as services do.
    known = {name.split(" ")[0] for name in sent} | set(sent)
    sent |= {d: f"{d}:{url}".encode() for d in pyogrio.list_drivers() if d not in known}
    assert len(known) > 40
    secret = {(1.0, 2.0), (3.0, 4.0)}
    said = set()
    for name, content in sent.items():
        # A reader opens a file of its own by content alone: that is no other file's.
        own = name in OWN
        for ending in ENDINGS:
            try:
                points = foreign_points(content, f"points{ending}", {}, 100)
            except InputError as refusal:
                said.add(str(refusal))
                continue
            assert own or secret.isdisjoint(zip(points.x, points.y, strict=True)), name
    assert asked == []
    assert not [each for each in said if "\n" in each]


def test_gdal_is_asked_for_two_formats_alone(tmp_path, monkeypatch):
    files = written(tmp_path)
    assert {"GPKG", "GeoJSON", "SQLite", "KML", "GML"} <= set(files), sorted(files)
    asked = []
    asked_files = []
    for name in ("list_layers", "read_info", "read_dataframe"):
        plain = getattr(pyogrio, name)

        def noted(path, *rest: object, plain=plain, **more: object):
            content = path if isinstance(path, bytes) else Path(path).read_bytes()
            asked.append(content[:16].decode("latin1"))
            asked_files.append(content)
            return plain(path, *rest, **more)

        monkeypatch.setattr(pyogrio, name, noted)
    read = set()
    for driver, path in files.items():
        content = path.read_bytes()
        for ending in ENDINGS:
            try:
                found = read_points(content, name=f"points{ending}", lon="x", lat="y")
            except InputError:
                try:
                    found = read_points(content, name=f"points{ending}")
                except InputError:
                    continue
            read.add(driver)
            assert len(found) <= 2, driver
    assert {"GPKG", "GeoJSON", "FlatGeobuf", "KML"} <= read
    assert read <= OWN, sorted(read)
    assert {head[:5] for head in asked} == {"SQLit", "fgb\x03f", "<?xml"}
    # SQLite is read by Python's own module: GDAL sees GeoPackages.
    assert not [path for path in asked_files if path == files["SQLite"].read_bytes()]


@pytest.mark.parametrize("sql", [
    "CREATE VIEW pages AS WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n) "
    "SELECT i AS fid FROM n",
    "CREATE VIRTUAL TABLE other USING fts5(a)",
    "CREATE VIRTUAL TABLE rtree_x USING fts5(a)",
])  # fmt: skip
def test_a_package_that_computes_its_tables_is_refused(sql, tmp_path):
    path = tmp_path / "p.gpkg"
    POINTS.to_file(path)
    assert len(read_points(path)) == 2
    with closing(sqlite3.connect(path)) as opened, opened:
        opened.execute(sql)
    for source in (path, path.read_bytes()):
        refuses("computed when they are read", read_points, source)
    refuses("computed when they are read", boundary_bounds, path)


@pytest.mark.parametrize("sql", [
    "CREATE/*(*/VIRTUAL TABLE other USING VirtualOGR('x.csv')",
    "CREATE--(\nVIRTUAL TABLE other USING VirtualOGR('x.csv')",
    "CREATE VIRTUAL/*(*/TABLE other USING VirtualOGR('x.csv')",
    "CREATE VIRTUAL TABLE rtree_x USING dbstat/* USING rtree(id)",
    "CREATE VIRTUAL TABLE rtree_x USING dbstat-- USING rtree(id)",
])  # fmt: skip
def test_no_written_schema_hides_what_computes_a_table(sql, tmp_path):
    path = tmp_path / "p.gpkg"
    POINTS.to_file(path)
    with closing(sqlite3.connect(path)) as opened, opened:
        opened.execute("PRAGMA writable_schema = ON")
        name = "rtree_x" if "rtree_x" in sql else "other"
        opened.execute("INSERT INTO sqlite_master VALUES ('table', ?, ?, 0, ?)", (name, name, sql))
    refuses("computed when they are read", read_points, path)


@pytest.mark.parametrize("layer", ["points", "2020--2021", "places (old)", "virtual", "a /* b"])
def test_a_package_with_any_layer_name_and_more_indexes_opens(layer, tmp_path):
    path = tmp_path / "p.gpkg"
    POINTS.to_file(path, layer=layer)
    with closing(sqlite3.connect(path)) as opened, opened:
        opened.execute(f'create  index if not exists "by_n" on "{layer}"(n)')
        opened.execute(f'create unique  index "one_n" on "{layer}"(n)')
    assert len(read_points(path)) == 2


@pytest.mark.parametrize("document", [
    "", "{", '{"type": "FeatureCollection"', '{"type": "FeatureCollection", "features": [',
    '{"type": "FeatureCollection", "features": [] }{',
    '{"type": "FeatureCollection", "features": [],}',
    '{"type": "FeatureCollection", "features": ' + "[" * 100_000,
    '{1: 2, "type": "Feature"}',
    "\udcff",  # no UTF-8
])  # fmt: skip
def test_what_is_no_json_is_refused_in_a_sentence(document):
    with pytest.raises(InputError, match="it may be damaged"):
        list(Features(document.encode(errors="surrogateescape")))


@pytest.mark.parametrize(("document", "said"), [
    ("{}", "neither features nor a list of objects"),
    ('{"type": 5}', "neither features nor a list of objects"),
    ('{"type": "FeatureCollection"}', "neither features nor a list of objects"),
    ('{"type": "FeatureCollection", "features": [1]}', "neither features nor a list"),
    ("[[1, 2], [3, 4]]", "a list of values without names"),
    ("[1]\n[2]", "a list of values without names"),
    ('{"type": "Topology", "objects": {}, "arcs": []}', "TopoJSON"),
    ('{"records": [{"a": 1}], "data": [{"b": 1}]}', "several lists"),
])  # fmt: skip
def test_json_of_another_kind_is_named_for_what_it_is(document, said):
    with pytest.raises(InputError, match=said):
        list(Features(document.encode()))


def test_older_files_name_their_crs():
    for name, code in [
        ("urn:ogc:def:crs:OGC:1.3:CRS84", 4326),
        ("urn:ogc:def:crs:EPSG::27700", 27700),
        ("EPSG:3857", 3857),
    ]:
        crs = {"type": "name", "properties": {"name": name}}
        features = Features(
            json.dumps({"type": "FeatureCollection", "crs": crs, "features": []}).encode()
        )
        assert list(features) == []
        assert features.crs.to_epsg() == code


def test_places_that_are_none_and_columns_of_every_kind():
    rows = [
        ({"type": "Point", "coordinates": [1, 2, 3]}, {"n": 1, "who": "a", "t": "2020-01-02"}),
        ({"type": "Point", "coordinates": []}, {"n": 2.0, "who": None, "t": "2020-01-03"}),
        (None, {"n": 4, "who": {"deep": [1]}, "more": True}),
        ({"type": "Point", "coordinates": [3, 4]}, {"n": 8, "who": "a", "t": "2020-01-04"}),
    ]
    collection = {
        "type": "FeatureCollection",
        "features": [{"type": "Feature", "geometry": g, "properties": p} for g, p in rows],
    }
    content = json.dumps(collection).encode()
    points = read_points(content, user="who", weight="n", time="t")
    assert points.x.tolist() == [1, 3]
    assert points.y.tolist() == [2, 4]
    assert points.weight.tolist() == [1, 8]
    assert points.user[0] == points.user[1]
    for odd in ({"type": "Point"}, {"type": "Point", "coordinates": ["a", "b"]}, 5, {}):
        collection["features"][0]["geometry"] = odd
        refuses("it may be damaged", read_points, json.dumps(collection).encode())


# Files that unpack to much more than they are: refused in a sentence, and in little memory.

MB = 2**20


def parquet(table, **how: object):
    made = io.BytesIO()
    pq.write_table(table, made, compression="zstd", **how)
    return made.getvalue()


def geo(shapes):
    """A table of WKB that says nothing of its kinds."""
    about = {"version": "1.0.0", "primary_column": "geometry"}
    about["columns"] = {"geometry": {"encoding": "WKB", "geometry_types": []}}
    table = pa.table(
        {"geometry": shapes if isinstance(shapes, pa.Array) else pa.array(shapes, pa.binary())}
    )
    return table.replace_schema_metadata({"geo": json.dumps(about)})


def lines():
    """300 rows of one line of 3.2 MB, behind points, in 200 kB."""
    shapes = [Point(1, 2), shapely.linestrings(np.zeros((200_000, 2)))]
    number = np.repeat([0, 1], [100, 300]).astype(np.int32)
    different = pa.array(shapely.to_wkb(shapes), pa.binary())
    table = geo(pa.DictionaryArray.from_arrays(number, different))
    made = io.BytesIO()
    how = {"store_schema": False, "dictionary_pagesize_limit": 10**7}
    with pq.ParquetWriter(made, table.schema, **how) as writer:
        writer.write_table(table)
        writer.add_key_value_metadata({"geo": table.schema.metadata[b"geo"].decode()})
    return made.getvalue()


def features():
    rows = (
        {"type": "Feature", "geometry": {"type": "Point", "coordinates": [1, 2]}, "properties": p}
        for p in ({f"field {n}": n} for n in range(20_000))
    )
    return json.dumps({"type": "FeatureCollection", "features": list(rows)}).encode()


def columns():
    one = pa.array([1.0])
    return parquet(pa.table({f"column {n}": one for n in range(20_000)}))


def header():
    return b",".join(b"c%d" % n for n in range(2_000_000)) + b"\n" + b"1," * 1_999_999 + b"1\n"


BOMBS = {
    "lines": (lines, "points.parquet", 200_000, "shapes of kind LineString", 60),
    "features": (features, "points.geojson", 4 * MB, "more than 1,000 columns", 60),
    "columns": (columns, "points.parquet", 8 * MB, "more than 1,000 columns", 160),
    "header": (header, "points.csv", 30 * MB, "columns, 1,000 at most", 60),
    "cell": (
        lambda: b"lon,lat\n1," + b"2" * 100 * MB + b"\n",
        *("points.csv", 101 * MB, "line 2 is longer than 16 MB", 190),
    ),
    "quote": (
        lambda: b'lon,lat\n1,"' + b"2,3\n" * 25 * MB,
        *("points.csv", 101 * MB, "line 2 is longer than 16 MB", 250),
    ),
}


@pytest.mark.parametrize("name", BOMBS)
def test_a_file_that_unpacks_is_refused_in_little_memory(name):
    make, called, most, sentence, peak = BOMBS[name]
    content = make()
    assert len(content) < most
    ends = []
    refuses(sentence, foreign_points, content, called, {}, 20_000_000, ended=ends.append)
    assert ends[0].why == ""
    # Beyond the file itself and what every reader takes to begin with.
    assert ends[0].peak < len(content) + peak * MB, f"{ends[0].peak / MB:.0f} MB"


def test_boundaries_of_that_kind_are_held_to_the_limit_too():
    refuses("1,000 columns", foreign_areas, features(), ["name"])
    refuses("no column 'name'", foreign_areas, lines(), ["name"])


def test_a_large_file_is_read_within_the_limits():
    rng = np.random.default_rng(0)
    shapes = geopandas.points_from_xy(*rng.normal(size=(2, 200_000)))
    content = parquet(geo(list(shapely.to_wkb(np.asarray(shapes)))))
    ends = []
    points = foreign_points(content, "a.parquet", {}, 20_000_000, ended=ends.append)
    assert len(points) == 200_000
    assert ends[0].peak < 150 * MB
