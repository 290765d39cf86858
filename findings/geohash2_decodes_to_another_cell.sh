#!/usr/bin/env bash
# The place that geohash2 gives for a geohash lies in another cell, nine times out of ten.
#
# Libraries: geohash2 1.1; pygeohash 3.2.2 beside it.
# Source: https://github.com/vinsci/geohash/issues/9 (the code that geohash2 carries on)
# Behaviour: decode() rounds the centre to fewer digits than the cell is wide, so that encoding the
#   answer again gives another cell. A table of counts by geohash that is turned into places and
#   counted again by geohashes of the same length has another number of people in most cells.
#   decode_exactly() gives the centre. pygeohash has a decode() of the same name, whose answer lies in
#   the cell.
# Output seen:
#   geohash2 1.1 pygeohash 3.2.2
#   length 5: of 4000 places in another cell: geohash2 3058, pygeohash 0; of 168 counts 166 are others
#   length 6: of 4000 places in another cell: geohash2 3733, pygeohash 0; of 2759 counts 2759 are others
#   length 7: of 4000 places in another cell: geohash2 3920, pygeohash 0; of 3950 counts 3924 are others
#   length 8: of 4000 places in another cell: geohash2 3791, pygeohash 0; of 3998 counts 3789 are others
set -eu
python=${PYTHON:-python3}
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
"$python" -m venv "$work/venv"
"$work/venv/bin/python" -m pip install -qq --disable-pip-version-check "geohash2==1.1" "pygeohash==3.2.2"
cd "$work"
"$work/venv/bin/python" <<'PYTHON'
import random
from collections import Counter
from importlib.metadata import version

import geohash2
import pygeohash

print("geohash2", version("geohash2"), "pygeohash", version("pygeohash"))
random.seed(1)
number = 4000
for length in (5, 6, 7, 8):
    cells = [
        pygeohash.encode(random.uniform(40.5, 41), random.uniform(-74.3, -73.7), length)
        for _ in range(number)
    ]
    moved = {}
    for library in (geohash2, pygeohash):
        again = [library.encode(*map(float, library.decode(cell)), length) for cell in cells]
        moved[library.__name__] = sum(one != other for one, other in zip(cells, again))
    before = Counter(cells)
    after = Counter(geohash2.encode(*map(float, geohash2.decode(c)), length) for c in cells)
    wrong = sum(before[cell] != after[cell] for cell in before)
    print(
        f"length {length}: of {number} places in another cell: geohash2 {moved['geohash2']}, "
        f"pygeohash {moved['pygeohash']}; of {len(before)} counts {wrong} are others"
    )
    assert moved["geohash2"] > 0.7 * number, moved
    assert moved["pygeohash"] == 0, moved
PYTHON
