#!/usr/bin/env bash
# Metres that DuckDB writes after ST_Transform are degrees of longitude and latitude for GeoPandas.
#
# Libraries: duckdb 1.5.5 and its spatial extension 1.5.5, geopandas 1.1.1, pyarrow 22.0.0.
# Source: https://geoparquet.org/releases/v1.1.0/ (no "crs" means OGC:CRS84, null means unknown),
#   https://github.com/duckdb/duckdb-spatial/issues/756 (written CRS: mended in 1.5)
# Behaviour: since 1.5 a geometry's type knows its CRS, and COPY writes it. The form of ST_Transform
#   that names both systems, which all older queries use, returns a geometry without a CRS, though
#   the target stands in the call; the form with the target alone sets it. COPY then leaves the key
#   "crs" out, where the format wants null for "not known", and so the file says longitude and
#   latitude. GeoPandas reads it without a warning: an easting of 531,979 metres is a longitude.
# Output seen:
#   duckdb 1.5.5 geopandas 1.1.1
#   both named: OGC:CRS84, x 531979, y 179607, key written: False
#   target alone: EPSG:27700, x 531979, y 179607, key written: True
set -eu
python=${PYTHON:-python3}
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
"$python" -m venv "$work/venv"
"$work/venv/bin/python" -m pip install -qq --disable-pip-version-check "duckdb==1.5.5" \
    "duckdb-extension-spatial==1.5.5" "geopandas==1.1.1" "pyarrow==22.0.0" "pandas==2.3.3" "numpy==2.2.6"
cd "$work"
"$work/venv/bin/python" -W error <<'PYTHON'
import json
from importlib.util import find_spec
from pathlib import Path

import duckdb
import geopandas
import pyarrow.parquet

print("duckdb", duckdb.__version__, "geopandas", geopandas.__version__)
points = geopandas.GeoDataFrame(
    {"people": [1]}, geometry=geopandas.points_from_xy([-0.1], [51.5]), crs=4326
)
points.to_parquet("degrees.parquet")
database = duckdb.connect()
folder = Path(find_spec("duckdb_extension_spatial").origin).parent
database.load_extension(str(next(folder.rglob("spatial.duckdb_extension"))))
read = {}
for name, call in {
    "both named": "ST_Transform(geometry, 'EPSG:4326', 'EPSG:27700', always_xy := true)",
    "target alone": "ST_Transform(geometry, 'EPSG:27700', always_xy := true)",
}.items():
    database.sql(
        f"COPY (SELECT people, {call} AS geometry FROM 'degrees.parquet') TO 'metres.parquet'"
    )
    geo = json.loads(pyarrow.parquet.read_schema("metres.parquet").metadata[b"geo"])
    frame = geopandas.read_parquet("metres.parquet")
    place = frame.geometry[0]
    read[name] = (frame.crs.to_string(), "crs" in geo["columns"]["geometry"])
    print(f"{name}: {read[name][0]}, x {place.x:.0f}, y {place.y:.0f}, key written: {read[name][1]}")
    assert abs(place.x - 531979) < 1 and abs(place.y - 179607) < 1, place
assert read["both named"] == ("OGC:CRS84", False), read
assert read["target alone"] == ("EPSG:27700", True), read
PYTHON
