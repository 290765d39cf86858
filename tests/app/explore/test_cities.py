"""Cities and grids that are read while something else is chosen: the last choice counts."""

import asyncio
import threading
from dataclasses import replace

import numpy as np
import pandas as pd
import pytest

from explorer.app import Explore
from explorer.app.curator.data import own_city
from explorer.app.curator.own import OwnPoints
from explorer.app.curator.waiting import FADED
from explorer.errors import InputError
from explorer.grid.grid import Grid
from explorer.points.matrix import FrequencyMatrix
from explorer.points.points import read_points
from tests.app import press

PAGE = "explorer.app.curator.page"


class Shelf:
    """Cities of the page: 256 is in memory, 512 takes until ``gate`` opens, 1024 cannot be had."""

    def __init__(self) -> None:
        self.gate = threading.Event()
        self.found = {}
        for side in (256, 512):
            data = own_city(FrequencyMatrix.from_array(np.full((8, 8), 9)), f"side {side}")
            self.found[side] = replace(data, city=("madeup", side, 0))

    def is_loaded(self, _key: str, side: int, _bound: int) -> bool:
        return side == 256

    def load_city(self, _key: str, side: int, _bound: int):
        if side == 512:
            assert self.gate.wait(20)
        if side == 1024:
            raise InputError("The file of this city is damaged.")
        return self.found[side]


@pytest.fixture
def shelf(monkeypatch):
    shelf = Shelf()
    monkeypatch.setattr(f"{PAGE}.is_loaded", shelf.is_loaded)
    monkeypatch.setattr(f"{PAGE}.load_city", shelf.load_city)
    return shelf


async def settle() -> None:
    """Wait until nothing runs any more beside the visit itself."""
    # Work is handed to the event loop.
    await asyncio.sleep(0.01)
    while others := asyncio.all_tasks() - {asyncio.current_task()}:
        await asyncio.wait(others)


def test_a_late_grid_does_not_replace_the_one_gone_back_to(shelf) -> None:
    page = Explore("madeup", side=256, mechanism="uniform")

    async def visit() -> None:
        page.state.put(side=512)
        page.state.put(side=256)
        shelf.gate.set()
        await settle()

    asyncio.run(visit())
    assert page.state.side == 256
    assert page.parts.data is page.screen.data is shelf.found[256]
    assert not page.message.view.visible


def test_the_old_city_fades_and_is_named_while_another_is_read(shelf) -> None:
    page = Explore("madeup", side=256, mechanism="uniform")

    def seen() -> tuple[set, str]:
        parts = [each for each in page.body.objects if each is not page.message.view]
        label, *faded = parts
        said = label.object if label.visible else ""
        return {each.styles.get("opacity") for each in faded}, said

    async def visit() -> None:
        assert seen() == ({None}, "")
        page.state.put(city="new-york-2014", side=512)
        faded, said = seen()
        assert faded == {FADED}
        assert "Port Amber, while New York" in said
        shelf.gate.set()
        await settle()

    asyncio.run(visit())
    assert page.screen.data is shelf.found[512]
    assert seen() == ({None}, "")
    # One that cannot be read gives the old one back, as it was.
    page.state.put(city="new-york", side=1024)
    assert "damaged" in page.message.sentence
    assert seen() == ({None}, "")


def test_a_grid_that_is_waited_for_is_shown(shelf) -> None:
    page = Explore("madeup", side=256, mechanism="uniform")

    async def visit() -> None:
        page.state.put(side=512)
        shelf.gate.set()
        await settle()

    asyncio.run(visit())
    assert page.parts.data is page.screen.data is shelf.found[512]


def test_nothing_is_drawn_for_good_while_another_grid_is_read(shelf) -> None:
    page = Explore("madeup", side=256, mechanism="uniform")

    async def visit() -> None:
        page.state.put(side=512)
        press.press(page, "Draw a release")
        assert "still being read" in page.message.sentence
        shelf.gate.set()
        await settle()

    asyncio.run(visit())
    assert page.screen.release.preview
    assert page.screen.data is shelf.found[512]


@pytest.mark.usefixtures("shelf")
def test_a_city_that_cannot_be_read_is_said_and_the_choice_goes_back() -> None:
    page = Explore("madeup", side=256, mechanism="uniform")

    async def visit() -> None:
        page.state.put(side=1024)
        await settle()

    asyncio.run(visit())
    assert page.state.side == press.find(page, "Grid").value == 256
    assert "damaged" in page.message.sentence


def test_counts_without_points_have_no_menu_of_grids() -> None:
    page = Explore(FrequencyMatrix.from_array(np.full((8, 8), 9)), mechanism="uniform")
    grid, own = press.find(page, "Grid"), page.screen.data
    assert not grid.visible
    # What a raw client can send all the same.
    grid.value = 512
    assert page.screen.data is own
    assert not page.message.view.visible


def test_your_own_counts_can_be_gone_back_to() -> None:
    page = Explore(FrequencyMatrix.from_array(np.full((8, 8), 9)), side=256, mechanism="uniform")
    own, grid = page.screen.data, press.find(page, "Grid")
    page.state.put(city="madeup")
    assert page.screen.data is not own
    assert grid.visible
    page.state.put(city="yours")
    assert page.screen.data is own
    assert not grid.visible
    assert not page.message.view.visible


def test_uploaded_points_have_a_menu_of_grids() -> None:
    rng = np.random.default_rng(2)
    frame = pd.DataFrame({"lon": rng.normal(2.35, 0.01, 90), "lat": rng.normal(48.85, 0.01, 90)})
    page = Explore(FrequencyMatrix.from_array(np.full((8, 8), 9)), side=256, mechanism="uniform")
    page.upload.loaded(
        OwnPoints(read_points(frame), "Your points", Grid.around(2.35, 48.85, 8000.0, shape=2))
    )
    assert press.find(page, "Grid").visible
    assert page.screen.data.grid.shape == (256, 256)
    press.put(page, "Grid", 512)
    assert page.screen.data.grid.shape == (512, 512)


def test_a_record_can_be_a_user_where_users_are_known() -> None:
    page = Explore("madeup", side=256, mechanism="uniform")
    protected = press.find(page, "What is protected")
    assert not protected.visible
    frame = pd.DataFrame(
        {"lon": [1.0, 1.001, 1.002], "lat": [1.0, 1.0, 1.0], "who": ["a", "a", "b"]}
    )
    page.upload.loaded(
        OwnPoints(read_points(frame, user="who"), "Yours", Grid.around(1.0, 1.0, 2000.0, shape=2))
    )
    assert protected.visible
    assert page.screen.release.unit == "point"
    protected.value = 1
    assert page.screen.data.matrix.total == 2
    assert page.screen.release.unit == "user"
    assert "per person" in press.text(page)
    protected.value = 0
    assert page.screen.data.matrix.total == 3
