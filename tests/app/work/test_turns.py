"""Who asks without end leaves others their share; who is alone or asks for a moment never waits."""

from __future__ import annotations

import gc
import weakref

import pytest

from explorer.app.work.turns import FREE, MOST, Turns
from tests.helpers import Clock


class Page:
    """Somebody's page."""


@pytest.fixture
def turns(clock: Clock) -> Turns:
    return Turns(clock)


def work(turns: Turns, clock: Clock, page: Page, seconds: float) -> None:
    clock.now += seconds
    turns.used(page, seconds)


def test_who_is_alone_never_waits(turns: Turns, clock: Clock) -> None:
    page = Page()
    for _ in range(100):
        work(turns, clock, page, 0.5)
        assert turns.owed(page) == 0


def test_a_moment_is_free_and_then_a_page_has_its_share(turns: Turns, clock: Clock) -> None:
    flood, others = Page(), [Page() for _ in range(4)]
    began, waited = clock.now, 0.0
    at_once = worked = 0.0
    while clock.now < began + 60:
        for other in others:
            turns.used(other, 0.0)
            assert turns.owed(other) == 0
        work(turns, clock, flood, 0.1)
        worked += 0.1
        owed = turns.owed(flood)
        if not owed and not waited:
            at_once = worked
        waited += owed
        clock.now += owed
    assert FREE <= at_once <= FREE + 0.7
    # One second in five, and what was free.
    assert worked == pytest.approx(60 / 5 + FREE, rel=0.1)
    assert waited == pytest.approx(60 - worked, rel=0.1)


def test_no_turn_is_waited_for_longer_than_a_second(turns: Turns, clock: Clock) -> None:
    flood, other = Page(), Page()
    turns.used(other, 0.0)
    turns.used(flood, 1000.0)
    assert turns.owed(flood) == MOST
    # And when the other has gone it has all again.
    clock.now += 5
    assert turns.owed(flood) == 0


def test_who_comes_back_later_has_a_free_moment_again(turns: Turns, clock: Clock) -> None:
    one, other = Page(), Page()
    turns.used(other, 0.0)
    turns.used(one, FREE + 0.5)
    assert turns.owed(one) > 0
    clock.now += 10
    turns.used(other, 0.0)
    assert turns.owed(one) == 0


def test_nothing_is_kept_of_who_has_left(turns: Turns) -> None:
    page = Page()
    gone = weakref.ref(page)
    turns.used(page, 1.0)
    del page
    gc.collect()
    assert gone() is None
