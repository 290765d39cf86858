"""When and how a page is changed: with its document's lock, in one message, while it is there."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import partial
from typing import Any

import panel as pn
from panel.io.state import set_curdoc

from explorer.app.kit.notebook import kernel, kernel_loop
from explorer.app.work.turns import TURNS


class Visit:
    """The page that is served where this is made, and the event loop it lives on.

    Attributes
    ----------
    loop : that of the server, or of a notebook's kernel. None in a script or a test without
        one, where everything is done at once
    """

    def __init__(self) -> None:
        self._doc: Any = pn.state.curdoc
        self._has_visitor = self._doc is not None and self._doc.session_context is not None
        in_notebook = not self._has_visitor and kernel() is not None
        self.loop = kernel_loop() if in_notebook else _running() or self._loop_of_session()

    def _loop_of_session(self) -> asyncio.AbstractEventLoop | None:
        # From Bokeh 3.10 on, pages are made and handlers run in threads next to the event loop.
        if not self._has_visitor:
            return None
        server = getattr(self._doc.session_context, "server_context", None)
        context = None if server is None else server.application_context
        # Tornado's loop, or asyncio's own under another server.
        return (
            None if context is None else getattr(context.io_loop, "asyncio_loop", context.io_loop)
        )

    @property
    def ended(self) -> bool:
        """Whether the visitor has gone; a script or a notebook has none who could."""
        # The document of a session that is over has lost its context.
        context = self._doc.session_context if self._has_visitor else None
        return self._has_visitor and (context is None or context.destroyed)

    def show(self, action: Callable[[], None]) -> None:
        """Do ``action`` with the document's lock, in one message; never for who has gone."""
        if self.ended:
            return
        if self._has_visitor and self.loop is not None:
            self._doc.add_next_tick_callback(partial(self._held, action))
        else:
            self._held(action)

    async def turn(self) -> None:
        """Return when others who are here have had their share of the server, too."""
        owed = 0.0 if self._doc is None else TURNS.owed(self._doc)
        if owed > 0:
            await asyncio.sleep(owed)

    @contextmanager
    def working(self) -> Iterator[None]:
        """Count what is done meanwhile as work for this page."""
        began = time.monotonic()
        try:
            yield
        finally:
            if self._doc is not None:
                TURNS.used(self._doc, time.monotonic() - began)

    def begin(self, action: Callable[[], None]) -> None:
        """Do ``action``: at once on a server, else on the loop, from a thread in its next turn."""
        assert self.loop is not None
        if self._has_visitor or _running() is self.loop:
            action()
        else:
            self.loop.call_soon_threadsafe(action)

    def later(self, seconds: float, action: Callable[[], None]) -> None:
        """Do ``action`` on the event loop, without the lock, when so many seconds have passed."""
        assert self.loop is not None
        plan = partial(self.loop.call_later, max(0.0, seconds), action)
        if _running() is self.loop:
            plan()
        else:
            self.loop.call_soon_threadsafe(plan)

    def _held(self, action: Callable[[], None]) -> None:
        # Without it Panel takes the page of another visitor, who made a change, for this one.
        with set_curdoc(self._doc):
            if _is_loading(self._doc):
                pn.state.onload(partial(_in_one_message, self._doc, action))
            else:
                held(self._doc, action)


def _running() -> asyncio.AbstractEventLoop | None:
    try:
        return asyncio.get_running_loop()
    except RuntimeError:
        return None


def _is_loading(doc: Any) -> bool:
    """Whether a browser may have its copy of the page and has not said that it is ready.

    Panel drops what is changed meanwhile: it takes the page for not yet sent.
    """
    session = getattr(doc.session_context, "session", None) if doc is not None else None
    return session is not None and session.connection_count > 0 and not pn.state.loaded


def _in_one_message(doc: Any, action: Callable[[], None]) -> None:
    with pn.io.hold(doc):
        action()


def held(doc: Any, action: Callable[[], None]) -> None:
    """Do ``action`` and send everything it changed in one message.

    Without it each source is a message and each map paints twice. While a page is still loading
    Panel drops what is held, since it takes the page for not yet sent: then nothing is held.
    """
    if doc is not None and not pn.state.loaded:
        action()
        return
    _in_one_message(doc, action)


def soon(action: Callable[[], None]) -> None:
    """Do ``action`` in the next turn of the loop, in one message of its own."""
    Visit().show(action)
