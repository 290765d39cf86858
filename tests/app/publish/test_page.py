"""The Publish page: a drawn release becomes a folder, and nothing is drawn or spent for it."""

from __future__ import annotations

import io
import re
import zipfile
from pathlib import Path

import numpy as np
import pytest

from explorer import HTF, FrequencyMatrix, Grid, Ledger, Release
from explorer.app import Publish
from explorer.privacy.drawn import DrawnReleases
from explorer.privacy.once import draw, token_of
from explorer.privacy.receipts import statement
from explorer.publish.about import QUESTIONS, KeptAnswers
from explorer.publish.checks import checked
from explorer.publish.names import REQUIRED, SIGNATURE
from tests.app import press
from tests.publish.folders import ABOUT

N = 4_711
EMPTY = "No release is here to be published"
MAKE = "Make the folder, nothing more is spent"
GRID = Grid.around(-30, 40, "20km", shape=(16, 16))
COUNTS = np.zeros(GRID.shape, dtype=int)
COUNTS[3, 4] = N


@pytest.fixture(autouse=True)
def ledger(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Ledger:
    monkeypatch.setenv("EXPLORER_LEDGER", str(tmp_path / "ledger.sqlite3"))
    monkeypatch.setenv("EXPLORER_EPSILON_CAP", "2")
    return Ledger()


def drawn(population: str = "riders", epsilon: float = 0.5, grid: Grid = GRID) -> str:
    """Draw a release as Explore does; returns its token."""
    matrix, made = FrequencyMatrix(COUNTS, grid), HTF(epsilon=epsilon, height=4)
    booking = Ledger(population=population)
    booking.token = token_of(booking, matrix, made)
    draw(booking, matrix, made)
    return str(booking.token)


def filled(page: Publish) -> None:
    """Say all that is asked."""
    for each in QUESTIONS:
        press.put(page, each.label, getattr(ABOUT, each.name))


def sent(page: Publish) -> str:
    """All that a browser gets of the page, hidden or not."""
    names = ("object", "label", "value", "options")
    return " ".join(str(getattr(each, name, "")) for each in press.parts(page) for name in names)


def unpacked(page: Publish, to: Path) -> Path:
    """The folder that the page hands out."""
    with zipfile.ZipFile(io.BytesIO(press.download(page, "Save the folder"))) as archive:
        archive.extractall(to)
    (folder,) = to.iterdir()
    return folder


def test_without_a_drawn_release_the_page_says_where_one_is_drawn() -> None:
    page = Publish()
    assert EMPTY in press.text(page)
    assert not press.find(page, "Drawn release").visible
    page.make()  # a client may press what is not shown
    assert "Choose a release first" in page.message.sentence


def test_a_drawn_release_becomes_a_folder_that_holds(tmp_path: Path) -> None:
    token = drawn()
    page = Publish()
    assert list(page.release.options.values()) == [token]
    filled(page)
    press.press(page, MAKE)
    assert "checks of it hold" in press.text(page)
    assert "Its signature is of the key" in press.text(page)
    assert press.find(page, "Save the folder").visible
    # Made is not handed out: it still waits.
    assert [each.token for each in DrawnReleases(Ledger().path).waiting("riders")] == [token]
    folder = unpacked(page, tmp_path / "out")
    assert {each.name for each in folder.iterdir()} == {*REQUIRED, SIGNATURE}
    assert checked(folder).holds
    assert not Release.load(folder / "release.parquet").preview
    (only,) = Ledger().rows()
    assert only.units == 5 * 10**11
    assert DrawnReleases(Ledger().path).waiting("riders") == []
    ((row,),) = [each["bookings"] for each in statement(Ledger())]
    assert (row["state"], row["file"]) == ("saved", folder.name)
    assert f"{folder.name} {row['sha256'][:12]}" in press.text(page)
    # For a day it can be made anew: a download may have been cut.
    page.look()
    (name,) = press.find(page, "Drawn release").options
    assert name.endswith("(saved)")
    DrawnReleases(Ledger().path).give_up(token)
    page.look()
    assert EMPTY in press.text(page)


def test_no_exact_count_is_on_the_page_or_in_the_folder(tmp_path: Path) -> None:
    drawn()
    page = Publish()
    filled(page)
    press.press(page, MAKE)
    folder = unpacked(page, tmp_path / "out")
    key = FrequencyMatrix(COUNTS, GRID).key
    assert not {str(N), f"{N:,}"} & set(re.findall(r"[\d,.]+", sent(page)))
    assert key not in sent(page)
    # A private count may be the exact one by chance; a hash of the exact ones may not.
    for path in folder.iterdir():
        assert key.encode() not in path.read_bytes()


def test_answers_are_asked_once_for_a_population() -> None:
    drawn()
    drawn("others")
    page = Publish("riders")
    assert page.release.label == "Drawn release"
    assert "riders" in next(iter(page.release.options))
    press.press(page, MAKE)
    assert "curator (who publishes it" in page.message.sentence
    filled(page)
    press.press(page, MAKE)
    assert press.find(page, "Save the folder").visible
    # Of other people nothing was said yet.
    page.release.value = next(v for k, v in page.release.options.items() if "others" in k)
    assert page.answers.said() == {}
    assert not press.find(page, "Save the folder").visible
    assert "checks of it hold" not in press.text(page)
    again = Publish("riders")
    assert again.answers.said() == ABOUT.facts()
    assert KeptAnswers(Ledger().path).of("riders") == ABOUT.facts()


def test_what_was_given_up_meanwhile_is_refused_in_a_sentence() -> None:
    token = drawn()
    page = Publish()
    filled(page)
    DrawnReleases(Ledger().path).give_up(token)
    press.press(page, MAKE)
    assert "not kept any more" in page.message.sentence
    assert not press.find(page, "Save the folder").visible


@pytest.mark.parametrize(
    ("population", "grid", "said"),
    [
        ("records 0123456789ab", GRID, "no name but a hash"),
        ("riders", Grid.cells((16, 16)), "no place on the Earth"),
    ],
)
def test_what_cannot_be_published_is_refused(population: str, grid: Grid, said: str) -> None:
    drawn(population, grid=grid)
    page = Publish()
    filled(page)
    press.press(page, MAKE)
    assert said in page.message.sentence
    assert not press.find(page, "Save the folder").visible


def test_boxes_of_ones_own_stand_in_the_report(tmp_path: Path) -> None:
    drawn()
    page = Publish()
    filled(page)
    file = press.find(page, "Choose a file of boxes")
    content = b"name,x0,y0,x1,y1\nOld <b>town,-3000,-3000,2000,1000\n"
    file.param.update(filename="mine.csv", value=content)
    assert "1 box is answered in the report." in press.text(page)
    press.press(page, MAKE)
    folder = unpacked(page, tmp_path / "out")
    text = (folder / "report.html").read_text()
    assert "Old ‹b›town" in text
    value = Release.load(folder / "release.parquet").answer([[-3000, -3000, 2000, 1000]]).value[0]
    assert f"{value:,.0f}" in text
    assert checked(folder).holds


def test_a_ledger_that_cannot_be_used_is_said(ledger: Ledger) -> None:
    ledger.path.write_bytes(b"no ledger")
    page = Publish()
    assert "cannot be used" in page.message.sentence
    assert EMPTY in press.text(page)
