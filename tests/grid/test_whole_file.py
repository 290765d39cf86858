"""A save that fails, for want of room or of rights, leaves the older file as it was."""

import os
import subprocess
import sys
import tempfile
from pathlib import Path

import pytest

from explorer.errors import InputError
from explorer.grid.whole_file import write_whole

# Saves every kind of result, then again with room for 4 kB: each refusal on a line of its own.
_NO_ROOM = """
import resource, sys
from pathlib import Path
import numpy as np, pandas as pd
from explorer import AG, Country, Grid, HTF, InputError, Release
from explorer.evaluate import results
from explorer.points.counts_file import save_counts
from explorer.points.matrix import FrequencyMatrix
from tests.country.nation import nation, people

folder = Path(sys.argv[1])
grid = Grid.around(2.35, 48.85, 8000, shape=64)
matrix = FrequencyMatrix.from_array(np.random.default_rng(1).poisson(9, (64, 64)), grid)
release = AG(epsilon=3).release(matrix, rng=1)
country = Country(epsilon=5).release(nation().count(people(), 500.0), rng=1)
table = pd.DataFrame({name: np.arange(2000) for name in results.COLUMNS})
saves = {
    **{f"a.{ending}": release.save for ending in ("parquet", "gpkg", "geojson")},
    **{f"b.{ending}": country.save for ending in ("parquet", "gpkg")},
    "c.exact.parquet": lambda path: save_counts(matrix, path),
    **{f"d.{ending}": lambda path: results.write(table, path) for ending in ("csv", "parquet")},
}
for name, save in saves.items():
    save(folder / name)
before = {name: (folder / name).read_bytes() for name in saves}
assert all(len(content) > 4096 for content in before.values())
limits = resource.getrlimit(resource.RLIMIT_FSIZE)
for name, save in saves.items():
    resource.setrlimit(resource.RLIMIT_FSIZE, (4096, limits[1]))
    try:
        save(folder / name)
    except InputError as error:
        assert "could not be written" in str(error) and "\\n" not in str(error), error
    else:
        raise AssertionError(f"{name}: nobody noticed that there was no room")
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, limits)
    assert (folder / name).read_bytes() == before[name], name
    assert sorted(each.name for each in folder.iterdir()) == sorted(saves), name
# The drawn release is still there, to be saved where there is room.
release.save(folder / "elsewhere.parquet")
assert len(Release.load(folder / "elsewhere.parquet").tree) == len(release.tree)
print("all intact")
"""


@pytest.mark.skipif(sys.platform == "win32", reason="limits of a process")
def test_without_room_every_older_file_stays_whole(tmp_path):
    asked = [sys.executable, "-c", _NO_ROOM, str(tmp_path)]
    done = subprocess.run(asked, capture_output=True, text=True, timeout=120, check=False)
    assert done.stdout == "all intact\n", done.stderr


def test_a_failed_write_leaves_the_old_file(tmp_path):
    path = tmp_path / "map.parquet"
    path.write_text("old")

    def fail(part: Path) -> None:
        part.write_text("half of the new")
        raise OSError(28, "No space left on device")

    with pytest.raises(InputError, match=r"map\.parquet could not be written \(No space left"):
        write_whole(path, fail)
    assert path.read_text() == "old"
    assert list(tmp_path.iterdir()) == [path]


def test_a_process_that_is_ended_in_the_midst_leaves_the_old_file(tmp_path):
    path = tmp_path / "map.parquet"
    path.write_text("old")
    code = (
        "import os, sys; from explorer.grid.whole_file import write_whole\n"
        "write_whole(sys.argv[1], lambda part: (part.write_text('half'), os._exit(9)))"
    )
    done = subprocess.run([sys.executable, "-c", code, str(path)], timeout=60, check=False)
    assert done.returncode == 9
    assert path.read_text() == "old"


@pytest.mark.skipif(not hasattr(os, "geteuid"), reason="users and permissions")
def test_a_read_only_folder_is_a_sentence():
    whoever, nobody = os.geteuid(), 65534
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "map.parquet"
        path.write_text("old")
        Path(folder).chmod(0o555)
        if whoever == 0:
            os.seteuid(nobody)  # to root no folder is closed
        try:
            with pytest.raises(InputError, match="choose another folder"):
                write_whole(path, lambda part: part.write_text("new"))
        finally:
            if whoever == 0:
                os.seteuid(whoever)
            Path(folder).chmod(0o755)
        assert path.read_text() == "old"


def test_folders_that_are_missing_or_files_are_a_sentence(tmp_path):
    (tmp_path / "file").write_text("no folder")
    for path in (tmp_path / "nowhere" / "map", tmp_path / "file" / "map", tmp_path):
        with pytest.raises(InputError, match="could not be written"):
            write_whole(path, lambda part: part.write_text("new"))
    assert [each.name for each in tmp_path.iterdir()] == ["file"]


@pytest.mark.skipif(sys.platform == "win32", reason="links and permissions")
def test_links_permissions_and_devices_stay_what_they_are(tmp_path):
    real, link = tmp_path / "real", tmp_path / "link"
    real.write_text("old")
    real.chmod(0o640)
    link.symlink_to(real)
    write_whole(link, lambda part: part.write_text("new"))
    assert link.is_symlink()
    assert (real.read_text(), real.stat().st_mode & 0o777) == ("new", 0o640)
    write_whole("/dev/null", lambda part: part.write_text("nobody reads it"))
    assert Path("/dev/null").is_char_device()
