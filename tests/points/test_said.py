"""What is said of a file repeats no value of a record and no exact number of rows."""

import re

import numpy as np
import pytest

from explorer.errors import InputError
from explorer.points.points import read_points
from explorer.trips.trips import read_trips

FILES = [
    b"lon,lat\n1,2\n0x10,77.7\n",
    b"lon;lat\n1,5;2\nsecret;77,7\n",
    b"lon,lat\n1,2\n3,77.7,secret\n",
    b"lon,lat\n0,0\n,\n0,0\n",
    b'lon,lat\n1,"77.7 secret\n',
    b"lon,lat,id\n,77.7,secret\n,77.7,secret\n,77.7,secret\n",
    b"lon,lat\n" + b"secret 77.7" * 2_000_000,
]


@pytest.mark.parametrize("content", FILES, ids=range(len(FILES)))
def test_no_refusal_repeats_a_value_or_a_number_of_rows(content):
    rows = content.count(b"\n") - 1
    with pytest.raises(InputError) as refused:
        read_points(content, name="p.csv")
    said = str(refused.value)
    assert not re.search(r"secret|0x10|77", said), said
    assert not re.search(rf"\b{rows}\b|\d+ rows?", said.replace("0, latitude 0", "")), said


def test_no_refusal_says_how_long_a_table_is():
    table = {"lon": np.ones(1234), "lat": np.ones(1234)}
    with pytest.raises(InputError) as refused:
        read_points(table, max_rows=1000)
    assert "1,000" in str(refused.value)
    assert "234" not in str(refused.value)
    table = {name: [0.0] * 7 for name in ("o_lon", "o_lat", "d_lon", "d_lat")}
    with pytest.raises(InputError, match="None of the rows") as refused:
        read_trips(table)
    assert "7" not in str(refused.value)


def test_no_record_decides_how_another_one_is_read():
    rows = ["2,5;48,5", "3.5;49.5", "4;50,25", " 5,5 ;-51.5", "6e1;7,5e0"]
    x, y = [2.5, 3.5, 4.0, 5.5, 60.0], [48.5, 49.5, 50.25, -51.5, 7.5]
    for first in range(len(rows)):
        order = [first, *(n for n in range(len(rows)) if n != first)]
        content = "\n".join(["lon;lat", *(rows[n] for n in order)])
        points = read_points(content.encode(), name="p.csv")
        assert points.x.tolist() == [x[n] for n in order]
        assert points.y.tolist() == [y[n] for n in order]


def test_weights_and_gaps_of_files_with_semicolons():
    points = read_points(b"lon;lat;w;who\n2,5;1;3;a\n;1;1;b\n4;1;2,0;c\n", weight="w", user="who")
    assert points.x.tolist() == [2.5, 4.0]
    assert points.weight.tolist() == [3, 2]


def test_a_collection_without_features_is_refused():
    with pytest.raises(InputError, match="holds no features"):
        read_points(b'{"type": "FeatureCollection", "features": []}', name="p.geojson")


@pytest.mark.parametrize("crs", ["+init=/etc/passwd:1", "/etc/passwd", "+proj=pipeline +step"])
def test_a_file_names_its_crs_by_code_or_description_alone(crs):
    from explorer.grid.projection import foreign_crs

    with pytest.raises(InputError, match="not a known CRS"):
        foreign_crs(crs)
    assert foreign_crs("EPSG:27700").to_epsg() == 27700
    assert foreign_crs(foreign_crs("EPSG:27700").to_wkt()).to_epsg() == 27700
