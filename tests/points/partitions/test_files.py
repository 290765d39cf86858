"""Files are found, looked at by their footers, and refused in one sentence."""

import re
import shutil
from pathlib import Path

import fsspec
import geopandas
import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from explorer.errors import InputError
from explorer.grid.grid import Grid
from explorer.points.partitions import files as looking
from explorer.points.partitions import scan_points

GRID = Grid.around(10.0, 50.0, 20e3, shape=8)


def write(path: Path, n: int = 50, seed: int = 0, group: int = 20, **more) -> Path:
    rng = np.random.default_rng(seed)
    table = {"lon": rng.uniform(9.9, 10.1, n), "lat": rng.uniform(49.9, 50.1, n), **more}
    path.parent.mkdir(parents=True, exist_ok=True)
    pq.write_table(pa.table(table), path, row_group_size=group)
    return path


@pytest.fixture
def folder(tmp_path):
    for number in (1, 2, 10):
        write(tmp_path / "points" / f"part-{number}.parquet", seed=number)
    (tmp_path / "points" / "_SUCCESS").touch()
    write(tmp_path / "points" / ".hidden.parquet")
    (tmp_path / "points" / "read me.txt").write_text("nothing")
    return tmp_path / "points"


def test_folder_pattern_list_and_address_are_the_same_points(folder):
    names = [folder / f"part-{number}.parquet" for number in (1, 2, 10)]
    sources = [folder, str(folder / "*.parquet"), names, f"file://{folder}"]
    found = [scan_points(source, gaps=True) for source in sources]
    assert len({each.key for each in found}) == 1
    # In the order of the numbers, not of the letters.
    assert [Path(p).name for p in found[0].listing.paths] == [path.name for path in names]
    assert [part.first_row for part in found[0].parts] == [0, 50, 100]
    assert found[0].rows == 150
    assert "150" not in repr(found[0])
    store = fsspec.filesystem("memory")
    for path in names:
        store.pipe(f"/bucket/{path.name}", path.read_bytes())
    far = [
        scan_points(each, gaps=True) for each in ("memory://bucket", "memory://bucket/*.parquet")
    ]
    assert {each.key for each in far} == {found[0].key}
    counts = found[0].count_on(GRID).counts
    assert np.array_equal(far[0].count_on(GRID).counts, counts)


def test_parts_are_row_groups_that_follow_each_other(folder, monkeypatch):
    monkeypatch.setattr(looking, "PART_ROWS", 40)
    parts = scan_points(folder / "part-1.parquet").parts
    assert [(part.groups, part.first_row, part.rows) for part in parts] == [
        ((0, 1), 0, 40),
        ((2,), 40, 10),
    ]
    assert len({part.key for part in parts}) == 2


def refused(source, sentence: str, **how) -> None:
    with pytest.raises(InputError, match=re.escape(sentence)) as said:
        scan_points(source, **how)
    assert str(said.value).count(". ") == 0


def test_what_cannot_be_counted_is_refused_in_one_sentence(folder, tmp_path):
    one = folder / "part-1.parquet"
    refused(folder, "Files are missing between part-2.parquet and part-10.parquet; bring it back")
    refused([one, one], "part-1.parquet is there twice, and its records would count twice")
    refused(tmp_path / "none.parquet", "There is no file none.parquet")
    refused(str(tmp_path / "none-*.parquet"), "No file fits")
    refused("memory://nowhere", "There is nothing at memory://nowhere")
    refused("carrier-pigeon://x/y.parquet", "Files at carrier-pigeon:// cannot be reached")
    refused([], "There is no file in this list")
    refused(7, "cannot be read from int")
    refused([one, "memory://bucket"], "lie in different stores")
    shutil.copy(one, folder / "part-3.parquet")
    refused(folder, "part-1.parquet and part-3.parquet are the same file", gaps=True)
    (tmp_path / "empty").mkdir()
    refused(tmp_path / "empty", "There is no Parquet file in empty")
    write(tmp_path / "half" / "_temporary" / "0" / "part-0.parquet")
    refused(tmp_path / "half", "is still being written")


def test_damaged_files_and_other_columns_are_refused_by_name(tmp_path):
    first = write(tmp_path / "a.parquet", user=np.arange(50))
    cut = tmp_path / "cut.parquet"
    cut.write_bytes(first.read_bytes()[:-40])
    refused(cut, "cut.parquet is no Parquet file, or only a part of one")
    text = tmp_path / "text.parquet"
    text.write_text("lon,lat\n1,2\n")
    refused([first, text], "text.parquet is no Parquet file")
    wrong = tmp_path / "wrong.parquet"
    damaged = bytearray(first.read_bytes())
    damaged[-60:-20] = bytes(40)
    wrong.write_bytes(damaged)
    refused(wrong, "wrong.parquet could not be read as Parquet")
    lacking = write(tmp_path / "c.parquet", seed=3)
    refused([first, lacking], "c.parquet has no column 'user', which a.parquet has", user="user")
    assert scan_points([first, lacking]).rows == 100
    pq.write_table(pa.table({"lon": ["x"], "lat": [1.0]}), tmp_path / "d.parquet")
    refused(tmp_path / "d.parquet", "The column 'lon' holds something else than numbers")
    refused(first, "There is no column 'weight'", weight="weight")
    shapes = geopandas.GeoDataFrame(geometry=geopandas.points_from_xy([10.0], [50.0]), crs=4326)
    shapes.to_parquet(tmp_path / "e.parquet")
    shapes.to_crs(3857).to_parquet(tmp_path / "f.parquet")
    refused([tmp_path / "e.parquet", tmp_path / "f.parquet"], "another geometry or CRS")


def test_a_row_group_that_unpacks_hugely_is_refused_before_it_is_read(tmp_path, monkeypatch):
    path = tmp_path / "small.parquet"
    pq.write_table(pa.table(dict.fromkeys(("lon", "lat"), np.full(2**20, 10.0))), path)
    assert path.stat().st_size < 10_000
    assert scan_points(path).rows == 2**20
    monkeypatch.setattr(looking, "MOST_BYTES", 2**22)
    with pytest.raises(InputError, match=r"Row group 0 of small\.parquet unpacks to"):
        scan_points(path)


def test_data_that_vanish_while_they_are_counted_are_one_sentence(folder):
    files = scan_points(folder, gaps=True)
    (folder / "part-2.parquet").unlink()
    with pytest.raises(InputError, match=r"part-2\.parquet cannot be opened"):
        files.count_on(GRID)
