"""Reading a file or a city beside the page, with a sentence while it lasts."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from explorer.app.kit.attempts import Attempts
from explorer.app.kit.message import MessageArea
from explorer.app.work.job import Job


class Background:
    """A `Job` that says what it does; the newest request wins.

    Parameters
    ----------
    message : MessageArea
        Told what is being done, and what went wrong.
    """

    def __init__(self, message: MessageArea) -> None:
        self._message, self._attempts = message, Attempts()
        self.job: Job[Any] = Job(lambda work: work(), self._use, self._refuse)

    def run(
        self,
        work: Callable[[], Any],
        done: Callable[[Any], None],
        saying: str = "Reading …",
        failed: Callable[[], None] | None = None,
    ) -> None:
        """Do ``work()`` in a thread, then ``done(result)``; if it cannot be done, ``failed()``."""
        self._done, self._failed = done, failed
        self._attempts.begin()
        self._message.working(saying)
        self.job.ask(work)

    def cancel(self) -> None:
        """Use no result of work that still runs: something else has been chosen meanwhile."""
        self.job.cancel()
        self._message.done()

    def _use(self, result: Any) -> None:
        self._message.done()
        self._done(result)

    def _refuse(self, sentence: str) -> None:
        self._message.done()
        with self._attempts.during():
            self._message.refuse(sentence)
        if self._failed is not None:
            self._failed()
