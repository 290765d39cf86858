"""A small crowd of the load test: everybody is answered, and what is the same is made once."""

from __future__ import annotations

import asyncio
import shutil
import sys

import pytest

from tests.audience.running import key_of, two_folders
from tests.load.audience import HEAD, crowd, row
from tests.load.serving import Served
from tests.load.visitor import Line, maps_of

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="addresses of loopback, /proc")


def test_a_crowd_is_answered_also_while_a_map_is_taken_away(tmp_path) -> None:
    folder = two_folders(tmp_path / "shown")
    gone = key_of(folder / "after")
    served = Served(folder)

    async def visit() -> None:
        maps = await maps_of(served.port)
        assert len(maps) == 2
        found = await crowd(served, maps, 6, 1.5, 1, False)
        assert found["lost"] == 0
        assert found["visitors"] == 6
        # Sessions there are none: what a visitor holds is a connection.
        assert found["memory"] < 3
        assert len(row(found)) == len(HEAD)
        shutil.rmtree(folder / "after")
        line = Line(served.port)
        while (await line.ask(f"/map/{gone}"))[0] != 410:
            await asyncio.sleep(0.1)
        line.close()
        kept = [each for each in maps if each.key != gone]
        assert (await crowd(served, kept, 6, 1.0, 2, False))["lost"] == 0
        assert (await crowd(served, kept, 2, 1.0, 3, True))["lost"] == 0

    try:
        asyncio.run(visit())
    finally:
        served.stop()
