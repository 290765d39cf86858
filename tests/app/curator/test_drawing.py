"""Previews are replaced; releases are booked, asked for twice, kept, shown again, drawn once."""

import contextlib
import io
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from explorer import Release
from explorer.app import Explore
from explorer.app.boxes.rectangles import Rectangles
from explorer.app.curator.data import own_city
from explorer.app.curator.drawing import Drawing
from explorer.app.curator.own import OwnPoints
from explorer.app.curator.parts import PageParts
from explorer.app.curator.price import Price, spent_sentence
from explorer.app.curator.start import Opening
from explorer.app.kit.message import MessageArea
from explorer.app.state.explore import ExploreState
from explorer.errors import InputError
from explorer.grid.grid import Grid
from explorer.points.matrix import FrequencyMatrix
from explorer.points.points import read_points
from explorer.privacy.ledger import Ledger
from explorer.views.viewport import Viewport
from tests.app import press

HALF = 5 * 10**11


@pytest.fixture(autouse=True)
def own_book(tmp_path, monkeypatch) -> None:
    monkeypatch.setenv("EXPLORER_LEDGER", str(tmp_path / "spends.sqlite3"))
    monkeypatch.delenv("EXPLORER_EPSILON_CAP", raising=False)


class Visit:
    """A drawing with notes of what it showed; without an event loop it works at once."""

    def __init__(self) -> None:
        counts = np.random.default_rng(1).poisson(5, (32, 32))
        self.data = own_city(FrequencyMatrix.from_array(counts))
        self.state = ExploreState(epsilon=1.0)
        self.screens: list = []
        self.view = Viewport.whole(self.data.grid, 64)
        self.parts = PageParts(self.state, MessageArea(), Opening(), {}, Rectangles(self.data.grid))
        self.drawing = Drawing(self.parts, self.screens.append)
        self.price: Price | None = None
        self.drawing.on_price(lambda price: setattr(self, "price", price))

    def use(self) -> None:
        self.drawing.use(self.data, lambda: self.view)
        self.drawing.run_now()

    def draw(self) -> None:
        """Ask for the price and confirm it."""
        self.drawing.press()
        assert self.price is not None
        self.drawing.confirm(self.price.token)

    @property
    def release(self):
        return self.screens[-1].release


@pytest.fixture
def visit():
    one = Visit()
    one.use()
    return one


def test_before_a_city_is_there_it_says_to_wait() -> None:
    visit = Visit()
    visit.drawing.request()
    assert "wait" in visit.parts.message.sentence
    assert not visit.screens
    visit.drawing.viewed()


def test_a_view_is_drawn_once_however_often_it_is_reported(visit) -> None:
    for _ in range(3):
        visit.drawing.viewed()
    assert len(visit.screens) == 1
    visit.view = Viewport.of((0, 0, 8, 8), 64, 64, visit.data.grid)
    for _ in range(3):
        visit.drawing.viewed()
    assert len(visit.screens) == 2
    assert visit.screens[1].release is visit.screens[0].release


def test_a_drawing_is_kept_through_looks_and_views_and_ends_with_a_setting(visit) -> None:
    visit.draw()
    drawn = visit.release
    assert not drawn.preview
    visit.state.put(right="difference")
    visit.drawing.request()
    visit.view = Viewport.of((0, 0, 8, 8), 64, 64, visit.data.grid)
    visit.drawing.viewed()
    assert visit.release is drawn
    visit.draw()
    assert visit.release is not drawn
    assert not visit.release.preview
    visit.drawing.preview()
    assert visit.release.preview


def test_another_city_starts_with_a_preview(visit) -> None:
    visit.draw()
    visit.use()
    assert visit.release.preview


@pytest.mark.parametrize(("drawn", "patience"), [(False, -1), (False, 60), (True, -1)])
def test_a_long_preview_stops_when_settings_change_and_a_quick_one_or_a_drawing_does_not(
    visit, monkeypatch, drawn, patience
) -> None:
    from explorer.app.curator import drawing as module
    from explorer.app.work import job

    monkeypatch.setattr(job, "PATIENCE", patience)
    compute, finished = module.compute, []

    def interrupted(job, progress):
        if len(finished) == 0:
            # Somebody moves a slider while this is being computed.
            finished.append(False)
            visit.drawing.preview()
            progress(0.5)
            finished[0] = True
        return compute(job, progress)

    monkeypatch.setattr(module, "compute", interrupted)
    ends = drawn or patience > 0
    if drawn:
        visit.draw()
    else:
        with contextlib.nullcontext() if ends else pytest.raises(job.Superseded):
            visit.drawing._compute(visit.drawing._job(), job.Run())
    assert finished == [ends]


def test_choices_that_change_quickly_are_one_movement(visit, monkeypatch) -> None:
    moment = 100.0
    monkeypatch.setattr("explorer.app.work.movement.time.monotonic", lambda: moment)
    for seconds, hurried in [(0, False), (0.1, True), (0.2, True), (0.3, False)]:
        moment += seconds
        visit.drawing.preview()
        assert visit.drawing.movement.hurried == hurried


def test_a_refused_setting_is_a_sentence(visit, monkeypatch) -> None:
    def refuse(_job, _progress):
        raise InputError("Too small.")

    shown = visit.screens[0].title
    with monkeypatch.context() as patched:
        patched.setattr("explorer.app.curator.drawing.compute", refuse)
        visit.drawing.preview()
    assert visit.parts.message.sentence == (
        f"Too small. Maps and numbers are still from before, by {shown}."
    )
    assert len(visit.screens) == 1
    # What works again takes its own refusal away, and no other sentence.
    visit.drawing.preview()
    assert visit.parts.message.sentence == ""
    visit.parts.refuse("Another reason.")
    visit.drawing.preview()
    assert visit.parts.message.sentence == "Another reason."


def test_a_ledger_that_breaks_after_the_draw_takes_no_release_away(visit, tmp_path) -> None:
    broken = tmp_path / "broken"
    broken.write_bytes(b"this is no database at all" * 100)
    key = visit.data.matrix.key
    assert "cannot be read" in spent_sentence(Ledger(broken), key, 0.5)


# By the buttons of the page.


@pytest.fixture
def page():
    grid = Grid.around(2.35, 48.85, 8000, shape=32)
    matrix = FrequencyMatrix.from_array(np.random.default_rng(4).poisson(9, (32, 32)), grid)
    return Explore(matrix, mechanism="uniform", epsilon=0.5)


def ask(page) -> tuple[str, str]:
    """Press "Draw a release": what the button with the price says, and the sentence above it."""
    press.press(page, "Draw a release")
    return press.priced(page), page.drawer.release.view[1].object


def draw(page) -> None:
    press.press(page, ask(page)[0])


def spent(page) -> int:
    return Ledger().spent(page.screen.data.matrix.key)


def saved(page, tmp_path: Path) -> Release:
    path = tmp_path / "read.parquet"
    path.write_bytes(press.download(page, "Save the release"))
    return Release.load(path)


def test_a_draw_is_booked_once_and_what_is_spent_is_said(page) -> None:
    press.put(page, "Exact epsilon", "0.6")
    press.put(page, "Exact epsilon", "0.5")
    assert spent(page) == 0, "previews are free"
    draw(page)
    assert spent(page) == HALF
    assert "have spent 0.5 so far" in page.message.sentence
    assert "no cap" in page.message.sentence
    press.press(page, "Zoom in")
    press.put(page, "Right map", "difference")
    assert spent(page) == HALF
    assert [row.mechanism for row in Ledger().rows(page.screen.data.matrix.key)] == ["uniform"]


def test_the_first_draw_too_states_its_price_and_what_is_left(page, monkeypatch) -> None:
    monkeypatch.setenv("EXPLORER_EPSILON_CAP", "0.7")
    label, about = ask(page)
    assert label == "Spend 0.5 of the 0.7 left"
    assert 'role="status"' in about
    assert "0.2 of the cap is left after it" in about
    assert page.screen.release.preview
    assert spent(page) == 0
    press.press(page, label)
    assert spent(page) == HALF
    assert press.priced(page) == "", "what is drawn is not offered once more"


def test_without_a_cap_the_button_says_so(page) -> None:
    label, about = ask(page)
    assert label == "Spend 0.5, no cap is set"
    assert "no cap is set, and 0 is spent so far" in about


def test_beyond_the_cap_a_sentence_and_everything_stays(page, monkeypatch) -> None:
    monkeypatch.setenv("EXPLORER_EPSILON_CAP", "0.7")
    draw(page)
    assert "0.2 is left" in page.message.sentence
    first = page.screen.release
    assert ask(page)[0] == "", "what cannot be paid is not offered"
    assert "cap of 0.7" in page.message.sentence
    assert spent(page) == HALF
    assert page.screen.release is first
    monkeypatch.setenv("EXPLORER_EPSILON_CAP", "5")
    press.press(page, "Zoom in")
    assert page.screen.release is first, "a zoom must not draw what was refused"
    assert spent(page) == HALF


@pytest.mark.parametrize("meanwhile", [False, True])
def test_a_refused_first_draw_leaves_the_preview(page, monkeypatch, meanwhile) -> None:
    monkeypatch.setenv("EXPLORER_EPSILON_CAP", "5" if meanwhile else "0.1")
    label, _ = ask(page)
    if meanwhile:
        # Somebody else spends it between the two presses.
        monkeypatch.setenv("EXPLORER_EPSILON_CAP", "0.1")
        press.press(page, label)
    assert "nothing was drawn" in page.message.sentence
    monkeypatch.setenv("EXPLORER_EPSILON_CAP", "5")
    press.press(page, "Zoom in")
    assert page.screen.release.preview
    assert not press.find(page, "Save the release").visible


def test_a_second_draw_is_asked_about_anew_and_so_are_other_settings(page) -> None:
    draw(page)
    first = page.screen.release
    assert "stays in this section until it is saved or given up" in ask(page)[1]
    assert page.screen.release is first
    press.put(page, "Exact epsilon", "0.25")
    label, _ = ask(page)
    assert label.startswith("Spend 0.25"), "other settings are asked about anew"
    assert spent(page) == HALF
    press.press(page, label)
    assert spent(page) == HALF * 3 // 2
    assert page.screen.release.epsilon == 0.25
    assert not page.screen.release.preview


def test_another_unit_of_privacy_is_asked_about_anew(page) -> None:
    where = {"lon": [1.0, 1.001, 1.002], "lat": [1.0, 1.0, 1.0], "who": ["a", "a", "b"]}
    points = read_points(pd.DataFrame(where), user="who")
    page.upload.loaded(OwnPoints(points, "Yours", Grid.around(1.0, 1.0, 2000.0, shape=2)))
    protected = press.find(page, "What is protected")
    protected.value = 1
    draw(page)
    assert page.screen.release.unit == "user"
    assert ask(page)[0].startswith("Spend")
    protected.value = 2
    label, _ = ask(page)
    assert page.screen.release.preview, "a release for another unit was drawn unconfirmed"
    press.press(page, label)
    assert (page.screen.release.preview, page.screen.release.contribution_bound) == (False, 2)
    # The same people with another bound: both are booked under one name.
    assert spent(page) == 2 * HALF


def test_a_moved_slider_loses_no_release(page, tmp_path) -> None:
    draw(page)
    drawn = page.screen.release
    press.put(page, "Mechanism", "ug")
    press.put(page, "Exact epsilon", "2")
    assert page.screen.release.preview
    np.testing.assert_array_equal(saved(page, tmp_path).counts, drawn.counts)
    press.press(page, "Show the release again")
    assert page.screen.release is drawn
    assert (page.state.mechanism, page.state.epsilon) == ("uniform", 0.5)
    assert press.find(page, "Mechanism").value == "uniform"
    assert not press.find(page, "Show the release again").visible
    press.press(page, "Zoom in")
    press.put(page, "Right map", "difference")
    assert page.screen.release is drawn
    assert spent(page) == HALF


def test_a_kept_release_brings_its_map_back(page) -> None:
    draw(page)
    drawn, first = page.screen.release, page.screen.data
    press.put(page, "City", "madeup")
    assert page.screen.release.preview
    press.press(page, "Show the release again")
    assert page.screen.release is drawn
    assert page.screen.data is first
    assert page.state.city == "yours"
    assert spent(page) == HALF


def test_without_a_drawn_release_there_is_nothing_to_save_or_to_show_again(page) -> None:
    assert not press.find(page, "Show the release again").visible
    with pytest.raises(InputError, match="draw one first"):
        page.drawing.again(lambda _data: None)
    with pytest.raises(InputError, match="draw a release"):
        page.drawing.saved()


def test_the_file_is_the_release_and_a_preview_takes_nothing_from_it(page, tmp_path) -> None:
    draw(page)
    release, file = page.screen.release, press.download(page, "Save the release")
    loaded = saved(page, tmp_path)
    assert not loaded.preview
    np.testing.assert_allclose(loaded.counts, release.counts)
    press.put(page, "Exact epsilon", "0.9")
    assert page.screen.release.preview
    assert press.download(page, "Save the release") == file
    assert isinstance(page.drawing.saved(), io.BytesIO)
