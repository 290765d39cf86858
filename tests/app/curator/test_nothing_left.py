"""A whole visit to a city of canaries: its counts are in no log, no temporary folder, no file."""

from __future__ import annotations

import logging
import pickle
import tempfile
from pathlib import Path

import pytest

from explorer import Release
from explorer.app import Explore
from explorer.errors import InputError
from explorer.grid.grid import Grid
from explorer.points.matrix import FrequencyMatrix
from explorer.privacy.drawn import DrawnReleases
from explorer.privacy.ledger import Ledger
from tests.app import press
from tests.commands.test_no_room import CANARIES, search

#: So small that no noise is 0 by chance but once in 20,000 visits, which would look like a leak.
EPSILON = 0.000001


@pytest.fixture(autouse=True)
def own_folders(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "tmp").mkdir()
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path / "tmp"))
    monkeypatch.setenv("EXPLORER_LEDGER", str(tmp_path / "ledger.sqlite3"))
    monkeypatch.setenv("EXPLORER_CACHE", str(tmp_path / "cache"))
    monkeypatch.delenv("EXPLORER_EPSILON_CAP", raising=False)


def canaries(**choices: object) -> Explore:
    """Explore with 8 x 8 cells whose counts stand nowhere else."""
    grid = Grid.around(2.35, 48.85, 8000, shape=8)
    matrix = FrequencyMatrix.from_array(CANARIES.reshape(8, 8), grid)
    return Explore(matrix, **{"mechanism": "identity", "epsilon": EPSILON, **choices})


def test_a_visit_leaves_no_exact_count_anywhere(
    tmp_path: Path, caplog: pytest.LogCaptureFixture, capfd: pytest.CaptureFixture[str]
) -> None:
    with caplog.at_level(logging.DEBUG):
        page = canaries()
        first = int(CANARIES[0])
        # What is on the screen is the curator's: the search would find it there.
        with pytest.raises(AssertionError):
            search(pickle.dumps(page.screen.data.matrix.counts), "the page")
        press.send(press.find(page, "Exact epsilon"), value=[first])
        press.send(press.find(page, "Epsilon"), value={"of": first})
        press.put(page, "Right map", "difference")
        for name in ("Answers as Excel", "Report", "Maps as SVG", "Save answers"):
            assert press.download(page, name)
        for name in ("Answers as Excel, no truth", "Report, no truth", "Maps as SVG, no truth"):
            search(press.download(page, name), name)
        page.upload.file.param.update(
            value=f"lon,lat\n{first},{first}\n{first}x,1\n".encode(), filename="points.csv"
        )
        form = page.upload
        form.lon.value, form.lat.value = 2.35, 48.85
        press.press(page, "Load these points")
        assert page.message.view.visible
        press.draw_release(page)
        release = page.screen.release
        assert release.epsilon == EPSILON, "what was refused changed nothing"
        search(pickle.dumps(release), "the release")
        search(press.download(page, "Save the release"), "its file")
        press.put(page, "Exact epsilon", "0.0000005")
        press.draw_release(page)
        page.close()
    search(caplog.text.encode(), "the log")
    said = capfd.readouterr()
    search((said.out + said.err).encode(), "what was printed")
    looked = [path for path in tmp_path.rglob("*") if path.is_file()]
    for path in looked:
        search(path.read_bytes(), str(path))
        if path.suffix == ".parquet":
            search(pickle.dumps(Release.load(path)), str(path))
    assert {path.suffix for path in looked} >= {".sqlite3", ".json", ".parquet"}
    assert list((tmp_path / "tmp").iterdir()) == []


def test_a_crash_in_a_draw_logs_no_count_and_stays_booked_once(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    page = canaries()

    def crash(*_: object) -> None:
        raise ArithmeticError("the paint is dry")

    monkeypatch.setattr("explorer.app.mappage.drawing.spent_sentence", crash)
    with caplog.at_level(logging.DEBUG):
        press.draw_release(page)
    assert "the paint is dry" in caplog.text
    search(caplog.text.encode(), "the log")
    search(page.message.sentence.encode(), "the message")
    (row,) = Ledger().rows()
    assert DrawnReleases(tmp_path / "ledger.sqlite3").known(str(row.token))


# Files that a page hands out.


def test_a_file_that_cannot_be_made_is_a_sentence_and_nothing_is_handed_out(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    page = canaries()
    press.draw_release(page)
    save = press.find(page, "Save the release")
    assert save.data is None

    def full(*_: object, **__: object) -> None:
        raise OSError(28, "No space left on device")

    with monkeypatch.context() as patched:
        patched.setattr(tempfile, "TemporaryDirectory", full)
        press.hand_out(save)
        assert "No space left on device" in page.message.sentence
        assert save.data is None
    with monkeypatch.context() as patched:
        patched.setattr(Release, "save", lambda *_: (_ for _ in ()).throw(InputError("No room.")))
        press.hand_out(save)
        assert "No room." in page.message.sentence
    assert page.drawing.drawn is not None
    press.hand_out(save)
    assert save.data.startswith("data:")
