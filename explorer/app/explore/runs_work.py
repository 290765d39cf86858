"""Repeated previews in the background, one after the other, that can be watched and stopped."""

from __future__ import annotations

import asyncio
import logging
import os
import sys
import threading
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from functools import partial
from typing import Any, Literal

import numpy as np
import panel as pn
from numpy.typing import NDArray

from explorer.app.curator.data import CityData
from explorer.errors import InputError
from explorer.evaluate.repeats import repeats
from explorer.mechanisms import Mechanism

logger = logging.getLogger(__name__)

Phase = Literal["idle", "running", "finished", "stopped", "failed"]
#: Seconds between two looks at what has been finished.
LOOK = 0.3
# One run at a time in this server: visitors take turns run by run, and the maps keep a processor.
_TURN = threading.Lock()


@dataclass(frozen=True, eq=False)
class Order:
    """What to draw and what to ask.

    Attributes
    ----------
    key : what the runs depend on; equal keys mean equal data and settings
    boxes : (n, 4) all boxes there were, in grid units
    true : (n,) their true answers
    """

    data: CityData
    mechanism: Mechanism
    key: tuple[Any, ...]
    boxes: NDArray[np.float64]
    true: NDArray[np.float64]
    runs: int


class RunsWork:
    """The runs of one session.

    Parameters
    ----------
    changed : called on the page's document after each look, when something is new
    """

    def __init__(self, changed: Callable[[], None]) -> None:
        self._changed = changed
        self._cancel = threading.Event()
        self._task: asyncio.Task[None] | None = None
        self.order: Order | None = None
        self.phase: Phase = "idle"
        self.sentence = ""
        self._answers: list[NDArray[np.float64]] = []

    @property
    def running(self) -> bool:
        """Whether runs are being drawn."""
        return self.phase == "running"

    @property
    def done(self) -> int:
        """Number of finished runs."""
        return len(self._answers)

    def answers(self) -> NDArray[np.float64]:
        """(runs, n) answers of the finished runs."""
        n = 0 if self.order is None else len(self.order.boxes)
        # A copy first: the thread may add one meanwhile.
        every = list(self._answers)
        return np.array(every).reshape(len(every), n)

    def start(self, order: Order) -> None:
        """Begin anew; without an event loop (a script, a test) it is finished on return."""
        self.stop()
        self.order, self.phase, self.sentence = order, "running", ""
        # Each start has a list and a flag of its own: a thread that is still busy with the last
        # run of an earlier start adds nothing here.
        self._answers, self._cancel = [], threading.Event()
        work = partial(self._carry_out, order, self._answers, self._cancel)
        try:
            loop = asyncio.get_running_loop()
        except RuntimeError:
            self._ended(*work(), self._cancel)
            self._changed()
            return
        # The reference keeps the task from being collected while it runs.
        self._task = loop.create_task(self._watch(work, self._cancel, pn.state.curdoc))

    def stop(self) -> None:
        """No further run; what is finished stays."""
        self._cancel.set()
        if self.running:
            self.phase = "stopped"

    async def _watch(
        self, work: Callable[[], tuple[Phase, str]], cancel: threading.Event, doc: Any
    ) -> None:
        """Tell the page about progress while ``work`` runs in a thread."""
        # A thread of its own: the shared ones must not keep the low priority it takes.
        with ThreadPoolExecutor(1, "runs", _step_back) as own:
            working = asyncio.get_running_loop().run_in_executor(own, work)
            seen = 0
            while not (await asyncio.wait({working}, timeout=LOOK))[0]:
                if doc is not None and doc.session_context and doc.session_context.destroyed:
                    cancel.set()
                elif cancel is self._cancel and self.done != seen:
                    seen = self.done
                    self._tell(doc)
        self._ended(*working.result(), cancel)
        if cancel is self._cancel:
            self._tell(doc)

    def _ended(self, phase: Phase, sentence: str, cancel: threading.Event) -> None:
        if cancel is self._cancel and self.running:
            self.phase, self.sentence = phase, sentence

    def _tell(self, doc: Any) -> None:
        if doc is None or doc.session_context is None:
            self._changed()
        elif not doc.session_context.destroyed:
            doc.add_next_tick_callback(self._changed)

    @staticmethod
    def _carry_out(
        order: Order, answers: list[NDArray[np.float64]], cancel: threading.Event
    ) -> tuple[Phase, str]:
        """Draw run after run. In a thread: touches no widget."""
        try:
            every = repeats(order.data.matrix, order.mechanism, order.boxes, order.runs)
            while not cancel.is_set():
                with _TURN:
                    one = next(every, None)
                if one is None:
                    return "finished", ""
                # What was under way when it was stopped does not count: the numbers stand still.
                if not cancel.is_set():
                    answers.append(one)
        except InputError as error:
            return "failed", str(error)
        except Exception:
            logger.exception("A repeated preview failed")
            return "failed", "Something went wrong in the runs; what was finished stays."
        return "stopped", ""


def _step_back() -> None:
    """Let the page's own work go first."""
    # Elsewhere the call would slow the whole server down, not this thread.
    if sys.platform == "linux":
        os.setpriority(os.PRIO_PROCESS, 0, 10)
