"""The content of a page, made when its browser comes for it and not when its address is asked for.

Many who ask for an address never show the page: link previews, crawlers, a flood. They get the page
without content (`AppPage.empty`). Its first script asks for the content, and so does the websocket
of the session, which is opened when it is there.
"""

from __future__ import annotations

import asyncio
import contextlib
import logging
import weakref
from collections.abc import Awaitable, Callable
from functools import partial
from typing import Any

import panel as pn
from bokeh.util.token import get_session_id
from panel.io.resources import LOCAL_DIST
from panel.io.state import set_curdoc
from panel.links import Callback
from tornado.httputil import HTTPHeaders, HTTPMessageDelegate, HTTPServerRequest
from tornado.web import RequestHandler

from explorer.app.kit.ui import SESSION_HEADER

logger = logging.getLogger(__name__)

#: Where the websocket of a page is, below the page.
WEBSOCKET = "/ws"


class Contents:
    """Content that has not been made yet, by the id of its session."""

    def __init__(self) -> None:
        self._waiting: dict[str, Callable[[Callable[[], object]], None]] = {}
        self._making: dict[str, asyncio.Future[None]] = {}

    def late(self, empty: Any, whole: Callable[[], Any], failed: Callable[[], Any]) -> Any:
        """The page to answer the current session with: ``empty``, and later the ``whole`` page.

        It is the whole page, too, where the session is made for a websocket: the one that a page
        was answered with is gone, and its browser has come late.

        Parameters
        ----------
        empty : a page with as many roots as the whole one
        whole : makes the page with its content
        failed : makes what is shown where that fails
        """
        doc = pn.state.curdoc
        context = doc.session_context
        # What is made after the page was answered has its styles from this server, too.
        doc.template_variables.update(session_id=context.id, dist_url=LOCAL_DIST)
        whole = partial(_made, whole, failed)
        if context.request.path.endswith(WEBSOCKET):
            return whole()

        def plan(done: Callable[[], object]) -> None:
            """Put the page in the place of what the document has, with its lock."""

            def put() -> None:
                try:
                    with set_curdoc(doc):
                        page = whole()
                        doc.clear()
                        page.server_doc(doc, doc.title)
                finally:
                    done()

            doc.add_next_tick_callback(put)

        self._waiting[context.id] = plan
        pn.state.on_session_destroyed(lambda context: self._left(context.id))
        return empty

    def asked(self, session: str) -> asyncio.Future[None] | None:
        """Have a session's content made; done when it is, None where there is nothing to do."""
        plan = self._waiting.pop(session, None)
        if plan is not None:
            loop = asyncio.get_running_loop()
            making = self._making[session] = loop.create_future()
            making.add_done_callback(lambda _: self._making.pop(session))
            # Panel may work in a thread.
            plan(partial(loop.call_soon_threadsafe, _end, making))
        return self._making.get(session)

    def _left(self, session: str) -> None:
        """End what waits for a session that is gone: its callbacks are never called."""
        self._waiting.pop(session, None)
        making = self._making.get(session)
        if making is not None:
            making.get_loop().call_soon_threadsafe(_end, making)

    def waits(self, session: str) -> bool:
        """Whether no one has come for the content of a session."""
        return session in self._waiting


def _end(making: asyncio.Future[None]) -> None:
    if not making.done():
        making.set_result(None)


def _made(whole: Callable[[], Any], failed: Callable[[], Any]) -> Any:
    before = {*Callback.registry}
    # Panel keeps scripts of widgets for good, and with them the page: they go with the session.
    pn.state.on_session_destroyed(lambda _context: _forget(scripts))
    scripts: weakref.WeakSet[Any] = weakref.WeakSet()
    try:
        return whole()
    except Exception:
        logger.exception("The content of a page could not be made")
        return failed()
    finally:
        scripts.update({*Callback.registry} - before)


def _forget(scripts: weakref.WeakSet[Any]) -> None:
    for source in [*scripts]:
        Callback.registry.pop(source, None)


class After(HTTPMessageDelegate):
    """Answers a request as ``answer`` does, once ``done`` is."""

    def __init__(self, answer: HTTPMessageDelegate, done: asyncio.Future[None]) -> None:
        self._answer, self._done = answer, done

    def headers_received(self, start_line: Any, headers: HTTPHeaders) -> Awaitable[None]:
        """Wait."""
        self._answer.headers_received(start_line, headers)
        return asyncio.shield(self._done)

    def data_received(self, chunk: bytes) -> Awaitable[None] | None:
        """Pass it on."""
        return self._answer.data_received(chunk)

    def finish(self) -> None:
        """Pass it on."""
        self._answer.finish()

    def on_connection_close(self) -> None:
        """Pass it on."""
        self._answer.on_connection_close()


class Asked(RequestHandler):
    """Answers the first script of a page with nothing: the content comes over the websocket."""

    def get(self) -> None:
        """No content."""
        self.set_status(204)


def session_of(request: HTTPServerRequest) -> str:
    """The id of the session that a browser comes for; "" for none."""
    session = request.headers.get(SESSION_HEADER, "")
    if not session:
        token = request.headers.get("Sec-WebSocket-Protocol", "").rpartition(",")[2].strip()
        # It is checked where the websocket is opened.
        with contextlib.suppress(Exception):
            session = get_session_id(token)
    return session
