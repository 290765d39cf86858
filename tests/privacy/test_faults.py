"""What a fault of a machine leaves of a draw: nothing drawn unbooked, nothing booked twice."""

from __future__ import annotations

import ast
import os
import subprocess
import sys
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path

import numpy as np
import pytest

from explorer.errors import InputError
from explorer.mechanisms import Uniform
from explorer.points.matrix import FrequencyMatrix
from explorer.privacy.curator import Curator
from explorer.privacy.drawn import AFTER_SAVING, DrawnReleases
from explorer.privacy.ledger import Ledger
from explorer.releases.release import Release
from tests.privacy.test_ledger_file import another, gone

ROOT = Path(__file__).resolve().parents[2]
MATRIX = FrequencyMatrix.from_array(np.random.default_rng(3).integers(0, 9, (8, 8)))
TOKEN = "0123456789abcdef"
linux = pytest.mark.skipif(sys.platform != "linux", reason="forks and file systems of Linux")


def draw(folder: Path, token: str = TOKEN) -> Release:
    """Book, draw and keep, as a page does."""
    ledger = Ledger(folder / "ledger.sqlite3", population="riders", token=token)
    release = Uniform(epsilon=0.25).release(MATRIX, ledger=ledger)
    DrawnReleases(ledger.path).keep(token, release, "riders", "Uniform")
    return release


# Each moment at which a process may be killed, in a child of its own.
_KILLED = """
import os, signal, sys
from pathlib import Path
from explorer.grid import whole_file
from explorer.mechanisms import Uniform
from explorer.privacy import ledger_file
from explorer.privacy.drawn import DrawnReleases
from explorer.privacy.ledger import Ledger
from tests.privacy.test_faults import MATRIX, draw

# Libraries are loaded once.
Uniform(epsilon=0.25).release(MATRIX)

def dies_before(owner, name):
    setattr(owner, name, lambda *_, **__: os.kill(os.getpid(), signal.SIGKILL))

def dies_after(owner, name, then=lambda: os.kill(os.getpid(), signal.SIGKILL)):
    real = getattr(owner, name)
    def both(*args, **how):
        made = real(*args, **how)
        then()
        return made
    setattr(owner, name, both)

moments = {
    "before the booking": lambda: dies_before(Ledger, "book"),
    "with a row that is not committed": lambda: dies_after(ledger_file.Book, "add"),
    "after the booking": lambda: dies_after(Ledger, "book"),
    "with the noise drawn": lambda: dies_after(
        Ledger, "book", lambda: dies_after(Uniform, "plan")  # plans are warmed up before
    ),
    "with half a file": lambda: dies_before(whole_file, "_to_the_disk"),
    "with a file that nothing names": lambda: dies_before(DrawnReleases, "_note"),
    "after all": lambda: dies_after(DrawnReleases, "keep"),
}
for number, (name, prepare) in enumerate(moments.items()):
    folder = Path(sys.argv[1]) / str(number)
    folder.mkdir()
    Ledger(folder / "ledger.sqlite3").book("others", 1, "htf")
    child = os.fork()
    if not child:
        prepare()
        draw(folder)
        os._exit(0)
    assert os.waitpid(child, 0)[1] == signal.SIGKILL, name
    print(name)
"""


@linux
def test_a_draw_that_is_killed_at_any_moment_is_booked_once_or_not_at_all(tmp_path: Path) -> None:
    asked = [sys.executable, "-c", _KILLED, str(tmp_path)]
    done = subprocess.run(asked, capture_output=True, text=True, timeout=200, check=False, cwd=ROOT)
    names = done.stdout.splitlines()
    assert len(names) == 7, done.stderr
    for number, name in enumerate(names):
        folder = tmp_path / str(number)
        ledger = Ledger(folder / "ledger.sqlite3", population="riders")
        drawn = DrawnReleases(ledger.path)
        booked = sum(row.token == TOKEN for row in ledger.rows())
        assert booked == (number > 1), name
        assert [each.token for each in drawn.waiting("riders")] == ([TOKEN] if number == 6 else [])
        if booked:
            # Some of its noise may have been seen: it is neither drawn nor booked again.
            with pytest.raises(InputError, match="has been drawn before"):
                draw(folder)
        else:
            draw(folder)
        assert sum(row.token == TOKEN for row in ledger.rows()) == 1, name
        assert len(ledger.rows()) == 2, name


HARMS: list[Callable[[Path], object]] = [
    lambda path: path.write_bytes(b""),
    lambda path: path.write_bytes(path.read_bytes()[:-100]),
    gone,
    another,
]


@pytest.mark.parametrize("harm", HARMS, ids=["emptied", "cut", "gone", "exchanged"])
def test_a_ledger_that_is_harmed_during_a_draw_takes_nothing_away_and_books_nothing_more(
    tmp_path: Path, harm: Callable[[Path], object]
) -> None:
    ledger = Ledger(tmp_path / "ledger.sqlite3", population="riders")
    copies = []

    class Harming(Uniform):
        def plan(self, curator: Curator) -> object:
            # Not while it is warmed up, before it is booked.
            if ledger.path.exists():
                copies.append(ledger.path.read_bytes())
                harm(ledger.path)
            return super().plan(curator)

    release = Harming(epsilon=0.25).release(MATRIX, ledger=ledger)
    DrawnReleases(ledger.path).keep(TOKEN, release, "riders", "Harming")
    assert [each.token for each in DrawnReleases(ledger.path).waiting("riders")] == [TOKEN]
    found = ledger.path.read_bytes() if ledger.path.exists() else None
    with pytest.raises(InputError, match="so nothing was drawn"):
        Uniform(epsilon=0.25).release(MATRIX, ledger=ledger)
    assert (ledger.path.read_bytes() if ledger.path.exists() else None) == found
    # The right file is brought back: what was drawn is in it, once.
    ledger.path.write_bytes(copies[0])
    assert [row.units for row in ledger.rows()] == [25 * 10**10]


@linux
@pytest.mark.skipif(not hasattr(os, "geteuid") or os.geteuid() != 0, reason="mounts need root")
def test_a_disk_that_is_full_books_and_keeps_all_or_nothing(tmp_path: Path) -> None:
    disk = tmp_path / "disk"
    disk.mkdir()
    mount = ["mount", "-t", "tmpfs", "-o", "size=128k", "none", str(disk)]
    if subprocess.run(mount, capture_output=True, check=False).returncode:
        pytest.skip("nothing can be mounted here")
    try:
        draw(disk)
        kept = {path: path.read_bytes() for path in disk.rglob("*") if path.is_file()}
        filler = disk / "filler"
        with filler.open("wb", buffering=0) as file, suppress(OSError):
            while True:
                file.write(b"x" * 4096)
        before = Ledger(disk / "ledger.sqlite3").rows()
        with pytest.raises(InputError, match="nothing was drawn") as refused:
            draw(disk, "f" * 16)
        assert "\n" not in str(refused.value)
        release = Uniform(epsilon=0.25).release(MATRIX, rng=1)
        with pytest.raises(InputError, match="No space left on device"):
            DrawnReleases(disk / "ledger.sqlite3").keep("f" * 16, release, "riders", "x")
        with pytest.raises(InputError, match="No space left on device"):
            release.save(DrawnReleases(disk / "ledger.sqlite3").folder / f"{TOKEN}.parquet")
        filler.unlink()
        assert Ledger(disk / "ledger.sqlite3").rows() == before
        assert {path: path.read_bytes() for path in disk.rglob("*") if path.is_file()} == kept
        draw(disk, "f" * 16)
        assert len(Ledger(disk / "ledger.sqlite3").rows()) == 2
    finally:
        subprocess.run(["umount", str(disk)], check=True)


@pytest.mark.parametrize("days", [-1, 1, 400])
def test_a_clock_that_jumps_takes_no_drawn_release_that_nobody_has(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, days: int
) -> None:
    from explorer.privacy import drawn as module

    draw(tmp_path)
    now = module.time.time() + days * AFTER_SAVING
    monkeypatch.setattr(module.time, "time", lambda: now)
    draw(tmp_path, "f" * 16)
    waiting = DrawnReleases(tmp_path / "ledger.sqlite3").waiting("riders")
    assert {each.token for each in waiting} == {TOKEN, "f" * 16}
    rows = Ledger(tmp_path / "ledger.sqlite3").rows()
    assert [row.token for row in rows] == [TOKEN, "f" * 16]


#: Modules that may ask what time it is: rows of a ledger, files of a day, the date on a report.
WALL = {
    "explorer/privacy/ledger_file.py",
    "explorer/privacy/drawn.py",
    "explorer/app/mappage/drawer.py",
    "explorer/app/publish/page.py",
}


def test_no_limit_looks_at_a_clock_that_can_be_set() -> None:
    asking = set()
    for path in (ROOT / "explorer").rglob("*.py"):
        for node in ast.walk(ast.parse(path.read_text("utf8"))):
            if isinstance(node, ast.Attribute) and ast.unparse(node) in (
                *("time.time", "time.time_ns", "datetime.now", "datetime.utcnow", "date.today"),
                *("datetime.fromtimestamp", "datetime.today"),
            ):
                asking.add(path.relative_to(ROOT).as_posix())
    assert asking == WALL
