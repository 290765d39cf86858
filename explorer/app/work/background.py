"""Long work beside the page: in a thread, with a sentence while it lasts."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable
from typing import Any

import panel as pn

from explorer.app.kit.message import MessageArea
from explorer.app.work.worker import held
from explorer.errors import InputError

logger = logging.getLogger(__name__)


class Background:
    """Runs work such as reading a file in a thread; the newest request wins.

    Parameters
    ----------
    message : MessageArea
        Told what is being done, and what went wrong.
    """

    def __init__(self, message: MessageArea) -> None:
        self._message = message
        self._number = 0
        self._task: asyncio.Task[None] | None = None

    def run(
        self,
        work: Callable[[], Any],
        done: Callable[[Any], None],
        saying: str = "Reading …",
        failed: Callable[[], None] | None = None,
    ) -> None:
        """Do ``work()`` in a thread, then ``done(result)`` with the document's lock.

        An InputError becomes a message and ``failed()`` is called. Without a running event loop
        (a script, a test) everything happens at once.
        """
        self._number += 1
        try:
            loop = asyncio.get_running_loop()
        except RuntimeError:
            done(work())
            return
        self._message.inform(saying)
        self._task = loop.create_task(self._do(self._number, work, done, failed, pn.state.curdoc))

    def cancel(self) -> None:
        """Use no result of work that still runs: something else has been chosen meanwhile."""
        self._number += 1
        self._message.done()

    async def _do(
        self,
        number: int,
        work: Callable[[], Any],
        done: Callable[[Any], None],
        failed: Callable[[], None] | None,
        doc: Any,
    ) -> None:
        sentence = ""
        result = None
        try:
            result = await asyncio.to_thread(work)
        except InputError as error:
            sentence = str(error)
        except Exception:
            logger.exception("Work in the background failed")
            sentence = "Something went wrong while reading; nothing was changed."

        def finish() -> None:
            if number != self._number:
                return
            self._message.done()
            if not sentence:
                done(result)
                return
            self._message.refuse(sentence)
            if failed is not None:
                failed()

        if doc is None or doc.session_context is None:
            finish()
        else:
            doc.add_next_tick_callback(lambda: held(doc, finish))
