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

from explorer.app.work.document import Visit, held
from explorer.errors import InputError

logger = logging.getLogger(__name__)
Result = TypeVar("Result")
Phase = Literal["idle", "waiting", "running", "finished", "cancelled", "failed"]

UNEXPECTED = "Something went wrong; what you see is from before."
#: Seconds between two looks at the progress.
LOOK = 0.3
#: Seconds in which work that is outdated may still end.
PATIENCE = 0.3


class Superseded(Exception):
    """Raised inside work whose result is not wanted any more."""


def not_wanted() -> bool:
    """Whether no one wants the result any more of the work that asks this, in its thread."""
    run = _going.get()
    return run is not None and run.cancelled.is_set()


def give_up_unwanted(_part: float = 0.0) -> None:
    """What work tells its progress to, in its thread: stops it once no one wants its result."""
    run = _going.get()
    if run is not None:
        run.give_up_unwanted()


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


class Run:
    """One going of a job, as its thread sees it.

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
        """Stop the work once no one wants its result; may be told a progress.

        Raises
        ------
        Superseded
        """
        if self.cancelled.is_set():
            raise Superseded

    def tell(self, part: float) -> None:
        """So much is done, from 0 to 1; what is done at the first call is not counted as work."""
        if not self._began:
            self._first, self._began = part, time.monotonic()
        self.part = part

    def seconds_left(self) -> float | None:
        """An estimate from the pace so far; None before there is one."""
        taken, done = time.monotonic() - self._began, self.part - self._first
        if self.phase != "running" or done <= 0 or taken < 1:
            return None
        return taken / done * (1 - self.part)


_going: ContextVar[Run | None] = ContextVar("going", default=None)


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
        visit = Visit()
        if self._closed:
            return
        if visit.loop is None:
            self.now(question)
            return
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
        found, said = self._question(question)
        if said is None:
            found, said = _tried(partial(self._attempt, run, found))
        held(pn.state.curdoc, partial(self._end, run, found, said))

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
                    found, said = await self._once(run, question, visit)
                visit.show(partial(self._end, run, found, said))
            with self._lock:
                if not self._outdated:
                    self._following = False
                    break
            run = self._run = Run()

    async def _once(self, run: Run, question: Any, visit: Visit) -> tuple[Any, str | None]:
        """The result, or why there is none; what is new meanwhile is shown."""
        found, said = self._question(question)
        if said is not None:
            return found, said
        loop = asyncio.get_running_loop()
        late = loop.call_later(self.patience, visit.show, partial(self._late, run))
        work = partial(contextvars.copy_context().run, _tried, partial(self._attempt, run, found))
        pool = getattr(found, "pool", self._pool)
        working = loop.run_in_executor(pool, work)
        seen: tuple[Any, ...] = ()
        try:
            while not (await asyncio.wait({working}, timeout=self._changed and LOOK))[0]:
                now = run.phase, run.part
                if now != seen and run is self._run:
                    seen = now
                    visit.show(self._tell)
        finally:
            late.cancel()
            if not working.done():
                run.cancelled.set()
        return working.result()

    def _question(self, question: Any) -> tuple[Any, str | None]:
        return (question, None) if self._take is None else _tried(self._take)

    def _attempt(self, run: Run, question: Any) -> Result:
        """Begin to work. In a thread: touches no widget."""
        if run.cancelled.is_set():
            raise Superseded
        run.reached = "running"
        here = _going.set(run)
        try:
            return self._work(question) if self._changed is None else self._work(question, run)
        finally:
            _going.reset(here)

    def _late(self, run: Run) -> None:
        if self._slow is not None and not self._closed:
            run.slow = True
            self._slow(True)

    def _end(self, run: Run, found: Any, said: str | None) -> None:
        """Show what came out, unless it is not wanted any more."""
        if self._closed:
            return
        # Before the result: a sentence that comes with it must stay.
        if run.slow and self._slow is not None:
            _tried(partial(self._slow, False))  # whatever it says, the result is shown
        if run.cancelled.is_set():
            return
        run.reached = "finished" if said is None else "failed" if said else "cancelled"
        self._tell()
        if said is None:
            self._done(found)
        elif said:
            self._refuse(said)


def _tried(step: Callable[[], Any]) -> tuple[Any, str | None]:
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


def patient(threads: int, name: str, nice: int = 10) -> ThreadPoolExecutor:
    """Threads for long work, which let the pages' own work go first; more work waits in turn.

    Processes started from these threads inherit the low priority.
    """

    def step_back() -> None:
        # Elsewhere the call would slow the whole server down, not this thread.
        if sys.platform == "linux":
            os.setpriority(os.PRIO_PROCESS, 0, nice)

    return ThreadPoolExecutor(threads, name, step_back)
