"""A small crowd of the load test: everybody is answered, whatever becomes of the server."""

from __future__ import annotations

import asyncio
import random
import shutil
import signal
import sys
import time

import psutil
import pytest

from tests.audience.running import key_of, two_folders
from tests.load.audience import HEAD, crowd, row
from tests.load.serving import Served
from tests.load.visitor import Line, Visitor, maps_of

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="addresses of loopback, /proc")


async def gone(served: Served, key: str) -> None:
    """Wait until a map is not shown any more."""
    line = Line(served.port)
    while (await line.ask(f"/map/{key}"))[0] != 410:
        await asyncio.sleep(0.1)
    line.close()


async def be_there(served: Served, maps, seconds: float) -> int:
    """Six visitors; how many answers they did not get."""
    everyone = [
        Visitor(Line(served.port), maps[at % len(maps)], random.Random(at)) for at in range(6)
    ]
    await asyncio.gather(*(each.visit(seconds, 0.3) for each in everyone))
    assert all(each.took for each in everyone)
    return sum(each.lost for each in everyone)


def test_a_crowd_is_answered_while_the_worker_is_killed_and_maps_go(tmp_path) -> None:
    folder = two_folders(tmp_path / "shown")
    other = key_of(folder / "after")
    served = Served(folder)

    async def visit() -> None:
        maps = await maps_of(served.port)
        assert len(maps) == 2
        found = await crowd(served, maps, 6, 1.0, 1, False)
        assert found["lost"] == 0
        # Sessions there are none: what a visitor holds is a connection.
        assert found["memory"] < 3
        assert len(row(found)) == len(HEAD)
        kept = [each for each in maps if each.key != other]
        # Exchanged: as it is, it is not what was verified.
        (folder / "after" / "leaves.csv").write_text("leaf,count\n0,4711\n")
        crowded = asyncio.create_task(be_there(served, kept, 3.0))
        await gone(served, other)
        first = served.worker
        first.kill()
        # Whoever comes now waits a moment, and is answered.
        assert await crowded == 0
        assert served.worker.pid != first.pid
        # Who takes its place shows nothing else.
        await gone(served, other)
        shutil.rmtree(folder / "after")
        assert await be_there(served, kept, 0.5) == 0

    try:
        asyncio.run(visit())
        assert any("another one takes its place" in each for each in served.said)
        # Told to stop, both end.
        both = [psutil.Process(served.process.pid), served.worker]
        served.process.send_signal(signal.SIGINT)
        assert served.process.wait(30) == 0
        assert not [each for each in both if each.is_running() and each.status() != "zombie"]
        time.sleep(0.1)
        assert served.said[-1] == "The explorer has stopped.\n"
    finally:
        served.process.kill()
