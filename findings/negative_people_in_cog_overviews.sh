#!/usr/bin/env bash
# A Cloud Optimized GeoTIFF of counts that are never negative has negative people in its overviews.
#
# Libraries: rasterio 1.4.4 (wheel with GDAL 3.10.3), its COG driver.
# Source: https://gdal.org/drivers/raster/cog.html (RESAMPLING: cubic is the default without a colour
#   table), https://github.com/OSGeo/gdal/issues/14728 (overshoot of cubic overviews of pictures)
# Behaviour: the driver makes its overviews by cubic convolution unless told otherwise, which
#   overshoots beside dense places. Whoever reads the file smaller (`out_shape`, a map on a
#   screen, a zonal mean by tiles) gets these values, without a word, even with
#   `resampling=average`: that is the mean of the overview. A map of private counts, or of people
#   per cell, then shows negative people where the full file has none. Sums of the whole hold.
#   `OVERVIEW_RESAMPLING=AVERAGE` at writing is the way out.
# Output seen:
#   rasterio 1.4.4 GDAL 3.10.3
#   full file: least 0.0
#   default read at 256 x 256 by average: least -7.6, 20642 cells below zero
#   OVERVIEW_RESAMPLING=AVERAGE read at 256 x 256 by average: least 0.0, 0 cells below zero
set -eu
python=${PYTHON:-python3}
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
"$python" -m venv "$work/venv"
"$work/venv/bin/python" -m pip install -qq --disable-pip-version-check "rasterio==1.4.4" "numpy==2.2.6"
cd "$work"
"$work/venv/bin/python" <<'PYTHON'
import numpy as np
import rasterio
from rasterio.enums import Resampling
from rasterio.shutil import copy
from rasterio.transform import from_origin

print("rasterio", rasterio.__version__, "GDAL", rasterio.__gdal_version__)
random = np.random.default_rng(0)
people = random.poisson(0.02, (1024, 1024)).astype("float32")
people[400:500, 400:500] += random.poisson(500, (100, 100))
print("full file: least", people.min())
profile = {
    "driver": "GTiff",
    "width": 1024,
    "height": 1024,
    "count": 1,
    "dtype": "float32",
    "crs": "EPSG:3035",
    "transform": from_origin(4e6, 3e6, 100, 100),
}
with rasterio.open("people.tif", "w", **profile) as file:
    file.write(people, 1)
least = {}
for name, options in (
    ("default", {}),
    ("OVERVIEW_RESAMPLING=AVERAGE", {"overview_resampling": "average"}),
):
    copy("people.tif", f"{name}.tif", driver="COG", blocksize=256, **options)
    with rasterio.open(f"{name}.tif") as file:
        assert file.overviews(1) == [2, 4], file.overviews(1)
        assert np.array_equal(file.read(1), people)
        small = file.read(1, out_shape=(256, 256), resampling=Resampling.average)
    least[name] = small.min()
    below = int((small < 0).sum())
    print(f"{name} read at 256 x 256 by average: least {small.min():.1f}, {below} cells below zero")
assert least["default"] < -5, least
assert least["OVERVIEW_RESAMPLING=AVERAGE"] == 0, least
PYTHON
