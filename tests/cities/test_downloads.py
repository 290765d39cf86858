"""Downloads are kept only if their checksum is right."""

import functools
import hashlib
import http.server
import sys
import threading

import pytest

from explorer.cities.downloads import Download, file_checksum, is_there
from explorer.errors import InputError
from explorer.grid.kept import cache_folder

CONTENT = b"lon,lat\n1,2\n"
SHA256 = "sha256:" + hashlib.sha256(CONTENT).hexdigest()


class Quiet(http.server.SimpleHTTPRequestHandler):
    def log_message(self, *_: object) -> None:
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
    with pytest.raises(InputError, match="use sha256 or git"):
        file_checksum(tmp_path / "f", "md5")


@pytest.mark.parametrize("kind", ["sha256", "git"])
def test_a_file_is_fetched_once(address, cache, tmp_path, kind):
    checksum = file_checksum(tmp_path / "served" / "points.csv", kind)
    download = Download(f"{address}/points.csv", checksum, "points.csv")
    assert not is_there([download])
    path = download.fetch()
    assert path == cache / "points.csv"
    assert path.read_bytes() == CONTENT
    assert is_there([download])
    (tmp_path / "served" / "points.csv").unlink()
    assert download.fetch() == path


def test_another_file_than_expected_is_not_kept(address, cache):
    download = Download(f"{address}/points.csv", "sha256:" + 64 * "0", "points.csv")
    with pytest.raises(InputError, match="checksum differs"):
        download.fetch()
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


def test_where_downloads_are_kept(monkeypatch, tmp_path):
    assert cache_folder() == tmp_path / "cache"
    monkeypatch.delenv("EXPLORER_CACHE")
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "xdg"))
    assert cache_folder() == tmp_path / "xdg" / "dp-explorer"
