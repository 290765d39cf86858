"""Who is answered by a server, with what, and in what order: before any page, websocket or file.

A page of exact counts must not be framed by another site's page, must load nothing from elsewhere,
and is for those who ask for this server by one of its names: a page of another site whose name is
moved to this computer's address (DNS rebinding) asks by its own. The server makes and signs every
id of a session, and takes none from an address: anyone who knows the id has the document, exact
counts included, and opening a page gives anyone a signed one.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass
from typing import Any

from tornado.httputil import HTTPMessageDelegate, HTTPServerRequest
from tornado.routing import AnyMatches, Router, Rule
from tornado.web import Application, ErrorHandler, RequestHandler

from explorer.app.work.content import WEBSOCKET, After, Asked, Contents, session_of
from explorer.app.work.document import of_request
from explorer.app.work.passwords import Passwords
from explorer.app.work.sign_in import SignIn
from explorer.serving.entrance import Entrance, Later, Refused
from explorer.serving.headers import header_transform, security_headers
from explorer.serving.hosts import address_of

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
#: For the option ``transforms`` of the server: what is said with every answer.
HEADERS = header_transform(security_headers(POLICY))
#: A script that builds a page into any other page, and answers every site.
_ELSEWHERE = "/autoload.js"
_SESSION_ARGUMENTS, _SESSION_HEADER = ("bokeh-session-id", "bokeh-token"), "Bokeh-Session-Id"
#: What a page needs besides itself.
_FILES = ("static", "components")
_ALONE = "This server has the class page alone: open /class."

#: What answers a request in place of what it asks for, with its arguments; None for nothing.
Gate = Callable[[HTTPServerRequest], tuple[type[RequestHandler], dict[str, Any]] | None]


@dataclass(frozen=True)
class Gates:
    """What is before pages, the pages about signing in, and the cookies that prove it."""

    gates: Sequence[Gate] = ()
    forms: Sequence[Any] = ()
    cookies: Sequence[str] = ()


@dataclass(frozen=True)
class Admission:
    """Who is let in.

    Parameters
    ----------
    passwords : who may sign in; without them no one has to
    class_only : whether the class page is all there is; no one has to sign in for that
    proxied : whether a proxy in front says where visitors are
    """

    passwords: Passwords | None = None
    class_only: bool = False
    proxied: bool = False

    def gates(self, port: int, pages: Collection[str], all_pages: Collection[str]) -> Gates:
        """Request filters of a server that has ``pages`` out of ``all_pages``, both as paths."""
        closed = {*all_pages} - {page.strip("/") for page in pages} if self.class_only else ()
        shut_gates = [shut(closed, _ALONE)] if closed else []
        if self.passwords is None:
            return Gates(shut_gates)
        sign_in = SignIn(self.passwords, port, pages, (*pages, *_FILES) if self.class_only else ())
        return Gates([*shut_gates, sign_in.refusal], sign_in.routes, [sign_in.cookie])


class Access(Router):
    """Answers what may not be had, before all handlers of a server, and lets the rest pass.

    Parameters
    ----------
    server : of Bokeh, not yet started
    hosts : "name:port", or "name" for the ports 80 and 443; in small letters
    pages : paths, such as "explore" and "/", each of which makes a session
    contents : what is made once a browser asks for it
    gates : each says what answers a request in place of what it asks for, if anything does
    proxied : whether a proxy in front says where visitors are, see `address_of`
    """

    def __init__(
        self,
        server: Any,
        hosts: Collection[str],
        pages: Collection[str],
        contents: Contents,
        gates: Collection[Gate] = (),
        *,
        proxied: bool = False,
    ) -> None:
        self._server, self._hosts, self._contents = server, hosts, contents
        self._pages = {page.strip("/") for page in pages}
        self._websockets = {f"{page}{WEBSOCKET}".strip("/") for page in self._pages}
        self._gates, self._proxied = [self._own, *gates, self._page], proxied
        self._entrance = Entrance(self._visitors)
        # Bokeh's server says in no public way which application it serves.
        self._application: Application = server._tornado
        self._application.add_handlers(".*", [Rule(AnyMatches(), self)])

    def find_handler(self, request: HTTPServerRequest, **_: Any) -> HTTPMessageDelegate | None:
        """What answers in place of what is asked for; None lets it pass."""
        # From here on it is what everything that counts knows of a visitor.
        request.remote_ip = address_of(request, self._proxied)
        for gate in self._gates:
            answer = gate(request)
            if answer is not None:
                return self._application.get_handler_delegate(request, *answer)
        if request.path.strip("/") not in self._websockets:
            return None
        ready = self._contents.asked(session_of(request))
        if not _opens_websocket(request):
            return self._application.get_handler_delegate(request, Asked)
        answers = self._application.wildcard_router.find_handler(request)
        return answers if answers is None or ready is None else After(answers, ready)

    def _own(self, request: HTTPServerRequest) -> tuple[type[RequestHandler], Any] | None:
        if request.host.lower() not in self._hosts:
            return ErrorHandler, {"status_code": 421}
        brings = _SESSION_HEADER in request.headers
        brings |= any(name in request.arguments for name in _SESSION_ARGUMENTS)
        if brings or request.path.endswith(_ELSEWHERE):
            return ErrorHandler, {"status_code": 403}
        return None

    def _page(self, request: HTTPServerRequest) -> tuple[type[RequestHandler], Any] | None:
        path, address = request.path.strip("/"), request.remote_ip or ""
        if path in self._pages and not self._entrance.admits(address):
            return Later, {}
        if path in self._websockets:
            session = session_of(request)
            # The session of a websocket that comes late is gone, and is made again.
            gone = all(session != other.id for other in self._server.get_sessions())
            gone &= _opens_websocket(request)
            too_many = self._contents.waits(session) and self._entrance.full(address)
            if too_many or (gone and not self._entrance.admits(address)):
                return Later, {}
        return None

    def _visitors(self) -> list[str]:
        """The address of each visitor whose page has content."""
        sessions = self._server.get_sessions()
        there = [session.document for session in sessions if not self._contents.waits(session.id)]
        return [str(of_request(document, "remote_ip") or "") for document in there]


def _opens_websocket(request: HTTPServerRequest) -> bool:
    return bool(request.headers.get("Upgrade", "").lower() == "websocket")


def shut(paths: Collection[str], sentence: str) -> Gate:
    """A filter that refuses pages, with all that is below them."""
    closed = {path.strip("/") for path in paths}

    def gate(request: HTTPServerRequest) -> tuple[type[RequestHandler], dict[str, Any]] | None:
        if request.path.strip("/").partition("/")[0] not in closed:
            return None
        return Refused, {"status": 403, "title": "Not on this server", "sentence": sentence}

    return gate


def health(ask: Callable[[], dict[str, float]]) -> tuple[str, type[RequestHandler]]:
    """The route ``/health``: what ``ask`` says, as JSON; it must hold no count of records."""

    class Health(RequestHandler):
        def get(self) -> None:
            self.set_header("Cache-Control", "no-store")
            self.write(ask())

    return "/health", Health
