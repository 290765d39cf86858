"""A throttle, what waits for the end of a movement, and a player."""

import asyncio
import itertools
import time

import numpy as np
import panel as pn
import pytest
from panel.io.state import set_curdoc

from explorer.app import Compare, Explore
from explorer.app.work.timing import Movement, Player, Throttle
from explorer.points.matrix import FrequencyMatrix
from tests.app.visitor import Visitor


def throttled(visitor, gap, changes, pause, *, from_thread=False):
    """Times at which a page is shown, the newest number at each, and the page."""
    shown = []

    async def visit():
        newest = [0]
        with set_curdoc(visitor):
            show = Throttle(
                lambda: shown.append((time.monotonic(), newest[0], pn.state.curdoc)), gap
            )
        for newest[0] in range(1, changes + 1):
            # As the change of another visitor, in that one's page.
            with set_curdoc(Visitor()):
                await asyncio.to_thread(show) if from_thread else show()
            await asyncio.sleep(pause)
        await asyncio.sleep(3 * gap)
        show.close()
        show()
        await asyncio.sleep(gap)

    asyncio.run(visit())
    return shown


@pytest.mark.parametrize("from_thread", [False, True])
def test_many_changes_are_few_showings_and_the_last_is_shown(from_thread) -> None:
    visitor = Visitor()
    shown = throttled(visitor, 0.1, 60, 0.005, from_thread=from_thread)
    times = [at for at, _, _ in shown]
    assert shown[-1][1] == 60
    assert all(b - a > 0.09 for a, b in itertools.pairwise(times))
    assert all(page is visitor for _, _, page in shown), "shown in another visitor's page"


def test_a_slow_page_builds_no_queue() -> None:
    visitor = Visitor(stuck=True)
    assert throttled(visitor, 0.01, 50, 0.002) == []
    assert visitor.asked == 1


def test_a_visitor_who_has_gone_is_shown_nothing() -> None:
    visitor, shown = Visitor(), []

    async def visit():
        with set_curdoc(visitor):
            show = Throttle(lambda: shown.append(1), 0.01)
        show()
        while not shown:
            await asyncio.sleep(0.005)
        visitor.leave()
        for _ in range(5):
            show()
            await asyncio.sleep(0.02)

    asyncio.run(visit())
    assert shown == [1]


def test_of_many_changes_the_last_one_is_read(monkeypatch) -> None:
    monkeypatch.setattr(Movement, "RESTED", 0.02)
    read = []

    def move() -> None:
        movement = Movement()
        for number in range(5):
            movement.changed()
            movement.shown(lambda number=number: read.append(number))

    async def visit() -> None:
        move()
        assert read == [0], "of the others nothing comes before they rest"
        await asyncio.sleep(0.2)
        assert read == [0, 4]

    asyncio.run(visit())
    move()
    assert read[2:] == [0, 1, 2, 3, 4], "without an event loop nothing waits"


@pytest.mark.parametrize("kind", [Explore, Compare])
def test_while_a_slider_moves_the_pictures_and_tags_alone_are_new(monkeypatch, kind) -> None:
    counts = np.random.default_rng(2).poisson(7, (32, 32))
    page = kind(FrequencyMatrix.from_array(counts), epsilon=0.5)
    rests = []
    monkeypatch.setattr(Movement, "shown", lambda _self, rest: rests.append(rest))

    def pictures():
        return [id(view.image.data) for view in page.maps.views]

    def tags():
        return [tag.data["text"] for tag in page.maps.boxes[0].tags]

    before, table, earlier = pictures(), page.table.widget.value.copy(), tags()
    page.state.put(epsilon=2.0)
    moving, later = pictures(), tags()
    assert moving != before
    assert later != earlier
    assert page.table.widget.value.equals(table)
    rests[-1]()
    # At its end numbers and table follow, and no picture is another one.
    assert not page.table.widget.value.equals(table)
    assert (pictures(), tags()) == (moving, later)


class Steps:
    """Counts steps and notes when the player begins and ends."""

    def __init__(self, last: int = 10**9) -> None:
        self.done, self.last = 0, last
        self.noted: list[bool] = []
        self.player = Player(self.step, self.noted.append)
        self.player.seconds = 0.01

    def step(self) -> bool:
        self.done += 1
        return self.done < self.last


@pytest.mark.parametrize("in_a_loop", [True, False])
def test_it_plays_to_the_end_once(in_a_loop) -> None:
    steps = Steps(4)

    async def play() -> None:
        steps.player.start()
        steps.player.start()
        while steps.player.playing:
            await asyncio.sleep(0.005)

    asyncio.run(play()) if in_a_loop else steps.player.start()
    assert steps.done == 4
    assert steps.noted == [True, False]


def test_stop_stops_and_an_earlier_start_does_not_go_on() -> None:
    async def play() -> None:
        steps = Steps()
        for _ in range(3):
            steps.player.start()
            await asyncio.sleep(0)
            steps.player.stop()
        done = steps.done
        await asyncio.sleep(0.1)
        assert steps.done == done <= 3
        assert steps.noted == [True, False] * 3

    asyncio.run(play())


def test_a_page_that_is_closed_ends_it() -> None:
    visitor, steps = Visitor(), Steps()

    async def play() -> None:
        with set_curdoc(visitor):
            steps.player.start()
        while steps.done < 2:
            await asyncio.sleep(0.01)
        visitor.leave()
        await asyncio.sleep(0.05)
        done = steps.done
        await asyncio.sleep(0.05)
        assert steps.done == done

    asyncio.run(play())
