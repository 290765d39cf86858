"""What a server says of every answer, whom it answers, and what it tells of itself.

A page of exact counts must not be framed by another site's page, must load nothing from elsewhere,
and is for whoever asks for this server by one of its names: a page of another site whose name is
moved to this computer's address (DNS rebinding) asks by its own.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Collection
from typing import Any

from tornado.httputil import HTTPHeaders, HTTPServerRequest
from tornado.web import Application, ErrorHandler, OutputTransform, RequestHandler

from explorer.app.work.limits import Entrance, Later
from explorer.app.work.shells import Shell, build_late

#: Scripts of Bokeh and Panel are written into the page, make functions of texts (``CustomJS``) and
#: modules of blobs; nothing comes from another place, and no plug-in and no other base address.
POLICY = {
    "default-src": "'self'",
    "script-src": "'self' 'unsafe-inline' 'unsafe-eval' blob:",
    "style-src": "'self' 'unsafe-inline'",
    "img-src": "'self' data: blob:",
    "font-src": "'self' data:",
    "connect-src": "'self' blob: data:",
    "worker-src": "'self' blob:",
    "object-src": "'none'",
    "base-uri": "'self'",
    "form-action": "'self'",
    "frame-ancestors": "'none'",
}
HEADERS = {
    "Content-Security-Policy": "; ".join(f"{name} {value}" for name, value in POLICY.items()),
    "X-Frame-Options": "DENY",
    "X-Content-Type-Options": "nosniff",
    "Referrer-Policy": "no-referrer",
}
#: A script that builds a page into any other page, and answers every site.
_ELSEWHERE = "/autoload.js"


def guard(server: Any, hosts: Collection[str], pages: Collection[str]) -> None:
    """Let a server answer its own names alone, with `HEADERS`, and not too many at a time.

    Parameters
    ----------
    server : of Bokeh, not yet started
    hosts : "name:port", or "name" for the ports 80 and 443; in small letters
    pages : paths, such as "explore" and "/", each of which makes a session
    """
    application: Application = server._tornado
    paths = {page.strip("/") for page in pages}
    entrance = Entrance(lambda: sessions(server))
    application.transforms.append(_Said)
    find = application.find_handler
    for context in application._applications.values():  # type: ignore[attr-defined]
        build_late(context, entrance.full)

    def own(request: HTTPServerRequest, **more: Any) -> Any:
        refused = 421 if request.host.lower() not in hosts else 0
        if request.path.endswith(_ELSEWHERE):
            refused = 403
        page = request.path.strip("/") in paths
        if page and not refused and not entrance.admits(request.remote_ip or ""):
            return application.get_handler_delegate(request, Later)
        if refused:
            return application.get_handler_delegate(request, ErrorHandler, {"status_code": refused})
        if page:
            route = "/" + request.path.strip("/")
            context = application._applications[route]  # type: ignore[attr-defined]
            more = {"application_context": context, "bokeh_websocket_path": f"{route}/ws"}
            return application.get_handler_delegate(request, Shell, more)
        return find(request, **more)

    application.find_handler = own  # type: ignore[method-assign]


def sessions(server: Any) -> int:
    """How many visitors have a page, or are about to."""
    return sum(len(context._sessions) for context in server._tornado._applications.values())


def health(ask: Callable[[], dict[str, float]]) -> tuple[str, type[RequestHandler]]:
    """The route ``/health``: what ``ask`` says, as JSON; it must hold no count of records."""

    class Health(RequestHandler):
        """How the server is."""

        def get(self) -> None:
            """Answer as JSON, which nobody keeps."""
            self.set_header("Cache-Control", "no-store")
            self.set_header("Content-Type", "application/json")
            self.write(json.dumps(ask()))

    return "/health", Health


class _Said(OutputTransform):
    """Adds `HEADERS`, and takes away what others need not know."""

    def transform_first_chunk(
        self, status_code: int, headers: HTTPHeaders, chunk: bytes, finishing: bool
    ) -> tuple[int, HTTPHeaders, bytes]:
        """Change the head of an answer."""
        for name, value in HEADERS.items():
            headers[name] = value
        headers.pop("Server", None)
        return status_code, headers, chunk
