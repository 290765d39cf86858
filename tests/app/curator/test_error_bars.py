"""Simulated error bars: only where they are needed, only for the newest screen."""

import asyncio
import threading
from types import SimpleNamespace

import numpy as np

import explorer
from explorer.app.curator.error_bars import RUNS, ErrorBars
from explorer.evaluate import simulation
from explorer.evaluate.simulation import simulated_sd
from explorer.points.matrix import FrequencyMatrix

COUNTS = FrequencyMatrix.from_array(np.arange(256).reshape(16, 16))
BOXES = np.array([[1.0, 1.0, 9.0, 7.5], [0.0, 0.0, 16.0, 16.0]])


def screen(mechanism, boxes=BOXES, seed=1):
    return SimpleNamespace(release=mechanism.release(COUNTS, rng=seed), boxes=boxes)


def test_exact_bars_need_no_simulation() -> None:
    told: list[int] = []
    bars = ErrorBars(lambda: told.append(1))
    shown = screen(explorer.UG(epsilon=1.0))
    bars.want(shown)
    assert bars.of(shown) is None
    assert not told


def test_shrunk_counts_get_the_bars_of_the_simulation() -> None:
    told: list[int] = []
    bars = ErrorBars(lambda: told.append(1))
    shown = screen(explorer.Mosaic(epsilon=1.0))
    bars.want(shown)
    found, asked = bars.of(shown), simulated_sd(shown.release, BOXES, RUNS)
    assert told == [1]
    np.testing.assert_array_equal(found.error, asked.error)
    bars.want(shown)
    assert told == [1]
    # Other boxes, or another release, are another question.
    assert bars.of(SimpleNamespace(release=shown.release, boxes=BOXES[:1])) is None
    assert bars.of(screen(explorer.Mosaic(epsilon=1.0), seed=2)) is None


def test_only_the_newest_screen_is_simulated() -> None:
    told: list[int] = []
    bars = ErrorBars(lambda: told.append(1))
    bars.job.delay = 0.02
    old, new = (screen(explorer.Mosaic(epsilon=e)) for e in (0.5, 1.0))

    async def visit() -> None:
        bars.want(old)
        bars.want(new)
        await bars.job.wait()

    asyncio.run(visit())
    assert bars.of(old) is None
    assert bars.of(new) is not None
    assert told == [1]


def test_without_boxes_or_after_the_end_nothing_is_done() -> None:
    bars = ErrorBars(lambda: None)
    shown = screen(explorer.Mosaic(epsilon=1.0), boxes=np.zeros((0, 4)))
    bars.want(shown)
    assert bars.of(shown) is None
    bars.job.delay = 0.02

    async def visit() -> None:
        bars.want(shown)
        bars.close()
        await bars.job.wait()

    shown = screen(explorer.Mosaic(epsilon=1.0))
    asyncio.run(visit())
    assert bars.of(shown) is None


def test_a_simulation_that_is_not_wanted_any_more_ends_with_its_run(monkeypatch) -> None:
    bars = ErrorBars(lambda: None)
    bars.job.delay = 0.0
    shown = screen(explorer.Mosaic(epsilon=1.0))
    drawn: list[int] = []
    begun, go_on = threading.Event(), threading.Event()
    plain = simulation.reruns

    def slowly(*asked):
        for again in plain(*asked):
            drawn.append(1)
            begun.set()
            go_on.wait(60)
            yield again

    monkeypatch.setattr(simulation, "reruns", slowly)

    async def visit() -> None:
        bars.want(shown)
        assert await asyncio.to_thread(begun.wait, 60)
        bars.job.cancel()
        go_on.set()
        await bars.job.wait()

    asyncio.run(visit())
    assert len(drawn) == 1
    assert bars.of(shown) is None
