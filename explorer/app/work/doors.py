"""What a server says of every answer, whom it answers, and what it tells of itself.

A page of exact counts must not be framed by another site's page, must load nothing from elsewhere,
and is for whoever asks for this server by one of its names: a page of another site whose name is
moved to this computer's address (DNS rebinding) asks by its own.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Collection, Sequence
from typing import Any

from tornado.httputil import HTTPServerRequest
from tornado.web import Application, ErrorHandler, RequestHandler

from explorer.app.work.addresses import asked_by
from explorer.app.work.shells import Shell, build_late
from explorer.serving.addresses import address_of
from explorer.serving.entrance import Entrance, Later
from explorer.serving.heads import heads, said, write_faults
from explorer.serving.plain_pages import Refused

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
HEADERS = heads(POLICY)
#: A script that builds a page into any other page, and answers every site.
_ELSEWHERE = "/autoload.js"


#: What answers a request in place of what it asks for, with its arguments; None for nothing.
Gate = Callable[[HTTPServerRequest], tuple[type[RequestHandler], dict[str, Any]] | None]


def guard(
    server: Any,
    hosts: Collection[str],
    pages: Collection[str],
    gates: Sequence[Gate] = (),
    *,
    proxied: bool = False,
) -> None:
    """Let a server answer its own names alone, with `HEADERS`, and not too many at a time.

    Parameters
    ----------
    server : of Bokeh, not yet started
    hosts : "name:port", or "name" for the ports 80 and 443; in small letters
    pages : paths, such as "explore" and "/", each of which makes a session
    gates : each says what answers a request in place of what it asks for, if anything does
    proxied : whether a proxy in front says where visitors are, see `address_of`
    """
    application: Application = server._tornado
    paths = {page.strip("/") for page in pages}
    entrance = Entrance(lambda: visitors(server))
    application.transforms.append(said(HEADERS))
    application.settings["log_function"] = write_faults
    find = application.find_handler
    for context in application._applications.values():  # type: ignore[attr-defined]
        build_late(context, entrance.full)

    def own(request: HTTPServerRequest, **more: Any) -> Any:
        # From here on it is what everything that counts knows of a visitor.
        request.remote_ip = address_of(request, proxied)
        refused = 421 if request.host.lower() not in hosts else 0
        if request.path.endswith(_ELSEWHERE):
            refused = 403
        if refused:
            return application.get_handler_delegate(request, ErrorHandler, {"status_code": refused})
        for gate in gates:
            answer = gate(request)
            if answer is not None:
                return application.get_handler_delegate(request, *answer)
        page = request.path.strip("/") in paths
        if page and not entrance.admits(request.remote_ip):
            return application.get_handler_delegate(request, Later)
        if page:
            route = "/" + request.path.strip("/")
            context = application._applications[route]  # type: ignore[attr-defined]
            more = {"application_context": context, "bokeh_websocket_path": f"{route}/ws"}
            return application.get_handler_delegate(request, Shell, more)
        return find(request, **more)

    application.find_handler = own  # type: ignore[method-assign]


def shut(paths: Collection[str], sentence: str) -> Gate:
    """A gate that nobody passes: pages, with all that is below them, that are not to be had."""
    closed = {path.strip("/") for path in paths}

    def gate(request: HTTPServerRequest) -> tuple[type[RequestHandler], dict[str, Any]] | None:
        if request.path.strip("/").partition("/")[0] not in closed:
            return None
        return Refused, {"status": 403, "title": "Not on this server", "sentence": sentence}

    return gate


def sessions(server: Any) -> int:
    """How many visitors have a page, or are about to."""
    return sum(len(context._sessions) for context in server._tornado._applications.values())


def visitors(server: Any) -> list[str]:
    """The address of each visitor who has a page, as limits count it."""
    contexts = server._tornado._applications.values()
    there = [session for each in contexts for session in each._sessions.values()]
    return [str(asked_by(session.document, "remote_ip") or "") for session in there]


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
