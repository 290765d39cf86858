"""Faults of visitors' messages are short in the log, and hold no values."""

import asyncio
import gc
import logging
import socket
from pathlib import Path

import pytest
from bokeh.server.connection import ServerConnection
from bokeh.server.views import ws
from tornado.iostream import IOStream

from explorer.app.work.limits import QUIET, WENT, VisitorFaults, log_visitors_briefly


@pytest.fixture(autouse=True)
def by_hand(clock, monkeypatch) -> None:
    monkeypatch.setattr("explorer.app.work.limits.time", clock)


def record(error: BaseException | None, level: int = logging.ERROR) -> logging.LogRecord:
    about = None if error is None else (type(error), error, error.__traceback__)
    return logging.LogRecord("bokeh", level, "x", 1, "error: %r", (error,), about)


def raised(do) -> Exception:
    try:
        do()
    except Exception as error:
        return error
    return pytest.fail("it is raised")


@pytest.mark.parametrize("level", [logging.ERROR, logging.WARNING])
def test_a_fault_is_one_line_a_minute_without_its_value(clock, level) -> None:
    faults = VisitorFaults()

    def logged(text: str) -> str | None:
        error = ValueError(text) if level == logging.ERROR else None
        line = logging.LogRecord(
            "bokeh", level, "x", 1, text, (), error and (type(error), error, None)
        )
        return line.getMessage() if faults.filter(line) and line.exc_info is None else None

    line = logged("expected a number, got 4711")
    assert line is not None
    assert "4711" not in line
    assert [logged("4711") for _ in range(9)] == [None] * 9
    clock.now += QUIET
    assert "9 before it" in str(logged("4711"))


def test_faults_of_our_own_and_other_lines_are_logged_as_they_are() -> None:
    from explorer.grid.grid import Grid

    own = raised(lambda: Grid.of("nowhere"))
    for error, level in ((own, logging.ERROR), (None, logging.ERROR), (None, logging.INFO)):
        faults = VisitorFaults()
        for _ in range(2):
            line = record(error, level)
            assert faults.filter(line)
            assert line.msg == "error: %r"
    tasks = VisitorFaults(limited=False)
    assert all(tasks.filter(record(ValueError("4711"))) for _ in range(2))


def test_a_visitor_who_has_left_is_no_fault() -> None:
    gone = ServerConnection.__new__(ServerConnection)
    gone._session = None
    faults = VisitorFaults(limited=False)
    assert not faults.filter(record(raised(lambda: gone.session)))
    assert faults.filter(record(AssertionError()))
    bokeh = Path(ws.__file__).read_text("utf8")
    assert f'log.warning("{WENT}")' in bokeh, "its words have changed"
    assert not faults.filter(logging.LogRecord("bokeh", logging.WARNING, "x", 1, WENT, (), None))


def test_what_nobody_waited_for_when_a_visitor_left_is_not_logged(caplog) -> None:
    """Each connection that goes while something is sent would be a traceback of 800 characters."""
    log_visitors_briefly()
    gc.collect()
    caplog.clear()
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
    (line,) = [line for line in caplog.records if line.name == "asyncio"]
    assert line.exc_info[0] is ZeroDivisionError
