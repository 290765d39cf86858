"""Whose session it is: the server makes and signs every id, and takes none from an address.

Whoever knows the id of a session has its document, exact counts included. A link that carried one
(``?bokeh-session-id=...``, or a token that holds one) would put a visitor into a session that its
sender shares, even with a right signature: anybody gets a signed id by opening a page.
"""

from __future__ import annotations

from typing import Any

from tornado.web import HTTPError

_ARGUMENTS = ("bokeh-session-id", "bokeh-token")
_HEADER = "Bokeh-Session-Id"


def refuse_brought(handler: Any) -> None:
    """Refuse a request that brings a session of its own (403)."""
    brought = [name for name in _ARGUMENTS if handler.get_argument(name, default=None) is not None]
    if brought or _HEADER in handler.request.headers:
        raise HTTPError(403, reason="The server chooses the session itself")
