#!/usr/bin/env bash
# PMTiles written by GeoPandas lack a quarter of the points; the warning speaks of resolution alone.
#
# Libraries: geopandas 1.1.1, pyogrio 0.12.1 (wheel with GDAL 3.11.4), PMTiles driver.
# Source: https://gdal.org/drivers/vector/mvt.html (BUFFER; MAX_SIZE: 500,000 bytes a tile),
#   https://gdal.org/drivers/vector/pmtiles.html
# Behaviour: a tile over 500,000 bytes is encoded more coarsely, and then points are left out until
#   it fits, at the deepest zoom, too. The one warning says "encoded at lower resolution", not that
#   points are missing. The other way round, a point within one unit of a tile's edge (0.003 degrees
#   at zoom 5, the deepest of the default) is in both tiles, and reading gives two rows of it. So
#   neither rows nor a column of people may be added up in a tile set that was read.
# Output seen:
#   geopandas 1.1.1 pyogrio 0.12.1 GDAL 3.11.4
#   from 2.0 degrees: 100000 points, 299664 people
#     read 73000 rows, 73000 points, 218478 people
#     told: At least one tile exceeded the default maximum tile size of 500000 bytes and was encoded
#       at lower resolution
#   from -0.2 degrees: 20000 points, 60263 people
#     read 20139 rows, 20000 points, 60717 people
#     told: nothing
set -eu
python=${PYTHON:-python3}
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
"$python" -m venv "$work/venv"
"$work/venv/bin/python" -m pip install -qq --disable-pip-version-check \
    "geopandas==1.1.1" "pyogrio==0.12.1" "pandas==2.3.3" "numpy==2.2.6" "shapely==2.1.2"
cd "$work"
"$work/venv/bin/python" <<'PYTHON'
import warnings
from pathlib import Path

import geopandas
import numpy as np
import pyogrio

gdal = ".".join(map(str, pyogrio.__gdal_version__))
print("geopandas", geopandas.__version__, "pyogrio", pyogrio.__version__, "GDAL", gdal)
random = np.random.default_rng(0)


def there_and_back(number, west):
    points = geopandas.GeoDataFrame(
        {"place": np.arange(number), "people": random.poisson(3, number)},
        geometry=geopandas.points_from_xy(
            random.uniform(west, west + 0.4, number), random.uniform(51.3, 51.7, number)
        ),
        crs=4326,
    )
    Path("points.pmtiles").unlink(missing_ok=True)
    with warnings.catch_warnings(record=True) as told:
        warnings.simplefilter("always")
        points.to_file("points.pmtiles", driver="PMTiles", MINZOOM=5, MAXZOOM=5)
        read = geopandas.read_file("points.pmtiles")
    kept = read["place"].nunique()
    print(f"from {west} degrees: {number} points, {points['people'].sum()} people")
    print(f"  read {len(read)} rows, {kept} points, {read['people'].sum()} people")
    told = [str(warning.message) for warning in told]
    print("  told:", *told or ["nothing"])
    return kept, len(read), told


kept, rows, told = there_and_back(100_000, 2.0)
assert kept == rows and 60_000 < kept < 80_000, (kept, rows)
assert len(told) == 1 and told[0].endswith("was encoded at lower resolution"), told
kept, rows, told = there_and_back(20_000, -0.2)
assert kept == 20_000 and 100 < rows - kept < 200 and not told, (kept, rows, told)
PYTHON
