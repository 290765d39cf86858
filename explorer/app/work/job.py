"""Work next to the page: in a thread, with its result, its progress or one sentence on the page."""

from __future__ import annotations

import asyncio
import contextvars
import logging
import os
import sys
import threading
import time
from collections.abc import Callable
from concurrent.futures import Future, ThreadPoolExecutor
from contextvars import ContextVar
from functools import partial
from typing import Any, Generic, Literal, TypeVar

import panel as pn

from explorer.app.kit.attempts import Attempts
from explorer.app.kit.message import MessageArea
from explorer.app.work.document import Visit, held
from explorer.errors import InputError

logger = logging.getLogger(__name__)
Result = TypeVar("Result")
Phase = Literal["idle", "waiting", "running", "finished", "cancelled", "failed"]

UNEXPECTED = "Something went wrong; what you see is from before."
WAITING = "Other files are being read: yours waits for its turn …"
#: Seconds between two looks at the progress.
LOOK = 0.3
#: Seconds in which work that is outdated may still end.
PATIENCE = 0.3


class Superseded(Exception):
    """Raised inside work whose result is not wanted any more."""


class Run:
    """One run of a job, as its thread sees it.

    Attributes
    ----------
    cancelled : set once no one wants the result; long work looks at it and ends
    part : how much is done, from 0 to 1
    """

    def __init__(self, phase: Phase = "waiting") -> None:
        self.cancelled = threading.Event()
        self.reached = phase
        self.part = self._first = self._began = 0.0
        self.slow = False

    @property
    def phase(self) -> Phase:
        """What has become of it."""
        return "cancelled" if self.cancelled.is_set() else self.reached

    def give_up_unwanted(self, _part: float = 0.0) -> None:
        """Raise `Superseded` once no one wants the result; may be told a progress."""
        if self.cancelled.is_set():
            raise Superseded

    def tell(self, part: float) -> None:
        """So much is done, from 0 to 1; what is done at the first call is not counted as work."""
        if not self._began:
            self._first, self._began = part, time.monotonic()
        self.part = part

    def seconds_left(self) -> float | None:
        """An estimate from the pace so far; None before there is one."""
        elapsed, done = time.monotonic() - self._began, self.part - self._first
        if self.phase != "running" or done <= 0 or elapsed < 1:
            return None
        return elapsed / done * (1 - self.part)


_running: ContextVar[Run] = ContextVar("running")


def not_wanted() -> bool:
    """Whether no one wants the result any more of the work that asks this, in its thread."""
    run = _running.get(None)
    return run is not None and run.cancelled.is_set()


def give_up_unwanted(_part: float = 0.0) -> None:
    """Stop the work of this thread once no one wants its result; may be told a progress."""
    if not_wanted():
        raise Superseded


def give_up_late(outdated: Callable[[], bool]) -> Callable[[float], None]:
    """What work tells its progress to: stops it where it is outdated and takes long.

    Work that is nearly done is shown all the same: a drag that stops each picture shows none.

    Parameters
    ----------
    outdated : whether there is a newer question; looked at once `PATIENCE` seconds have passed
    """
    started = time.monotonic()

    def progress(_part: float) -> None:
        if time.monotonic() - started > PATIENCE and outdated():
            raise Superseded

    return progress


class Job(Generic[Result]):
    """Something that is done next to the page, again and again, and never twice at a time.

    With ``take`` it follows settings: while it computes, further asks only mark it as outdated;
    then its result is shown and the newest settings are computed. So the last value always
    arrives, and a drag never builds a queue. Without ``take`` each ask brings its own question,
    and cancels the one before.

    An InputError becomes its sentence; anything else is logged and becomes `UNEXPECTED`. When the
    visitor has gone everything stops. Without an event loop (a script, a test) all is done at once.

    Parameters
    ----------
    work : from a question to a result, in a thread: it must not touch the document. Where progress
        is shown (``changed``) it takes a `Run` as well
    done : shows a result, with the document's lock held
    refuse : shows a sentence; what is on the page stays
    take : the newest question, called on the event loop
    slow : told True when work takes longer than ``patience`` seconds, and False at its end
    changed : called when phase or progress are new
    delay : seconds that a question must stay the newest before work begins
    pool : where to work, a pool of `patient` threads for what takes long; a question with a
        ``pool`` of its own is answered there
    """

    patience = 0.4

    def __init__(
        self,
        work: Callable[..., Result],
        done: Callable[[Result], None],
        refuse: Callable[[str], None],
        *,
        take: Callable[[], Any] | None = None,
        slow: Callable[[bool], None] | None = None,
        changed: Callable[[], None] | None = None,
        delay: float = 0.0,
        pool: ThreadPoolExecutor | None = None,
    ) -> None:
        self._work, self._done, self._refuse = work, done, refuse
        self._take, self._slow, self._changed = take, slow, changed
        self.delay, self._pool = delay, pool
        self._run = Run("idle")
        self._task: Future[None] | None = None
        # From Bokeh 3.10 on, handlers run in threads next to the event loop.
        self._lock = threading.Lock()
        self._following = self._outdated = self._closed = False
        if pn.state.curdoc is not None:
            pn.state.on_session_destroyed(lambda _context: self.close())

    @property
    def phase(self) -> Phase:
        """What has become of the newest question."""
        return self._run.phase

    @property
    def busy(self) -> bool:
        """Whether work is under way or waits for its turn."""
        return self.phase in ("waiting", "running")

    @property
    def progress(self) -> tuple[float, float | None]:
        """How much is done, from 0 to 1, and an estimate of the seconds that are left."""
        return self._run.part, self._run.seconds_left()

    def ask(self, question: Any = None) -> None:
        """Answer ``question``, or the newest one where the job takes it by itself."""
        if self._closed:
            return
        visit = Visit()
        if visit.loop is None:
            self.now(question)
        else:
            visit.begin(partial(self._begin, question, visit))

    def _begin(self, question: Any, visit: Visit) -> None:
        """Answer it from now on, on the event loop."""
        if self._closed or visit.loop is None:
            return
        if self._take is not None:
            with self._lock:
                self._outdated = self._following
                if self._following:
                    return
                self._following = True
        self._drop()
        run = self._run = Run()
        answer = self._carry_out(run, question, visit)
        self._task = asyncio.run_coroutine_threadsafe(answer, visit.loop)
        self._task.add_done_callback(self._log_failure)
        self._tell()

    def now(self, question: Any = None) -> None:
        """Do everything in the calling thread, such as for the first picture of a page."""
        self._drop()
        run = self._run = Run()
        result, sentence = self._question(question)
        if sentence is None:
            result, sentence = _attempt(partial(self._do, run, result))
        held(pn.state.curdoc, partial(self._end, run, result, sentence))

    def cancel(self) -> None:
        """Show no result of what is under way; what was shown before stays."""
        self._outdated = False
        if self.busy:
            self._drop()
            self._tell()

    def reset(self) -> None:
        """Cancel, and know nothing of what has been done."""
        self._drop()
        self._run = Run("idle")
        self._tell()

    def close(self) -> None:
        """Stop for good: there is no page any more to show anything on."""
        self._closed = True
        self._drop()

    async def wait(self) -> None:
        """Return when nothing is under way."""
        if self._task is not None:
            await asyncio.wait({asyncio.wrap_future(self._task)})

    def _log_failure(self, task: Future[None]) -> None:
        if not task.cancelled() and task.exception() is not None:
            self._following = False
            logger.error("Work beside the page failed", exc_info=task.exception())

    def _drop(self) -> None:
        if self.busy:
            self._run.cancelled.set()

    def _tell(self) -> None:
        if self._changed is not None and not self._closed:
            self._changed()

    async def _carry_out(self, run: Run, question: Any, visit: Visit) -> None:
        await asyncio.sleep(self.delay)
        while not self._closed:
            if self._take is not None:
                await visit.turn()
            if not run.cancelled.is_set():
                self._outdated = False
                with visit.working():
                    result, sentence = await self._once(run, question, visit)
                visit.show(partial(self._end, run, result, sentence))
            with self._lock:
                if not self._outdated:
                    self._following = False
                    break
            run = self._run = Run()

    async def _once(self, run: Run, question: Any, visit: Visit) -> tuple[Any, str | None]:
        """The result, or why there is none; what is new meanwhile is shown."""
        question, sentence = self._question(question)
        if sentence is not None:
            return question, sentence
        loop = asyncio.get_running_loop()
        late = loop.call_later(self.patience, visit.show, partial(self._late, run))
        context = contextvars.copy_context()
        work = partial(context.run, _attempt, partial(self._do, run, question))
        working = loop.run_in_executor(getattr(question, "pool", self._pool), work)
        previous: tuple[Any, ...] = ()
        try:
            while not (await asyncio.wait({working}, timeout=self._changed and LOOK))[0]:
                now = run.phase, run.part
                if now != previous and run is self._run:
                    previous = now
                    visit.show(self._tell)
        finally:
            late.cancel()
            if not working.done():
                run.cancelled.set()
        return working.result()

    def _question(self, question: Any) -> tuple[Any, str | None]:
        return (question, None) if self._take is None else _attempt(self._take)

    def _do(self, run: Run, question: Any) -> Result:
        """Work. In a thread: touches no widget."""
        run.give_up_unwanted()
        run.reached = "running"
        token = _running.set(run)
        try:
            return self._work(question) if self._changed is None else self._work(question, run)
        finally:
            _running.reset(token)

    def _late(self, run: Run) -> None:
        if self._slow is not None and not self._closed:
            run.slow = True
            self._slow(True)

    def _end(self, run: Run, result: Any, sentence: str | None) -> None:
        """Show what came out, unless it is not wanted any more."""
        if self._closed:
            return
        # Before the result: a sentence that comes with it must stay.
        if run.slow and self._slow is not None:
            _attempt(partial(self._slow, False))  # whatever it says, the result is shown
        if run.cancelled.is_set():
            return
        run.reached = "finished" if sentence is None else "failed" if sentence else "cancelled"
        self._tell()
        if sentence is None:
            self._done(result)
        elif sentence:
            self._refuse(sentence)


def _attempt(step: Callable[[], Any]) -> tuple[Any, str | None]:
    """What ``step`` returns, and a sentence if it fails: an empty one if no one wants to know."""
    try:
        return step(), None
    except Superseded:
        return None, ""
    except InputError as error:
        return None, str(error)
    except Exception:
        logger.exception("Work beside the page failed")
        return None, UNEXPECTED


class Background(Job[Any]):
    """Reads a file or a city and says so meanwhile; the newest request wins.

    Parameters
    ----------
    message : told what is being done, and what went wrong
    """

    def __init__(self, message: MessageArea) -> None:
        super().__init__(
            lambda work, _run: work(), self._use, self._explain, changed=self._tell_waiting
        )
        self._message, self._attempts = message, Attempts()
        self._saying, self._since = "", 0.0

    def run(
        self,
        work: Callable[[], Any],
        done: Callable[[Any], None],
        saying: str = "Reading …",
        failed: Callable[[], None] = lambda: None,
    ) -> None:
        """Do ``work()`` in a thread, then ``done(result)``; if it cannot be done, ``failed()``.

        Uploaded files (`Foreign`) have threads of their own, and wait there for their turn.
        """
        self._then, self._failed = done, failed
        self._saying, self._since = saying, time.monotonic()
        self._attempts.begin()
        self._message.working(saying)
        self.ask(work)

    def cancel(self) -> None:
        """Use no result of work that still runs: something else has been chosen meanwhile."""
        super().cancel()
        self._message.done()

    def _tell_waiting(self) -> None:
        """Say it while a file waits for its turn, and no longer."""
        late = time.monotonic() - self._since > LOOK / 2
        sentence = WAITING if self.phase == "waiting" else self._saying
        if self.busy and late and self._message.sentence in {WAITING, self._saying} - {sentence}:
            self._message.working(sentence)

    def _use(self, result: Any) -> None:
        self._message.done()
        self._then(result)

    def _explain(self, sentence: str) -> None:
        self._message.done()
        with self._attempts.during():
            self._message.refuse(sentence)
        self._failed()


def patient(threads: int, name: str, nice: int = 10) -> ThreadPoolExecutor:
    """Threads for long work, which let the pages' own work go first; more work waits in turn.

    Processes started from these threads inherit the low priority.
    """

    def step_back() -> None:
        # Elsewhere the call would slow the whole server down, not this thread.
        if sys.platform == "linux":
            os.setpriority(os.PRIO_PROCESS, 0, nice)

    return ThreadPoolExecutor(threads, name, step_back)
