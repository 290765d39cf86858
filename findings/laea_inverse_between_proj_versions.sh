#!/usr/bin/env bash
# PROJ 9.5.1 and 9.8.1 give other places for the same metres of a Lambert azimuthal equal-area map.
#
# Libraries: pyproj 3.7.2 (wheel with PROJ 9.5.1), pyproj 3.8.0 (wheel with PROJ 9.8.1); both are
#   the newest for Python 3.11 and for Python 3.12 and newer.
# Source: https://github.com/OSGeo/PROJ, src/projections/laea.cpp
# Behaviour: of the ellipsoidal projection, the way from degrees to metres is the same to some
#   nanometres. The way back differs by up to 7e-9 degrees of latitude at 40 degrees North: with
#   9.5.1 a point that goes to degrees and back comes home 0.8 mm off, with 9.8.1 it comes home.
#   Whoever compares rounded degrees (nine decimals, as in GeoJSON) of two computers finds that half
#   the numbers differ, with the same file, the same CRS and the same metres.
# Output seen:
#   9.5.1 round trip off by 0.764 mm
#   9.8.1 round trip off by 0.000 mm
#   latitudes differ by up to 6.9e-09 degrees
# Needs Python 3.12 or newer (pyproj 3.8.0 does).
set -eu
python=${PYTHON:-python3}
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
"$python" -m venv "$work/venv"
for version in 3.7.2 3.8.0; do
    "$work/venv/bin/python" -m pip install -qq --disable-pip-version-check \
        --target "$work/$version" "pyproj==$version"
    PYTHONPATH="$work/$version" "$work/venv/bin/python" - "$work/$version.json" <<'PYTHON'
import json
import sys

import pyproj

crs = pyproj.CRS.from_proj4("+proj=laea +lat_0=40 +lon_0=-30 +datum=WGS84 +units=m")
there = pyproj.Transformer.from_crs(4326, crs, always_xy=True)
latitudes, furthest = [], 0.0
for x in range(-10000, 10001, 5000):
    for y in range(-10000, 10001, 5000):
        lon, lat = there.transform(x, y, direction="INVERSE")
        latitudes.append(lat)
        x1, y1 = there.transform(lon, lat)
        furthest = max(furthest, ((x1 - x) ** 2 + (y1 - y) ** 2) ** 0.5)
print(f"{pyproj.proj_version_str} round trip off by {1000 * furthest:.3f} mm")
with open(sys.argv[1], "w") as file:
    json.dump([furthest, latitudes], file)
PYTHON
done
"$work/venv/bin/python" - "$work/3.7.2.json" "$work/3.8.0.json" <<'PYTHON'
import json
import sys

(old, before), (new, after) = (json.load(open(path)) for path in sys.argv[1:])
differ = max(abs(a - b) for a, b in zip(before, after))
print(f"latitudes differ by up to {differ:.1e} degrees")
assert 5e-4 < old < 1e-3, old
assert new < 1e-6, new
assert 5e-9 < differ < 1e-8, differ
PYTHON
