"""Every file that a command writes: no room and no right are one sentence, what is there stays."""

import base64
import json
import os
import pickle
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from explorer import Release
from explorer.cli import main
from explorer.privacy.ledger import Ledger

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


def made(folder: Path) -> None:
    """What the commands read."""
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


# Each command as it is, then with room for 100 bytes: exit code and last line of what it said.
_NO_ROOM = """
import contextlib, io, json, os, resource, sys
from pathlib import Path
from explorer.cli import main
from tests.commands.test_no_room import COMMANDS, made

os.chdir(sys.argv[1])
made(Path())
assert main([*COMMANDS[1][:-1], "a.parquet"]) == 0
unlimited = resource.getrlimit(resource.RLIMIT_FSIZE)
told = []
for command in COMMANDS:
    file = Path(command[-1])
    assert main(command) == 0, command
    before, there = file.read_bytes(), sorted(os.listdir())
    assert len(before) > 100, command
    again = ["--overwrite"]
    if command[0] == "cities":  # which replaces nothing
        again, before = [], None
        file.unlink()
        there.remove(file.name)
    resource.setrlimit(resource.RLIMIT_FSIZE, (100, unlimited[1]))
    said = io.StringIO()
    try:
        with contextlib.redirect_stderr(said):
            code = main([*command, *again])
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, unlimited)
    if Path("table.runs").exists():
        Path("table.runs").rmdir()  # of runs that are finished: none is, and no half of one
    found = file.read_bytes() if file.exists() else None
    left = sorted(set(os.listdir()) ^ set(there)), found == before
    told.append([command, code, said.getvalue().strip().splitlines()[-1], left])
Path("told.json").write_text(json.dumps(told))
"""


@pytest.mark.skipif(sys.platform == "win32", reason="limits of a process")
def test_without_room_every_command_says_so_and_its_older_file_stays(tmp_path):
    asked = [sys.executable, "-c", _NO_ROOM, str(tmp_path)]
    done = subprocess.run(
        asked,
        capture_output=True,
        text=True,
        timeout=300,
        check=False,
        cwd=Path(__file__).resolve().parents[2],
    )
    assert done.returncode == 0, done.stderr
    told = json.loads((tmp_path / "told.json").read_text())
    assert len(told) == len(COMMANDS)
    for command, code, said, left in told:
        assert (code, left) == (2, [[], True]), command
        assert "could not be written" in said, said
        assert said.startswith("dp-explorer: "), said


@contextmanager
def read_only(folder: Path) -> Iterator[None]:
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
def test_a_read_only_folder_is_one_sentence(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    made(tmp_path)
    assert main([*COMMANDS[1][:-1], "a.parquet"]) == 0
    with read_only(tmp_path / "closed"):
        capsys.readouterr()
        for command in COMMANDS:
            assert main([*command[:-1], f"closed/{command[-1]}"]) == 2, command
            said = capsys.readouterr().err.strip().splitlines()
            assert "cannot be written to" in said[-1] or "could not be written" in said[-1]
            assert len(said) == 1, said


def test_a_release_that_is_drawn_while_its_ledger_is_lost_is_saved_and_said(
    tmp_path, monkeypatch, capsys
):
    monkeypatch.chdir(tmp_path)
    made(tmp_path)
    book, ledger = Ledger.book, tmp_path / "ledger.sqlite3"

    def booked(self: Ledger, *spend: object) -> int:
        number = book(self, *spend)  # type: ignore[arg-type]
        ledger.write_bytes(b"")
        return number

    monkeypatch.setattr(Ledger, "book", booked)
    command = ["release", "points.csv", *PLACE, "--epsilon", "1", "-o"]
    assert main([*command, "map.parquet"]) == 0
    said = capsys.readouterr()
    assert "Ledger: booked; it cannot be read now" in said.out
    assert (tmp_path / "map.parquet").is_file()
    assert main([*command, "other.parquet"]) == 2
    assert "it was emptied" in capsys.readouterr().err
    assert not (tmp_path / "other.parquet").exists()


# Exact counts, each of them a number that stands nowhere else.

CANARIES = np.random.default_rng(1848).permutation(np.arange(64)) * 7_919_003 + 1_234_567_891


def forms(number: int) -> list[bytes]:
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


def search(content: bytes, where: str) -> None:
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


@pytest.mark.skipif(sys.platform == "win32", reason="limits of a process")
def test_no_exact_count_is_in_what_commands_print_log_or_leave(tmp_path):
    """Points with weights: cells of 8 x 8 whose counts are the canaries."""
    centres = (np.arange(8) + 0.5 - 4) * 1000
    x, y = (each.ravel() for each in np.meshgrid(centres, centres))
    where = {"x": x, "y": y, "n": CANARIES}
    frame = pd.DataFrame(where)
    frame.to_csv(tmp_path / "weights.csv", index=False)
    # One row is out of range, one is no number: sentences about them hold no value.
    bad = pd.concat([frame, pd.DataFrame({"x": ["1234567891x"], "y": [0], "n": [1_234_567_891]})])
    bad.to_csv(tmp_path / "bad.csv", index=False)
    space = tmp_path / "tmp"
    space.mkdir()
    place = ["--bounds", "-4000", "-4000", "4000", "4000", "--crs-grid", "EPSG:32631",
             "--shape", "8"]  # fmt: skip
    columns = ["--lon", "x", "--lat", "y", "--weight", "n", "--crs", "EPSG:32631"]
    epsilon = ["--epsilon", "0.000001", "--mechanism", "identity"]
    draw = [*place, *columns, *epsilon]
    session = [
        (0, ["release", "weights.csv", *draw, "-o", "map.parquet"]),
        (2, ["release", "weights.csv", *draw, "-o", "map.parquet"]),
        (2, ["release", "weights.csv", *draw, "-o", "nowhere/map.parquet"]),
        (None, ["release", "bad.csv", *draw, "-o", "bad.parquet"]),
        (0, ["count", "weights.csv", *place, *columns, "-o", "counts.exact.parquet"]),
        (0, ["info", "counts.exact.parquet"]),
        (0, ["info", "map.parquet"]),
        (0, ["answer", "map.parquet", "--rectangles", "boxes.csv", "-o", "answers.csv"]),
        (2, ["release", "counts.exact.parquet", *epsilon[:1], "9", "-o", "over.parquet"]),
    ]
    (tmp_path / "boxes.csv").write_text("west,south,east,north,name\n-4000,-4000,4000,4000,all\n")
    settings = {
        **os.environ,
        "TMPDIR": str(space),
        "EXPLORER_CACHE": str(tmp_path / "cache"),
        "EXPLORER_LEDGER": str(tmp_path / "ledger.sqlite3"),
        "EXPLORER_EPSILON_CAP": "1",
        "PYTHONPATH": str(Path(__file__).resolve().parents[2]),
    }
    code = (
        "import json, sys; from explorer.cli import main\n"
        "for wanted, command in json.loads(sys.argv[1]):\n"
        "    code = main(command); assert wanted in (None, code), (command, code)\n"
    )
    done = subprocess.run(
        [sys.executable, "-c", code, json.dumps(session)],
        capture_output=True, timeout=300, check=False, cwd=tmp_path, env=settings,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr.decode()
    search(done.stdout, "what was printed")
    search(done.stderr, "what was said")
    assert len(list(tmp_path.glob("*.exact.parquet"))) == 1
    looked = 0
    for path in tmp_path.rglob("*"):
        mine = path.name in ("weights.csv", "bad.csv") or ".exact." in path.name
        if path.is_file() and not mine:
            looked += 1
            search(path.read_bytes(), str(path))
    assert looked >= 4
    assert list(space.iterdir()) == []
    # Unpacked, too.
    release = Release.load(tmp_path / "map.parquet")
    search(pickle.dumps(release), "the release")
