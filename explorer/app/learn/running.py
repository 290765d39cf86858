"""Long work of a lesson: in a thread, with progress, a button to cancel, and a sentence.

All lessons of this server share a few threads, so that a room full of visitors waits in turn
instead of slowing everything down together.
"""

from __future__ import annotations

import asyncio
import logging
import os
import sys
import threading
import time
from collections.abc import Callable
from concurrent.futures import Future, ThreadPoolExecutor
from functools import partial
from typing import Any, Literal

import panel as pn

from explorer.app.kit import ui
from explorer.app.kit.html import put
from explorer.app.kit.prose import pane
from explorer.app.work.worker import held
from explorer.errors import InputError
from explorer.evaluate.runs import Flag, processors
from explorer.teaching.previews import Cancelled, Progress
from explorer.views.tables import progress

logger = logging.getLogger(__name__)

#: What a lesson hands over: told how far it is and looks at a flag; returns its result.
Work = Callable[[Progress, Flag], Any]
Phase = Literal["idle", "waiting", "running", "finished", "cancelled", "failed"]
#: Seconds between two looks at the progress.
LOOK = 0.25


def _step_back() -> None:
    """Let the pages' own work go first."""
    # Elsewhere the call would slow the whole server down, not this thread.
    if sys.platform == "linux":
        os.setpriority(os.PRIO_PROCESS, 0, 4)


_POOL = ThreadPoolExecutor(processors(), "lesson", _step_back)


class Running:
    """One long computation at a time; the newest takes the place of the one before.

    Parameters
    ----------
    done : shows a result, with the document's lock held
    refused : shows a sentence when the work could not be done
    name : what is under way, for the progress bar
    """

    def __init__(
        self, done: Callable[[Any], None], refused: Callable[[str], None], name: str
    ) -> None:
        self._done, self._refused, self._name = done, refused, name
        self.phase: Phase = "idle"
        self.part = 0.0
        self._flag = threading.Event()
        self._started = 0.0
        self._number = 0
        self._task: asyncio.Task[None] | None = None
        self._text = pane(margin=(6, 0, 0, 0))
        self.cancel_button = ui.Button(
            label="Cancel",
            variant="outlined",
            size="small",
            margin=(0, 8, 4, 0),
            disabled=True,
            on_click=lambda _event: self.cancel(),
        )
        self.status = self._text
        self._show()

    @property
    def running(self) -> bool:
        """Whether work is under way or waits for its turn."""
        return self.phase in ("waiting", "running")

    def start(self, work: Work) -> None:
        """Begin ``work``; without an event loop (a script, a test) it is finished on return."""
        self._flag.set()
        self._flag = threading.Event()
        self._number += 1
        self.phase, self.part, self._started = "waiting", 0.0, 0.0
        try:
            loop = asyncio.get_running_loop()
        except RuntimeError:
            self._end(self._number, partial(work, self._tell, self._flag))
            return
        future = _POOL.submit(self._carry_out, self._number, work, self._flag)
        # The reference keeps the task from being collected while it runs.
        self._task = loop.create_task(self._watch(self._number, future, pn.state.curdoc))
        self._show()

    def cancel(self) -> None:
        """Stop; what was shown before stays."""
        if not self.running:
            return
        self._flag.set()
        self._number += 1
        self.phase = "cancelled"
        self._show()

    def close(self) -> None:
        """Stop for good: there is no page any more to show anything on."""
        self._flag.set()
        self._number += 1

    def reset(self, sentence: str = "") -> None:
        """Forget what was done: other settings count now."""
        self.cancel()
        self.phase = "idle"
        self._show(sentence)

    def _carry_out(self, number: int, work: Work, flag: Flag) -> Any:
        if flag.is_set():
            raise Cancelled
        if number == self._number:
            self.phase, self._started = "running", time.monotonic()
        return work(partial(self._told, number), flag)

    def _told(self, number: int, part: float) -> None:
        if number == self._number:
            self.part = part

    def _tell(self, part: float) -> None:
        self.part = part

    async def _watch(self, number: int, future: Future[Any], doc: Any) -> None:
        waiting = asyncio.wrap_future(future)
        seen: tuple[Any, ...] = ()
        while not waiting.done():
            await asyncio.wait({waiting}, timeout=LOOK)
            now = self.phase, round(self.part, 2)
            if now != seen and not waiting.done() and number == self._number:
                seen = now
                self._on(doc, self._show)
        # Looked at here, or the loop would complain of an error that nobody saw.
        waiting.exception()
        self._on(doc, partial(self._end, number, future.result))

    def _end(self, number: int, result: Callable[[], Any]) -> None:
        """Show what came out, unless it is not wanted any more."""
        try:
            found = result()
        except Cancelled:
            return
        except InputError as error:
            self._fail(number, str(error))
        except Exception:
            logger.exception("An experiment failed")
            self._fail(number, "Something went wrong in this experiment; nothing was changed.")
        else:
            if number == self._number:
                self.phase = "finished"
                self._show()
                self._done(found)

    def _fail(self, number: int, sentence: str) -> None:
        if number == self._number:
            self.phase = "failed"
            self._show()
            self._refused(sentence)

    def _on(self, doc: Any, action: Callable[[], None]) -> None:
        if doc is None or doc.session_context is None:
            action()
        elif not doc.session_context.destroyed:
            doc.add_next_tick_callback(partial(held, doc, action))

    def _show(self, sentence: str = "") -> None:
        self.cancel_button.disabled = not self.running
        if self.running:
            done = round(100 * self.part)
            put(self._text, progress(self._name, done, 100, self._words(done)))
            return
        said = {
            "cancelled": "Cancelled; nothing was changed.",
            "failed": "Not finished.",
            "finished": "Finished. These are previews, compared with the truth.",
        }.get(self.phase, sentence)
        put(self._text, f'<p class="quiet" role="status">{said}</p>')

    def _words(self, done: int) -> str:
        if self.phase == "waiting":
            return "Waiting for its turn …"
        taken = time.monotonic() - self._started
        if not 0.03 < self.part < 1 or taken < 1:
            return f"{done} %"
        return f"{done} %, about {taken / self.part * (1 - self.part):,.0f} s left"
