"""Long work beside the page: the newest result counts, errors become sentences."""

import asyncio
import threading

from explorer.app.kit.message import MessageArea
from explorer.app.work.background import Background
from explorer.errors import InputError


async def finish(background) -> None:
    while background._task is not None and not background._task.done():
        await asyncio.sleep(0.005)


def test_only_the_newest_result_is_used() -> None:
    async def visit():
        background, used, gate = Background(MessageArea()), [], threading.Event()
        background.run(lambda: gate.wait(5) and "old", used.append)
        first = background._task
        background.run(lambda: "new", used.append)
        await finish(background)
        gate.set()
        await first
        return used

    assert asyncio.run(visit()) == ["new"]


def test_an_error_is_said_and_the_choice_goes_back() -> None:
    async def visit(error):
        message, back = MessageArea(), []
        background = Background(message)

        def work():
            raise error

        background.run(work, back.append, failed=lambda: back.append("back"))
        assert message.view.visible
        await finish(background)
        return message, back

    message, back = asyncio.run(visit(InputError("No such file.")))
    assert "No such file." in message._text.object
    assert back == ["back"]
    message, back = asyncio.run(visit(KeyError("secret")))
    assert "secret" not in message._text.object
    assert back == ["back"]


def test_without_an_event_loop_it_happens_at_once() -> None:
    used = []
    Background(MessageArea()).run(lambda: 5, used.append)
    assert used == [5]


def test_cancelled_work_is_not_used_and_a_refusal_stays() -> None:
    async def visit():
        message, used = MessageArea(), []
        background = Background(message)
        background.run(lambda: "late", used.append)
        background.cancel()
        assert not message.view.visible
        message.refuse("Something else.")
        await finish(background)
        return message, used

    message, used = asyncio.run(visit())
    assert used == []
    assert "Something else." in message._text.object
