"""Every file that a command writes: no room and no right are one sentence, what is there stays."""

import base64
import os
import pickle
import sys
from contextlib import contextmanager

import numpy as np
import pandas as pd
import pytest

from explorer import Ledger, Release
from explorer.cli import main
from tests.commands.refusals import refusal

PLACE = ["--around", "2.35", "48.85", "--size", "8km", "--shape", "64"]
ENDINGS = ("csv", "json", "geojson", "txt", "parquet", "gpkg")
#: The last word of each command is a file that it writes; points and boxes lie beside it.
COMMANDS = [
    ["count", "points.csv", *PLACE, "-o", "c.exact.parquet"],
    ["release", "points.csv", *PLACE, "--epsilon", "1", "--preview", "1", "-o", "map.parquet"],
    ["trips", "trips.csv", *PLACE[:5], "--grid", "8", "--epsilon", "1", "--preview", "1",
     "-o", "trips.parquet"],
    *(["answer", "a.parquet", "--rectangles", "boxes.csv", "-o", f"x.{each}"] for each in ENDINGS),
    ["evaluate", "madeup", "--shape", "32", "--mechanisms", "uniform", "--epsilon",
     "1", "--seeds", "1", "--jobs", "1", "-o", "table.csv"],
    ["scenario", "screen.yaml", "-o", "screen.ipynb"],
    ["scenario", "screen.yaml", "-o", "screen.py"],
    ["cities", "--make-boundaries", "areas.geojson"],
]  # fmt: skip


@pytest.fixture
def folder(tmp_path_factory, monkeypatch):
    """What the commands read, and the working directory."""
    folder = tmp_path_factory.mktemp("files")
    monkeypatch.chdir(folder)
    rng = np.random.default_rng(1)
    lon, lat = rng.normal(2.35, 0.01, (2, 400)), rng.normal(48.85, 0.01, (2, 400))
    pd.DataFrame({"lon": lon[0], "lat": lat[0]}).to_csv(folder / "points.csv", index=False)
    pd.DataFrame({"o_lon": lon[0], "o_lat": lat[0], "d_lon": lon[1], "d_lat": lat[1]}).to_csv(
        folder / "trips.csv", index=False
    )
    (folder / "boxes.csv").write_text(
        "west,south,east,north,name\n" + "".join(f"0,0,{n},900,box {n}\n" for n in range(1, 99))
    )
    (folder / "screen.yaml").write_text("scenario: 1\ncity: madeup\nside: 256\n")
    assert main([*COMMANDS[1][:-1], "a.parquet"]) == 0
    return folder


@pytest.mark.skipif(sys.platform == "win32", reason="limits of a process")
def test_without_room_every_command_says_so_and_its_older_file_stays(folder, capsys):
    """Each command as it is, then with room for 100 bytes."""
    import resource

    unlimited = resource.getrlimit(resource.RLIMIT_FSIZE)
    for command in COMMANDS:
        assert main(command) == 0, command
        file = folder / command[-1]
        before, again = file.read_bytes(), ["--overwrite"]
        assert len(before) > 100, command
        if command[0] == "cities":  # which replaces nothing
            file.unlink()
            before, again = None, []
        there = {path.name for path in folder.iterdir()}
        capsys.readouterr()
        resource.setrlimit(resource.RLIMIT_FSIZE, (100, unlimited[1]))
        try:
            code = main([*command, *again])
        finally:
            resource.setrlimit(resource.RLIMIT_FSIZE, unlimited)
        if (folder / "table.runs").exists():
            (
                folder / "table.runs"
            ).rmdir()  # of runs that are finished: none is, and no half of one
        said = capsys.readouterr().err.strip().splitlines()[-1]
        assert code == 2, command
        assert said.startswith("dp-explorer: ")
        assert "could not be written" in said
        assert {path.name for path in folder.iterdir()} == there, command
        assert (file.read_bytes() if file.exists() else None) == before, command


@contextmanager
def read_only(folder):
    """A folder in which nothing can be written, not even by root."""
    if os.geteuid() == 0:
        # To root no other folder is closed: the system itself says what lies in this one.
        folder.symlink_to("/sys/kernel")
        yield
        return
    folder.mkdir()
    folder.chmod(0o555)
    yield
    folder.chmod(0o755)


@pytest.mark.skipif(sys.platform != "linux", reason="users, permissions and /sys")
def test_a_read_only_folder_is_one_sentence(folder, capsys):
    with read_only(folder / "closed"):
        capsys.readouterr()
        for command in COMMANDS:
            assert main([*command[:-1], f"closed/{command[-1]}"]) == 2, command
            (said,) = capsys.readouterr().err.strip().splitlines()
            assert "cannot be written to" in said or "could not be written" in said


def test_a_release_that_is_drawn_while_its_ledger_is_lost_is_saved_and_said(
    folder, monkeypatch, run, capsys
):
    book, ledger = Ledger.book, Ledger().path

    def booked(self, *spend):
        number = book(self, *spend)
        ledger.write_bytes(b"")
        return number

    monkeypatch.setattr(Ledger, "book", booked)
    line = f"release points.csv {' '.join(PLACE)} --epsilon 1 -o"
    assert "Ledger: booked; it cannot be read now" in run(f"{line} map.parquet").out
    assert (folder / "map.parquet").is_file()
    assert "it was emptied" in refusal(capsys, *f"{line} other.parquet".split())
    assert not (folder / "other.parquet").exists()


# Exact counts, each of them a number that stands nowhere else.

CANARIES = np.random.default_rng(1848).permutation(np.arange(64)) * 7_919_003 + 1_234_567_891


def forms(number):
    """What a number may look like in a file: text, binary, and binary as text."""
    texts = [f"{number}", f"{number:,}", f"{number:,}".replace(",", "\u202f"), f"{number:.6e}"]
    binary = [
        np.array(number).astype(kind).tobytes() for kind in ("<i8", "<f8", ">i8", "<i4", ">i4")
    ]
    coded = [
        # The letters that do not depend on the bytes around it.
        base64.b64encode(b"\0" * at + each + b"\0\0\0")[-(-8 * at // 6) : 8 * (at + 8) // 6]
        for each in binary[:2]
        for at in range(3)
    ]
    # A total fits into no four bytes.
    return [text.encode() for text in texts] + binary[: 5 if number < 2**31 else 3] + coded


def search(content, where):
    for number in (*CANARIES.tolist(), int(CANARIES.sum())):
        for form in forms(number):
            assert form not in content, f"{number} as {form!r} in {where}"


def test_the_search_finds_every_form():
    number = int(CANARIES[5])
    for content in (
        f"of {number:,} people".encode(),
        pickle.dumps(np.array([1, number])),
        np.array([2.0, number, 3.0]).tobytes(),
        np.array([number], np.int32).tobytes(),
        *(base64.b64encode(b"x" * n + np.array([number]).tobytes() + b"yyy") for n in range(3)),
        *(base64.b64encode(b"x" * n + np.array([number / 1.0]).tobytes() + b"y") for n in range(3)),
    ):
        with pytest.raises(AssertionError):
            search(content, "here")


def test_no_exact_count_is_in_what_commands_print_log_or_leave(tmp_path, monkeypatch, capfd):
    """Points with weights: cells of 8 x 8 whose counts are the canaries."""
    monkeypatch.chdir(tmp_path)
    centres = (np.arange(8) + 0.5 - 4) * 1000
    x, y = (each.ravel() for each in np.meshgrid(centres, centres))
    frame = pd.DataFrame({"x": x, "y": y, "n": CANARIES})
    frame.to_csv("weights.csv", index=False)
    # One row is out of range, one is no number: sentences about them hold no value.
    bad = pd.concat([frame, pd.DataFrame({"x": ["1234567891x"], "y": [0], "n": [1_234_567_891]})])
    bad.to_csv("bad.csv", index=False)
    (tmp_path / "boxes.csv").write_text("west,south,east,north,name\n-4000,-4000,4000,4000,all\n")
    space = tmp_path / "tmp"
    space.mkdir()
    monkeypatch.setattr("tempfile.tempdir", str(space))
    monkeypatch.setenv("EXPLORER_CACHE", str(tmp_path / "cache"))
    monkeypatch.setenv("EXPLORER_EPSILON_CAP", "1")
    draw = "--bounds -4000 -4000 4000 4000 --crs-grid EPSG:32631 --shape 8 --lon x --lat y"
    draw += " --weight n --crs EPSG:32631"
    epsilon = "--epsilon 0.000001 --mechanism identity"
    for code, line in (
        (0, f"release weights.csv {draw} {epsilon} -o map.parquet"),
        (2, f"release weights.csv {draw} {epsilon} -o map.parquet"),
        (2, f"release weights.csv {draw} {epsilon} -o nowhere/map.parquet"),
        (2, f"release bad.csv {draw} {epsilon} -o bad.parquet"),
        (0, f"count weights.csv {draw} -o counts.exact.parquet"),
        (0, "info counts.exact.parquet"),
        (0, "info map.parquet"),
        (0, "answer map.parquet --rectangles boxes.csv -o answers.csv"),
        (2, "release counts.exact.parquet --epsilon 9 -o over.parquet"),
    ):
        assert main(line.split()) == code, line
    out, err = capfd.readouterr()
    search(out.encode(), "what was printed")
    search(err.encode(), "what was said")
    assert len(list(tmp_path.glob("*.exact.parquet"))) == 1
    mine = ("weights.csv", "bad.csv", "counts.exact.parquet")
    files = [path for path in tmp_path.rglob("*") if path.is_file() and path.name not in mine]
    assert len(files) >= 4
    for path in files:
        search(path.read_bytes(), str(path))
    assert list(space.iterdir()) == []
    # Unpacked, too.
    search(pickle.dumps(Release.load("map.parquet")), "the release")
