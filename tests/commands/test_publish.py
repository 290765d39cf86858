"""`dp-explorer publish`, `verify` and `ledger`: one draw, once, as a folder that others check."""

import csv
import io
import json
import shutil
import subprocess
import sys
from contextlib import redirect_stdout
from hashlib import sha256
from pathlib import Path

import numpy as np
import pytest
import yaml

from explorer.cli import main
from explorer.privacy.drawn import DrawnReleases
from explorer.privacy.ledger import Ledger
from explorer.publish.checks import checked
from explorer.publish.names import REQUIRED, SIGNATURE
from explorer.releases.release import Release
from tests.commands.refusals import refusal
from tests.publish.folders import ABOUT

ROOT = Path(__file__).resolve().parents[2]
N = 4_711
HERE = ["--around", "-122.42", "37.77", "--size", "20km", "--shape", "32"]
DRAW = [*HERE, "--mechanism", "quadtree", "--epsilon", "0.5"]


@pytest.fixture(autouse=True)
def here(tmp_path, monkeypatch):
    """A folder with points and what is said of them, in which commands run."""
    monkeypatch.chdir(tmp_path)
    inputs(tmp_path)
    return tmp_path


def inputs(folder: Path) -> None:
    rng = np.random.default_rng(1)
    places = rng.normal([-122.42, 37.77], 0.02, (N, 2))
    lines = [f"{lon:.6f},{lat:.6f}" for lon, lat in places]
    (folder / "riders.csv").write_text("\n".join(["lon,lat", *lines]) + "\n")
    (folder / "about.yaml").write_text(yaml.safe_dump(ABOUT.facts()))


def publish(*more: str, code: int = 0) -> None:
    assert main(["publish", "riders.csv", *DRAW, *more]) == code


def rows() -> list[dict[str, str]]:
    """The lines of `dp-explorer ledger --format csv`."""
    out = io.StringIO()
    with redirect_stdout(out):
        assert main(["ledger", "--format", "csv"]) == 0
    return list(csv.DictReader(io.StringIO(out.getvalue())))


def test_what_is_published_holds_and_is_booked_once(capsys):
    publish("--about", "about.yaml", "-o", "out")
    out, err = capsys.readouterr()
    assert "Published as out." in out
    assert "Signed with the key" in out
    assert str(N) not in out + err
    assert f"{N:,}" not in out + err
    assert {path.name for path in Path("out").iterdir()} == {*REQUIRED, SIGNATURE}
    assert main(["verify", "out"]) == 0
    assert "The folder holds." in capsys.readouterr().out
    (row,) = Ledger().rows()
    assert (row.population, row.units) == ("riders", 5 * 10**11)
    booking = json.loads(Path("out/manifest.json").read_bytes())["booking"]
    assert (booking["population"], booking["time"]) == ("riders", row.time)
    assert row.dataset not in Path("out/manifest.json").read_text()
    assert str(row.token) not in Path("out/manifest.json").read_text()


def test_what_a_person_says_is_asked_once(capsys):
    said = refusal(capsys, "publish", "riders.csv", *DRAW, "-o", "out")
    assert "curator (who publishes it" in said
    assert Ledger().rows() == []
    publish("--about", "about.yaml", "-o", "out")
    publish("-o", "again", "--title", "Another title")
    titles = [
        json.loads(Path(f"{each}/manifest.json").read_bytes())["title"] for each in ("out", "again")
    ]
    assert titles == [ABOUT.title, "Another title"]
    # The second is another draw, and says what the first one cost.
    assert len(Ledger().rows()) == 2
    spent = json.loads(Path("again/manifest.json").read_bytes())["booking"]["spent_before"]
    assert spent == 5 * 10**11


def test_boxes_of_a_persons_own_stand_in_the_report():
    Path("boxes.csv").write_text("name,x0,y0,x1,y1\nOld town,-3000,-3000,2000,1000\n")
    publish("--about", "about.yaml", "-o", "out", "--boxes", "boxes.csv")
    release = Release.load("out/release.parquet")
    value = release.answer([[-3000, -3000, 2000, 1000]]).value[0]
    text = Path("out/report.html").read_text()
    assert "Old town" in text
    assert f"{value:,.0f}" in text


def test_a_changed_folder_has_exit_code_one_and_what_is_none_two(capsys):
    publish("--about", "about.yaml", "-o", "out")
    capsys.readouterr()
    assert main(["publish", "--public-key"]) == 0
    Path("public.pem").write_text(capsys.readouterr().out)
    assert main(["verify", "out", "--key", "public.pem"]) == 0
    capsys.readouterr()
    with Path("out/leaves.csv").open("a") as file:
        file.write("9\n")
    with pytest.raises(SystemExit) as ended:
        main(["verify", "out", "--json"])
    assert ended.value.code == 1
    said = json.loads(capsys.readouterr().out)
    assert not said["holds"]
    assert [each["name"] for each in said["checks"] if not each["holds"]] == [
        "leaves.csv",
        "contents",
    ]
    assert "manifest.json" in refusal(capsys, "verify", ".")
    assert "nowhere" in refusal(capsys, "verify", "nowhere")
    assert "public key" in refusal(capsys, "verify", "out", "--key", "riders.csv")


def test_the_ledger_says_what_was_spent_for_which_file(monkeypatch, capsys):
    monkeypatch.setenv("EXPLORER_EPSILON_CAP", "2")
    publish("--about", "about.yaml", "-o", "out")
    assert main(["release", "riders.csv", *DRAW, "-o", "map.parquet"]) == 0
    Ledger(population="others").book("k", 10**11, "htf")
    capsys.readouterr()
    found = rows()
    assert [row["population"] for row in found] == ["riders", "riders", "others"]
    assert [row["file"] for row in found] == ["out", "map.parquet", ""]
    assert [row["state"] for row in found] == ["saved", "saved", "not noted"]
    assert [float(row["epsilon"]) for row in found] == [0.5, 0.5, 0.1]
    sums = [(float(row["population_spent"]), float(row["population_left"])) for row in found]
    assert sums == [(1.0, 1.0), (1.0, 1.0), (0.1, 1.9)]
    assert found[0]["sha256"] == sha256(Path("out/release.parquet").read_bytes()).hexdigest()
    assert found[1]["sha256"] == sha256(Path("map.parquet").read_bytes()).hexdigest()
    assert main(["ledger", "--format", "json", "--population", "Riders"]) == 0
    (only,) = json.loads(capsys.readouterr().out)
    assert (only["spent"], only["left"]) == (1.0, 1.0)
    assert main(["ledger"]) == 0
    table = capsys.readouterr().out
    assert "no cap" not in table
    for each in (str(N), f"{N:,}"):
        assert each not in table
    assert "nothing on the population" in refusal(capsys, "ledger", "--population", "nobody")


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
WANTED = ["publish", "riders.csv", *DRAW, "--about", "about.yaml", "-o", "out"]


@pytest.fixture(scope="module")
def killed(tmp_path_factory):
    """A folder for each moment, as the process left it that was killed then."""
    base = tmp_path_factory.mktemp("killed")
    inputs(base)
    run = [sys.executable, "-c", _KILLED, str(base), *WANTED]
    done = subprocess.run(run, capture_output=True, text=True, check=False, cwd=ROOT, timeout=300)
    assert done.stdout.splitlines() == list(MOMENTS), done.stderr
    return base


@pytest.mark.skipif(sys.platform != "linux", reason="forks of Linux")
@pytest.mark.parametrize("number", range(len(MOMENTS)), ids=list(MOMENTS))
def test_a_process_that_is_killed_loses_budget_at_most(number, killed, monkeypatch, capsys):
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

    capsys.readouterr()
    if left == "lost":
        assert main(WANTED) == 2
        assert "did not come to its end" in capsys.readouterr().err
        assert not Path("out").exists()
        assert len(Ledger().rows()) == 1
        assert main([*WANTED, "--draw-again"]) == 0
        assert len(Ledger().rows()) == 2
    else:
        assert main(WANTED) == 0
        out, err = capsys.readouterr()
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


def test_no_room_for_the_folder_keeps_what_was_drawn(monkeypatch, capsys):
    from explorer.publish import directory

    def full(*_: object) -> None:
        raise OSError(28, "No space left on device")

    with monkeypatch.context() as patched:
        patched.setattr(directory, "manifest_of", full)
        publish("--about", "about.yaml", "-o", "out", code=2)
    assert "No space left" in capsys.readouterr().err
    assert not Path("out").exists()
    assert [p for p in Path().iterdir() if p.name.startswith(".part")] == []
    publish("-o", "out")
    assert "nothing more is spent" in capsys.readouterr().err
    assert len(Ledger().rows()) == 1


# Folders of the format before, in which the name of a ledger's row could be computed.

OLD = ROOT / "tests" / "golden" / "ledger-2"


def test_an_older_folder_is_said_to_tell_too_much_and_is_published_anew_for_nothing(
    here, capsys, monkeypatch
):
    shutil.copytree(OLD, here / "old")
    monkeypatch.setenv("EXPLORER_LEDGER", str(here / "old" / "ledger.sqlite3"))
    monkeypatch.setenv("EXPLORER_EPSILON_CAP", "0.1")
    assert main(["verify", "old/two"]) == 0
    said = capsys.readouterr().out
    assert "publish --again DIR" in said
    assert "The folder holds." in said
    before = rows()
    assert main(["publish", "--again", "old/two", "-o", "new", "--licence", "CC0"]) == 0
    assert "nothing was drawn or spent" in capsys.readouterr().out
    now = rows()
    assert [row["epsilon"] for row in now] == [row["epsilon"] for row in before]
    assert [row["file"] for row in now if row["state"] == "saved"] == ["one", "new"]
    assert main(["verify", "new"]) == 0
    assert "--again" not in capsys.readouterr().out
    old, new = (json.loads(Path(f"{at}/manifest.json").read_bytes()) for at in ("old/two", "new"))
    assert old["booking"].pop("row") != new["booking"].pop("row")
    assert (new["booking"], new["release"]) == (old["booking"], old["release"])
    assert new["about"] == {**old["about"], "licence": "CC0"}
    # A new one is published anew as well.
    assert main(["publish", "--again", "new", "-o", "newer"]) == 0


@pytest.mark.parametrize(("more", "words"), [
    (["-o", "new"], "EXPLORER_LEDGER"),
    (["-o", "new", "--epsilon", "1"], "leave it out"),
    ([], "name it with -o"),
    (["-o", "old"], "exists already"),
])  # fmt: skip
def test_what_cannot_be_published_anew_is_said(here, capsys, more, words):
    """Here the ledger is another one."""
    shutil.copytree(OLD / "two", here / "old")
    assert words in refusal(capsys, "publish", "--again", "old", *more)
    assert Ledger().rows() == []
    (here / "old" / "leaves.csv").write_text("9")
    assert main(["publish", "--again", "old", "-o", "new"]) == 2
    assert "is not what was published" in capsys.readouterr().err
