"""Folders that are one table: by their log, or refused with how to export them."""

import json
import shutil
from typing import Any

import geopandas
import pandas as pd
import pytest
import shapely

from explorer import InputError, read_points, scan_points
from explorer.grid.extent import boundary_bounds
from tests.refusals import refuses


def part(path, rows):
    path.parent.mkdir(parents=True, exist_ok=True)
    lon = [4.9 + number / 1e4 for number in range(rows)]
    pd.DataFrame({"lon": lon, "lat": 52.3, "n": rows}).to_parquet(path)
    return path.name


def commit(table, number, *actions: dict[str, Any]):
    log = table / "_delta_log"
    log.mkdir(parents=True, exist_ok=True)
    text = "\n".join(map(json.dumps, actions))
    (log / f"{number:020d}.json").write_text(text + "\n")


def delta(folder):
    """A table of 300 rows, one of whose files has been replaced and is still there."""
    table = folder / "table"
    part(table / "day=1" / "part-0 a.parquet", 150)
    part(table / "day=1" / "part-1.parquet", 200)
    part(table / "day=2" / "part-2.parquet", 100)
    commit(
        table,
        0,
        {"protocol": {"minReaderVersion": 1, "minWriterVersion": 2}},
        {"metaData": {"id": "a", "configuration": {}}},
        {"add": {"path": "day=1/part-0%20a.parquet"}},
    )
    commit(
        table,
        1,
        {"remove": {"path": "day=1/part-0%20a.parquet"}},
        {"add": {"path": "day=1/part-1.parquet"}},
        {"commitInfo": {}},
    )
    commit(table, 2, {"add": {"path": "day=2/part-2.parquet"}})
    return table


def test_a_delta_table_is_what_its_log_says(tmp_path):
    table = delta(tmp_path)
    for source in (table, tmp_path, f"{table}/"):
        files = scan_points(source)
        assert files.rows == 300
        assert "'table' is a Delta table" in files.notes[0]
    assert scan_points(table / "day=1").rows == 200
    assert scan_points(f"{table}/day=2/*.parquet").rows == 100


@pytest.mark.parametrize(
    "source", ["table/day=1/*.parquet", "table/**/*.parquet", "table/day=1/part-0 a.parquet"]
)
def test_a_replaced_file_is_refused_however_it_is_given(source, tmp_path):
    table = delta(tmp_path)
    given = str(tmp_path / source)
    refuses("give the folder 'table'", scan_points, given)
    with pytest.raises(InputError, match="give the folder 'table'"):
        scan_points(
            [str(table / "day=2" / "part-2.parquet"), str(table / "day=1/part-0 a.parquet")]
        )
    refuses("give the folder 'table'", read_points, table / "day=1" / "part-0 a.parquet")
    assert len(read_points(table / "day=1" / "part-1.parquet")) == 200


def test_a_file_that_is_gone_from_a_delta_table_is_missed(tmp_path):
    table = delta(tmp_path)
    (table / "day=2" / "part-2.parquet").unlink()
    refuses(r"'part-2.parquet'.* is not there", scan_points, table)


def test_a_delta_table_in_another_store(tmp_path):
    fsspec = pytest.importorskip("fsspec")
    store = fsspec.filesystem("memory")
    store.put(str(delta(tmp_path)), "/lake/table", recursive=True)
    assert scan_points("memory://lake/table").rows == 300
    refuses("give the folder 'table'", scan_points, "memory://lake/table/day=1/*.parquet")


@pytest.mark.parametrize("action", [
    {"protocol": {"minReaderVersion": 2, "minWriterVersion": 5}},
    {"protocol": {"minReaderVersion": 3, "readerFeatures": ["deletionVectors"]}},
    {"add": {"path": "day=1/part-1.parquet", "deletionVector": {"storageType": "u"}}},
    {"add": {"path": "s3://elsewhere/part.parquet"}},
    {"add": {"path": "../other/part.parquet"}},
])  # fmt: skip
def test_what_else_a_log_says_is_refused(action, tmp_path):
    table = delta(tmp_path)
    commit(table, 3, action)
    refuses(r"is a Delta table .* write what it holds now as Parquet", scan_points, table)


def test_a_log_without_its_beginning_is_refused(tmp_path):
    table = delta(tmp_path)
    (table / "_delta_log" / f"{0:020d}.json").unlink()
    (table / "_delta_log" / f"{1:020d}.checkpoint.parquet").write_bytes(b"")
    refuses("first commits are packed or gone", scan_points, table)
    (table / "_delta_log" / f"{0:020d}.json").write_text("{not json\n")
    refuses("log of the Delta table 'table' is damaged", scan_points, table)


@pytest.mark.parametrize("kind", ["Iceberg", "Hudi"])
def test_other_tables_are_refused_with_how_to_export_them(kind, tmp_path):
    table = tmp_path / "table"
    file = table / "data" / "day=1" / "part-0.parquet"
    part(file, 5)
    if kind == "Iceberg":
        (table / "metadata").mkdir()
        (table / "metadata" / "00000-a.metadata.json").write_text('{"format-version": 2}')
    else:
        (table / ".hoodie").mkdir()
    for source in (table, table / "data", file, f"{table}/data/*/*.parquet", [str(file)]):
        refuses(f"{kind} table.* write what it holds now as Parquet", scan_points, source)
    for source in (table, file):
        refuses(f"{kind} table", read_points, source)


def test_arrays_and_lance_are_named(tmp_path):
    (tmp_path / "a.zarr").mkdir()
    (tmp_path / "a.zarr" / "zarr.json").write_text("{}")
    (tmp_path / "b.lance" / "_versions").mkdir(parents=True)
    (tmp_path / "b.lance" / "data").mkdir()
    (tmp_path / "b.lance" / "data" / "0.lance").write_bytes(b"")
    for name, kind in (("a.zarr", "Zarr"), ("b.lance", "Lance")):
        for read in (scan_points, read_points):
            refuses(kind, read, tmp_path / name)


def test_folders_that_only_look_alike_are_read(tmp_path):
    part(tmp_path / "metadata" / "part-0.parquet", 5)
    (tmp_path / "metadata" / "about.json").write_text("{}")
    assert scan_points(tmp_path).rows == 5


def test_boundaries_know_them_too(tmp_path):
    table = tmp_path / "table"
    table.mkdir()
    squares = geopandas.GeoDataFrame(geometry=[shapely.box(0, 0, 1, 1)], crs=4326)
    squares.to_parquet(table / "old.parquet")
    shutil.copy(table / "old.parquet", table / "new.parquet")
    commit(table, 0, {"add": {"path": "old.parquet"}})
    commit(table, 1, {"remove": {"path": "old.parquet"}}, {"add": {"path": "new.parquet"}})
    boundary_bounds(table / "new.parquet")
    refuses("counts no more", boundary_bounds, table / "old.parquet")
    refuses("a Delta table, which is read for points alone", boundary_bounds, table)
