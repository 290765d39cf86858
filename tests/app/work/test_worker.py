"""The worker: the newest settings always arrive, and nothing queues."""

import asyncio
import threading

import pytest

from explorer.app.work.worker import UNEXPECTED, LatestWorker, Superseded
from explorer.errors import InputError


class Page:
    """A worker on a page that only takes notes."""

    def __init__(self, compute) -> None:
        self.setting = 0
        self.published: list = []
        self.said: list = []
        self.slow: list = []
        self.worker = LatestWorker(
            lambda: self.setting, compute, self.published.append, self.said.append, self.slow.append
        )

    def change(self, setting) -> None:
        self.setting = setting
        self.worker.request()

    async def idle(self) -> None:
        while self.worker._task is not None and not self.worker._task.done():
            await asyncio.sleep(0.005)


def test_what_comes_between_is_dropped_and_the_last_arrives() -> None:
    gate = threading.Event()
    computed = []

    def compute(setting):
        computed.append(setting)
        if setting == 1:
            gate.wait(5)
        return setting

    async def visit():
        page = Page(compute)
        page.change(1)
        await asyncio.sleep(0.02)
        for setting in range(2, 50):
            page.change(setting)
        gate.set()
        await page.idle()
        return page

    page = asyncio.run(visit())
    assert computed == [1, 49]
    assert page.published == [1, 49]


def test_the_loop_stays_free_while_it_computes() -> None:
    gate = threading.Event()

    async def visit():
        page = Page(lambda _: gate.wait(5))
        page.change(1)
        await asyncio.sleep(0.02)
        assert not page.published
        gate.set()
        await page.idle()
        return page

    assert asyncio.run(visit()).published == [True]


@pytest.mark.parametrize(
    ("error", "sentence"),
    [(InputError("Too small."), "Too small."), (ZeroDivisionError(), UNEXPECTED)],
)
def test_an_error_is_a_sentence_and_the_next_change_works(error, sentence, caplog) -> None:
    def compute(setting):
        if setting == 1:
            raise error
        return setting

    async def visit():
        page = Page(compute)
        page.change(1)
        await page.idle()
        page.change(2)
        await page.idle()
        return page

    page = asyncio.run(visit())
    assert page.said == [sentence]
    assert page.published == [2]
    # An error of ours is in the log with its traceback, a refusal is not.
    assert bool(caplog.records) == (sentence == UNEXPECTED)


def test_a_superseded_computation_publishes_nothing() -> None:
    async def visit():
        page = Page(None)

        def compute(setting):
            if setting == 1:
                page.setting = 2
                page.worker.request()
                raise Superseded
            return setting

        page.worker._compute = compute
        page.change(1)
        await page.idle()
        return page

    page = asyncio.run(visit())
    assert page.published == [2]
    assert not page.said


def test_a_long_computation_says_so_and_a_short_one_does_not() -> None:
    async def visit(seconds):
        page = Page(lambda _: threading.Event().wait(seconds))
        page.worker.patience = 0.05
        page.change(1)
        await page.idle()
        return page

    assert asyncio.run(visit(0.2)).slow == [True, False]
    assert asyncio.run(visit(0.0)).slow == []


def test_a_closed_session_is_left_alone() -> None:
    async def visit():
        page = Page(lambda setting: setting)
        page.change(1)
        page.worker.close()
        await page.idle()
        page.change(2)
        await asyncio.sleep(0.02)
        return page

    assert asyncio.run(visit()).published == []


def test_without_an_event_loop_it_computes_at_once() -> None:
    page = Page(lambda setting: setting * 2)
    page.change(21)
    assert page.published == [42]
