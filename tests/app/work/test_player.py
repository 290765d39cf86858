"""The player: paced, stopped at once, and never two at a time."""

import asyncio

from panel.io.state import set_curdoc

from explorer.app.work.player import PACES, Player
from tests.app.visitor import Visitor


class Steps:
    """Counts steps and notes when the player begins and ends."""

    def __init__(self, last: int = 10**9) -> None:
        self.done, self.last = 0, last
        self.said: list[bool] = []
        self.player = Player(self.step, self.said.append)
        self.player.seconds = 0.01

    def step(self) -> bool:
        self.done += 1
        return self.done < self.last


def test_it_is_slow_unless_told_otherwise() -> None:
    assert Player(lambda: False, lambda _playing: None).seconds == PACES["Slow"] == 2.0


def test_without_a_loop_all_steps_are_done_at_once() -> None:
    steps = Steps(5)
    steps.player.start()
    assert steps.done == 5
    assert steps.said == [True, False]
    assert not steps.player.playing


def test_it_plays_to_the_end_at_its_pace() -> None:
    async def run() -> None:
        steps = Steps(4)
        steps.player.seconds = 0.05
        loop = asyncio.get_running_loop()
        began = loop.time()
        steps.player.start()
        steps.player.start()
        while steps.player.playing:
            await asyncio.sleep(0.005)
        assert steps.done == 4
        assert loop.time() - began >= 3 * 0.05
        assert steps.said == [True, False]

    asyncio.run(run())


def test_stop_stops_and_an_earlier_start_does_not_go_on() -> None:
    async def run() -> None:
        steps = Steps()
        steps.player.seconds = 0.02
        for _ in range(3):
            steps.player.start()
            await asyncio.sleep(0)
            steps.player.stop()
        done = steps.done
        await asyncio.sleep(0.1)
        assert steps.done == done <= 3
        assert steps.said == [True, False] * 3

    asyncio.run(run())


def test_a_page_that_is_closed_ends_it() -> None:
    visitor = Visitor()

    async def run() -> None:
        steps = Steps()
        with set_curdoc(visitor):
            steps.player.start()
        await asyncio.sleep(0.05)
        visitor.leave()
        await asyncio.sleep(0.05)
        done = steps.done
        assert done > 1
        await asyncio.sleep(0.05)
        assert steps.done == done

    asyncio.run(run())
