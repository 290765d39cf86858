"""Previews are replaced; releases have a price, a cap, and are kept; a draw can be cancelled."""

import contextlib

import numpy as np
import pandas as pd
import pytest

from explorer.app import Explore
from explorer.app.boxes.rectangles import Rectangles
from explorer.app.curator.data import own_city
from explorer.app.curator.own import OwnPoints
from explorer.app.curator.parts import PageParts
from explorer.app.curator.price import Price, spent_sentence
from explorer.app.curator.start import Opening
from explorer.app.kit.message import MessageArea
from explorer.app.mappage import drawing as module
from explorer.app.mappage.drawer import STOP
from explorer.app.mappage.drawing import Booking, Drawing
from explorer.app.state import ExploreState
from explorer.app.work import job
from explorer.app.work.job import Run, Superseded
from explorer.errors import InputError
from explorer.grid.grid import Grid
from explorer.mechanisms import HTF
from explorer.points.points import read_points
from explorer.privacy.ledger import Ledger
from explorer.views.viewport import Viewport
from tests.app import press
from tests.app.map_pages import EXPLORE, MATRIX

HALF = 5 * 10**11


@pytest.fixture(autouse=True)
def own_book(tmp_path, monkeypatch) -> None:
    monkeypatch.setenv("EXPLORER_LEDGER", str(tmp_path / "spends.sqlite3"))
    monkeypatch.delenv("EXPLORER_EPSILON_CAP", raising=False)


class Visit:
    """A drawing with notes of what it showed; without an event loop it works at once."""

    def __init__(self) -> None:
        self.data = own_city(MATRIX)
        self.state = ExploreState(epsilon=1.0)
        self.screens: list = []
        self.view = Viewport.whole(self.data.grid, 64)
        self.parts = PageParts(self.state, MessageArea(), Opening(), {}, Rectangles(self.data.grid))
        self.drawing = Drawing(self.parts, self.screens.append)
        self.price: Price | None = None
        self.drawing.on_price(lambda price: setattr(self, "price", price))
        self.drawing.use(self.data, lambda: self.view)
        self.drawing.run_now()


@pytest.fixture
def visit() -> Visit:
    return Visit()


def test_a_view_is_drawn_once_however_often_it_is_reported(visit) -> None:
    for bounds in (None, (0, 0, 800, 800)):
        if bounds:
            visit.view = Viewport.of(bounds, 64, 64, visit.data.grid)
        for _ in range(3):
            visit.drawing.viewed()
    assert len(visit.screens) == 2
    assert visit.screens[1].release is visit.screens[0].release


@pytest.mark.parametrize(("drawn", "patience"), [(False, -1), (False, 60), (True, -1)])
def test_a_long_preview_stops_when_settings_change_and_a_quick_one_or_a_draw_does_not(
    visit, monkeypatch, drawn, patience
) -> None:
    monkeypatch.setattr(job, "PATIENCE", patience)
    compute, finished = module.compute, []

    def interrupted(job, progress):
        if not finished:
            # A slider is moved while this is being computed.
            finished.append(False)
            visit.drawing.preview()
            progress(0.5)
            finished[0] = True
        return compute(job, progress)

    monkeypatch.setattr(module, "compute", interrupted)
    ends = drawn or patience > 0
    if drawn:
        visit.drawing.press()
        visit.drawing.confirm(visit.price.token)
    else:
        with contextlib.nullcontext() if ends else pytest.raises(Superseded):
            visit.drawing._compute(visit.drawing._job(), Run())
    assert finished == [ends]


def test_a_refused_setting_is_a_sentence_that_goes_with_what_works_again(
    visit, monkeypatch
) -> None:
    def refuse(_job, _progress):
        raise InputError("Too small.")

    with monkeypatch.context() as patched:
        patched.setattr(module, "compute", refuse)
        visit.drawing.preview()
    shown = visit.screens[0].title
    said = f"Too small. Maps and numbers are still from before, by {shown}."
    assert visit.parts.message.sentence == said
    assert len(visit.screens) == 1
    visit.drawing.preview()
    assert visit.parts.message.sentence == ""
    visit.parts.refuse("Another reason.")
    visit.drawing.preview()
    assert visit.parts.message.sentence == "Another reason."


def test_a_ledger_that_breaks_after_the_draw_is_said(visit, tmp_path) -> None:
    broken = tmp_path / "broken"
    broken.write_bytes(b"this is no database at all" * 100)
    assert "cannot be read" in spent_sentence(Ledger(broken), visit.data.matrix.key, 0.5)


# By the buttons of the page.


@pytest.fixture
def page() -> Explore:
    return EXPLORE.own(mechanism="uniform", epsilon=0.5)


def ask(page) -> tuple[str, str]:
    """Press "Draw a release": what the button with the price says, and the sentence above it."""
    press.press(page, "Draw a release")
    return press.priced(page), page.drawer.release.view[1].object


def spent(page) -> int:
    return Ledger().spent(page.screen.data.matrix.key)


def test_the_first_draw_too_states_its_price_and_what_is_left(page, monkeypatch) -> None:
    label, about = ask(page)
    assert label == "Spend 0.5, no cap is set"
    monkeypatch.setenv("EXPLORER_EPSILON_CAP", "0.7")
    label, about = ask(page)
    assert label == "Spend 0.5 of the 0.7 left"
    assert 'role="status"' in about
    assert "0.2 of the cap is left after it" in about
    assert "protects each record" in press.text(page)
    assert "until the exact error on this screen pleases" in press.text(page)
    assert page.release.preview
    assert spent(page) == 0
    press.press(page, label)
    assert spent(page) == HALF
    assert press.priced(page) == "", "what is drawn is not offered once more"


def test_beyond_the_cap_a_sentence_and_everything_stays(page, monkeypatch) -> None:
    monkeypatch.setenv("EXPLORER_EPSILON_CAP", "0.7")
    press.draw_release(page)
    assert "0.2 is left" in page.message.sentence
    first = page.release
    assert ask(page)[0] == "", "what cannot be paid is not offered"
    assert "cap of 0.7" in page.message.sentence
    assert spent(page) == HALF
    monkeypatch.setenv("EXPLORER_EPSILON_CAP", "5")
    press.press(page, "Zoom in")
    assert page.release is first, "a zoom must not draw what was refused"
    assert spent(page) == HALF


@pytest.mark.parametrize("meanwhile", [False, True])
def test_a_refused_first_draw_leaves_the_preview(page, monkeypatch, meanwhile) -> None:
    monkeypatch.setenv("EXPLORER_EPSILON_CAP", "5" if meanwhile else "0.1")
    label, _ = ask(page)
    if meanwhile:
        # It is spent elsewhere between the two presses.
        monkeypatch.setenv("EXPLORER_EPSILON_CAP", "0.1")
        press.press(page, label)
    assert "nothing was drawn" in page.message.sentence
    monkeypatch.setenv("EXPLORER_EPSILON_CAP", "5")
    press.press(page, "Zoom in")
    assert page.release.preview
    assert not press.find(page, "Save the release").visible


def test_a_second_draw_is_asked_about_anew_and_so_are_other_settings(page) -> None:
    press.draw_release(page)
    first = page.release
    assert "stays in this section until it is saved or given up" in ask(page)[1]
    assert page.release is first
    press.put(page, "Exact epsilon", "0.25")
    label, _ = ask(page)
    assert label.startswith("Spend 0.25"), "other settings are asked about anew"
    assert spent(page) == HALF
    press.press(page, label)
    assert spent(page) == HALF * 3 // 2
    assert (page.release.epsilon, page.release.preview) == (0.25, False)


def test_another_unit_of_privacy_is_asked_about_anew(page) -> None:
    where = {"lon": [1.0, 1.001, 1.002], "lat": [1.0, 1.0, 1.0], "who": ["a", "a", "b"]}
    points = read_points(pd.DataFrame(where), user="who")
    page.upload.loaded(OwnPoints(points, "Yours", Grid.around(1.0, 1.0, 2000.0, shape=2)))
    assert page.release.unit == "point"
    protected = press.find(page, "What is protected")
    protected.value = 1
    assert page.screen.data.matrix.total == 2
    press.draw_release(page)
    assert page.release.unit == "user"
    assert ask(page)[0].startswith("Spend")
    protected.value = 2
    label, _ = ask(page)
    assert page.release.preview, "a release for another unit was drawn unconfirmed"
    press.press(page, label)
    assert (page.release.preview, page.release.contribution_bound) == (False, 2)
    # The same people with another bound: both are booked under one name.
    assert spent(page) == 2 * HALF


def test_a_kept_release_brings_its_map_and_its_settings_back(page) -> None:
    press.draw_release(page)
    drawn, first = page.release, page.screen.data
    press.put(page, "Mechanism", "ug")
    press.put(page, "City", "madeup")
    assert page.release.preview
    press.press(page, "Show the release again")
    assert page.release is drawn
    assert page.screen.data is first
    assert (page.state.city, page.state.mechanism, page.state.epsilon) == ("yours", "uniform", 0.5)
    assert press.find(page, "Mechanism").value == "uniform"
    assert not press.find(page, "Show the release again").visible
    assert spent(page) == HALF


# A draw that is under way.


def booked(page) -> int:
    return len(Ledger().rows(page.parts.data.matrix.key))


def test_what_is_given_up_is_not_booked_and_what_is_booked_not_given_up() -> None:
    one, other = Booking("people", "a" * 32), Booking("people", "b" * 32)
    assert one.give_up()
    with pytest.raises(Superseded):
        one.book("key", 5, "htf")
    other.book("key", 5, "htf")
    assert not other.give_up()
    assert [row.units for row in Ledger(population="people").rows("key")] == [5]


def test_a_draw_can_be_cancelled_until_the_moment_it_is_booked(monkeypatch) -> None:
    page = EXPLORE.own(mechanism="htf", epsilon=0.5)
    with monkeypatch.context() as patched:
        # As while a slow preview is still being computed.
        patched.setattr(page.drawing, "request", lambda: None)
        press.draw_release(page)
        assert "nothing is booked yet" in page.drawer.release.progress.object
    press.press(page, STOP)
    assert not page.drawer.release.stop.visible
    assert "nothing was booked" in page.message.sentence
    with monkeypatch.context() as patched:
        patched.setattr(HTF, "warm_up", lambda _self, _counts: page.drawing.cancel())
        press.draw_release(page)
    assert booked(page) == 0
    assert page.drawing.drawn is None
    # The next press draws as if nothing had been, and to the end once it is booked.
    told = []

    def tell(_run, part: float) -> None:
        told.append(part)
        page.drawing.cancel()
        page.drawing.progressed()
        assert "Too late to cancel" in page.message.sentence
        assert not page.drawer.release.stop.visible
        assert "drawn to its end" in page.drawer.release.progress.object

    monkeypatch.setattr(Run, "tell", tell)
    press.draw_release(page)
    assert told[-1] == 1.0
    assert booked(page) == 1
    assert not page.release.preview
    assert page.drawer.release.progress.object == ""


def test_the_counts_of_a_saved_release_are_those_drawn_whatever_is_moved(page, tmp_path) -> None:
    press.draw_release(page)
    file, drawn = press.download(page, "Save the release"), page.release
    press.put(page, "Exact epsilon", "2")
    assert page.release.preview
    assert press.download(page, "Save the release") == file
    (tmp_path / "read.parquet").write_bytes(file)
    loaded = type(drawn).load(tmp_path / "read.parquet")
    np.testing.assert_array_equal(loaded.counts, drawn.counts)
