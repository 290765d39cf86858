"""How many pages there may be, and how fast one address may open them."""

from __future__ import annotations

import pytest

from explorer.serving import entrance as module
from explorer.serving.entrance import Entrance


@pytest.fixture(autouse=True)
def by_hand(clock, monkeypatch) -> None:
    monkeypatch.setattr("explorer.grid.allowance.time", clock)


def test_a_full_server_and_a_hasty_address_are_put_off(clock) -> None:
    there: list[str] = []
    entrance = Entrance(lambda: there, most=30, most_of_one=20)
    assert sum(entrance.admits("1") for _ in range(50)) == module.AT_ONCE
    assert entrance.admits("2"), "others come in"
    clock.now += 1
    assert sum(entrance.admits("1") for _ in range(50)) == module.A_SECOND
    clock.now += 60
    there += ["1"] * 20
    assert not entrance.admits("1"), "the rest is for others"
    assert entrance.admits("3")
    there += map(str, range(10, 20))
    assert not entrance.admits("3")
