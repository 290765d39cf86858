"""A save that fails, for want of room or of rights, leaves the older file as it was."""

import os
import subprocess
import sys
import tempfile
from pathlib import Path

import pytest

from explorer import InputError
from explorer.grid.whole_file import write_whole
from tests.refusals import refuses


def test_a_failed_write_leaves_the_old_file(tmp_path):
    path = tmp_path / "map.parquet"
    path.write_text("old")

    def fail(part):
        part.write_text("half of the new")
        raise OSError(28, "No space left on device")

    refuses(r"map\.parquet could not be written \(No space left", write_whole, path, fail)
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
