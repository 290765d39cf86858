#!/usr/bin/env bash
# scikit-mobility counts trips from a trajectory's end to the start of the same person's next one.
#
# Libraries: scikit-mobility 1.3.1 (the newest), with pandas 1.5.3, geopandas 0.10.2, shapely 1.8.5.
# Source: https://github.com/scikit-mobility/scikit-mobility/issues/44 (closed in 2020 as solved, of
#   persons and of trajectories), skmob/core/trajectorydataframe.py, to_flowdataframe
# Behaviour: to_flowdataframe() sorts by person, trajectory and time and takes two rows that follow
#   each other as a trip if the person is the same; the trajectory is not compared. A person of k
#   trajectories gets k - 1 trips that nobody made, even with days between them. An
#   origin-destination matrix of many short trajectories is mostly invention then, and a bound on
#   trips per person that was kept in the table is broken in the flows.
# Output seen:
#   scikit-mobility 1.3.1
#   made   [('A', 'B', 1), ('C', 'B', 1)]
#   counted [('A', 'B', 1), ('B', 'C', 1), ('C', 'B', 1)]
# Needs Python 3.10 or 3.11 (shapely 1.8.5 does).
set -eu
python=${PYTHON:-python3.11}
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
"$python" -m venv "$work/venv"
"$work/venv/bin/python" -m pip install -qq --disable-pip-version-check "pandas==1.5.3" "numpy==1.26.4" \
    "shapely==1.8.5.post1" "fiona==1.10.1" "pyproj==3.7.1" "rtree==1.3.0" "scipy==1.13.1" \
    "scikit-learn==1.5.2" "matplotlib==3.9.4" "folium==0.12.1.post1" "geojson==2.5.0" "h3==3.7.7" \
    "powerlaw==1.5" "pooch==1.8.2" "statsmodels==0.14.4" "requests==2.32.5" "tqdm==4.67.1"
"$work/venv/bin/python" -m pip install -qq --disable-pip-version-check --no-deps \
    "scikit-mobility==1.3.1" "geopandas==0.10.2"
cd "$work"
"$work/venv/bin/python" -W ignore <<'PYTHON'
from importlib.metadata import version

import geopandas
import pandas as pd
import skmob
from shapely.geometry import box

print("scikit-mobility", version("scikit-mobility"))
areas = geopandas.GeoDataFrame(
    {"tile_ID": ["A", "B", "C"]},
    geometry=[box(lon, 0, lon + 1, 1) for lon in range(3)],
    crs="EPSG:4326",
)
rows = pd.DataFrame(
    {
        "person": [1, 1, 1, 1],
        "trip": [1, 1, 2, 2],
        "lat": 0.5,
        "lng": [0.5, 1.5, 2.5, 1.5],
        "time": pd.to_datetime(
            ["2024-05-06 08:00", "2024-05-06 09:00", "2024-05-09 08:00", "2024-05-09 09:00"]
        ),
    }
)
table = skmob.TrajDataFrame(
    rows, latitude="lat", longitude="lng", datetime="time", user_id="person", trajectory_id="trip"
)
flows = table.to_flowdataframe(areas)
found = sorted(flows[["origin", "destination", "flow"]].itertuples(index=False, name=None))
print("made   [('A', 'B', 1), ('C', 'B', 1)]")
print("counted", found)
assert found == [("A", "B", 1), ("B", "C", 1), ("C", "B", 1)], found
PYTHON
