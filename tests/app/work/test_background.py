"""Reading beside the page: a sentence while it lasts, and the choice goes back if it fails."""

import asyncio

from explorer.app.kit.message import MessageArea
from explorer.app.work.background import Background
from explorer.errors import InputError
from tests.app.work.test_job import sentence


def test_a_refusal_is_said_and_the_choice_goes_back() -> None:
    def work():
        raise InputError("No such file.")

    async def visit():
        message, back = MessageArea(), []
        background = Background(message)
        background.run(work, back.append, "Reading it …", lambda: back.append("back"))
        assert "Reading it …" in sentence(message)
        await background.job.wait()
        return message, back

    message, back = asyncio.run(visit())
    assert "No such file." in sentence(message)
    assert back == ["back"]


def test_without_an_event_loop_it_happens_at_once_and_a_refusal_is_said_too() -> None:
    def refuse():
        raise InputError("No such file.")

    message, used = MessageArea(), []
    background = Background(message)
    background.run(lambda: 5, used.append)
    assert used == [5]
    assert not message.view.visible
    background.run(refuse, used.append)
    assert used == [5]
    assert "No such file." in sentence(message)


def test_cancelled_work_is_not_used_and_a_refusal_stays() -> None:
    async def visit():
        message, used = MessageArea(), []
        background = Background(message)
        background.run(lambda: "late", used.append)
        background.cancel()
        assert not message.view.visible
        message.refuse("Something else.")
        await background.job.wait()
        return message, used

    message, used = asyncio.run(visit())
    assert used == []
    assert "Something else." in sentence(message)
