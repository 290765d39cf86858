"""A text that is counted while it is read gives what reading it whole gives, refusals included."""

import weakref
from pathlib import Path

import numpy as np
import pyarrow as pa
import pytest

from explorer.cities import nation
from explorer.errors import InputError
from explorer.grid import delimited
from explorer.grid.areas.areas import Areas
from explorer.grid.grid import Grid
from explorer.points import counting
from explorer.points.caught import FEW_INSIDE, ExtentWarning
from explorer.points.partitions.text import TextPoints
from explorer.points.points import Points, read_points
from explorer.points.reading import as_points
from explorer.points.sources.text import TextTable
from tests.points.partitions.test_counting import GRID, table

ROWS = 6_000


@pytest.fixture(autouse=True)
def _small_blocks(monkeypatch):
    monkeypatch.setattr(delimited, "LONGEST", 2**14)
    monkeypatch.setattr(delimited, "BLOCK", 2**13)
    monkeypatch.setattr(counting, "CHUNK", 1_000)


def written(path: Path, separator: str = ",", comma: bool = False, **more) -> Path:
    """The rows as text."""
    frame = table(ROWS, **more).to_pandas()
    path.write_text(frame.to_csv(index=False, sep=separator, decimal="," if comma else "."))
    return path


@pytest.fixture(scope="module")
def file(tmp_path_factory):
    return written(tmp_path_factory.mktemp("text") / "points.csv")


@pytest.mark.parametrize(
    ("user", "bound"), [(None, None), ("who", None), ("who", 1), ("who", 3), ("name", 3)]
)
@pytest.mark.parametrize("weight", ["times", None])
def test_equal_to_reading_all_at_once(file, user, bound, weight):
    columns = {"user": user, "weight": weight}
    points, looked = read_points(file, **columns), as_points(file, columns)
    assert isinstance(looked, TextPoints)
    per = "record" if bound is None else None
    expected = GRID.count(points, bound, per=per)
    matrix, notes = looked.count(GRID, bound)
    assert np.array_equal(matrix.counts, expected.counts)
    assert (matrix.key, matrix.unit, matrix.contribution_bound) == (
        *(expected.key, expected.unit, expected.contribution_bound),
    )
    assert notes == points.notes
    for path in (file, str(file)):
        assert np.array_equal(GRID.count(path, bound, per=per, **columns).counts, expected.counts)
    assert 0 < matrix.total < ROWS * 3


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
    with pytest.raises(InputError, match="easting 0, northing 0, which stands for a missing"):
        GRID.count(path, crs=GRID.crs)


@pytest.mark.parametrize(("content", "columns"), [
    ("lon,lat\n50,100\n51,110\n", {}),  # swapped
    ("lon,lat\n5000,100\n5100,110\n", {}),
    ("lon,lat\n0,0\n,\n", {}),
    ("lon,lat\n" + "10,50\n" * 4_000 + "here,50\n", {}),
    ("lon;lat\n" + "10,5;50\n" * 4_000 + "here;50\n", {}),
    ("lon,lat\n" + "10,50\n" * 4_000 + "10\n", {}),
    ("lon,lat,lat\n10,50,50\n", {}),
    ("lon,lat,n\n" + "10,50,1\n" * 4_000 + "10,50,.5\n", {"weight": "n"}),
    ("lon,lat,n\n10,50,-1\n" + "10,50,1\n" * 4_000 + "here,50,1\n", {"weight": "n"}),
    ("lon,lat,n\n10,50,.5\n" + "50,100,1\n" * 4_000, {"weight": "n"}),
    ("lon,lat,n\n" + "10,50,30000000\n" * 4_000, {"weight": "n"}),
    ("lon,lat,n\n10,50,1e300\n", {"weight": "n"}),
    ("lon,lat,who\n10,50,\n", {"user": "who"}),
    ("lon,lat\n10,50\n", {"user": "who"}),
    ("lon,lat\n10,50\n", {"crs": "EPSG:27700", "lat": "north"}),
    ("a,b\n10,50\n", {}),
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


def test_line_breaks_inside_of_a_cell_are_no_other_rows(tmp_path):
    path = tmp_path / "points.csv"
    cell = '"' + "b\n" * 1_000 + '"'
    path.write_text("lon,lat,text\n" + "10,50,a\n" * 800 + f"10,50,{cell}\n" * 3)
    assert GRID.count(path).total == GRID.count(read_points(path)).total == 803


@pytest.mark.parametrize("length", [10_000, 20_000])
def test_a_long_row_is_read_and_a_longer_one_refused(tmp_path, length):
    path = tmp_path / "points.csv"
    path.write_text("lon,lat,text\n" + "10,50,a\n" * 4_000 + f"10,50,{'a' * length}\n")
    if length < delimited.LONGEST:
        assert GRID.count(path).total == 4_001
        return
    sentence = "begins in line 4002 is longer than 0 MB, perhaps by an open quote"
    for count in (GRID.count, read_points):
        with pytest.raises(InputError, match=sentence):
            count(path)


def test_bounds_and_grids_that_do_not_go_with_it_are_refused(file):
    with pytest.raises(InputError, match="needs to know the user"):
        GRID.count(file, 2)
    with pytest.raises(InputError, match="say whom to protect"):
        GRID.count(file, user="who")
    with pytest.raises(InputError, match="no CRS"):
        Grid.cells(4).count(file)
    for bound in (0, True, 1.5):
        with pytest.raises(InputError, match="whole number of 1 or more"):
            GRID.count(file, bound, user="who")


def test_points_are_never_held(file, monkeypatch):
    def refuse(*_args: object, **_more: object) -> None:
        raise AssertionError("the points are read whole")

    expected = GRID.count(read_points(file, user="name", weight="times"), 2)
    seen: list[weakref.ref[pa.Array]] = []
    most = [0]
    batches = TextTable.batches

    def watched(self, *asked, **more):
        for done, batch in batches(self, *asked, **more):
            seen.append(weakref.ref(batch["lon"]))
            most[0] = max(most[0], sum(each() is not None for each in seen))
            yield done, batch
            del batch

    monkeypatch.setattr(TextTable, "batches", watched)
    monkeypatch.setattr(TextTable, "read", refuse)
    monkeypatch.setattr(Points, "__post_init__", refuse)
    counted = GRID.count(file, 2, user="name", weight="times")
    assert np.array_equal(counted.counts, expected.counts)
    assert len(seen) > 10
    assert most[0] <= 2


def test_progress_grows_to_one(file):
    said: list[float] = []
    GRID.count(file, progress=said.append)
    assert len(said) > 10
    assert said == sorted(said)
    assert said[-1] == 1.0


def test_an_extent_elsewhere_is_told_at_the_line_that_counts(file):
    elsewhere = Grid.around(50.0, 10.0, 20e3, shape=4)
    with pytest.warns(ExtentWarning) as told:
        elsewhere.count(file)
    assert [each.filename for each in told] == [__file__]
    assert as_points(file).count(elsewhere)[1][-1] == FEW_INSIDE


def test_other_files_are_read_whole(tmp_path):
    path = tmp_path / "points.geojson"
    path.write_text('{"type": "Point", "coordinates": [10, 50]}')
    for source in (path, {"lon": [10.0], "lat": [50.0]}):
        assert isinstance(as_points(source), Points)
    for missing in (tmp_path / "nothing.csv", tmp_path):
        with pytest.raises(InputError):
            as_points(missing)
