"""One worker a session: always the newest settings, never a queue."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable
from functools import partial
from typing import Any, Generic, TypeVar

import panel as pn

from explorer.errors import InputError

logger = logging.getLogger(__name__)
Job = TypeVar("Job")
Result = TypeVar("Result")

UNEXPECTED = "Something went wrong while computing; the picture still shows the last result."


class Superseded(Exception):
    """Raised inside a computation whose settings are no longer wanted."""


class LatestWorker(Generic[Job, Result]):
    """Runs a computation in a thread for the newest settings; what comes between is dropped.

    While one computation runs, further requests only mark it as outdated; when it ends its
    result is published and, if it was outdated, the newest settings are computed. So the last
    value always arrives, and a drag never builds a queue.

    Parameters
    ----------
    take : callable
        Returns the newest job. Called on the event loop, so it may read widgets and state.
    compute : callable
        Turns a job into a result, in a thread; it must not touch the document.
    publish : callable
        Shows a result. Called with the document's lock held.
    failed : callable
        Shows a sentence when ``compute`` raised; the last good picture stays.
    slow : callable
        Told True when a computation takes longer than ``patience`` seconds, and False at its end.
    """

    patience = 0.4

    def __init__(
        self,
        take: Callable[[], Job],
        compute: Callable[[Job], Result],
        publish: Callable[[Result], None],
        failed: Callable[[str], None],
        slow: Callable[[bool], None],
    ) -> None:
        self._take, self._compute, self._publish = take, compute, publish
        self._failed, self._slow = failed, slow
        self._generation = 0
        self._working = self._closed = False
        self._task: asyncio.Task[None] | None = None

    def request(self) -> None:
        """Ask for a picture of the present settings."""
        self._generation += 1
        if self._working or self._closed:
            return
        try:
            loop = asyncio.get_running_loop()
        except RuntimeError:
            # A script or a test without an event loop: compute here and now.
            self.run_now()
            return
        self._working = True
        # The reference keeps the task from being collected while it runs.
        self._task = loop.create_task(self._work(pn.state.curdoc))

    def run_now(self) -> None:
        """Compute and publish in the calling thread."""
        try:
            result = self._compute(self._take())
        except InputError as error:
            self._failed(str(error))
        except Exception:
            logger.exception("A picture could not be computed")
            self._failed(UNEXPECTED)
        else:
            self._publish(result)

    def close(self) -> None:
        """Stop working for a session that has ended."""
        self._closed = True
        self._generation += 1

    async def _work(self, doc: Any) -> None:
        try:
            while not self._closed:
                generation = self._generation
                await self._once(doc)
                if generation == self._generation:
                    return
        finally:
            self._working = False

    async def _once(self, doc: Any) -> None:
        loop = asyncio.get_running_loop()
        late = loop.call_later(self.patience, self._on_document, doc, partial(self._slow, True))
        said_slow = loop.time() + self.patience
        try:
            result = await asyncio.to_thread(self._compute, self._take())
        except Superseded:
            return
        except InputError as error:
            self._on_document(doc, partial(self._failed, str(error)))
        except Exception:
            logger.exception("A picture could not be computed")
            self._on_document(doc, partial(self._failed, UNEXPECTED))
        else:
            self._on_document(doc, partial(self._publish, result))
        finally:
            late.cancel()
            if loop.time() >= said_slow:
                self._on_document(doc, partial(self._slow, False))

    def _on_document(self, doc: Any, action: Callable[[], None]) -> None:
        """Run ``action`` with the document's lock; after an await it is not held any more."""
        if self._closed:
            return
        if doc is None or doc.session_context is None:
            action()
        else:
            doc.add_next_tick_callback(action)


def held(doc: Any, action: Callable[[], None]) -> None:
    """Do ``action`` and send everything it changed in one message.

    Without it each source is a message and each map paints twice. While a page is still loading
    Panel drops what is held, since it takes the page for not yet sent: then nothing is held.
    """
    if doc is not None and not pn.state.loaded:
        action()
        return
    with pn.io.hold(doc):
        action()


def soon(action: Callable[[], None]) -> None:
    """Do ``action`` in the next turn of the loop, in one message of its own."""
    doc = pn.state.curdoc
    if doc is None or doc.session_context is None:
        action()
    else:
        doc.add_next_tick_callback(partial(held, doc, action))


def when_loaded(action: Callable[[], None]) -> None:
    """Do ``action`` once the page stands in the browser; without a page, or after it, at once.

    What a thread publishes while a page is loading may be lost: Panel takes the browser's copy for
    the newer one.
    """
    if pn.state.curdoc is None or pn.state.loaded:
        action()
    else:
        pn.state.onload(action)
