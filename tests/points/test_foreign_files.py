"""A file opens no other file and fetches nothing, whatever it says and however it is called."""

import json
import sqlite3
import threading
from contextlib import closing
from http.server import BaseHTTPRequestHandler, HTTPServer
from pathlib import Path

import geopandas
import pyogrio
import pytest
from shapely.geometry import Point, box

from explorer.app.curator.upload import read_upload
from explorer.errors import InputError
from explorer.grid.boundary import boundary_bounds
from explorer.grid.geojson import Features
from explorer.points.foreign import foreign_points
from explorer.points.points import read_points

#: One of each kind of ending, which says no more than whether content without a signature is text.
ENDINGS = (".csv", ".txt", ".parquet", ".json", ".gpkg", ".kml", ".zip", ".xlsx")
#: What is read, by the names of the drivers that can write it.
OWN = {
    *(
        "GPKG",
        "GeoJSON",
        "GeoJSONSeq",
        "JSONFG",
        "CSV",
        "FlatGeobuf",
        "KML",
        "LIBKML",
        "GPX",
        "SQLite",
        "XLSX",
    ),
    "ODS",
}
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
    asked: list[str] = []

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            asked.append(self.path)
            self.send_response(404)
            self.end_headers()

        do_HEAD = do_POST = do_GET

        def log_message(self, *_: object) -> None:
            pass

    server = HTTPServer(("127.0.0.1", 0), Handler)
    thread = threading.Thread(target=server.serve_forever)
    thread.start()
    yield f"http://127.0.0.1:{server.server_port}", asked
    server.shutdown()
    thread.join()
    server.server_close()


def disguises(path: str) -> dict[str, str]:
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


def heads(path: str) -> dict[str, str]:
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


def written(folder: Path) -> dict[str, Path]:
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
    said: set[str] = set()
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
    asked: list[str] = []
    asked_files: list[bytes] = []
    for name in ("list_layers", "read_info", "read_dataframe"):
        plain = getattr(pyogrio, name)

        def noted(path: str, *rest: object, plain=plain, **more: object) -> object:
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
        with pytest.raises(InputError, match="computed when they are read"):
            read_points(source)
    with pytest.raises(InputError, match="computed when they are read"):
        boundary_bounds(path)


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
    with pytest.raises(InputError, match="computed when they are read"):
        read_points(path)


@pytest.mark.parametrize("layer", ["points", "2020--2021", "places (old)", "virtual", "a /* b"])
def test_a_package_with_any_layer_name_and_more_indexes_opens(layer, tmp_path):
    path = tmp_path / "p.gpkg"
    POINTS.to_file(path, layer=layer)
    with closing(sqlite3.connect(path)) as opened, opened:
        opened.execute(f'create  index if not exists "by_n" on "{layer}"(n)')
        opened.execute(f'create unique  index "one_n" on "{layer}"(n)')
    assert len(read_points(path)) == 2


@pytest.mark.parametrize("document", [
    "",
    "{",
    '{"type": "FeatureCollection"',
    '{"type": "FeatureCollection", "features": [',
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


def test_features_of_every_kind_of_document():
    point = {"type": "Point", "coordinates": [1.5, 2.5]}
    feature = {"type": "Feature", "geometry": point, "properties": {"who": "a"}}
    for document in (
        point,
        feature,
        {"features": [feature], "type": "FeatureCollection"},
        {"type": "FeatureCollection", "crs": None, "name": "n", "features": [feature]},
    ):
        (found,) = Features(json.dumps(document, indent=1).encode("utf-8-sig"))
        assert found["geometry"] == point
    assert read_points(json.dumps(feature).encode(), user="who").x.tolist() == [1.5]


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
        with pytest.raises(InputError, match="it may be damaged"):
            read_points(json.dumps(collection).encode())


def test_a_boundary_keeps_the_crs_of_its_file(tmp_path):
    path = tmp_path / "b.geojson"
    square = geopandas.GeoDataFrame(geometry=[box(5e5, 1.5e5, 6e5, 2e5)], crs=27700)
    path.write_text(square.to_json())
    bounds, crs = boundary_bounds(path, square.crs)
    assert bounds == pytest.approx((5e5, 1.5e5, 6e5, 2e5))
    assert crs.to_epsg() == 27700
