"""Links and scenario files of before open, and are packed and written as they were."""

from __future__ import annotations

import json
import zlib

import pytest

from explorer.scenario import Scenario
from explorer.scenario.encoding import read_link
from tests.golden import kept

LINKS = kept.read(kept.NUMBERS / "links.json")
FILES = sorted((kept.NUMBERS / "yaml").glob("*.yaml"))


@pytest.mark.parametrize("name", LINKS)
def test_a_link_opens_and_is_packed_as_before(name: str) -> None:
    old = LINKS[name]["link"]
    assert Scenario.from_link(old).to_dict() == LINKS[name]["plain"]
    new = Scenario.from_link(old).to_link()
    # Every value in its place, which a comparison of dicts would not see.
    assert json.dumps(read_link(new)) == json.dumps(read_link(old))
    if "ng" not in zlib.ZLIB_RUNTIME_VERSION:
        # zlib-ng packs the same text in other bytes; every zlib unpacks both.
        assert new == old


@pytest.mark.parametrize("path", FILES, ids=lambda path: path.stem)
def test_a_file_is_read_and_written_as_before(path) -> None:
    text = path.read_text("utf8")
    assert Scenario.from_yaml(text).to_yaml() == text
    assert Scenario.from_yaml(text).to_dict() == LINKS[path.stem]["plain"]
