"""Long work of a lesson: progress, cancel, the newest wins, errors as sentences."""

import asyncio
import time

import pytest

from explorer.app.learn.running import Running
from explorer.errors import InputError
from explorer.teaching.previews import Cancelled


class Seen:
    """Collects what a run shows."""

    def __init__(self) -> None:
        self.results: list[object] = []
        self.refused: list[str] = []
        self.running = Running(self.results.append, self.refused.append, "Test")


def until_cancelled(progress, cancel):
    for step in range(1000):
        if cancel.is_set():
            raise Cancelled
        progress(step / 1000)
        time.sleep(0.01)
    return "too late"


async def until(true, seconds: float = 20) -> None:
    for _ in range(int(seconds * 50)):
        if true():
            return
        await asyncio.sleep(0.02)
    pytest.fail("it never happened")


def test_without_a_loop_it_is_finished_on_return() -> None:
    seen = Seen()
    seen.running.start(lambda progress, _cancel: progress(0.5) or 7)
    assert seen.results == [7]
    assert seen.running.job.phase == "finished"
    assert "previews" in seen.running.status.object


def test_progress_is_shown_and_cancel_keeps_what_was_there() -> None:
    seen = Seen()

    async def visit() -> None:
        seen.running.start(until_cancelled)
        assert not seen.running.cancel_button.disabled
        await until(
            lambda: "progressbar" in seen.running.status.object and seen.running.job.progress[0] > 0
        )
        seen.running.cancel()
        assert seen.running.job.phase == "cancelled"
        assert seen.running.cancel_button.disabled
        await asyncio.sleep(0.5)

    asyncio.run(visit())
    assert seen.results == []
    assert seen.refused == []
    assert "Cancelled" in seen.running.status.object


def test_the_newest_takes_the_place_of_the_one_before() -> None:
    seen = Seen()

    async def visit() -> None:
        seen.running.start(until_cancelled)
        await until(lambda: seen.running.job.phase == "running")
        seen.running.start(lambda _progress, _cancel: "new")
        await until(lambda: seen.results)

    asyncio.run(visit())
    assert seen.results == ["new"]


def test_refusals_and_accidents_are_sentences() -> None:
    seen = Seen()

    def refuse(_progress, _cancel):
        raise InputError("Not like this.")

    seen.running.start(refuse)
    seen.running.start(lambda _progress, _cancel: 1 / 0)
    assert seen.refused[0] == "Not like this."
    assert "Something went wrong" in seen.refused[1]
    assert seen.running.job.phase == "failed"


def test_a_visit_that_has_ended_shows_nothing_more() -> None:
    seen = Seen()

    async def visit() -> None:
        seen.running.start(until_cancelled)
        await until(lambda: seen.running.job.phase == "running")
        seen.running.close()
        await asyncio.sleep(0.5)

    asyncio.run(visit())
    assert seen.results == seen.refused == []
