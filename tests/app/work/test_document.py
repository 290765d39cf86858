"""Changes reach a page that is loading, and pages have their share of a server."""

from __future__ import annotations

import asyncio
import gc
import re
import weakref
from typing import Any

import panel as pn
import pytest

from explorer.app.work.document import FREE, MOST, Turns, Visit
from tests.benchmarks.websocket_client import Client
from tests.helpers import Clock


def one_slider() -> tuple[Any, list[tuple[Visit, pn.widgets.IntSlider]]]:
    """A server of one slider, and what its visitors have of it."""
    visits: list[tuple[Visit, pn.widgets.IntSlider]] = []

    def make() -> pn.widgets.IntSlider:
        slider = pn.widgets.IntSlider(start=0, end=1, value=0)
        visits.append((Visit(), slider))
        return slider

    server = pn.serve({"/": make}, port=0, show=False, start=False, verbose=False)
    return server, visits


@pytest.mark.parametrize("ready", [True, False])
def test_what_is_shown_while_a_page_is_loading_reaches_its_browser(ready) -> None:
    """A slider whose range came with the first picture stood at 0 of 1 for good."""
    server, visits = one_slider()

    async def visit() -> None:
        client = Client(server.port)
        document = await client.open(ready=ready)
        ((page, slider),) = visits
        assert re.search(r'"end":1\b', document)
        page.show(lambda: slider.param.update(end=4711, value=4000))
        for _ in range(5):
            # The loop comes to it before the browser is ready.
            await asyncio.sleep(0.02)
        assert slider.end == (4711 if ready else 1)
        client.ready()
        parts: list[str] = []
        async for part in client.parts():
            parts.append(str(part))
            if all(any(text in part for part in parts) for text in ("4711", "4000")):
                break
        client.close()

    try:
        server.start()
        server.io_loop.run_sync(visit, timeout=60)
    finally:
        server.stop()


def test_what_is_shown_before_a_browser_has_its_copy_is_in_the_copy() -> None:
    server, visits = one_slider()

    async def visit() -> str:
        client = Client(server.port)
        token = await client.ask()
        ((page, slider),) = visits
        page.show(lambda: slider.param.update(end=4711))
        await asyncio.sleep(0.1)
        document = await client.connect(token)
        client.close()
        return document

    try:
        server.start()
        assert '"end":4711' in server.io_loop.run_sync(visit, timeout=60)
    finally:
        server.stop()


class Page:
    """Somebody's page."""


@pytest.fixture
def turns(clock: Clock) -> Turns:
    return Turns(clock)


def test_a_page_that_is_alone_never_waits(turns: Turns, clock: Clock) -> None:
    page = Page()
    for _ in range(100):
        clock.now += 0.5
        turns.used(page, 0.5)
        assert turns.owed(page) == 0


def test_a_moment_is_free_and_then_a_page_has_its_share(turns: Turns, clock: Clock) -> None:
    flood, others = Page(), [Page() for _ in range(4)]
    began, waited, worked = clock.now, 0.0, 0.0
    at_once: list[float] = []
    while clock.now < began + 60:
        for other in others:
            turns.used(other, 0.0)
            assert turns.owed(other) == 0
        clock.now += 0.1
        turns.used(flood, 0.1)
        worked += 0.1
        owed = turns.owed(flood)
        if not owed and not waited:
            at_once.append(worked)
        waited += owed
        clock.now += owed
    assert FREE <= at_once[-1] <= FREE + 0.7
    # One second in five, and what was free.
    assert worked == pytest.approx(60 / 5 + FREE, rel=0.1)
    assert waited == pytest.approx(60 - worked, rel=0.1)


def test_a_wait_is_short_and_ends_when_the_others_have_gone(turns: Turns, clock: Clock) -> None:
    flood, other = Page(), Page()
    turns.used(other, 0.0)
    turns.used(flood, 1000.0)
    assert turns.owed(flood) == MOST
    clock.now += 5
    assert turns.owed(flood) == 0


def test_nothing_is_kept_of_a_page_that_is_gone(turns: Turns) -> None:
    page = Page()
    gone = weakref.ref(page)
    turns.used(page, 1.0)
    del page
    gc.collect()
    assert gone() is None
