#!/usr/bin/env bash
# trackintel drops a whole hour at one place if the phone is then silent for 20 minutes on the way.
#
# Library: trackintel 1.4.2.
# Source: https://github.com/mie-lab/trackintel/issues/616, /635 and /308; the documentation of
#   generate_staypoints says that positions with a gap "will be excluded"
# Behaviour: a stay ends with the first position elsewhere. If that one comes more than
#   gap_threshold (15 minutes) after the last one here, the stay is not shortened to its last
#   position: it is left out without a word, though every minute of it was seen. Phones that send
#   nothing in an underground lose the place that they left, and the trips there. The last stay of
#   each person is left out by default, too, so that of a day of three well recorded places nothing
#   is left.
# Output seen:
#   trackintel 1.4.2
#   10 minutes between places, include_last=False: 2 of 3
#   10 minutes between places, include_last=True: 3 of 3
#   20 minutes between places, include_last=False: 0 of 3
#   20 minutes between places, include_last=True: 1 of 3
#   20 minutes between places, include_last=True, gap_threshold=60: 3 of 3
set -eu
python=${PYTHON:-python3}
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
"$python" -m venv "$work/venv"
"$work/venv/bin/python" -m pip install -qq --disable-pip-version-check "trackintel==1.4.2" \
    "geopandas==1.1.1" "pandas==2.3.3" "numpy==2.2.6" "shapely==2.1.2"
cd "$work"
"$work/venv/bin/python" -W ignore <<'PYTHON'
from importlib.metadata import version

import geopandas
import pandas as pd
import trackintel

print("trackintel", version("trackintel"))
begin = pd.Timestamp("2024-05-06 08:00", tz="UTC")


def stays(silent, **options):
    """Found stays of a day of three places, an hour each, a position every 5 minutes."""
    rows = []
    for number, lon in enumerate((-0.1, -0.2, -0.3)):
        start = begin + number * pd.Timedelta(minutes=55 + silent)
        rows += [(1, start + pd.Timedelta(minutes=5 * i), lon, 51.5) for i in range(12)]
    table = pd.DataFrame(rows, columns=["user_id", "tracked_at", "lon", "lat"])
    places = geopandas.points_from_xy(table["lon"], table["lat"])
    positions = trackintel.Positionfixes(
        geopandas.GeoDataFrame(table[["user_id", "tracked_at"]], geometry=places, crs=4326)
    )
    _, found = positions.generate_staypoints(time_threshold=25, **options)
    return len(found)


found = {}
for silent in (10, 20):
    for last in (False, True):
        found[silent, last] = stays(silent, include_last=last)
        print(f"{silent} minutes between places, include_last={last}: {found[silent, last]} of 3")
found["wide"] = stays(20, include_last=True, gap_threshold=60)
print(f"20 minutes between places, include_last=True, gap_threshold=60: {found['wide']} of 3")
assert found[10, False] == 2 and found[10, True] == 3, found
assert found[20, False] == 0 and found[20, True] == 1, found
assert found["wide"] == 3, found
PYTHON
