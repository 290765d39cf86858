"""A city gives its public grid without reading, and its counts when they are asked for."""

import functools
import hashlib
import http.server
import json
import sys
import threading
from dataclasses import replace

import numpy as np
import pytest
from pandas import read_csv

from explorer import InputError
from explorer.cities.city import City, Download, file_checksum
from tests.refusals import refuses

EXTENT = {"around": [10.0, 50.0], "size_km": 10}


def table(tmp_path):
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
    assert points.name == matrix.grid.name == "Town"
    assert city.present
    assert city.has_users
    said = []
    _, bounded = city.load(32, contribution_bound=3, progress=said.append)
    assert (bounded.total, bounded.unit, bounded.contribution_bound) == (60, "user", 3)
    assert said == [1.0]
    assert city.load((5, 9))[1].shape == (5, 9)


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
        refuses("choose a whole fraction", city.load, shape)
    refuses("leave out the bound", city.load, contribution_bound=2)


@pytest.mark.parametrize(("saved", "said"), [
    (np.zeros(5), "not a table of rows"), (np.zeros((0, 4)), "1 or more"),
    (np.full((2, 2), 0.5), "fractions"),
    (np.array([[None]]), "could not be read as a matrix"),
    (b"damaged", "could not be read as a matrix"),
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


def test_downloads_are_put_together_with_their_weights_and_users(tmp_path, monkeypatch):
    monkeypatch.setenv("EXPLORER_CACHE", str(tmp_path))
    downloads = tuple(Download("http://127.0.0.1/", "git:0", f"{k}.csv") for k in range(2))
    city = City("k", "Town", extent=EXTENT, downloads=downloads, columns={"weight": "n"})
    assert not city.present
    for k in range(2):
        (tmp_path / f"{k}.csv").write_text(f"lat,lon,n,who\n50,{10 + k / 100},{5 + k},1\n")
    assert city.present
    points, matrix = city.load(4)
    assert points.x.tolist() == [10.0, 10.01]
    assert points.weight.tolist() == [5, 6]
    assert matrix.total == 11
    # One user of two files would pass a contribution bound twice.
    points, matrix = replace(city, columns={"user": "who"}).load(4, 1)
    assert points.user.tolist() == [0, 0]
    assert matrix.total == 1


# Downloads are kept only if their checksum is right.

CONTENT = b"lon,lat\n1,2\n"
SHA256 = "sha256:" + hashlib.sha256(CONTENT).hexdigest()


class Quiet(http.server.SimpleHTTPRequestHandler):
    def log_message(self, *_: object):
        """Say nothing."""


@pytest.fixture
def address(tmp_path):
    """Serve one file from this computer."""
    (tmp_path / "served").mkdir()
    (tmp_path / "served" / "points.csv").write_bytes(CONTENT)
    handler = functools.partial(Quiet, directory=str(tmp_path / "served"))
    with http.server.ThreadingHTTPServer(("127.0.0.1", 0), handler) as server:
        thread = threading.Thread(target=server.serve_forever)
        thread.start()
        yield f"http://127.0.0.1:{server.server_port}"
        server.shutdown()
        thread.join()


@pytest.fixture(autouse=True)
def cache(tmp_path, monkeypatch):
    monkeypatch.setenv("EXPLORER_CACHE", str(tmp_path / "cache"))
    return tmp_path / "cache"


def test_the_id_that_git_gives(tmp_path):
    # The ids of nothing and of "hello world" with a line's end, as `git hash-object` prints them.
    for content, known in [
        (b"", "e69de29bb2d1d6434b8b29ae775ad8c2e48c5391"),
        (b"hello world\n", "3b18e512dba79e4c8300dd08aeb37f8e728b8dad"),
    ]:
        (tmp_path / "f").write_bytes(content)
        assert file_checksum(tmp_path / "f", "git") == f"git:{known}"
    refuses("use sha256 or git", file_checksum, tmp_path / "f", "md5")


@pytest.mark.parametrize("kind", ["sha256", "git"])
def test_a_file_is_fetched_once(address, cache, tmp_path, kind):
    checksum = file_checksum(tmp_path / "served" / "points.csv", kind)
    download = Download(f"{address}/points.csv", checksum, "points.csv")
    assert not City("key", "title", downloads=(download,)).present
    path = download.fetch()
    assert path == cache / "points.csv"
    assert path.read_bytes() == CONTENT
    assert City("key", "title", downloads=(download,)).present
    (tmp_path / "served" / "points.csv").unlink()
    assert download.fetch() == path


def test_another_file_than_expected_is_not_kept(address, cache):
    download = Download(f"{address}/points.csv", "sha256:" + 64 * "0", "points.csv")
    refuses("checksum differs", download.fetch)
    assert list(cache.iterdir()) == []


def test_a_download_that_was_cut_off_does_not_count(address, cache):
    cache.mkdir()
    (cache / "points.csv.part").write_bytes(b"half")
    assert Download(f"{address}/points.csv", SHA256, "points.csv").fetch().read_bytes() == CONTENT


def test_no_connection_is_said(address, cache):
    with pytest.raises(InputError, match="could not be downloaded"):
        Download(f"{address}/missing.csv", SHA256, "missing.csv").fetch()
    assert list(cache.iterdir()) == []


def test_without_the_extra_the_sentence_names_it(monkeypatch):
    monkeypatch.setitem(sys.modules, "pooch", None)
    with pytest.raises(InputError, match=r'pip install "dp-explorer\[download\]"'):
        Download("http://127.0.0.1/points.csv", SHA256, "points.csv").fetch()
