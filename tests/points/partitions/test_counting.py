"""What is counted part by part is what is counted in memory, to the last bit."""

import re
import shutil
from pathlib import Path

import fsspec
import geopandas
import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from explorer import Grid, InputError, read_points, scan_points
from explorer.points.partitions import counting
from explorer.points.partitions import files as looking
from tests.helpers import around
from tests.refusals import refuses

GRID = Grid.around(10.0, 50.0, 20e3, shape=(40, 60))


@pytest.fixture(autouse=True)
def _small_parts(monkeypatch):
    monkeypatch.setattr(looking, "PART_ROWS", 900)
    monkeypatch.setattr(counting, "BATCH", 250)


def table(n=12000, **more):
    """Places with all that files have: gaps, zeros, longitudes above 180."""
    points = around(GRID, n)
    lon, lat = points.x.copy(), points.y.copy()
    lon[5], lat[6] = np.nan, np.inf
    lon[7] = lat[7] = 0.0
    lat[8] = 91.0
    rng = np.random.default_rng(4)
    columns = {
        "lon": pa.array(lon, mask=np.arange(n) == 11),
        "lat": lat,
        "who": pa.array(rng.integers(0, n // 6, n), mask=rng.random(n) < 0.01),
        "name": [f"user {who}" for who in rng.integers(0, n // 6, n)],
        "times": rng.integers(0, 4, n),
    }
    return pa.table(columns | more)


def written(folder, whole, files=3):
    """The rows in files one after the other, in small row groups."""
    folder.mkdir()
    step = -(-whole.num_rows // files)
    for i in range(files):
        part = whole.slice(i * step, step)
        pq.write_table(part, folder / f"{i}.parquet", row_group_size=370)
    return folder


def test_what_reading_refuses_counting_refuses(tmp_path):
    swapped = pa.table({"lon": [50.0, 51.0], "lat": [100.0, 110.0]})
    none = pa.table({"lon": [0.0], "lat": [0.0]})
    for number, (wrong, sentence) in enumerate(
        [(swapped, "the two look swapped"), (none, "None of the rows can be used")]
    ):
        path = tmp_path / f"{number}.parquet"
        pq.write_table(wrong, path)
        for count in (lambda p: GRID.count(scan_points(p)), read_points):
            refuses(sentence, count, path)


# Counting goes on where it was interrupted, and only there.


@pytest.mark.parametrize("bound", [None, 2])
@pytest.mark.parametrize("often", [True, False])
def test_an_interrupted_count_goes_on(tmp_path, monkeypatch, bound, often):
    monkeypatch.setattr(looking, "PART_ROWS", 900)
    monkeypatch.setattr(counting, "CHECKPOINT_EVERY", 0.0 if often else 1e9)
    files = scan_points(written(tmp_path / "points", table()), user="who")
    kept = tmp_path / "counts.exact.part"
    done = []

    def stop(share):
        done.append(share)
        if len(done) in (4, 9):
            raise KeyboardInterrupt

    for _ in range(2):
        with pytest.raises(KeyboardInterrupt):
            files.count(GRID, bound, stop, checkpoint=kept)
        assert kept.exists()
    matrix, notes = files.count(GRID, bound, stop, checkpoint=kept)
    whole, said = files.count(GRID, bound)
    assert np.array_equal(matrix.counts, whole.counts)
    assert notes == said
    # Every part was counted once over all three runs.
    assert len(done) == len(files.parts)
    assert done == sorted(done)
    assert list(tmp_path.iterdir()) == [tmp_path / "points"]


def test_another_grid_other_points_and_damage_are_refused(tmp_path):
    folder = written(tmp_path / "points", table())
    files = scan_points(folder)
    kept = tmp_path / "counts.exact.part"

    def interrupted(_):
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        files.count(GRID, progress=interrupted, checkpoint=kept)
    other = Grid.around(10.0, 50.0, 21e3, shape=8)
    changed = scan_points([folder / "0.parquet", folder / "1.parquet"])
    for points, grid in ((files, other), (changed, GRID)):
        refuses("begun with other points, another grid", points.count, grid, checkpoint=kept)
    with np.load(kept) as saved:
        older = {**saved, "judged": saved["judged"][:-1]}
    with kept.open("wb") as opened:
        np.savez(opened, **older)
    refuses("by another version", files.count, GRID, checkpoint=kept)
    kept.write_bytes(kept.read_bytes()[:200])
    refuses("is damaged", files.count, GRID, checkpoint=kept)


# Files are found, looked at by their footers, and refused in one sentence.

SMALL = Grid.around(10.0, 50.0, 20e3, shape=8)


def write(path, n=50, seed=0, group=20, **more):
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
    counts = found[0].count_on(SMALL).counts
    assert np.array_equal(far[0].count_on(SMALL).counts, counts)


def test_parts_are_row_groups_that_follow_each_other(folder, monkeypatch):
    monkeypatch.setattr(looking, "PART_ROWS", 40)
    parts = scan_points(folder / "part-1.parquet").parts
    assert [(part.groups, part.first_row, part.rows) for part in parts] == [
        ((0, 1), 0, 40),
        ((2,), 40, 10),
    ]
    assert len({part.key for part in parts}) == 2


def refused(source, sentence, **how):
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
    refuses(r"Row group 0 of small\.parquet unpacks to", scan_points, path)


def test_data_that_vanish_while_they_are_counted_are_one_sentence(folder):
    files = scan_points(folder, gaps=True)
    (folder / "part-2.parquet").unlink()
    refuses(r"part-2\.parquet cannot be opened", files.count_on, SMALL)
