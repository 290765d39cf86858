"""Release files of every format there has been are read, and answer as they did."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from explorer import Release
from tests.golden import kept
from tests.golden.files import found, path_of
from tests.golden.measure import differences

FOLDERS = sorted(kept.FILES.glob("format-*"))
NAMED = [(each, name) for each in FOLDERS for name in kept.read(each / "found.json")]


@pytest.mark.parametrize(("folder", "name"), NAMED, ids=lambda part: getattr(part, "stem", part))
def test_a_file_is_read_as_it_was_and_written_again(
    folder: Path, name: str, tmp_path: Path
) -> None:
    before, release = kept.read(folder / "found.json")[name], Release.load(path_of(name, folder))
    release.save(tmp_path / "again.parquet")
    for loaded in (release, Release.load(tmp_path / "again.parquet")):
        assert differences(before, json.loads(json.dumps(found(loaded)))) == []
