"""A change between a browser's copy of a page and its word that it is ready reaches the browser."""

from __future__ import annotations

import asyncio
import re
from typing import Any

import panel as pn
import pytest

from explorer.app.work.document import Visit
from tests.benchmarks.websocket_client import Client


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
