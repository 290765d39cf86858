"""A page that follows others: few showings, the last change always, nothing for who has gone."""

import asyncio
import itertools
import time

import panel as pn
import pytest
from panel.io.state import set_curdoc

from explorer.app.work.polling import Pulse
from tests.app.visitor import Visitor


def pulsed(visitor, gap, changes, pause, *, from_thread=False):
    """Times at which a page is shown, and the newest number at each."""
    shown = []

    async def visit():
        newest = [0]
        with set_curdoc(visitor):
            pulse = Pulse(lambda: shown.append((time.monotonic(), newest[0], pn.state.curdoc)), gap)
        for newest[0] in range(1, changes + 1):
            # As the change of another visitor, in that one's page.
            with set_curdoc(Visitor()):
                if from_thread:
                    await asyncio.to_thread(pulse)
                else:
                    pulse()
            await asyncio.sleep(pause)
        await asyncio.sleep(3 * gap)
        pulse.close()
        pulse()
        await asyncio.sleep(gap)

    asyncio.run(visit())
    return shown


@pytest.mark.parametrize("from_thread", [False, True])
def test_many_changes_are_few_showings_and_the_last_is_shown(from_thread) -> None:
    visitor = Visitor()
    shown = pulsed(visitor, 0.1, 60, 0.005, from_thread=from_thread)
    times = [at for at, _, _ in shown]
    assert shown[-1][1] == 60
    assert all(b - a > 0.09 for a, b in itertools.pairwise(times))
    assert all(where is visitor for _, _, where in shown), "shown in another visitor's page"


def test_a_slow_page_builds_no_queue() -> None:
    visitor = Visitor(stuck=True)
    assert pulsed(visitor, 0.01, 50, 0.002) == []
    assert visitor.asked == 1


def test_who_has_gone_is_shown_nothing() -> None:
    visitor, shown = Visitor(), []

    async def visit():
        with set_curdoc(visitor):
            pulse = Pulse(lambda: shown.append(1), 0.01)
        pulse()
        while not shown:
            await asyncio.sleep(0.005)
        visitor.leave()
        for _ in range(5):
            pulse()
            await asyncio.sleep(0.02)

    asyncio.run(visit())
    assert shown == [1]
    assert visitor.asked == 1


def test_without_a_loop_every_change_is_shown_at_once() -> None:
    shown = []
    pulse = Pulse(lambda: shown.append(1), 60)
    pulse()
    pulse()
    pulse.close()
    pulse()
    assert shown == [1, 1]
