"""Release files of every format there has been are read, and answer as they did."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from explorer import Release
from tests.golden import kept
from tests.golden.files import found, path_of
from tests.golden.inside import FORMAT
from tests.golden.measure import differences

FOLDERS = sorted(kept.FILES.glob("format-*"))
NAMED = [(each, name) for each in FOLDERS for name in kept.read(each / "found.json")]


def plain(release: Release) -> dict:
    return json.loads(json.dumps(found(release)))


@pytest.mark.parametrize(("folder", "name"), NAMED, ids=lambda part: getattr(part, "stem", part))
def test_a_file_is_read_as_it_was(folder: Path, name: str) -> None:
    release = Release.load(path_of(name, folder))
    assert differences(kept.read(folder / "found.json")[name], plain(release)) == []


@pytest.mark.parametrize(("folder", "name"), NAMED, ids=lambda part: getattr(part, "stem", part))
def test_a_file_that_is_written_again_keeps_its_answers(
    folder: Path, name: str, tmp_path: Path
) -> None:
    Release.load(path_of(name, folder)).save(tmp_path / "again.parquet")
    again = Release.load(tmp_path / "again.parquet")
    assert differences(kept.read(folder / "found.json")[name], plain(again)) == []


def test_the_files_are_of_every_kind() -> None:
    assert f"format-{FORMAT}" in [each.name for each in FOLDERS]
    for folder in FOLDERS:
        known = kept.read(folder / "found.json").values()
        assert {each["inside"] for each in known} == {"uniform", "interpolated"}
        assert {each["preview"] for each in known} == {True, False}
        assert {each["unit"] for each in known} >= {"point", "user"}
        assert {each["linear"] for each in known} == {True, False}
        assert sum(each["haar_variance"] is not None for each in known) == 1
