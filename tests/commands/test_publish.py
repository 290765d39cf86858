"""`dp-explorer publish`, `verify` and `ledger`: one draw, once, as a folder that others check."""

import csv
import io
import json
import shutil
import subprocess
import sys
from hashlib import sha256
from pathlib import Path

import numpy as np
import pytest
import yaml

from explorer import Ledger, Release
from explorer.cli import main
from explorer.privacy.drawn import DrawnReleases
from explorer.publish import directory
from explorer.publish.checks import checked
from explorer.publish.names import REQUIRED, SIGNATURE
from tests.commands.refusals import refusal
from tests.publish.folders import ABOUT

ROOT = Path(__file__).resolve().parents[2]
N = 4_711
DRAW = "riders.csv --around -122.42 37.77 --size 20km --shape 32 --mechanism quadtree --epsilon 0.5"
PUBLISH = f"publish {DRAW}"
WANTED = f"{PUBLISH} --about about.yaml -o out"


@pytest.fixture(autouse=True)
def here(tmp_path, monkeypatch):
    """A folder with points and what is said of them, in which commands run."""
    monkeypatch.chdir(tmp_path)
    inputs(tmp_path)
    return tmp_path


def inputs(folder):
    places = np.random.default_rng(1).normal([-122.42, 37.77], 0.02, (N, 2))
    lines = [f"{lon:.6f},{lat:.6f}" for lon, lat in places]
    (folder / "riders.csv").write_text("\n".join(["lon,lat", *lines]) + "\n")
    (folder / "about.yaml").write_text(yaml.safe_dump(ABOUT.facts()))


@pytest.fixture
def rows(run):
    """The lines of `dp-explorer ledger --format csv`."""
    return lambda: list(csv.DictReader(io.StringIO(run("ledger --format csv").out)))


def manifest(folder):
    return json.loads(Path(f"{folder}/manifest.json").read_bytes())


def test_what_is_published_holds_and_is_booked_once(run):
    printed = run(WANTED)
    assert "Published as out." in printed.out
    assert "Signed with the key" in printed.out
    assert str(N) not in "".join(printed).replace(",", "")
    assert {path.name for path in Path("out").iterdir()} == {*REQUIRED, SIGNATURE}
    assert "The folder holds." in run("verify out").out
    (row,) = Ledger().rows()
    assert (row.population, row.units) == ("riders", 5 * 10**11)
    booking = manifest("out")["booking"]
    assert (booking["population"], booking["time"]) == ("riders", row.time)
    assert row.dataset not in Path("out/manifest.json").read_text()
    assert str(row.token) not in Path("out/manifest.json").read_text()


def test_what_a_person_says_is_asked_once_and_boxes_stand_in_the_report(run):
    run(WANTED)
    Path("boxes.csv").write_text("name,x0,y0,x1,y1\nOld town,-3000,-3000,2000,1000\n")
    run(f"{PUBLISH} -o again --title Another --boxes boxes.csv")
    assert [manifest(each)["title"] for each in ("out", "again")] == [ABOUT.title, "Another"]
    # The second is another draw, and says what the first one cost.
    assert len(Ledger().rows()) == 2
    assert manifest("again")["booking"]["spent_before"] == 5 * 10**11
    value = Release.load("again/release.parquet").answer([[-3000, -3000, 2000, 1000]]).value[0]
    text = Path("again/report.html").read_text()
    assert "Old town" in text
    assert f"{value:,.0f}" in text


def test_a_changed_folder_has_exit_code_one_and_what_is_none_two(run, capsys):
    run(WANTED)
    Path("public.pem").write_text(run("publish --public-key").out)
    run("verify out --key public.pem")
    with Path("out/leaves.csv").open("a") as file:
        file.write("9\n")
    with pytest.raises(SystemExit) as ended:
        main(["verify", "out", "--json"])
    assert ended.value.code == 1
    said = json.loads(capsys.readouterr().out)
    assert not said["holds"]
    broken = [each["name"] for each in said["checks"] if not each["holds"]]
    assert broken == ["leaves.csv", "contents"]
    assert "public key" in refusal(capsys, "verify", "out", "--key", "riders.csv")


def test_the_ledger_says_what_was_spent_for_which_file(run, rows, monkeypatch):
    monkeypatch.setenv("EXPLORER_EPSILON_CAP", "2")
    run(WANTED)
    run(f"release {DRAW} -o map.parquet")
    Ledger(population="others").book("k", 10**11, "htf")
    found = rows()
    assert [row["population"] for row in found] == ["riders", "riders", "others"]
    assert [row["file"] for row in found] == ["out", "map.parquet", ""]
    assert [row["state"] for row in found] == ["saved", "saved", "not noted"]
    assert [float(row["epsilon"]) for row in found] == [0.5, 0.5, 0.1]
    sums = [(float(row["population_spent"]), float(row["population_left"])) for row in found]
    assert sums == [(1.0, 1.0), (1.0, 1.0), (0.1, 1.9)]
    for row, file in zip(found, ("out/release.parquet", "map.parquet"), strict=False):
        assert row["sha256"] == sha256(Path(file).read_bytes()).hexdigest()
    (only,) = json.loads(run("ledger --format json --population Riders").out)
    assert (only["spent"], only["left"]) == (1.0, 1.0)
    table = run("ledger").out
    assert "no cap" not in table
    assert str(N) not in table.replace(",", "")


# Each moment at which the process may be killed, in a child of its own; libraries load once.
_KILLED = """
import os, shutil, signal, sys
from pathlib import Path
from explorer.cli import main
from explorer.mechanisms import QuadTree
from explorer.points.matrix import FrequencyMatrix
from explorer.privacy import ledger_file, once
from explorer.privacy.drawn import DrawnReleases
from explorer.privacy.ledger import Ledger
from explorer.publish import directory, picture

QuadTree(epsilon=0.5).release(FrequencyMatrix.from_array([[1, 2], [3, 4]]))

def die(*_, **__):
    os.kill(os.getpid(), signal.SIGKILL)

def dies_after(owner, name, then=die):
    real = getattr(owner, name)
    def both(*args, **how):
        made = real(*args, **how)
        then()
        return made
    setattr(owner, name, both)

moments = {
    "before the booking": lambda: setattr(Ledger, "book", die),
    "with a row that is not committed": lambda: dies_after(ledger_file.Book, "add"),
    "after the booking": lambda: dies_after(Ledger, "book"),
    "with the noise drawn": lambda: dies_after(
        Ledger, "book", lambda: dies_after(QuadTree, "plan")  # plans are warmed up before
    ),
    "before it is kept": lambda: setattr(DrawnReleases, "keep", die),
    "with a file that nothing names": lambda: setattr(DrawnReleases, "_note", die),
    "when it is kept": lambda: dies_after(DrawnReleases, "keep"),
    "with half a folder": lambda: setattr(directory, "manifest_of", die),
    "before the folder has its name": lambda: setattr(directory, "_to_the_disk", die),
    "with the folder, not noted": lambda: setattr(DrawnReleases, "saved", die),
}
base = Path(sys.argv[1])
for number, (name, prepare) in enumerate(moments.items()):
    folder = base / str(number)
    folder.mkdir()
    for each in ("riders.csv", "about.yaml"):
        shutil.copy(base / each, folder / each)
    child = os.fork()
    if not child:
        os.chdir(folder)
        os.environ["EXPLORER_LEDGER"] = str(folder / "ledger.sqlite3")
        prepare()
        main(sys.argv[2:])
        os._exit(0)
    assert os.waitpid(child, 0)[1] == signal.SIGKILL, name
    print(name)
"""
MOMENTS = {
    "before the booking": "nothing",
    "with a row that is not committed": "nothing",
    "after the booking": "lost",
    "with the noise drawn": "lost",
    "before it is kept": "lost",
    "with a file that nothing names": "kept",
    "when it is kept": "kept",
    "with half a folder": "kept",
    "before the folder has its name": "kept",
    "with the folder, not noted": "published",
}


@pytest.fixture(scope="module")
def killed(tmp_path_factory):
    """A folder for each moment, as the process left it that was killed then."""
    base = tmp_path_factory.mktemp("killed")
    inputs(base)
    run = [sys.executable, "-c", _KILLED, str(base), *WANTED.split()]
    done = subprocess.run(run, capture_output=True, text=True, check=False, cwd=ROOT, timeout=300)
    assert done.stdout.splitlines() == list(MOMENTS), done.stderr
    return base


@pytest.mark.skipif(sys.platform != "linux", reason="forks of Linux")
@pytest.mark.parametrize("number", range(len(MOMENTS)), ids=list(MOMENTS))
def test_a_process_that_is_killed_loses_budget_at_most(
    number, killed, run, rows, monkeypatch, capsys
):
    monkeypatch.chdir(killed / str(number))
    monkeypatch.setenv("EXPLORER_LEDGER", str(killed / str(number) / "ledger.sqlite3"))
    left = list(MOMENTS.values())[number]
    booked = [row.token for row in Ledger().rows()]
    assert len(booked) == (left != "nothing")
    assert Path("out").exists() == (left == "published")
    if booked:
        state = "unfinished" if left == "lost" else "drawn, not saved"
        assert [row["state"] for row in rows()] == [state]
    kept = DrawnReleases(Ledger().path)
    before = kept.path(str(booked[0])).read_bytes() if left in ("kept", "published") else b""

    if left == "lost":
        assert "did not come to its end" in refusal(capsys, *WANTED.split())
        assert not Path("out").exists()
        assert len(Ledger().rows()) == 1
        run(f"{WANTED} --draw-again")
        assert len(Ledger().rows()) == 2
    else:
        out, err = run(WANTED)
        assert len(Ledger().rows()) == 1
        assert ("nothing more is spent" in err) == (left == "kept")
        assert ("nothing was drawn" in out) == (left == "published")
    if before:
        Path("kept.parquet").write_bytes(before)
        drawn, shown = Release.load("kept.parquet"), Release.load("out/release.parquet")
        assert np.array_equal(drawn.counts, shown.counts)
    if left == "kept":
        assert checked(Path("out").absolute()).holds
    assert [row["state"] for row in rows()][-1] == "saved"
    # What was begun beside it has a name that nobody takes for a release.
    seen = [each.name for each in Path().iterdir() if each.is_dir() and each.name[0] != "."]
    assert sorted(seen) == ["ledger.about", "ledger.drawn", "out"]


def test_no_room_for_the_folder_keeps_what_was_drawn(run, capsys, monkeypatch):
    def full(*_):
        raise OSError(28, "No space left on device")

    with monkeypatch.context() as patched:
        patched.setattr(directory, "manifest_of", full)
        assert "No space left" in refusal(capsys, *WANTED.split())
    assert not Path("out").exists()
    assert [p for p in Path().iterdir() if p.name.startswith(".part")] == []
    assert "nothing more is spent" in run(f"{PUBLISH} -o out").err
    assert len(Ledger().rows()) == 1


# Folders of the format before, in which the name of a ledger's row could be computed.

OLD = ROOT / "tests" / "golden" / "ledger-2"


def test_an_older_folder_is_said_to_tell_too_much_and_is_published_anew_for_nothing(
    here, run, rows, monkeypatch
):
    shutil.copytree(OLD, here / "old")
    monkeypatch.setenv("EXPLORER_LEDGER", str(here / "old" / "ledger.sqlite3"))
    monkeypatch.setenv("EXPLORER_EPSILON_CAP", "0.1")
    said = run("verify old/two").out
    assert "publish --again DIR" in said
    assert "The folder holds." in said
    before = rows()
    again = run("publish --again old/two -o new --licence CC0")
    assert "nothing was drawn or spent" in again.out
    now = rows()
    assert [row["epsilon"] for row in now] == [row["epsilon"] for row in before]
    assert [row["file"] for row in now if row["state"] == "saved"] == ["one", "new"]
    assert "--again" not in run("verify new").out
    old, new = manifest("old/two"), manifest("new")
    assert old["booking"].pop("row") != new["booking"].pop("row")
    assert (new["booking"], new["release"]) == (old["booking"], old["release"])
    assert new["about"] == {**old["about"], "licence": "CC0"}
    # A new one is published anew as well.
    run("publish --again new -o newer")


def test_what_cannot_be_published_anew_is_said(here, capsys):
    """Here the ledger is another one."""
    shutil.copytree(OLD / "two", here / "old")
    for more, words in (("-o new", "EXPLORER_LEDGER"), ("-o new --epsilon 1", "leave it out"),
                        ("", "name it with -o"), ("-o old", "exists already")):  # fmt: skip
        assert words in refusal(capsys, "publish", "--again", "old", *more.split())
    assert Ledger().rows() == []
    (here / "old" / "leaves.csv").write_text("9")
    said = refusal(capsys, *["publish", "--again", "old", "-o", "new"])
    assert "is not what was published" in said
