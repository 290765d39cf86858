"""Free memory goes back a while after it was used, once for all who used it."""

from __future__ import annotations

import asyncio

from explorer.app.work import leaving


def test_what_is_planned_for_sooner_stands_for_what_is_later(monkeypatch) -> None:
    given: list[float] = []
    monkeypatch.setattr(leaving, "_planned", [])

    async def visits() -> None:
        loop = asyncio.get_running_loop()
        monkeypatch.setattr(leaving, "give_back", lambda: given.append(loop.time()))
        begun = loop.time()
        leaving.give_back_in(30.0)
        leaving.give_back_in(0.05)
        leaving.give_back_in(20.0)
        while not given:
            await asyncio.sleep(0.01)
        assert 0.05 <= given[0] - begun < 20
        # What has been done is not waited for.
        leaving.give_back_in(0.0)
        while len(given) < 2:
            await asyncio.sleep(0.01)
        await asyncio.sleep(0.1)

    asyncio.run(asyncio.wait_for(visits(), 30))
    assert len(given) == 2


def test_without_a_loop_nothing_is_planned(monkeypatch) -> None:
    planned: list[object] = []
    monkeypatch.setattr(leaving, "_planned", planned)
    leaving.give_back_in(0.0)
    assert planned == []
