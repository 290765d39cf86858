"""What `verify` finds of a folder that is not what it says it is."""

from __future__ import annotations

import os
import sqlite3
import struct
import subprocess
import sys
import zlib
from collections.abc import Callable
from contextlib import closing
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from explorer.errors import InputError
from explorer.grid.apart.limits import SUPPORTED, Limits
from explorer.mechanisms import mechanism
from explorer.points.matrix import FrequencyMatrix
from explorer.publish import checks, contents, geotiff
from explorer.publish.checks import checked, verify
from explorer.publish.directory import write_directory
from explorer.publish.geotiff import write as write_picture
from explorer.publish.manifest import as_bytes
from explorer.publish.names import FILES, MANIFEST, REQUIRED, SIGNATURE
from explorer.publish.signing import PublisherKey, fingerprint
from explorer.releases.release import Release
from explorer.releases.transcript import LedgerRow
from explorer.testing import towns
from tests.publish.folders import (
    GRID,
    copy,
    drawn,
    folder_of,
    made_good,
    published,
    saved_otherwise,
)


@pytest.fixture(scope="module")
def key(tmp_path_factory) -> PublisherKey:
    return PublisherKey(tmp_path_factory.mktemp("key") / "publisher.key")


@pytest.fixture(scope="module")
def whole(tmp_path_factory, key) -> Path:
    return folder_of(tmp_path_factory.mktemp("out") / "amber", key=key)


@pytest.fixture
def folder(whole, tmp_path) -> Path:
    return copy(whole, tmp_path / "amber")


def wrong(folder: Path, key: str = "") -> list[str]:
    """The checks that do not hold, without what follows from the others."""
    found = [each.name for each in checked(folder, key).checks if not each.holds]
    return [name for name in found if name != "contents"]


def test_a_folder_as_it_was_published_holds(whole, key) -> None:
    verdict = verify(whole, key.public)
    assert verdict.holds, verdict
    assert verdict.signed_by == fingerprint(key.public)
    assert "the one you gave" in verdict.signature
    assert {"tiling", "paths", "stages", "facts", "registry entry"} <= {
        each.name for each in verdict.checks
    }


@pytest.mark.parametrize("name", ["htf", "mosaic", "privlet", "kd-cell"])
def test_every_kind_of_mechanism_holds(name, tmp_path) -> None:
    folder = folder_of(tmp_path / name, drawn(name))
    assert wrong(folder) == []
    verdict = checked(folder)
    assert verdict.signed_by == ""
    assert "whoever changed a file could have changed the manifest" in verdict.signature


def flip(path: Path, at: int, bits: int = 255) -> None:
    with path.open("r+b") as file:
        file.seek(at)
        (byte,) = file.read(1)
        file.seek(at)
        file.write(bytes([byte ^ bits]))


def holds(folder: Path, changed: str) -> bool:
    """Whether a folder with a changed file holds; a manifest may be none any more."""
    if changed != MANIFEST:
        return checked(folder).holds
    try:
        return checked(folder).holds
    except InputError:
        return False


@pytest.mark.parametrize("n", [3, pytest.param(100, marks=pytest.mark.slow)])
@pytest.mark.parametrize("name", [*REQUIRED, SIGNATURE])
def test_changed_bytes_are_found_in_every_file(name, n, folder) -> None:
    rng = np.random.default_rng(5)
    size = (folder / name).stat().st_size
    for at, bits in zip(rng.integers(0, size, n), rng.integers(1, 256, n), strict=True):
        flip(folder / name, int(at), int(bits))
        assert not holds(folder, name), (name, at, bits)
        flip(folder / name, int(at), int(bits))
    assert checked(folder).holds


def test_extra_and_missing_files_links_and_folders_are_found(folder, whole) -> None:
    (folder / "readme.txt").write_text("hello")
    assert wrong(folder)[0] == "folder"
    (folder / "readme.txt").unlink()
    (folder / "map.png").rename(folder / "..map.png")
    assert wrong(folder)[:1] == ["folder"]
    (folder / "..map.png").unlink()
    (folder / "map.png").symlink_to(whole / "map.png")
    assert wrong(folder)[:1] == ["folder"]
    (folder / "map.png").unlink()
    (folder / "map.png").mkdir()
    assert wrong(folder)[:1] == ["folder"]


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="pipes with names are POSIX's")
@pytest.mark.parametrize("name", [MANIFEST, SIGNATURE, "leaves.csv"])
def test_a_pipe_is_not_waited_for(name, folder) -> None:
    def nothing_in_it(said: dict[str, Any]) -> None:
        said["files"]["leaves.csv"]["bytes"] = 0

    made_good(folder, nothing_in_it)
    (folder / name).unlink(missing_ok=True)
    os.mkfifo(folder / name)
    # Whoever opens it to read waits until somebody writes.
    found = "".join(
        (
            "from pathlib import Path; from explorer.publish.checks import checked, Unreadable\n",
            f"try: print(checked(Path({str(folder)!r})).checks[0].holds)\n",
            "except Unreadable: print('unreadable')",
        )
    )
    run = [sys.executable, "-c", found]
    done = subprocess.run(run, capture_output=True, text=True, check=True, timeout=120)
    wanted = "False" if name == "leaves.csv" else "unreadable"
    assert done.stdout.strip() == wanted


@pytest.mark.parametrize("name", ["../amber/map.png", "/etc/hosts", "sub/map.png"])
def test_a_manifest_names_no_other_place(name, folder) -> None:
    def elsewhere(said: dict[str, Any]) -> None:
        said["files"][name] = said["files"].pop("map.png")

    made_good(folder, elsewhere)
    assert wrong(folder)[:1] == ["manifest"]


def test_a_signature_is_of_this_manifest_and_of_the_key_that_is_asked_for(
    folder, key, tmp_path
) -> None:
    other = PublisherKey(tmp_path / "other.key")
    assert wrong(folder, key.public.hex()) == []
    assert wrong(folder, other.public.hex()) == ["signature"]
    manifest = (folder / MANIFEST).read_bytes()
    (folder / SIGNATURE).write_bytes(as_bytes(other.sign(manifest + b" ")))
    assert "signature" in wrong(folder)
    (folder / SIGNATURE).write_bytes(as_bytes(other.sign(manifest)))
    assert wrong(folder) == []
    assert wrong(folder, key.public.hex()) == ["signature"]
    (folder / SIGNATURE).unlink()
    assert wrong(folder) == []
    assert wrong(folder, key.public.hex()) == ["signature"]


def test_a_preview_whose_flag_was_edited_is_found_where_the_folder_is_signed(
    whole, key, tmp_path
) -> None:
    """An unsigned one says what cannot be known; a signed one is of the draw."""
    counts = FrequencyMatrix(towns(GRID.shape).counts, GRID)
    forged = replace(mechanism("quadtree")(epsilon=1.0).release(counts, rng=1), preview=False)
    folder = copy(whole, tmp_path / "forged")
    write_directory(published(forged), tmp_path / "made")
    for name in (*FILES, MANIFEST):
        (tmp_path / "made" / name).replace(folder / name)
    # The old signature stays, as good as it can be.
    assert "signature" in wrong(folder)
    (folder / SIGNATURE).unlink()
    assert "signature" in wrong(folder, key.public.hex())
    verdict = checked(folder)
    assert verdict.holds
    with pytest.raises(InputError, match="preview"):
        published(replace(drawn(), preview=True))
    assert "this is no preview is the word of whoever gave it to you" in verdict.signature


def spent_more_on_a_path(folder: Path) -> None:
    tree = Release.load(folder / "release.parquet").tree
    spent = tree.spent.copy()
    spent[tree.leaves[0]] += 10
    saved_otherwise(folder, tree=replace(tree, spent=spent))


def spent_less_on_a_stage(folder: Path) -> None:
    first, *others = Release.load(folder / "release.parquet").ledger
    less = LedgerRow(first.stage, first.epsilon / 2, first.draws, first.sensitivity, "parallel")
    saved_otherwise(folder, ledger=(less, *others))


def moved_edge(step: int) -> Callable[[Path], None]:
    """A leaf overlaps another, or leaves a gap."""

    def change(folder: Path) -> None:
        table = pq.read_table(folder / "release.parquet")
        column = table["upper_1"].to_numpy().copy()
        column[0] += step
        at = table.schema.get_field_index("upper_1")
        table = table.set_column(at, "upper_1", pa.array(column))
        pq.write_table(table, folder / "release.parquet")

    return change


def put(name: str, write: Callable[[str], str]) -> Callable[[Path], None]:
    def change(folder: Path) -> None:
        path = folder / name
        path.write_text(write(path.read_text("utf8")), "utf8")

    return change


@pytest.mark.parametrize(
    ("change", "check"),
    [
        (lambda folder: saved_otherwise(folder, preview=True), "preview"),
        (spent_more_on_a_path, "paths"),
        (spent_less_on_a_stage, "stages"),
        (moved_edge(1), "release"),
        (moved_edge(-1), "release"),
        (put("registry.yaml", lambda text: text.replace(": 1.0", ": 0.1")), "registry entry"),
        (put("registry.yaml", lambda _: "a: &a [1]\nb: *a\n"), "registry entry"),
    ],
)
def test_a_folder_that_was_changed_and_summed_up_again_is_found(change, check, folder) -> None:
    change(folder)
    made_good(folder)
    assert check in wrong(folder)


@pytest.mark.parametrize(
    "change",
    [
        lambda said: said["booking"].update(units=said["booking"]["units"] // 2),
        lambda said: said["release"].update(epsilon=0.5),
        lambda said: said["extent"].update(bounds=[0, 0, 1, 1]),
        lambda said: said["accuracy"]["thematic"].update(most=1.0),
        lambda said: said.update(date="2020-01-01"),
        lambda said: said.update(more="than there is"),
        lambda said: said["booking"].update(row="ab"),
        lambda said: said["boxes"][0].update(box=[1, 2]),
        lambda said: said["boxes"][0].update(wkb="00"),
        lambda said: said.pop("booking"),
        lambda said: said["booking"].update(spent_before=10**400),
        lambda said: said["boxes"][0].update(box=[10**400, 0, 1, 1]),
        lambda said: said.pop("software"),
        lambda said: said.update(software=["dp-explorer"]),
        lambda said: said["files"]["map.png"].update(what="A cat"),
    ],
)
def test_facts_that_are_not_the_releases_are_found(change, folder) -> None:
    made_good(folder, change)
    assert "facts" in wrong(folder)


def test_a_release_that_unpacks_to_too_much_is_not_unpacked(folder, monkeypatch) -> None:
    path = folder / "release.parquet"
    table = pq.read_table(path)
    # Zeros: small packed, 8 MB unpacked.
    big = pa.table({"count": pa.array(np.zeros(10**6))})
    big = big.replace_schema_metadata(table.schema.metadata)
    pq.write_table(big, path, compression="zstd", use_dictionary=False)
    made_good(folder)
    assert path.stat().st_size < 10**6
    monkeypatch.setattr(contents, "MOST", 7 * 10**6)
    monkeypatch.setattr(Release, "load", lambda _: pytest.fail("it was read"))
    (check,) = [each for each in checked(folder).checks if not each.holds]
    assert "2 GB" in check.said


@pytest.mark.parametrize(
    ("library", "check"), [("numpy", "report.html: contents"), ("dp-explorer", "facts")]
)
def test_words_of_other_versions_are_said_not_to_be_compared(library, check, folder) -> None:
    path = folder / "report.html"
    path.write_text(path.read_text().replace("Rides of Amber", "Rides of Umber"))
    made_good(folder)
    assert wrong(folder) == ["report.html: contents"]
    made_good(folder, lambda said: said["software"].update({library: "0.0.1"}))
    held = {each.name: each.said for each in checked(folder).checks if each.holds}
    assert "not compared" in held[check]


def test_a_footer_that_lies_about_its_rows_is_found(folder) -> None:
    path = folder / "release.parquet"
    content = path.read_bytes()
    size = int.from_bytes(content[-8:-4], "little")
    for wrong_size in (size + 4, size - 4, 2**31 - 1):
        path.write_bytes(content[:-8] + wrong_size.to_bytes(4, "little") + content[-4:])
        made_good(folder)
        assert wrong(folder) == ["release"]


def another_count(text: str) -> str:
    head, row, *rest = text.split("\n")
    leaf, count, *others = row.split(",")
    return "\n".join([head, ",".join([leaf, str(float(count) + 1), *others]), *rest])


def another_row(text: str) -> str:
    return text + text.rstrip("\n").rpartition("\n")[2] + "\n"


def moved(text: str, degrees: float = 1e-6) -> str:
    head, _, rest = text.partition('"coordinates":[[[')
    lon, _, rest = rest.partition(",")
    return f'{head}"coordinates":[[[{float(lon) + degrees:.9f},{rest}'


def other_picture(folder: Path) -> None:
    release = Release.load(folder / "release.parquet")
    write_picture(folder / "density.tif", release.density() + 1e-3, release.grid, {})


def elsewhere_picture(folder: Path) -> None:
    release = Release.load(folder / "release.parquet")
    west, south, east, north = GRID.bounds
    other = replace(GRID, bounds=(west + 1, south, east + 1, north))
    write_picture(folder / "density.tif", release.density(), other, {})


def other_package(folder: Path) -> None:
    import pyogrio

    frame = pyogrio.read_dataframe(folder / "leaves.gpkg")
    frame.loc[3, "count"] += 1
    (folder / "leaves.gpkg").unlink()
    pyogrio.write_dataframe(frame, folder / "leaves.gpkg", layer="leaves")


OTHERWISE = {
    "leaves.csv": [put("leaves.csv", another_count), put("leaves.csv", another_row)],
    "leaves.geojson": [
        put("leaves.geojson", moved),
        put("leaves.geojson", lambda text: text.replace('"count":', '"count":1', 1)),
        put("leaves.geojson", lambda text: text.replace("]}\n", "") + ',{"type":"Feature"}\n]}\n'),
    ],
    "leaves.gpkg": [other_package],
    "density.tif": [other_picture, elsewhere_picture],
    "report.html": [
        put("report.html", lambda text: text.replace("</main>", "<script>1</script></main>")),
        put("report.html", lambda text: text.replace("</main>", '<img src="//a.b/c"></main>')),
        put("report.html", lambda text: text.replace("default-src", "x-src")),
        put("report.html", lambda text: text.replace("<main>", '<main onload="a()">')),
        put("report.html", lambda text: text.replace("2.72 times", "1.72 times")),
        put("report.html", lambda text: text.replace("Harbour", "Airport")),
    ],
    "map.png": [lambda folder: (folder / "map.png").write_bytes(b"GIF89a")],
}


@pytest.mark.parametrize(
    ("name", "number"), [(name, n) for name, each in OTHERWISE.items() for n in range(len(each))]
)
def test_formats_that_disagree_are_found(name, number, folder) -> None:
    OTHERWISE[name][number](folder)
    made_good(folder)
    assert wrong(folder) == [f"{name}: contents"]


def test_degrees_of_another_version_of_proj_hold(folder) -> None:
    put("leaves.geojson", lambda text: moved(text, 8e-9))(folder)
    made_good(folder)
    assert wrong(folder) == []


def test_what_cannot_be_read_is_one_sentence(folder, tmp_path) -> None:
    for path in (tmp_path / "nowhere", tmp_path):
        with pytest.raises(InputError):
            verify(path)
    for content in (
        b"",
        b"[]",
        b"{}",
        b"[" * 100_000,
        b'{"kind":"dp-explorer release","format":9}',
    ):
        (folder / MANIFEST).write_bytes(content)
        with pytest.raises(InputError) as refused:
            verify(folder)
        assert "\n" not in str(refused.value)
    with (folder / "map.png").open("r+b") as file:
        file.truncate(3 * 10**9)  # a file with a hole: no disk holds it
    with pytest.raises(InputError, match="2 GB"):
        verify(folder)


def with_a_view(path: Path) -> None:
    """A package whose layer is computed when it is read, without end."""
    with closing(sqlite3.connect(path)) as package:
        for name in ("rtree_leaves_geom_insert", "rtree_leaves_geom_delete"):
            package.execute(f"DROP TRIGGER IF EXISTS {name}")
        package.execute("CREATE VIEW more AS SELECT * FROM leaves")
        package.commit()


def with_a_long_line(path: Path) -> None:
    first, _, rest = path.read_text().partition('"id":0')
    path.write_text(f'{first}"id":0,"x":"{"x" * 300_000}"{rest}')


def without_end(path: Path) -> None:
    """A picture that is infinitely wide."""
    content = bytearray(path.read_bytes())
    for at in range(10, len(content), 12):
        if content[at : at + 4] == struct.pack("<HH", 256, 4):
            # As wide as the place of a double says, which is that of the width itself.
            content[at : at + 12] = struct.pack("<HHII", 256, 12, 1, len(content))
            break
    path.write_bytes(bytes(content) + struct.pack("<d", float("inf")))


def with_a_broken_shape(path: Path) -> None:
    table = pq.read_table(path)
    shapes = [b"nonsense", *table["geometry"].to_pylist()[1:]]
    at = table.schema.get_field_index("geometry")
    field = table.schema.field(at)
    pq.write_table(table.set_column(at, field, pa.array(shapes, field.type)), path)


def of_another_kind(path: Path) -> None:
    path.write_bytes(b"II*\0\x08\0\0\0" + b"\xff" * 5000)


def with_a_bomb(path: Path) -> None:
    """A tile that unpacks to more than a tile."""
    content = path.read_bytes()
    bomb = zlib.compress(bytes(10**8), 9)
    at = len(content)
    directory = geotiff.read(path)
    old = directory.places[0][0]
    # The place of the only tile stands in its directory as it is.
    place = content.index(old.to_bytes(4, "little"))
    length = content.index((at - old).to_bytes(4, "little"))
    changed = bytearray(content)
    changed[place : place + 4] = at.to_bytes(4, "little")
    changed[length : length + 4] = len(bomb).to_bytes(4, "little")
    path.write_bytes(bytes(changed) + bomb)


@pytest.mark.parametrize(
    ("name", "harm"),
    [
        ("release.parquet", with_a_broken_shape),
        ("leaves.gpkg", with_a_view),
        ("leaves.geojson", with_a_long_line),
        ("density.tif", of_another_kind),
        ("density.tif", with_a_bomb),
        ("density.tif", without_end),
    ],
)
def test_files_that_mean_harm_are_refused(name, harm, folder) -> None:
    harm(folder / name)
    made_good(folder)
    assert wrong(folder) == [f"{name}: contents"]


@pytest.mark.skipif(not SUPPORTED, reason="processes with limits are Linux's")
def test_a_folder_is_read_in_a_process_of_its_own(whole, monkeypatch) -> None:
    monkeypatch.setattr(Release, "load", lambda _: pytest.fail("it was read here"))
    assert verify(whole).holds
    monkeypatch.setattr(checks, "LIMITS", Limits(wall=0.0))
    with pytest.raises(InputError, match="more than 0 seconds"):
        verify(whole)
