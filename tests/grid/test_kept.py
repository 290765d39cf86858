"""Public arrays in files of the user's cache."""

import numpy as np
import pytest

from explorer.grid import kept as module
from explorer.grid.kept import MOST_FILES, kept


@pytest.fixture
def folder(monkeypatch, tmp_path):
    monkeypatch.setenv("EXPLORER_CACHE", str(tmp_path))
    return tmp_path / "areas"


class Builder:
    def __init__(self):
        self.calls = 0

    def __call__(self):
        self.calls += 1
        return {"a": np.arange(50_000), "b": np.eye(3)}


def test_what_was_built_is_read_the_next_time(folder):
    build = Builder()
    for _ in range(2):
        found = kept("thing1", "key", ("a", "b"), build)
        assert found["a"].tolist() == list(range(50_000))
        assert found["b"].dtype == np.float64
    assert build.calls == 1
    assert [path.name for path in folder.iterdir()] == ["thing1-key.npz"]
    kept("thing2", "key", ("a", "b"), build)
    kept("thing1", "other", ("a", "b"), build)
    assert build.calls == 3


@pytest.mark.parametrize("harm", ["cut", "flipped", "empty", "text", "pickled", "another"])
def test_a_damaged_file_is_built_anew(folder, harm):
    build = Builder()
    kept("thing1", "key", ("a", "b"), build)
    path = folder / "thing1-key.npz"
    content = bytearray(path.read_bytes())
    content[1_000] ^= 1
    if harm == "pickled":
        np.savez(path, a=np.array([{}], dtype=object), b=np.eye(3))
    elif harm == "another":
        np.savez(path, c=np.eye(3))
    else:
        harmed = {"cut": content[:-100], "flipped": content, "empty": b"", "text": b"hello"}
        path.write_bytes(harmed[harm])
    assert kept("thing1", "key", ("a", "b"), build)["a"].tolist() == list(range(50_000))
    assert build.calls == 2
    kept("thing1", "key", ("a", "b"), build)
    assert build.calls == 2


def test_a_folder_that_cannot_be_written_is_done_without(monkeypatch, tmp_path):
    (tmp_path / "file").write_text("in the way")
    monkeypatch.setenv("EXPLORER_CACHE", str(tmp_path / "file"))
    assert kept("thing1", "key", ("a", "b"), Builder())["b"].tolist() == np.eye(3).tolist()


def test_the_ones_unused_for_longest_go(folder):
    build = Builder()
    for number in range(MOST_FILES + 3):
        kept("thing1", f"{number:02}", ("a", "b"), build)
        # Files of one moment: say which was used last.
        path = folder / f"thing1-{number:02}.npz"
        module.os.utime(path, (number, number))
    left = sorted(path.name for path in folder.iterdir())
    assert len(left) == MOST_FILES
    assert left[0] == "thing1-03.npz"
