"""What is shown is verified first, and what is not is refused in one sentence."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from explorer.audience import folders as module
from explorer.audience.folders import as_plain, release_folders, verified
from explorer.audience.releases import ServedRelease
from explorer.errors import InputError
from explorer.publish.names import MANIFEST, REPORT
from tests.publish.folders import made_good, saved_otherwise


def here(work, content, *further, limits):
    """As `read_apart`, in this process."""
    assert limits.memory <= 3_000_000_000
    return work(content, *further)


def test_a_release_or_a_folder_of_releases_is_named(root) -> None:
    (root / "notes.txt").write_text("not a release")
    (root / ".hidden").mkdir()
    both = [root / "after", root / "before"]
    assert release_folders([root]) == both
    assert release_folders([root / "before"]) == [root / "before"]
    assert release_folders([root, root / "before"]) == both, "none is shown twice"


@pytest.mark.parametrize(
    ("make", "said"),
    [
        (shutil.rmtree, "There is no folder"),
        (lambda root: [shutil.rmtree(each) for each in root.iterdir()], "holds no release"),
        (lambda root: (root / "out").symlink_to("/"), "leads out of it"),
        (lambda root: (root / "gone").symlink_to("/nowhere"), "leads out of it"),
        (lambda root: (root / "before" / "x").symlink_to("/"), "is a link"),
    ],
)
def test_what_holds_no_release_or_leads_elsewhere_is_refused(root, make, said) -> None:
    make(root)
    with pytest.raises(InputError, match=said):
        release_folders([root])


def test_a_folder_that_holds_says_which_manifest_it_had(whole) -> None:
    found = verified(whole / "before", ask=here)
    assert found.manifest == module.digest(whole / "before" / MANIFEST)
    assert "Unsigned" in found.signature


def test_a_preview_is_refused(root) -> None:
    saved_otherwise(root / "before", preview=True)
    made_good(root / "before")
    with pytest.raises(InputError, match=r"before is not shown.*A preview"):
        verified(root / "before", ask=here)


def test_a_changed_file_is_refused(root) -> None:
    path = root / "before" / REPORT
    path.write_text(path.read_text().replace("Amber", "Ambre"))
    with pytest.raises(InputError, match="not the file that was published"):
        verified(root / "before", ask=here)


def test_a_folder_that_changes_while_it_is_verified_is_refused(root, monkeypatch) -> None:
    folder, look = root / "before", module.checked

    def swapped(path):
        found = look(path)
        (folder / MANIFEST).write_bytes((root / "after" / MANIFEST).read_bytes())
        return found

    monkeypatch.setattr(module, "checked", swapped)
    assert as_plain(b"", str(folder))["manifest"] == ""
    with pytest.raises(InputError, match="it was changed while"):
        verified(folder, ask=lambda *_, **__: {"checks": [], "manifest": "", "signature": ""})


def test_a_folder_is_verified_in_a_process_with_limits(root) -> None:
    assert verified(root / "after").manifest
    (root / "after" / "extra.exe").write_bytes(b"x")
    with pytest.raises(InputError, match=r"'extra\.exe', which is no part of it"):
        verified(root / "after")


def test_a_folder_of_the_format_before_is_shown_and_its_publisher_is_warned() -> None:
    old = Path(__file__).parents[1] / "golden" / "ledger-2" / "two"
    found = verified(old, here)
    assert "publish --again" in found.warning
    exhibit = ServedRelease.of(old, found.manifest)
    assert exhibit.title == "Rides of Amber"
    for file in exhibit.files.values():
        file.close()
