"""A draw says how far it is; it can be cancelled before it is booked, and never after."""

import numpy as np
import pytest

from explorer.app import Explore
from explorer.app.curator.release_button import STOP
from explorer.app.curator.underway import Booking, Underway
from explorer.app.work.job import Run, Superseded
from explorer.mechanisms import HTF
from explorer.points.matrix import FrequencyMatrix
from explorer.privacy.ledger import Ledger
from tests.app import press


@pytest.fixture(autouse=True)
def own_book(tmp_path, monkeypatch) -> None:
    monkeypatch.setenv("EXPLORER_LEDGER", str(tmp_path / "spends.sqlite3"))
    monkeypatch.delenv("EXPLORER_EPSILON_CAP", raising=False)


@pytest.fixture
def page():
    counts = np.random.default_rng(1).poisson(5, (32, 32))
    return Explore(FrequencyMatrix.from_array(counts), epsilon=0.5)


def confirm(page) -> None:
    press.draw_release(page)


def booked(page) -> int:
    return len(Ledger().rows(page.parts.data.matrix.key))


def stop(page):
    return page.drawer.release.stop


def said(page) -> str:
    return page.drawer.release.progress.object


def test_what_is_given_up_is_not_booked_and_what_is_booked_not_given_up() -> None:
    one, other = Booking("people", "a" * 32), Booking("people", "b" * 32)
    assert one.give_up()
    with pytest.raises(Superseded):
        one.book("key", 5, "htf")
    other.book("key", 5, "htf")
    assert not other.give_up()
    assert [row.units for row in Ledger(population="people").rows("key")] == [5]


def test_a_draw_that_waits_can_be_cancelled(page, monkeypatch) -> None:
    with monkeypatch.context() as patched:
        # As while a slow preview is still being computed.
        patched.setattr(page.drawing, "request", lambda: None)
        confirm(page)
        assert stop(page).visible
        assert "nothing is booked yet" in said(page)
    press.press(page, STOP)
    assert not stop(page).visible
    assert said(page) == ""
    assert "nothing was booked" in page.message.sentence
    assert booked(page) == 0
    assert page.drawing.drawn is None
    # The next press draws as if nothing had been.
    confirm(page)
    assert booked(page) == 1
    assert not page.release.preview


def test_a_draw_can_be_cancelled_until_the_moment_it_is_booked(page, monkeypatch) -> None:
    with monkeypatch.context() as patched:
        patched.setattr(HTF, "warm_up", lambda _self, _counts: page.drawing.cancel())
        confirm(page)
    assert booked(page) == 0
    assert page.drawing.drawn is None
    assert page.release.preview
    confirm(page)
    assert booked(page) == 1


def test_a_booked_draw_is_drawn_to_its_end_and_says_how_far_it_is(page, monkeypatch) -> None:
    told = []

    def tell(_run, part: float) -> None:
        told.append(part)
        page.drawing.cancel()
        page.drawing.progressed()
        assert "Too late to cancel" in page.message.sentence
        assert not stop(page).visible
        assert "drawn to its end" in said(page)

    monkeypatch.setattr(Run, "tell", tell)
    confirm(page)
    assert told[-1] == 1.0
    assert booked(page) == 1
    assert not page.release.preview
    assert said(page) == ""


def test_the_sentence_has_the_time_that_is_left() -> None:
    assert Underway(False).sentence == "About to be drawn; nothing is booked yet."
    assert Underway(True, 0.25).sentence.startswith("25% drawn. It is booked")
    assert "40% drawn, about 6 s left" in Underway(True, 0.4, 6.2).sentence
    assert "about 1 s left" in Underway(True, 0.99, 0.02).sentence
