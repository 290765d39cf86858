"""Work beside the page: what is newest counts, what fails is a sentence, who has gone is left."""

import asyncio
import threading
from types import SimpleNamespace

import panel as pn
import pytest
from panel.io.state import set_curdoc

from explorer.app.kit.message import MessageArea
from explorer.app.work import document
from explorer.app.work import job as module
from explorer.app.work.job import UNEXPECTED, Background, Job, patient
from explorer.errors import InputError
from tests.app.acts import words
from tests.app.visitor import Visitor


def sentence(message) -> str:
    """What stands in a message area."""
    return words(message.view)


class Page:
    """A page that only takes notes."""

    def __init__(self, work, *, follow=False, told=False, **more) -> None:
        self.setting = 0
        self.shown, self.said, self.slow, self.told = [], [], [], []
        if follow:
            more["take"] = lambda: self.setting
        if told:
            more["changed"] = lambda: self.told.append((self.job.phase, self.job.progress[0]))
        self.job = Job(work, self.shown.append, self.said.append, slow=self.slow.append, **more)

    def change(self, setting) -> None:
        self.setting = setting
        self.job.ask()


async def until(true) -> None:
    while not true():
        await asyncio.sleep(0.005)


def run(visit, seconds=30):
    """The end is generous: it is only there for a test that would hang."""
    return asyncio.run(asyncio.wait_for(visit(), seconds))


# Which result counts.


def test_what_comes_between_is_dropped_and_the_last_arrives() -> None:
    gate, begun, computed = threading.Event(), threading.Event(), []

    def compute(setting):
        computed.append(setting)
        if setting == 1:
            begun.set()
            gate.wait()
        return setting

    async def visit():
        page = Page(compute, follow=True)
        page.change(1)
        await until(begun.is_set)
        for setting in range(2, 50):
            page.change(setting)
        assert not page.shown, "the loop is free while it computes"
        gate.set()
        await page.job.wait()
        page.change(50)
        await page.job.wait()
        return page

    page = run(visit)
    assert computed == page.shown == [1, 49, 50]
    assert page.job.phase == "finished"


def test_of_several_questions_the_newest_is_answered_whichever_is_ready_first() -> None:
    gate, begun = threading.Event(), threading.Event()

    def work(question):
        if question == "old":
            begun.set()
            gate.wait()
        return question

    async def visit():
        page = Page(work)
        page.job.ask("old")
        await until(begun.is_set)
        page.job.ask("new")
        await page.job.wait()
        gate.set()
        await asyncio.sleep(0.05)
        return page

    assert run(visit).shown == ["new"]


def test_a_question_that_is_not_the_newest_for_long_is_never_worked_on() -> None:
    asked = []

    async def visit():
        page = Page(lambda question: asked.append(question) or question, delay=0.05)
        page.job.ask("old")
        page.job.ask("new")
        await until(lambda: page.shown)
        await asyncio.sleep(0.1)
        return page

    assert run(visit).shown == asked == ["new"]


class Served(Visitor):
    """A document of a server whose handlers run in threads beside the event loop."""

    def __init__(self, loop) -> None:
        super().__init__()
        application = SimpleNamespace(io_loop=SimpleNamespace(asyncio_loop=loop))
        self.context.server_context = SimpleNamespace(application_context=application)


def test_a_handler_in_a_thread_goes_on_while_the_work_is_done() -> None:
    gate, computed = threading.Event(), []

    def compute(setting):
        computed.append(setting)
        if len(computed) == 1:
            gate.wait(5)
        return setting

    async def visit():
        page = Page(compute, follow=True)

        def handle() -> None:
            for setting in range(1, 50):
                page.change(setting)

        with set_curdoc(Served(asyncio.get_running_loop())):
            await asyncio.to_thread(handle)
        await until(lambda: computed)
        assert not page.shown, "the handler did not wait for the work"
        gate.set()
        await page.job.wait()
        return page

    page = run(visit)
    assert page.shown[-1] == 49
    assert len(computed) <= 2


# Cancelling and progress.


def test_cancelled_work_is_told_and_shows_nothing() -> None:
    ended = threading.Event()

    def work(_question, going):
        going.tell(0.25)
        going.cancelled.wait()
        ended.set()
        return "too late"

    async def visit():
        page = Page(work, told=True)
        page.job.cancel()
        assert page.told == []
        page.job.ask()
        await until(lambda: page.job.phase == "running")
        page.job.cancel()
        assert page.job.phase == "cancelled"
        assert not page.job.busy
        await page.job.wait()
        assert ended.is_set()
        page.job.reset()
        assert (page.job.phase, page.job.progress) == ("idle", (0.0, None))
        return page

    page = run(visit)
    assert page.shown == page.said == []
    assert [phase for phase, _ in page.told] == ["waiting", "cancelled", "idle"]


def test_progress_is_told_while_it_lasts(monkeypatch) -> None:
    monkeypatch.setattr(module, "LOOK", 0.01)
    steps = [threading.Event() for _ in range(3)]

    def work(_question, going):
        for i, step in enumerate(steps):
            step.wait()
            going.tell((i + 1) / len(steps))
        return "done"

    async def visit():
        page = Page(work, told=True)
        page.job.ask()
        for i, step in enumerate(steps[:-1]):
            step.set()
            await until(lambda i=i: page.told[-1] == ("running", (i + 1) / len(steps)))
        steps[-1].set()
        await page.job.wait()
        return page

    page = run(visit)
    assert page.told[0] == ("waiting", 0.0)
    assert page.told[-1] == ("finished", 1.0)
    assert page.shown == ["done"]


def test_the_time_left_follows_from_the_pace(monkeypatch) -> None:
    clock = [100.0]
    monkeypatch.setattr(module.time, "monotonic", lambda: clock[0])
    said = []

    def work(_question, going):
        # Two tenths were there before: they say nothing about the pace.
        for part, seconds in ((0.2, 0), (0.2, 3), (0.4, 4)):
            clock[0] = 100.0 + seconds
            going.tell(part)
            said.append(going.seconds_left())

    Page(work, told=True).job.ask()
    assert said[:2] == [None, None]
    assert said[2] == pytest.approx(4 / 0.2 * 0.6)


def test_work_waits_for_its_turn_in_a_pool_and_may_give_up() -> None:
    pool, gate = patient(1, "test", 0), threading.Event()

    async def visit():
        first = Page(lambda _question, _going: gate.wait(), told=True, pool=pool)
        second, third = (Page(lambda q, _going: q, told=True, pool=pool) for _ in range(2))
        first.job.ask()
        await until(lambda: first.job.phase == "running")
        second.job.ask(2)
        third.job.ask(3)
        await asyncio.sleep(0.02)
        assert second.job.phase == third.job.phase == "waiting"
        second.job.cancel()
        gate.set()
        for page in (first, second, third):
            await page.job.wait()
        return first, second, third

    first, second, third = run(visit)
    assert (first.shown, second.shown, third.shown) == ([True], [], [3])
    assert second.job.phase == "cancelled"


# What goes wrong.


@pytest.mark.parametrize("in_a_loop", [True, False])
@pytest.mark.parametrize("follow", [True, False])
@pytest.mark.parametrize(
    ("error", "said"), [(InputError("Too small."), "Too small."), (KeyError("secret"), UNEXPECTED)]
)
def test_an_error_is_a_sentence_and_the_next_time_works(
    error, said, follow, in_a_loop, caplog
) -> None:
    def compute(setting):
        if setting == 1:
            raise error
        return setting

    async def visit():
        for setting in (1, 2):
            ask(setting)
            await page.job.wait()

    page = Page(compute, follow=follow)
    ask = page.change if follow else page.job.ask
    if in_a_loop:
        run(visit)
    else:
        ask(1)
        assert page.job.phase == "failed"
        ask(2)
    assert page.said == [said]
    assert page.shown == [2]
    assert page.job.phase == "finished"
    # An error of ours is in the log with its traceback, a refusal is not.
    assert ["secret" in record.exc_text for record in caplog.records] == [True] * (
        said == UNEXPECTED
    )


def test_settings_that_cannot_be_taken_are_refused() -> None:
    def take():
        raise InputError("Wait a moment.")

    async def visit():
        page.job.ask()
        await page.job.wait()

    page = Page(lambda setting: setting, take=take)
    page.job.ask()
    run(visit)
    assert page.said == ["Wait a moment."] * 2
    assert page.shown == []


@pytest.mark.parametrize("refused", [True, False])
def test_long_work_says_so_and_what_it_brings_is_the_last_word(refused) -> None:
    gate, order = threading.Event(), []

    def work(_question):
        gate.wait()
        if refused:
            raise InputError("No.")

    async def visit():
        job = Job(*(work, lambda _found: order.append("shown"), order.append), slow=order.append)
        job.patience = 0.01
        job.ask()
        await until(lambda: order)
        gate.set()
        await job.wait()
        gate.set()

    run(visit)
    assert order == [True, False, "No." if refused else "shown"]


# Visitors who have gone.


@pytest.mark.parametrize("follow", [True, False])
def test_a_closed_job_shows_nothing_and_begins_nothing(follow) -> None:
    computed = []

    async def visit():
        page = Page(lambda setting: computed.append(setting) or setting, follow=follow)
        page.job.ask(1)
        await page.job.wait()
        page.job.ask(2)
        page.job.close()
        page.job.close()
        await page.job.wait()
        before = len(computed)
        page.job.ask(3)
        await asyncio.sleep(0.02)
        assert len(computed) == before
        return page

    page = run(visit)
    assert len(page.shown) == 1
    assert page.said == []


def test_a_visitor_who_leaves_ends_the_work(monkeypatch) -> None:
    monkeypatch.setattr(module, "LOOK", 0.01)
    visitor, ended = Visitor(), threading.Event()

    def work(_question, going):
        going.cancelled.wait()
        ended.set()
        raise ZeroDivisionError

    async def visit():
        with set_curdoc(visitor):
            page = Page(work, told=True)
            page.job.ask()
        await until(lambda: page.told[-1][0] == "running")
        visitor.leave()
        told = len(page.told)
        await until(ended.is_set)
        await page.job.wait()
        assert len(page.told) == told
        page.job.ask()
        assert not page.job.busy
        return page

    page = run(visit)
    assert page.shown == page.said == []


def test_results_are_shown_on_the_page_that_asked() -> None:
    seen, visitor = [], Visitor()

    async def visit():
        with set_curdoc(visitor):
            job = Job(lambda question: question, lambda _: seen.append(pn.state.curdoc), print)
            job.ask(1)
        with set_curdoc(Visitor()):
            await job.wait()

    run(visit)
    assert seen == [visitor]
    assert pn.state.curdoc is None


# In a notebook pages are asked from threads with loops of their own, which may end.


def test_a_loop_that_ends_takes_no_page_along(monkeypatch) -> None:
    kernel = asyncio.new_event_loop()
    threading.Thread(target=kernel.run_forever, daemon=True).start()
    monkeypatch.setattr(document, "kernel", object)
    monkeypatch.setattr(document, "kernel_loop", lambda: kernel)
    going, shown = threading.Event(), threading.Event()

    def compute(setting):
        going.wait(30)
        if setting == 2:
            shown.set()
        return setting

    page = Page(compute, follow=True)

    async def change(setting) -> None:
        page.change(setting)
        await asyncio.sleep(0.05)

    for setting in (1, 2):
        # Whatever was begun on such a loop ends with it.
        asyncio.run(change(setting))
    going.set()
    assert shown.wait(30)
    kernel.call_soon_threadsafe(kernel.stop)


# Reading with a sentence while it lasts.


def refuse():
    raise InputError("No such file.")


@pytest.mark.parametrize("in_a_loop", [True, False])
def test_a_refusal_is_said_and_the_choice_goes_back(in_a_loop) -> None:
    message, back = MessageArea(), []
    background = Background(message)

    async def visit():
        background.run(refuse, back.append, "Reading it …", lambda: back.append("back"))
        assert not in_a_loop or "Reading it …" in sentence(message)
        await background.wait()

    if in_a_loop:
        run(visit)
    else:
        background.run(refuse, back.append, failed=lambda: back.append("back"))
    assert "No such file." in sentence(message)
    assert back == ["back"]
    background.run(lambda: 5, back.append)
    assert back == ["back", 5]


def test_cancelled_work_is_not_used_and_a_refusal_stays() -> None:
    message, used = MessageArea(), []

    async def visit():
        background = Background(message)
        background.run(lambda: "late", used.append)
        background.cancel()
        assert not message.view.visible
        message.refuse("Something else.")
        await background.wait()

    run(visit)
    assert used == []
    assert "Something else." in sentence(message)
