"""Faults of messages are short in the log, and hold no values."""

import asyncio
import gc
import logging
import socket
from pathlib import Path

import pytest
from bokeh.server.views import ws
from tornado.iostream import IOStream

from explorer.app.work.faults import QUIET, WENT, Brief, Left, Seldom, write_briefly


@pytest.fixture(autouse=True)
def by_hand(clock, monkeypatch) -> None:
    monkeypatch.setattr("explorer.app.work.faults.time", clock)


def fault(line: Brief, error: BaseException) -> logging.LogRecord | None:
    record = logging.LogRecord(
        "bokeh", logging.ERROR, "x", 1, "error: %r", (error,), (type(error), error, None)
    )
    return record if line.filter(record) else None


def test_a_fault_is_one_line_a_minute_without_its_value(clock) -> None:
    brief = Brief()
    said = fault(brief, ValueError("expected a number, got 4711"))
    assert said is not None
    assert said.exc_info is None
    assert said.getMessage() == (
        "A message of a visitor could not be used (ValueError); 0 before it were not written here."
    )
    assert [fault(brief, ValueError("4711")) for _ in range(9)] == [None] * 9
    clock.now += QUIET
    said = fault(brief, KeyError("4711"))
    assert said is not None
    assert "(KeyError); 9 before it" in said.getMessage()


def test_a_fault_of_our_own_is_written_as_it_is() -> None:
    from explorer.grid.grid import Grid

    brief = Brief()
    for _ in range(2):
        try:
            Grid.of("nowhere")
        except Exception as error:
            record = logging.LogRecord(
                "bokeh",
                logging.ERROR,
                "x",
                1,
                "%r",
                (error,),
                (type(error), error, error.__traceback__),
            )
            assert brief.filter(record)
            assert record.exc_info is not None
        else:
            pytest.fail("it is refused")


def test_warnings_pass() -> None:
    record = logging.LogRecord("bokeh", logging.WARNING, "x", 1, "careful", (), None)
    assert Brief().filter(record)
    assert record.getMessage() == "careful"


def test_who_has_left_is_no_fault() -> None:
    from bokeh.server.connection import ServerConnection

    def raised(do) -> logging.LogRecord:
        try:
            do()
        except AssertionError as error:
            about = type(error), error, error.__traceback__
            return logging.LogRecord("tornado", logging.ERROR, "x", 1, "Uncaught", (), about)
        return pytest.fail("it is raised")

    def wrong() -> None:
        raise AssertionError

    gone = ServerConnection.__new__(ServerConnection)
    gone._session = None
    assert not Left().filter(raised(lambda: gone.session))
    assert Left().filter(raised(wrong))


def test_what_nobody_waited_for_when_a_visitor_left_is_not_written(caplog) -> None:
    """Each connection that goes while something is sent would be a traceback of 800 characters."""
    write_briefly()
    stream = IOStream(socket.socket())
    stream.close()

    async def visit() -> None:
        for send in (lambda: stream.write(b"x"), lambda: 1 / 0):

            async def task(send=send) -> None:
                send()

            left = asyncio.ensure_future(task())
            await asyncio.sleep(0)
            del left
            gc.collect()

    loop = asyncio.new_event_loop()
    loop.run_until_complete(visit())
    loop.close()
    (said,) = [each for each in caplog.records if each.name == "asyncio"]
    assert said.exc_info[0] is ZeroDivisionError


def test_a_window_that_is_closed_while_something_is_sent_is_no_line() -> None:
    bokeh = Path(ws.__file__).read_text("utf8")
    assert f'log.warning("{WENT}")' in bokeh, "its words have changed"
    write_briefly()
    (seldom,) = [each for each in ws.log.filters if isinstance(each, Seldom)]
    said = logging.LogRecord("bokeh", logging.WARNING, "x", 1, WENT, (), None)
    assert not seldom.filter(said)
