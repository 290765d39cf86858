"""One client floods: others get their answers, and little is written. No time is asserted."""

import asyncio
import logging

import pytest

from explorer.app.work import limits
from tests.app.test_server import Running
from tests.benchmarks.websocket_client import Client

#: Characters that a flood may write into the log.
MOST_WRITTEN = 1_000


@pytest.fixture(scope="module")
def running():
    one = Running()
    yield one
    one.stop()


def written(caplog) -> int:
    """Characters of all records, tracebacks too."""
    return sum(len(logging.Formatter().format(record)) for record in caplog.records)


async def answered(client: Client) -> bool:
    """Whether anything comes."""
    async for _ in client.parts():
        return True
    return False


async def until_closed(client: Client) -> None:
    """Read until the connection ends."""
    async for _ in client.parts():
        pass


async def two(running: Running) -> tuple[Client, str, Client, str]:
    """A client that will flood, its slider, another client and its slider."""
    found = []
    for _ in range(2):
        client = Client(running.server.port)
        slider = await client.open_until("Epsilon")
        found += [client, slider]
    return tuple(found)


@pytest.mark.parametrize(("attribute", "value"), [("value", 0.1), ("value", [1]), ("nothing", {})])
def test_messages_without_end_take_nothing_from_others(running, caplog, attribute, value) -> None:
    limits.log_visitors_briefly()

    async def visit() -> None:
        bad, slider, other, its = await two(running)
        for _ in range(100):
            bad.change(slider, attribute, value)
        other.change(its, "value", 0.4)
        assert await asyncio.wait_for(answered(other), 30)
        bad.close()
        other.close()
        await asyncio.sleep(0.1)

    running.do(visit)
    assert written(caplog) < MOST_WRITTEN


def test_a_text_that_no_browser_sends_ends_its_connection(running, caplog) -> None:
    limits.log_visitors_briefly()

    async def visit() -> None:
        bad, slider, other, its = await two(running)
        bad.change(slider, "value", "x" * 10_000_000)
        await asyncio.wait_for(until_closed(bad), 30)
        other.change(its, "value", 0.4)
        assert await asyncio.wait_for(answered(other), 30)
        other.close()

    running.do(visit)
    assert written(caplog) < MOST_WRITTEN


def test_a_browser_that_takes_nothing_is_given_up(monkeypatch) -> None:
    quick = {"websocket_ping_interval": 2, "websocket_ping_timeout": 2}
    quick |= {"unused_session_lifetime_milliseconds": 1, "check_unused_sessions_milliseconds": 50}
    monkeypatch.setattr(limits, "OPTIONS", {**limits.OPTIONS, **quick})
    # Its page is made quickly: pings are not answered meanwhile.
    running = Running(class_only=True)

    async def visit() -> None:
        silent, other = Client(running.server.port), Client(running.server.port, "class")
        await other.open()
        reads = asyncio.ensure_future(until_closed(other))
        # It reads no further than that, and so answers no ping.
        await silent.open_until("Class code")
        while len(running.server.get_sessions("/")) > 0:
            await asyncio.sleep(0.05)
        (session,) = running.server.get_sessions("/class")
        await asyncio.sleep(5)
        assert session.connection_count == 1
        other.close()
        silent.close()
        await reads

    running.do(visit)
    running.stop()
