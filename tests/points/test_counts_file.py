"""Files of exact counts say what they are, come back whole, and are no releases."""

import json

import numpy as np
import pyarrow.parquet as pq
import pytest

from explorer.errors import InputError
from explorer.grid.grid import Grid
from explorer.points.counts_file import counts_path, is_counts, load_counts, save_counts
from explorer.points.matrix import FrequencyMatrix
from explorer.points.points import read_points
from explorer.releases.release import Release

GRID = Grid.around(10.0, 50.0, 20e3, shape=(6, 8), name="here")


@pytest.fixture
def saved(tmp_path):
    counts = np.random.default_rng(1).poisson(0.7, GRID.shape)
    matrix = FrequencyMatrix(counts, GRID, contribution_bound=3, unit="user")
    path = counts_path(tmp_path / "city")
    save_counts(matrix, path)
    return matrix, path


def test_counts_come_back_whole(saved, tmp_path):
    matrix, path = saved
    assert is_counts(path)
    found = load_counts(path)
    assert np.array_equal(found.counts, matrix.counts)
    assert (found.key, found.grid, found.unit, found.contribution_bound) == (
        *(matrix.key, GRID, "user", 3),
    )
    plain = FrequencyMatrix.from_array([[0, 2], [0, 0]])
    save_counts(plain, tmp_path / "plain.exact.parquet")
    assert load_counts(tmp_path / "plain.exact.parquet").key == plain.key


def test_they_are_marked_and_nothing_takes_them_for_a_release(saved, tmp_path):
    matrix, path = saved
    assert path.name == "city.exact.parquet"
    said = json.loads(pq.read_schema(path).metadata[b"dp-explorer-exact-counts"])
    assert said["EXACT"].startswith("EXACT counts of records: never publish")
    assert "EXACT_records" in pq.read_schema(path).names
    with pytest.raises(InputError, match="not a release"):
        Release.load(path)
    with pytest.raises(InputError, match="No columns of longitude"):
        read_points(path)
    with pytest.raises(InputError, match=r"call the file .*map\.exact\.parquet"):
        save_counts(matrix, tmp_path / "map.parquet")


def test_changed_or_damaged_counts_are_refused(saved, tmp_path):
    _, path = saved
    table = pq.read_table(path)
    one_less = table.slice(1)
    beyond = table.set_column(0, "cell", [np.arange(table.num_rows) + 47])
    plain = table.replace_schema_metadata({})
    for wrong in (one_less, beyond, plain):
        pq.write_table(wrong, tmp_path / "x.exact.parquet")
        with pytest.raises(InputError, match=r"x\.exact\.parquet is no file of counts, or was dam"):
            load_counts(tmp_path / "x.exact.parquet")
    (tmp_path / "y.exact.parquet").write_text("nothing")
    assert not is_counts(tmp_path / "y.exact.parquet")
    assert not is_counts(tmp_path)
    with pytest.raises(InputError, match="is no file of counts"):
        load_counts(tmp_path / "y.exact.parquet")
