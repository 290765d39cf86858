"""What is confirmed is booked and drawn once, and is there to be saved, whatever happens."""

from __future__ import annotations

import asyncio
import gc
import random
import stat
import threading
from collections.abc import Callable
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

from explorer import Release
from explorer.app.boxes.rectangles import Rectangles
from explorer.app.curator.data import CityData, own_city
from explorer.app.curator.parts import PageParts
from explorer.app.curator.price import Price
from explorer.app.curator.screen import Job
from explorer.app.curator.start import Opening
from explorer.app.mappage.drawing import Drawing
from explorer.app.state import ExploreState
from explorer.points.matrix import FrequencyMatrix
from explorer.privacy.drawn import DrawnReleases
from explorer.privacy.ledger import Ledger
from explorer.views.viewport import Viewport
from tests.app import press
from tests.app.map_pages import EXPLORE

STEPS = 9
CITY = own_city(FrequencyMatrix.from_array(np.random.default_rng(1).poisson(5, (4, 4))))


@pytest.fixture(autouse=True)
def own_book(tmp_path, monkeypatch) -> None:
    monkeypatch.setenv("EXPLORER_LEDGER", str(tmp_path / "spends.sqlite3"))
    monkeypatch.delenv("EXPLORER_EPSILON_CAP", raising=False)


def screen(data: Any, key: tuple[Any, ...], release: Any) -> Any:
    """What a drawing needs of a screen."""
    return SimpleNamespace(data=data, key=key, release=release, title="Uniform")


class Said:
    """What a page says, without its widgets."""

    sentence = ""

    def say(self, sentence: str) -> None:
        self.sentence = sentence

    inform = refuse = say

    def withdraw(self, sentence: str) -> None:
        self.sentence = "" if self.sentence == sentence else self.sentence


class Crash(RuntimeError):
    """The process, or the painting of a map, ends in the midst."""


class Tab:
    """One open page, without its widgets; all is done at once where there is no event loop."""

    def __init__(self, data: CityData = CITY) -> None:
        self.state = ExploreState(mechanism="uniform", epsilon=0.5)
        said: Any = Said()
        self.parts = PageParts(self.state, said, Opening(), {}, Rectangles(data.grid))
        self.during: Callable[[], None] = lambda: None
        self.price: Price | None = None
        self.drawing = Drawing(self.parts, lambda _screen: None, make=self._make)
        self.drawing.on_price(lambda price: setattr(self, "price", price))
        self.drawing.use(data, lambda: Viewport.whole(data.grid, 64))
        self.drawing.run_now()

    def _make(self, job: Job, progress: Callable[[float], None]) -> Any:
        old = job.previous
        if old is not None and old.key == job.key:
            return screen(job.data, job.key, old.release)
        release = job.release(job.data.matrix, progress)
        if job.draw:
            self.during()
        return screen(job.data, job.key, release)


def bookings() -> list[str]:
    return [str(row.token) for row in Ledger().rows()]


def kept(token: str) -> bool:
    return DrawnReleases(Ledger().path).known(token)


class Story:
    """A random sequence of what two people, or one with two tabs, and the network may do."""

    def __init__(self, seed: int) -> None:
        self.random = random.Random(seed)
        self.tabs = [Tab(), Tab()]
        #: Tokens that were confirmed while their price stood there, those of prices that did not
        #: stand there any more, and those that were saved.
        self.confirmed: set[str] = set()
        self.old: list[str] = []
        self.saved: set[str] = set()

    def step(self) -> None:
        tab = self.random.randrange(2)
        acts = (self.ask, self.ask, self.confirm, self.confirm, self.late, self.change)
        acts += (self.cancel, self.reload, self.cut, self.crash, self.save)
        self.random.choice(acts)(tab)

    def ask(self, tab: int) -> None:
        for _ in range(self.random.choice((1, 1, 5))):
            self.tabs[tab].drawing.press()
            price = self.tabs[tab].price
            assert price is not None
            self.old.append(price.token)

    def confirm(self, tab: int) -> None:
        price = self.tabs[tab].price
        if price is not None:
            self.confirmed.add(price.token)
            for _ in range(self.random.choice((1, 2, 5))):
                self.tabs[tab].drawing.confirm(price.token)

    def late(self, tab: int) -> None:
        """A press of a button that has gone arrives."""
        price = self.tabs[tab].price
        if self.old:
            token = self.random.choice(self.old)
            if price is not None and price.token == token:
                self.confirmed.add(token)
            self.tabs[tab].drawing.confirm(token)

    def change(self, tab: int) -> None:
        self.tabs[tab].state.put(epsilon=self.random.choice((0.25, 0.5)))
        self.tabs[tab].drawing.preview()

    def cancel(self, tab: int) -> None:
        self.tabs[tab].drawing.forget()

    def reload(self, tab: int) -> None:
        self.tabs[tab].drawing.close()
        self.tabs[tab] = Tab()

    def cut(self, tab: int) -> None:
        """The connection is cut while it is drawn, if something is."""
        self.tabs[tab].during = self.tabs[tab].drawing.close
        self.confirm(tab)
        self.reload(tab)

    def crash(self, tab: int) -> None:
        """After the draw, before the map is painted."""

        def end() -> None:
            raise Crash

        self.tabs[tab].during = end
        self.confirm(tab)
        self.reload(tab)

    def save(self, tab: int) -> None:
        drawing = self.tabs[tab].drawing
        if drawing.drawn is not None and self.random.random() < 0.5:
            drawing.saved()
            self.saved.add(drawing._kept.token)
        elif waiting := drawing.waiting():
            token = self.random.choice(waiting).token
            assert drawing.saved_before(token).getvalue()[:4] == b"PAR1"
            self.saved.add(token)


@pytest.mark.parametrize("sequences", [100, pytest.param(1000, marks=pytest.mark.slow)])
def test_bookings_are_the_distinct_confirmed_tokens_and_each_is_there(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, sequences: int
) -> None:
    # Whether the disk has it is not what is tried here, and a thousand flushes take a minute.
    monkeypatch.setattr("explorer.grid.whole_file._to_the_disk", lambda _path: None)
    monkeypatch.setattr("explorer.app.work.job.logger.exception", lambda *_: None)
    drawn = 0
    for seed in range(sequences):
        if seed % 25 == 0:
            monkeypatch.setenv("EXPLORER_LEDGER", str(tmp_path / f"spends {seed}"))
            confirmed: set[str] = set()
            saved: set[str] = set()
        story = Story(seed)
        for _ in range(STEPS):
            story.step()
        confirmed |= story.confirmed
        saved |= story.saved
        assert sorted(bookings()) == sorted(confirmed), seed
        assert all(map(kept, confirmed)), seed
        for tab in story.tabs:
            tab.drawing.close()
        if seed % 25 == 24:
            drawn += len(confirmed)
            waiting = {each.token for each in Tab().drawing.waiting()}
            assert waiting == confirmed - saved, "whoever comes back is offered the rest"
    assert drawn > sequences / 2


async def settle() -> None:
    """Wait until nothing runs: work is handed to the event loop."""
    await asyncio.sleep(0.01)
    while others := asyncio.all_tasks() - {asyncio.current_task()}:
        await asyncio.wait(others)


def test_two_tabs_that_ask_for_the_same_at_once_draw_it_once_and_both_have_it() -> None:
    one, other = Tab(), Tab()
    for tab in (one, other):
        tab.drawing.press()
    for tab in (one, other):
        tab.drawing.confirm(tab.price.token)
    (token,) = bookings()
    assert one.drawing.drawn is not None
    assert "has been drawn before" in other.parts.message.sentence
    assert [each.token for each in other.drawing.waiting()] == [token]
    assert one.drawing.waiting() == [], "it is on this page already"
    # Nobody else is offered what is on an open page.
    assert Tab().drawing.waiting() == []
    # Another draw of the same settings is asked for anew, and is another one.
    other.drawing.press()
    other.drawing.confirm(other.price.token)
    assert len(set(bookings())) == 2


def test_a_cut_connection_takes_nothing_away_and_a_job_that_never_began_costs_nothing() -> None:
    began, gate = threading.Event(), threading.Event()

    def wait() -> None:
        began.set()
        gate.wait(30)

    async def visit() -> None:
        tab, late = Tab(), Tab()
        tab.during = wait
        tab.drawing.press()
        tab.drawing.confirm(tab.price.token)
        await asyncio.to_thread(began.wait, 30)
        tab.drawing.close()
        gate.set()
        await settle()
        late.drawing.press()
        late.drawing.confirm(late.price.token)
        late.drawing.close()
        await settle()

    asyncio.run(visit())
    (token,) = bookings()
    again = Tab()
    assert [each.token for each in again.drawing.waiting()] == [token]
    assert again.drawing.drawn is None


def test_what_was_confirmed_is_drawn_also_when_something_is_changed_meanwhile() -> None:
    async def visit() -> Tab:
        tab = Tab()
        tab.drawing.press()
        tab.drawing.confirm(tab.price.token)
        # Before the work has begun.
        tab.state.put(epsilon=0.25)
        tab.drawing.preview()
        await settle()
        return tab

    tab = asyncio.run(visit())
    assert tab.drawing.drawn.release.epsilon == 0.5
    assert tab.drawing._computed.release.epsilon == 0.25
    assert tab.drawing._computed.release.preview
    assert [row.units for row in Ledger().rows()] == [5 * 10**11]


def test_a_release_that_no_disk_took_is_on_the_page_and_said(monkeypatch) -> None:
    from explorer.errors import InputError

    def full(*_: Any) -> None:
        raise InputError("The disk is full.")

    monkeypatch.setattr(DrawnReleases, "keep", full)
    tab = Tab()
    tab.drawing.press()
    tab.drawing.confirm(tab.price.token)
    assert tab.drawing.drawn is not None
    assert "It is on this page alone, save it now: The disk is full." in tab.parts.message.sentence


# By the buttons of a page.


def test_five_presses_in_a_fresh_tab_spend_nothing() -> None:
    page = EXPLORE.own(mechanism="uniform", epsilon=0.5)
    for _ in range(5):
        press.press(page, "Draw a release")
    assert Ledger().rows() == []
    assert page.screen.release.preview
    confirm = press.find(page, press.priced(page))
    press.press(page, "Do not draw")
    assert press.priced(page) == ""
    confirm.clicks += 1
    assert Ledger().rows() == [], "a cancelled price was paid"
    assert "ask for the price again" in page.message.sentence


def test_whoever_comes_back_saves_it_or_gives_it_up(tmp_path) -> None:
    first = EXPLORE.own(mechanism="uniform", epsilon=0.5)
    press.draw_release(first)
    press.draw_release(first)
    counts = first.screen.release.counts
    first.close()
    del first
    gc.collect()
    back = EXPLORE.own()
    assert "saved by nobody yet" in press.text(back)
    folder = DrawnReleases(Ledger().path).folder
    assert stat.S_IMODE(folder.stat().st_mode) == 0o700
    newest, older = back.drawer.waiting.view.select(lambda each: hasattr(each, "filename"))
    path = tmp_path / "release.parquet"
    path.write_bytes(newest.callback().getvalue())
    np.testing.assert_array_equal(Release.load(path).counts, counts)
    back.drawer.waiting.show()
    assert [each.label for each in press.parts(back) if hasattr(each, "filename")].count(
        older.label
    ) == 1
    press.press(back, older.label.replace("Save", "Give up"))
    assert "its budget stays spent" in back.message.sentence
    assert back.drawing.waiting() == []
    assert len(Ledger().rows()) == 2
