"""A text that is counted while it is read gives what reading it whole gives, refusals included."""

import numpy as np
import pytest

from explorer import Areas, InputError, read_points
from explorer.cities import nation
from explorer.grid import delimited
from explorer.points import counting
from explorer.points.reading import as_points
from tests.points.partitions.test_counting import GRID, table
from tests.refusals import refuses

ROWS = 6_000


@pytest.fixture(autouse=True)
def _small_blocks(monkeypatch):
    monkeypatch.setattr(delimited, "LONGEST", 2**14)
    monkeypatch.setattr(delimited, "BLOCK", 2**13)
    monkeypatch.setattr(counting, "CHUNK", 1_000)


def written(path, separator=",", comma=False, **more):
    """The rows as text."""
    frame = table(ROWS, **more).to_pandas()
    path.write_text(frame.to_csv(index=False, sep=separator, decimal="," if comma else "."))
    return path


@pytest.fixture(scope="module")
def file(tmp_path_factory):
    return written(tmp_path_factory.mktemp("text") / "points.csv")


@pytest.mark.parametrize(("separator", "comma"), [("\t", False), (";", True), ("|", False)])
def test_other_separators_and_decimal_commas(tmp_path, separator, comma):
    path = written(tmp_path / "points.txt", separator, comma)
    expected = GRID.count(read_points(path, weight="times"))
    assert np.array_equal(GRID.count(path, weight="times").counts, expected.counts)


def test_longitudes_to_360_other_crs_and_areas(tmp_path):
    points = nation.points(ROWS)
    path = tmp_path / "points.csv"
    lines = [f"{x % 360},{y}\n" for x, y in zip(points.x, points.y, strict=True)]
    path.write_text("lon,lat\n" + "".join(lines))
    whole = read_points(path)
    assert any("degrees from 0 to 360" in note for note in whole.notes)
    _, notes = as_points(path).count(nation.grid(64))
    assert notes == whole.notes
    areas = Areas.read(nation.boundaries(), ["country", "region", "district"])
    expected = areas.count(whole, 4_000.0)
    counted = areas.count(path, 4_000.0)
    assert (counted.key, tuple(counted.notes)) == (expected.key, tuple(expected.notes))
    assert 0 < counted.by_node[0] < ROWS
    x, y = GRID.from_lonlat(10.0, 50.0)
    path.write_text(f"x,y\n{x[0]},{y[0]}\n")
    # The middle of a map of its own CRS is 0 0, which stands for a missing place elsewhere.
    assert GRID.count(path, crs=GRID.crs, keep_zero=True).total == 1
    refuses("easting 0, northing 0, which stands for a missing", GRID.count, path, crs=GRID.crs)


@pytest.mark.parametrize(("content", "columns"), [
    ("lon,lat\n50,100\n51,110\n", {}),  # swapped
    ("lon,lat\n5000,100\n5100,110\n", {}),
    ("lon,lat\n0,0\n,\n", {}),
    ("lon,lat\n" + "10,50\n" * 4_000 + "here,50\n", {}),
    ("lon,lat\n" + "10,50\n" * 4_000 + "10\n", {}),
    ("lon,lat,n\n" + "10,50,1\n" * 4_000 + "10,50,.5\n", {"weight": "n"}),
    ("lon,lat,n\n10,50,-1\n" + "10,50,1\n" * 4_000 + "here,50,1\n", {"weight": "n"}),
    ("lon,lat,n\n10,50,.5\n" + "50,100,1\n" * 4_000, {"weight": "n"}),
    ("lon,lat,n\n" + "10,50,30000000\n" * 4_000, {"weight": "n"}),
    ("lon,lat,who\n10,50,\n", {"user": "who"}),
    ("lon,lat\n10,50\n", {"crs": "EPSG:27700", "lat": "north"}),
    ("10,50\n10,50\n", {}),
    ("", {}),
    ("lon,lat\n" + '"' + "10,50\n" * 4_000, {}),
])  # fmt: skip
def test_what_reading_refuses_counting_refuses_in_the_same_words(tmp_path, content, columns):
    path = tmp_path / "points.csv"
    path.write_text(content)
    with pytest.raises(InputError) as whole:
        read_points(path, **columns)
    with pytest.raises(InputError) as parts:
        GRID.count(path, per="record", **columns)
    assert str(parts.value) == str(whole.value)


@pytest.mark.parametrize("length", [10_000, 20_000])
def test_a_long_row_is_read_and_a_longer_one_refused(tmp_path, length):
    path = tmp_path / "points.csv"
    path.write_text("lon,lat,text\n" + "10,50,a\n" * 4_000 + f"10,50,{'a' * length}\n")
    if length < delimited.LONGEST:
        assert GRID.count(path).total == 4_001
        return
    sentence = "begins in line 4002 is longer than 0 MB, perhaps by an open quote"
    for count in (GRID.count, read_points):
        refuses(sentence, count, path)


def test_progress_grows_to_one(file):
    said = []
    GRID.count(file, progress=said.append)
    assert len(said) > 10
    assert said == sorted(said)
    assert said[-1] == 1.0
