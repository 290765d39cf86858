"""What is shown is what was verified; what is taken away or changed is let go, the others stay."""

from __future__ import annotations

import os
import shutil

import pytest

from explorer.audience.folders import digest
from explorer.audience.releases import (
    Changed,
    Gone,
    OpenFile,
    ServedRelease,
    ServedReleases,
    Unknown,
)
from explorer.publish.names import FILES, MANIFEST, RELEASE
from tests.audience.running import key_of


def shown(root) -> ServedReleases:
    both = [root / "after", root / "before"]
    return ServedReleases([(str(each), digest(each / MANIFEST)) for each in both])


def test_maps_stand_in_the_order_of_their_dates(whole) -> None:
    exhibition = shown(whole)
    assert [each.title for each in exhibition] == ["Rides of Amber", "Rides of Amber, after"]
    first = next(iter(exhibition))
    assert exhibition[first.key] is first
    assert {*first.files} == {*FILES, MANIFEST}
    value, sd = first.total
    assert value == pytest.approx(first.release.total)
    assert sd > 0
    assert exhibition.scale(list(exhibition)).source == "release"
    assert exhibition.scale(list(exhibition)).top == max(each.top for each in exhibition)


def test_a_map_that_never_was_is_another_thing_than_one_that_is_gone(root) -> None:
    exhibition = shown(root)
    key = key_of(root / "before")
    shutil.rmtree(root / "before")
    assert exhibition.drop_changed() == ["Rides of Amber"]
    with pytest.raises(Gone, match="taken away, or changed"):
        _ = exhibition[key]
    with pytest.raises(Unknown, match="no such map"):
        _ = exhibition["0" * 10]
    assert [each.title for each in exhibition] == ["Rides of Amber, after"]
    assert (exhibition.gone, exhibition.drop_changed()) == (1, [])


@pytest.mark.parametrize("name", [*FILES, MANIFEST])
@pytest.mark.parametrize("how", ["written", "replaced", "linked", "removed"])
def test_any_change_of_any_file_is_seen(root, name, how) -> None:
    exhibition, path = shown(root), root / "before" / name
    content = path.read_bytes()
    if how == "written":
        # Of the same length, and with the times it had.
        about = path.stat()
        with path.open("r+b") as file:
            file.write(bytes([content[0] ^ 1]))
        os.utime(path, ns=(about.st_atime_ns, about.st_mtime_ns))
    elif how == "replaced":
        other = path.with_name("other")
        other.write_bytes(content)
        other.replace(path)
    elif how == "linked":
        path.rename(root / name)
        path.symlink_to(root / name)
    else:
        path.unlink()
    assert exhibition.drop_changed() == ["Rides of Amber"]


@pytest.mark.parametrize("again", [False, True])
def test_nothing_else_is_ever_read_whatever_stands_at_its_name(root, again) -> None:
    path = root / "before" / RELEASE
    held, content = OpenFile(path, 10**9), path.read_bytes()
    assert b"".join(held.pieces()) == content
    path.unlink()
    if again:
        path.write_bytes(content)
    assert not held.unchanged
    with pytest.raises(Changed):
        list(held.pieces())


@pytest.mark.parametrize("name", [RELEASE, "map.png"])
def test_another_folder_than_the_verified_one_is_not_shown(root, name) -> None:
    manifest = digest(root / "before" / MANIFEST)
    shutil.copyfile(root / "after" / name, root / "before" / name)
    with pytest.raises(Changed):
        ServedRelease.of(root / "before", manifest)
    exhibition = ServedReleases([(str(root / "before"), manifest)])
    assert (len(exhibition), exhibition.gone) == (0, 1)
    with pytest.raises(Gone):
        _ = exhibition[manifest[:10]]


def test_links_and_what_is_too_long_are_not_held(root, tmp_path) -> None:
    (tmp_path / "link").symlink_to(root / "before" / RELEASE)
    for path, most in (
        (tmp_path / "link", 10**9),
        (root / "before", 10**9),
        (root / "before" / RELEASE, 10),
        (root / "nothing", 10),
    ):
        with pytest.raises(Changed):
            OpenFile(path, most)
