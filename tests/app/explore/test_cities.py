"""Cities and grids that are read while something else is chosen: the last choice counts."""

import asyncio
import threading
from dataclasses import replace

import numpy as np
import pytest

from explorer.app import Explore
from explorer.app.curator.data import own_city
from explorer.app.mappage.city_page import FADED
from explorer.errors import InputError
from explorer.points.matrix import FrequencyMatrix
from tests.app import press

EIGHT = FrequencyMatrix.from_array(np.full((8, 8), 9))


class Shelf:
    """Cities of the page: 256 is in memory, 512 takes until ``gate`` opens, 1024 cannot be had."""

    def __init__(self) -> None:
        self.gate = threading.Event()
        self.data = {
            side: replace(own_city(EIGHT, f"side {side}"), city=("madeup", side, 0))
            for side in (256, 512)
        }

    def is_loaded(self, _key: str, side: int, _bound: int) -> bool:
        return side == 256

    def load_city(self, _key: str, side: int, _bound: int):
        if side == 512:
            assert self.gate.wait(20)
        if side == 1024:
            raise InputError("The file of this city is damaged.")
        return self.data[side]


@pytest.fixture
def shelf(monkeypatch) -> Shelf:
    shelf = Shelf()
    for name in ("is_loaded", "load_city"):
        monkeypatch.setattr(f"explorer.app.mappage.city_page.{name}", getattr(shelf, name))
    shelf.page = Explore("madeup", side=256, mechanism="uniform")
    return shelf


def visit(shelf, act) -> None:
    """Do something while 512 is not there yet, let it come, and wait until nothing runs."""

    async def run() -> None:
        act()
        shelf.gate.set()
        # Work is handed to the event loop.
        await asyncio.sleep(0.01)
        while others := asyncio.all_tasks() - {asyncio.current_task()}:
            await asyncio.wait(others)

    asyncio.run(run())


def test_a_late_grid_does_not_replace_the_one_gone_back_to(shelf) -> None:
    page = shelf.page

    def back_and_forth() -> None:
        page.state.put(side=512)
        page.state.put(side=256)

    visit(shelf, back_and_forth)
    assert page.state.side == 256
    assert page.parts.data is page.screen.data is shelf.data[256]
    assert not page.message.view.visible


def test_the_old_city_fades_and_is_named_while_another_is_read(shelf) -> None:
    page = shelf.page

    def seen() -> tuple[set, str]:
        label, *faded = (each for each in page.body.objects if each is not page.message.view)
        return {each.styles.get("opacity") for each in faded}, label.object if label.visible else ""

    def choose() -> None:
        assert seen() == ({None}, "")
        page.state.put(city="new-york-2014", side=512)
        faded, said = seen()
        assert faded == {FADED}
        assert "Port Amber, while New York" in said

    visit(shelf, choose)
    assert page.screen.data is shelf.data[512]
    assert seen() == ({None}, "")
    # One that cannot be read gives the old one back, as it was.
    page.state.put(city="new-york", side=1024)
    assert "damaged" in page.message.sentence
    assert seen() == ({None}, "")
    assert page.state.side == press.find(page, "Grid").value == 512


def test_nothing_is_drawn_for_good_while_another_grid_is_read(shelf) -> None:
    page = shelf.page

    def draw() -> None:
        page.state.put(side=512)
        press.press(page, "Draw a release")
        assert "still being read" in page.message.sentence

    visit(shelf, draw)
    assert page.screen.release.preview
    assert page.screen.data is shelf.data[512]


def test_your_own_counts_can_be_gone_back_to_and_have_no_menu_of_grids() -> None:
    page = Explore(EIGHT, side=256, mechanism="uniform")
    own, grid = page.screen.data, press.find(page, "Grid")
    assert not grid.visible
    # What a raw client can send all the same.
    grid.value = 512
    assert page.screen.data is own
    page.state.put(city="madeup")
    assert page.screen.data is not own
    assert grid.visible
    page.state.put(city="yours")
    assert page.screen.data is own
    assert not page.message.view.visible
