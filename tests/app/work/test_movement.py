"""What is read after a picture comes at once, in a movement after its last picture alone."""

import asyncio

import numpy as np
import pytest

from explorer.app import Compare, Explore
from explorer.app.work import movement
from explorer.app.work.movement import Movement
from explorer.points.matrix import FrequencyMatrix


@pytest.fixture(autouse=True)
def quick(monkeypatch) -> None:
    monkeypatch.setattr(movement, "RESTED", 0.02)


def test_one_change_is_read_at_once() -> None:
    told = []

    async def visit() -> None:
        one = Movement()
        one.changed()
        one.shown(lambda: told.append("rest"))
        assert told == ["rest"]

    asyncio.run(visit())


def test_of_many_changes_the_last_one_is_read() -> None:
    told = []

    async def visit() -> None:
        one = Movement()
        for number in range(5):
            one.changed()
            one.shown(lambda number=number: told.append(number))
        assert told == [0], "of the others nothing comes before they rest"
        await asyncio.sleep(0.2)
        assert told == [0, 4]

    asyncio.run(visit())


def test_without_an_event_loop_everything_is_read_at_once() -> None:
    one, told = Movement(), []
    for number in range(3):
        one.changed()
        one.shown(lambda number=number: told.append(number))
    assert told == [0, 1, 2]


@pytest.mark.parametrize("kind", [Explore, Compare])
def test_while_a_slider_moves_the_pictures_and_tags_alone_are_new(monkeypatch, kind) -> None:
    counts = np.random.default_rng(2).poisson(7, (32, 32))
    page = kind(FrequencyMatrix.from_array(counts), epsilon=0.5)
    rests = []
    monkeypatch.setattr(Movement, "shown", lambda _self, rest: rests.append(rest))

    def pictures():
        return [id(view.image.data) for view in page.maps.views]

    def tags():
        return [each.data["text"] for each in page.maps.boxes[0].tags]

    before, table, told = pictures(), page.table.widget.value.copy(), tags()
    page.state.put(epsilon=2.0)
    moving = pictures()
    assert moving != before
    assert tags() != told
    assert page.table.widget.value.equals(table)
    told = tags()
    rests[-1]()
    # At its end numbers and table follow, and no picture is another one.
    assert not page.table.widget.value.equals(table)
    assert pictures() == moving
    assert tags() == told
