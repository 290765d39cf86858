#!/usr/bin/env bash
# openmatrix stores 15-digit census codes of zones as other numbers, without a word.
#
# Library: OpenMatrix 0.3.5.0 (with tables 3.10.2).
# Source: https://github.com/osPlanning/omx/issues/16 (the same with 16 bits, solved by 32 bits)
# Behaviour: create_mapping() writes its numbers as 32 bits. Codes of US census blocks (in the
#   commuting tables LEHD LODES), block groups and tracts need up to 50; only the lowest 32 are kept,
#   without an error or a warning. The file is valid, the matrix is right, and its zones are called by
#   numbers that exist nowhere.
# Output seen:
#   OpenMatrix 0.3.5.0 tables 3.10.2
#   written [60014001001007, 60014001001008, 60014002001000]
#   read    [422973999, 422974000, 423973992]
set -eu
python=${PYTHON:-python3}
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
"$python" -m venv "$work/venv"
"$work/venv/bin/python" -m pip install -qq --disable-pip-version-check \
    "OpenMatrix==0.3.5.0" "tables==3.10.2" "numpy==2.2.6"
cd "$work"
"$work/venv/bin/python" -W error <<'PYTHON'
from importlib.metadata import version

import numpy as np
import openmatrix

print("OpenMatrix", version("OpenMatrix"), "tables", version("tables"))
blocks = [60014001001007, 60014001001008, 60014002001000]
with openmatrix.open_file("trips.omx", "w") as file:
    file["trips"] = np.eye(3)
    file.create_mapping("block", blocks)
with openmatrix.open_file("trips.omx") as file:
    read = list(file.mapping("block"))
print("written", blocks)
print("read   ", [int(code) for code in read])
assert [int(code) for code in read] == [block % 2**32 for block in blocks], read
PYTHON
