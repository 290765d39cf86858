"""Who is answered by a server, with what, and in what order: before any page, websocket or file.

A page of exact counts must not be framed by another site's page, must load nothing from elsewhere,
and is for those who ask for this server by one of its names: a page of another site whose name is
moved to this computer's address (DNS rebinding) asks by its own. The server makes and signs every
id of a session, and takes none from an address: anyone who knows the id has the document, exact
counts included, and opening a page gives anyone a signed one.
"""

from __future__ import annotations

import asyncio
import html
import math
import re
import secrets
from collections.abc import Callable, Collection
from dataclasses import dataclass
from typing import Any
from urllib.parse import quote

from tornado.httputil import HTTPMessageDelegate, HTTPServerRequest
from tornado.routing import AnyMatches, Router, Rule
from tornado.web import (
    Application,
    ErrorHandler,
    RequestHandler,
    create_signed_value,
    decode_signed_value,
)

from explorer.app.kit import static
from explorer.app.work.content import WEBSOCKET, After, Asked, Contents, session_of
from explorer.app.work.document import of_request
from explorer.app.work.passwords import MOST_CHARACTERS, Passwords
from explorer.grid.allowance import Buckets
from explorer.serving.entrance import Entrance, Later, Refused, plain_page
from explorer.serving.headers import header_transform, security_headers
from explorer.serving.hosts import address_of

#: Days that a sign-in lasts: a day of work.
DAYS = 0.5
#: Wrong passwords of an address for one name at once, and a second; and for all names together.
TRIES, TRIES_A_SECOND = 10, 1 / 6
ALL_TRIES, ALL_TRIES_A_SECOND = 60, 1.0
#: Where to go afterwards: a page of this server and what it is asked for, nowhere else.
_NEXT = re.compile(r"[A-Za-z0-9_-]{0,40}(\?[!-\[\]-~]{0,8000})?")
_OPEN = ("login", "logout", "health", "favicon.ico")
#: What answers a request in place of what it asks for, with its arguments; and what chooses that.
Way = tuple[type[RequestHandler], dict[str, Any]]
Gate = Callable[[HTTPServerRequest], Way | None]


class SignIn:
    """The request filter of one server.

    Parameters
    ----------
    passwords : names and passwords
    port : of the server; a browser's cookies are those of all ports of a host
    pages : paths that lead to the form where no one is signed in; elsewhere one is refused
    open_to_all : pages that need no password, with all that is below them
    """

    def __init__(
        self,
        passwords: Passwords,
        port: int,
        pages: Collection[str],
        open_to_all: Collection[str] = (),
    ) -> None:
        self._passwords = passwords
        #: The name of the cookie.
        self.cookie = f"explorer-user-{port}"
        self._secret = secrets.token_urlsafe(32)
        self._pages = {page.strip("/") for page in pages}
        self._open = {*_OPEN, *(page.strip("/") for page in open_to_all)}
        if "" in self._open:
            # The websocket of the page at the root.
            self._open.add("ws")
        self._tries = Buckets(TRIES_A_SECOND, TRIES)
        self._all_tries = Buckets(ALL_TRIES_A_SECOND, ALL_TRIES)
        # A hash takes 32 MB: one at a time.
        self._one = asyncio.Lock()

    @property
    def routes(self) -> list[tuple[str, type[RequestHandler], dict[str, Any]]]:
        """Routes of the form and of leaving."""
        return [("/login", _Login, {"gate": self}), ("/logout", _Logout, {"gate": self})]

    def name(self, request: HTTPServerRequest) -> str:
        """Who is signed in by a request's cookies; "" for no one."""
        sent = request.cookies.get(self.cookie)
        value = sent.value if sent is not None else ""
        signed_name = decode_signed_value(self._secret, self.cookie, value, max_age_days=DAYS)
        return signed_name.decode() if signed_name else ""

    def refusal(self, request: HTTPServerRequest) -> Way | None:
        """What answers a request in place of what it asks for; None where it may have that."""
        path, name = request.path.strip("/"), self.name(request)
        # Read by `own_name` for the page that answers this request.
        request.signed_in_name = name  # type: ignore[attr-defined]
        if name or {path, path.partition("/")[0]} & self._open:
            return None
        asks_page = path in self._pages and request.method in ("GET", "HEAD")
        if asks_page and request.headers.get("Upgrade", "").lower() != "websocket":
            query = f"?{request.query}" if request.query else ""
            return _ToForm, {"then": f"{path}{query}"}
        sentence = "Log in first: open a page of this server."
        return Refused, {"status": 403, "title": "Not logged in", "sentence": sentence}

    async def proves(self, name: str, password: str, address: str) -> float | None:
        """Try a password: 0 where it is right, None where not, else seconds until it may be."""
        tries = (self._tries[address, name], self._all_tries[address])
        for index, bucket in enumerate(tries):
            wait = bucket.wait()
            if wait > 0:
                for earlier in tries[:index]:
                    earlier.take(-1)
                return wait
        async with self._one:
            right = await asyncio.to_thread(self._passwords.right, name, password)
        if not right:
            return None
        # What is right is no try.
        for bucket in tries:
            bucket.take(-1)
        return 0.0

    def let_in(self, handler: RequestHandler, name: str) -> None:
        """Let the browser say who this is, by itself, and to this server alone."""
        # What a visitor says of https can only make the own cookie useless.
        scheme = handler.request.headers.get("X-Forwarded-Proto", handler.request.protocol)
        handler.set_cookie(
            self.cookie,
            create_signed_value(self._secret, self.cookie, name).decode(),
            max_age=int(DAYS * 86_400),
            httponly=True,
            # Lax and not Strict: a link in a letter opens the page it leads to.
            samesite="Lax",
            secure=scheme == "https",
        )


class _Handler(RequestHandler):
    def set_default_headers(self) -> None:
        # No one keeps who is signed in.
        self.set_header("Cache-Control", "no-store")

    def initialize(self, gate: Any = None, then: str = "") -> None:
        self._gate, self._then = gate, then

    def _go(self, place: str) -> None:
        # Next to this page, wherever a proxy has put us; by "GET", whatever it was before.
        self.redirect(f"./{place}", status=303)


class _Login(_Handler):
    def get(self) -> None:
        """Show it."""
        self._show("")

    async def post(self) -> None:
        """Let in who knows the password."""
        if self.request.headers.get("Sec-Fetch-Site", "none") in ("cross-site", "same-site"):
            self._show("Log in on this page.", 403)
            return
        name, password = (
            self.get_body_argument(field, "", strip=False) for field in ("name", "password")
        )
        name = name.strip()
        wait = await self._gate.proves(name, password, self.request.remote_ip or "")
        if wait is None:
            self._show("This is not a name with its password.", 403)
        elif wait > 0:
            self.set_header("Retry-After", str(math.ceil(wait)))
            self._show(f"Too many wrong passwords: wait {math.ceil(wait)} s and try again.", 429)
        else:
            self._gate.let_in(self, name)
            self._go(self._next())

    def _next(self) -> str:
        target = self.get_argument("next", "")
        return target if _NEXT.fullmatch(target) else ""

    def _show(self, sentence: str, status: int = 200) -> None:
        self.set_status(status)
        alert = f'<p role="alert"><b>{html.escape(sentence)}</b></p>' if sentence else ""
        next = html.escape(self._next())
        form = static.fill("login.html", alert=alert, most=MOST_CHARACTERS, next=next)
        self.finish(plain_page("Log in to the explorer", "", form))


class _Logout(_Handler):
    # The browser forgets, and pages that are open stay until they are closed.
    def get(self) -> None:
        self.clear_cookie(self._gate.cookie)
        self._go("login")


class _ToForm(_Handler):
    # Leads to the form, and from there back; any method is answered.
    def prepare(self) -> None:
        self._go(f"login?next={quote(self._then, safe='')}" if self._then else "login")


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

    def sign_in(self, port: int, pages: Collection[str]) -> SignIn | None:
        """Who is signed in, on a server with ``pages`` (paths); None where no one has to be."""
        if self.passwords is None:
            return None
        return SignIn(self.passwords, port, pages, (*pages, *_FILES) if self.class_only else ())


class Access(Router):
    """Answers what may not be had, before all handlers of a server, and lets the rest pass.

    Parameters
    ----------
    server : of Bokeh, not yet started
    hosts : "name:port", or "name" for the ports 80 and 443; in small letters
    pages : paths, such as "explore" and "/", each of which makes a session
    contents : what is made once a browser asks for it
    sign_in : who is signed in, where one has to be
    closed : paths of pages that are not here, with all that is below them
    proxied : whether a proxy in front says where visitors are, see `address_of`
    """

    def __init__(
        self,
        server: Any,
        hosts: Collection[str],
        pages: Collection[str],
        contents: Contents,
        *,
        sign_in: SignIn | None = None,
        closed: Collection[str] = (),
        proxied: bool = False,
    ) -> None:
        self._server, self._hosts, self._contents = server, hosts, contents
        self._pages = {page.strip("/") for page in pages}
        self._websockets = {f"{page}{WEBSOCKET}".strip("/") for page in self._pages}
        self._closed, self._proxied = {*closed}, proxied
        self._gates: list[Gate] = [self._own, self._shut, self._page]
        if sign_in is not None:
            self._gates.insert(2, sign_in.refusal)
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

    def _own(self, request: HTTPServerRequest) -> Way | None:
        if request.host.lower() not in self._hosts:
            return ErrorHandler, {"status_code": 421}
        brings = _SESSION_HEADER in request.headers
        brings |= any(name in request.arguments for name in _SESSION_ARGUMENTS)
        if brings or request.path.endswith(_ELSEWHERE):
            return ErrorHandler, {"status_code": 403}
        return None

    def _shut(self, request: HTTPServerRequest) -> Way | None:
        if request.path.strip("/").partition("/")[0] not in self._closed:
            return None
        return Refused, {"status": 403, "title": "Not on this server", "sentence": _ALONE}

    def _page(self, request: HTTPServerRequest) -> Way | None:
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


def health(ask: Callable[[], dict[str, float]]) -> tuple[str, type[RequestHandler]]:
    """The route ``/health``: what ``ask`` says, as JSON; it must hold no count of records."""

    class Health(RequestHandler):
        def get(self) -> None:
            self.set_header("Cache-Control", "no-store")
            self.write(ask())

    return "/health", Health
