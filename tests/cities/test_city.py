"""A city gives its public grid without reading, and its counts when they are asked for."""

import json
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from pandas import read_csv

from explorer.cities.city import City, _joined
from explorer.cities.downloads import Download
from explorer.errors import InputError
from explorer.points.points import LONLAT, Points

EXTENT = {"around": [10.0, 50.0], "size_km": 10}


def table(tmp_path: Path) -> Path:
    rng = np.random.default_rng(0)
    rows = [
        f"{x},{y},{u},{n}"
        for (x, y), u, n in zip(
            rng.normal((10.0, 50.0), 0.01, (500, 2)),
            rng.integers(0, 20, 500),
            rng.integers(0, 3, 500),
            strict=True,
        )
    ]
    path = tmp_path / "p.csv"
    path.write_text("a,b,who,n\n" + "\n".join(rows))
    return path


@pytest.mark.parametrize("bound", [None, 3])
def test_counting_without_the_points_gives_the_same(tmp_path, bound):
    columns = {"lon": "a", "lat": "b", "user": "who", "weight": "n", "time": "n"}
    city = City("k", "Town", extent=EXTENT, file=table(tmp_path), columns=columns, cells=64)
    points, expected = city.load(contribution_bound=bound)
    # By what is in it, not by its name.
    parts = tmp_path / "p.points"
    read_csv(tmp_path / "p.csv").to_parquet(parts)
    for each in (city, replace(city, file=parts)):
        matrix, notes = each.count(contribution_bound=bound)
        assert matrix.key == expected.key
        assert (matrix.unit, matrix.contribution_bound) == (
            *(expected.unit, expected.contribution_bound),
        )
        assert notes == points.notes


def test_points_and_counts_of_a_file(tmp_path):
    columns = {"lon": "a", "lat": "b", "user": "who"}
    city = City("k", "Town", extent=EXTENT, file=table(tmp_path), columns=columns, cells=64)
    points, matrix = city.load()
    assert points is not None
    assert (len(points), matrix.total, matrix.shape) == (500, 500, (64, 64))
    assert (points.name, matrix.grid.name, city.present, city.has_users) == (
        "Town",
        "Town",
        True,
        True,
    )
    said: list[float] = []
    _, bounded = city.load(32, contribution_bound=3, progress=said.append)
    assert (bounded.total, bounded.unit, bounded.contribution_bound) == (60, "user", 3)
    assert said == [1.0]
    assert city.load((5, 9))[1].shape == (5, 9)


def test_weights_are_counted(tmp_path):
    columns = {"lon": "a", "lat": "b", "weight": "n"}
    city = City("k", "Town", extent=EXTENT, file=table(tmp_path), columns=columns)
    points, matrix = city.load(8)
    assert matrix.total == points.weight.sum()
    with pytest.raises(InputError, match="needs to know the user"):
        city.load(8, contribution_bound=2)


def test_a_matrix_without_a_place(tmp_path):
    counts = np.arange(24.0).reshape(4, 6)
    np.save(tmp_path / "m.npy", counts)
    city = City("m", "Matrix", file=tmp_path / "m.npy")
    points, matrix = city.load()
    assert points is None
    assert np.array_equal(matrix.counts, counts)
    assert matrix.grid.unit == "cells"
    assert city.load((2, 3))[1].counts.tolist() == [
        [0 + 1 + 6 + 7, 2 + 3 + 8 + 9, 4 + 5 + 10 + 11],
        [62, 70, 78],
    ]
    assert city.load(2)[1].total == 276
    for shape in (3, (8, 12)):
        with pytest.raises(InputError, match="choose a whole fraction"):
            city.load(shape)
    with pytest.raises(InputError, match="leave out the bound"):
        city.load(contribution_bound=2)


@pytest.mark.parametrize(("saved", "said"), [
    (np.zeros(5), "not a table of rows"),
    (np.zeros((2, 2, 2)), "not a table of rows"),
    (np.zeros((0, 4)), "1 or more"),
    (np.full((2, 2), 0.5), "fractions"),
    (np.full((2, 2), -1), "negative"),
    (np.array([["a"]]), "not numbers"),
    (np.array([[None]]), "could not be read as a matrix"),
    (b"damaged", "could not be read as a matrix"),
    (b"", "could not be read as a matrix"),
])  # fmt: skip
def test_what_is_no_matrix_of_counts(tmp_path, saved, said):
    path = tmp_path / "m.npy"
    path.write_bytes(saved) if isinstance(saved, bytes) else np.save(path, saved)
    with pytest.raises(InputError, match=said):
        City("m", "Matrix", file=path).load()


def test_a_matrix_too_large_is_refused_by_its_header(tmp_path):
    # 16384 x 16384 cells: the file has holes, nothing of its 2 GB is written or read.
    with (tmp_path / "m.npy").open("wb") as opened:
        header = {"descr": "<i8", "fortran_order": False, "shape": (16384, 16384)}
        np.lib.format.write_array_header_1_0(opened, header)
        opened.truncate(opened.tell() + 16384 * 16384 * 8)
    with pytest.raises(InputError, match="more than the 4,194,304"):
        City("m", "Matrix", file=tmp_path / "m.npy").load()


def test_rows_of_place_and_number(tmp_path):
    path = tmp_path / "p.json"
    path.write_text(json.dumps([[10.0, 50.0, 3], [10.01, 50.0, 4]]))
    points, matrix = City("k", "Town", extent=EXTENT, file=path).load(4)
    assert points is not None
    assert (len(points), matrix.total) == (2, 7)
    path.write_text("[[1, 2], [3]]")
    with pytest.raises(InputError, match="longitude, latitude and number"):
        City("k", "Town", extent=EXTENT, file=path).load(4)


def test_downloads_are_put_together(tmp_path, monkeypatch):
    monkeypatch.setenv("EXPLORER_CACHE", str(tmp_path))
    downloads = tuple(Download("http://127.0.0.1/", "git:0", f"{k}.csv") for k in range(2))
    city = City("k", "Town", extent=EXTENT, downloads=downloads)
    assert not city.present
    for k in range(2):
        (tmp_path / f"{k}.csv").write_text(f"lat,lon\n50,{10 + k / 100}\n")
    assert city.present
    points, matrix = city.load(4)
    assert points.x.tolist() == [10.0, 10.01]
    assert (matrix.total, len(points.notes)) == (2, 1)


def _part(**columns):
    return Points(np.array([1.0, 2.0]), np.array([3.0, 4.0]), LONLAT, **columns)


def test_files_of_one_city_keep_their_weights():
    joined = _joined([_part(weight=np.array([5, 1])), _part(weight=np.array([7, 2]))], "two")
    assert joined.weight.tolist() == [5, 1, 7, 2]
    assert len(joined) == 4


@pytest.mark.parametrize(("parts", "words"), [
    ([_part(weight=np.array([5, 1])), _part()], "Only some files"),
    ([_part(user=np.array([0, 1])), _part(user=np.array([0, 0]))], "across files"),
    ([_part(), replace(_part(), crs=None)], "different CRSs"),
])  # fmt: skip
def test_files_that_do_not_fit_together_are_refused(parts, words):
    with pytest.raises(InputError, match=words):
        _joined(parts, "two")
