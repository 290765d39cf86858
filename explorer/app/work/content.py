"""The content of a page, made when its browser comes for it and not when its address is asked for.

Many who ask for an address never show the page: link previews, crawlers, a flood. They get the page
without content (`AppPage.empty`). Its first script asks for the content, which is made while the
browser still reads the other scripts; the websocket of the session asks for it, too.
"""

from __future__ import annotations

import contextlib
import logging
from collections.abc import Callable
from functools import partial
from typing import Any

import panel as pn
from bokeh.util.token import get_session_id
from panel.io.resources import LOCAL_DIST
from panel.io.state import set_curdoc
from tornado.httputil import HTTPServerRequest
from tornado.web import RequestHandler

from explorer.app.kit.ui import SESSION_HEADER

logger = logging.getLogger(__name__)

#: Where the websocket of a page is, below the page.
WEBSOCKET = "/ws"


class Contents:
    """Content that has not been made yet, by the id of its session."""

    def __init__(self) -> None:
        self._waiting: dict[str, Callable[[], None]] = {}

    def put_off(self, make: Callable[[], None], failed: Callable[[], None]) -> None:
        """Have the current session's content made by ``make``, and ``failed`` if that fails.

        It is made at once where the session is made for a websocket: the one that a page was
        answered with is gone, and its browser has come late.
        """
        doc = pn.state.curdoc
        context = doc.session_context
        # What is made after the page was answered has its styles from this server, too.
        doc.template_variables.update(session_id=context.id, dist_url=LOCAL_DIST)
        make = partial(_tried, doc, make, failed)
        if context.request.path.endswith(WEBSOCKET):
            make()
            return
        self._waiting[context.id] = partial(doc.add_next_tick_callback, make)
        pn.state.on_session_destroyed(lambda context: self._waiting.pop(context.id, None))

    def asked(self, session: str) -> None:
        """Make a session's content in the next turn of the event loop, where it is not made yet.

        The document is locked meanwhile, so that the browser gets it with its content.
        """
        plan = self._waiting.pop(session, None)
        if plan is not None:
            plan()

    def waits(self, session: str) -> bool:
        """Whether nobody has come for the content of a session."""
        return session in self._waiting


def _tried(doc: Any, make: Callable[[], None], failed: Callable[[], None]) -> None:
    with set_curdoc(doc):
        try:
            make()
        except Exception:
            logger.exception("The content of a page could not be made")
            failed()


class Asked(RequestHandler):
    """Answers the first script of a page."""

    def get(self) -> None:
        """Nothing: the content comes over the websocket."""
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
