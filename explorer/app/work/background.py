"""Reading a file or a city next to the page, with a sentence while it lasts or waits."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Any

from explorer.app.kit.attempts import Attempts
from explorer.app.kit.message import MessageArea
from explorer.app.work.foreign import WAITING
from explorer.app.work.job import LOOK, Job


class Background:
    """A `Job` that says what it does; the newest request wins.

    Parameters
    ----------
    message : MessageArea
        Told what is being done, and what went wrong.
    """

    def __init__(self, message: MessageArea) -> None:
        self._message, self._attempts = message, Attempts()
        self._saying, self._since = "", 0.0
        self.job: Job[Any] = Job(
            lambda work, _run: work(), self._use, self._refuse, changed=self._tell
        )

    def run(
        self,
        work: Callable[[], Any],
        done: Callable[[Any], None],
        saying: str = "Reading …",
        failed: Callable[[], None] | None = None,
    ) -> None:
        """Do ``work()`` in a thread, then ``done(result)``; if it cannot be done, ``failed()``.

        Foreign files (`Foreign`) have threads of their own, and wait there for their turn.
        """
        self._done, self._failed = done, failed
        self._saying, self._since = saying, time.monotonic()
        self._attempts.begin()
        self._message.working(saying)
        self.job.ask(work)

    def cancel(self) -> None:
        """Use no result of work that still runs: something else has been chosen meanwhile."""
        self.job.cancel()
        self._message.done()

    def _tell(self) -> None:
        """Say it while a file waits for its turn, and no longer."""
        late = time.monotonic() - self._since > LOOK / 2
        said = WAITING if self.job.phase == "waiting" else self._saying
        if self.job.busy and late and self._message.sentence in {WAITING, self._saying} - {said}:
            self._message.working(said)

    def _use(self, result: Any) -> None:
        self._message.done()
        self._done(result)

    def _refuse(self, sentence: str) -> None:
        self._message.done()
        with self._attempts.during():
            self._message.refuse(sentence)
        if self._failed is not None:
            self._failed()
