"""A sweep in the background: many releases, one after the other, that can be watched and stopped.

The releases run in processes of their own (`evaluate.runs`), so the page answers meanwhile; a map
of few cells is done in a thread, which is quicker than starting processes. One sweep at a time in
this server: another visitor's waits its turn.
"""

from __future__ import annotations

import asyncio
import logging
import os
import sys
import threading
import time
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from functools import partial
from typing import Any, Literal

import panel as pn

from explorer.app.compare.kept import KEPT, Kept
from explorer.errors import InputError
from explorer.evaluate import Task, Workload, runs
from explorer.points.matrix import FrequencyMatrix

logger = logging.getLogger(__name__)

Phase = Literal["idle", "waiting", "running", "stopping", "finished", "cancelled", "failed"]
#: Up to so many cells a release takes milliseconds, and starting two processes some seconds.
SMALL = 128 * 128
#: Seconds between two looks at what has been finished.
LOOK = 0.5
_TURN = threading.Lock()


@dataclass(frozen=True)
class Order:
    """What a sweep is to do: ``tasks`` on ``matrix``, each answering all ``workloads``.

    A task is left out when the ``wanted`` workloads are answered already.
    """

    matrix: FrequencyMatrix
    tasks: Sequence[Task]
    workloads: Sequence[Workload]
    wanted: Sequence[Workload]
    jobs: int | None = None


class Sweep:
    """The one sweep of a session.

    Parameters
    ----------
    changed : called on the page's document after each look, when something is new
    kept : where results go, and from where what is there already is taken
    """

    def __init__(self, changed: Callable[[], None], kept: Kept = KEPT) -> None:
        self._changed, self._kept = changed, kept
        self._cancel = threading.Event()
        self._task: asyncio.Task[None] | None = None
        self.phase: Phase = "idle"
        self.sentence = ""
        self.done = self.asked = 0
        self._found = 0
        self._started = 0.0

    @property
    def running(self) -> bool:
        """Whether a sweep is under way."""
        return self.phase in ("waiting", "running", "stopping")

    def start(self, order: Order) -> None:
        """Begin; without an event loop (a script, a test) it is finished on return.

        Raises
        ------
        InputError
            When a sweep of this session is under way.
        """
        if self.running:
            raise InputError("A sweep is running: wait for it, or cancel it first.")
        self._cancel = threading.Event()
        self.sentence = ""
        self.done, self.asked = 0, len(order.tasks)
        self.phase = "waiting"
        work = partial(self._carry_out, order, self._cancel)
        try:
            loop = asyncio.get_running_loop()
        except RuntimeError:
            work()
            self._changed()
            return
        # The reference keeps the task from being collected while it runs.
        self._task = loop.create_task(self._watch(work, pn.state.curdoc))
        self._changed()

    def cancel(self) -> None:
        """Stop soon; what is finished stays."""
        if self.running:
            self._cancel.set()
            self.phase = "stopping"

    def seconds_left(self) -> float | None:
        """An estimate from the pace so far; None before there is one."""
        drawn = self.done - self._found
        if self.phase != "running" or drawn < 3:
            return None
        return (time.monotonic() - self._started) / drawn * (self.asked - self.done)

    async def _watch(self, work: Callable[[], None], doc: Any) -> None:
        """Tell the page about progress while ``work`` runs in a thread."""
        # A thread of its own: the shared ones must not keep the low priority it takes.
        with ThreadPoolExecutor(1, "sweep", _step_back) as own:
            working = asyncio.get_running_loop().run_in_executor(own, work)
            seen: tuple[Any, ...] = ()
            finished: set[Any] = set()
            while not finished:
                finished, _ = await asyncio.wait({working}, timeout=LOOK)
                now = (self.phase, self.done)
                if now != seen:
                    seen = now
                    self._tell(doc)

    def _tell(self, doc: Any) -> None:
        if doc is None or doc.session_context is None:
            self._changed()
        elif not doc.session_context.destroyed:
            doc.add_next_tick_callback(self._changed)

    def _carry_out(self, order: Order, cancel: threading.Event) -> None:
        """Draw what is missing. In a thread: touches no widget."""
        try:
            missing = self._kept.missing(order.matrix, order.tasks, order.wanted)
            self.done = self.asked - len(missing)
            if missing:
                self._in_turn(order, missing, cancel)
            self.phase = "cancelled" if cancel.is_set() and self.done < self.asked else "finished"
        except InputError as error:
            self.phase, self.sentence = "failed", str(error)
        except Exception:
            logger.exception("A sweep failed")
            self.phase = "failed"
            self.sentence = "Something went wrong in the sweep; what was finished stays."

    def _in_turn(self, order: Order, missing: list[Task], cancel: threading.Event) -> None:
        while not _TURN.acquire(timeout=0.1):
            if cancel.is_set():
                return
        try:
            if cancel.is_set():
                return
            # Somebody else may have drawn the same meanwhile.
            missing = self._kept.missing(order.matrix, missing, order.wanted)
            self.done = self._found = self.asked - len(missing)
            self._started = time.monotonic()
            self.phase = "running"
            small = order.matrix.counts.size <= SMALL
            try:
                self._draw(order, missing, cancel, 1 if small else order.jobs)
            except InputError:
                # Where processes cannot be started, such as in a script without the usual guard,
                # it goes on in this thread.
                if small or self.done > self._found:
                    raise
                self._draw(order, missing, cancel, 1)
        finally:
            _TURN.release()

    def _draw(
        self, order: Order, tasks: list[Task], cancel: threading.Event, jobs: int | None
    ) -> None:
        for run in runs(order.matrix, tasks, order.workloads, jobs=jobs, cancel=cancel):
            self._kept.add(order.matrix, run, order.workloads)
            self.done += 1


def _step_back() -> None:
    """Let the page's own work go first; processes started from here inherit it."""
    # Elsewhere the call would slow the whole server down, not this thread.
    if sys.platform == "linux":
        os.setpriority(os.PRIO_PROCESS, 0, 10)
