"""When and how a page is changed: with its document's lock, in one message, while it is there."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import partial
from typing import Any
from weakref import WeakKeyDictionary

import panel as pn
from panel.io.state import set_curdoc

from explorer.app.kit.notebook import kernel, kernel_loop
from explorer.grid.allowance import Bucket

#: Seconds of work in a row that a page may have though others are there: a drag.
FREE = 2.0
#: Seconds after its last work for which a page is in use.
RECENT = 2.0
#: The longest wait for one turn, in seconds: the newest value is shown all the same.
MOST = 1.0


class Turns:
    """A fair share of the server: who asks for pictures without end leaves others theirs.

    A page that is alone has all of it, and so has one whose slider is moved for a moment. After
    that, a page that keeps the server at work may do so for one second in as many as there are
    pages in use.
    """

    def __init__(self, clock: Callable[[], float] | None = None) -> None:
        self._clock = clock or time.monotonic
        self._last: WeakKeyDictionary[Any, float] = WeakKeyDictionary()
        self._left: WeakKeyDictionary[Any, Bucket] = WeakKeyDictionary()

    def used(self, page: Any, seconds: float) -> None:
        """A page has had so many seconds of work done."""
        self._last[page] = self._clock()
        self._allowance(page).take(seconds)

    def owed(self, page: Any) -> float:
        """Seconds that a page has to wait before it has work done again; 0 for one alone."""
        return min(self._allowance(page).take(0.0), MOST)

    def _allowance(self, page: Any) -> Bucket:
        now = self._clock()
        others = sum(now - at < RECENT for other, at in self._last.items() if other is not page)
        left = self._left.get(page)
        if left is None or not others:
            # No one was there whom it could have kept waiting.
            left = self._left[page] = Bucket(1.0, FREE, self._clock)
        left.rate = 1.0 / (1 + others)
        return left


_TURNS = Turns()


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
        context = self._doc.session_context if self._has_visitor else None
        # None while the server ends: it holds this weakly.
        served = getattr(getattr(context, "server_context", None), "application_context", None)
        if served is None:
            return None
        # Tornado's loop, or asyncio's own under another server.
        loop = served.io_loop
        return getattr(loop, "asyncio_loop", loop)

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
        owed = 0.0 if self._doc is None else _TURNS.owed(self._doc)
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
                _TURNS.used(self._doc, time.monotonic() - began)

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
        session = getattr(getattr(self._doc, "session_context", None), "session", None)
        # Without it Panel takes the page of another visitor, who made a change, for this one.
        with set_curdoc(self._doc):
            # Panel drops what is changed while a browser may have its copy of the page and has not
            # said that it is ready: it takes the page for not yet sent.
            if session is not None and session.connection_count > 0 and not pn.state.loaded:
                pn.state.onload(partial(_in_one_message, self._doc, action))
            else:
                held(self._doc, action)


def _running() -> asyncio.AbstractEventLoop | None:
    try:
        return asyncio.get_running_loop()
    except RuntimeError:
        return None


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
    else:
        _in_one_message(doc, action)


def soon(action: Callable[[], None]) -> None:
    """Do ``action`` in the next turn of the loop, in one message of its own."""
    Visit().show(action)


def own_address() -> str:
    """The address of the visitor whose page is being made, as limits count it; "" for none."""
    return str(of_request(pn.state.curdoc, "remote_ip") or "")


def own_name() -> str:
    """The name by which this visitor has signed in; "" for none."""
    return str(of_request(pn.state.curdoc, "signed_in_name") or "")


def of_request(document: Any, attribute: str) -> object:
    """An attribute of the request that a page answers; None without a request."""
    context = document.session_context if document is not None else None
    return getattr(getattr(context, "request", None), attribute, None)
