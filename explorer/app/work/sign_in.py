"""Signing in: without it a visitor gets no page, no websocket and no file of the server.

The filter sees every request to the server, so that no route can be forgotten. (Panel's provider
guards its pages alone, reads the file at each try, has no limit, and its page loads from elsewhere,
which ours may not.) Who is signed in is said by a cookie that is signed with a secret of this
server, made at its start: it proves itself, and nothing is kept here.
"""

from __future__ import annotations

import asyncio
import html
import math
import re
import secrets
from collections.abc import Collection
from typing import Any
from urllib.parse import quote

from tornado.httputil import HTTPServerRequest
from tornado.web import RequestHandler, create_signed_value, decode_signed_value

from explorer.app.kit import static
from explorer.app.work.passwords import MOST_CHARACTERS, Passwords
from explorer.grid.allowance import Buckets
from explorer.serving.entrance import Refused, plain_page

#: Days that a sign-in lasts: a day of work.
DAYS = 0.5
#: Wrong passwords of an address for one name at once, and a second; and for all names together.
TRIES, TRIES_A_SECOND = 10, 1 / 6
ALL_TRIES, ALL_TRIES_A_SECOND = 60, 1.0
#: Where to go afterwards: a page of this server and what it is asked for, nowhere else.
_NEXT = re.compile(r"[A-Za-z0-9_-]{0,40}(\?[!-\[\]-~]{0,8000})?")
_OPEN = ("login", "logout", "health", "favicon.ico")
_Way = tuple[type[RequestHandler], dict[str, Any]]


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

    def refusal(self, request: HTTPServerRequest) -> _Way | None:
        """What answers a request in place of what it asks for; None where it may have that."""
        path, name = request.path.strip("/"), self.name(request)
        # Read by `own_name` for the page that answers this request.
        request.signed_in_name = name  # type: ignore[attr-defined]
        if name or {path, path.partition("/")[0]} & self._open:
            return None
        asks_page = path in self._pages and request.method in ("GET", "HEAD")
        if asks_page and request.headers.get("Upgrade", "").lower() != "websocket":
            query = f"?{request.query}" if request.query else ""
            return _ToForm, {"next": f"{path}{query}"}
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


class _Form(RequestHandler):
    """What the pages about signing in have in common."""

    def initialize(self, gate: SignIn) -> None:
        """Keep the request filter."""
        self._gate = gate

    def _go(self, place: str) -> None:
        # Next to this page, wherever a proxy has put us; by "GET", whatever it was before.
        self.redirect(f"./{place}", status=303)

    def set_default_headers(self) -> None:
        """No one keeps who is signed in."""
        self.set_header("Cache-Control", "no-store")


class _Login(_Form):
    """The form."""

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
            self._go(self._next)

    @property
    def _next(self) -> str:
        target = self.get_argument("next", "")
        return target if _NEXT.fullmatch(target) else ""

    def _show(self, sentence: str, status: int = 200) -> None:
        self.set_status(status)
        alert = f'<p role="alert"><b>{html.escape(sentence)}</b></p>' if sentence else ""
        form = static.fill(
            "login.html", alert=alert, most=MOST_CHARACTERS, next=html.escape(self._next)
        )
        self.finish(plain_page("Log in to the explorer", "", form))


class _Logout(_Form):
    """Leaving: the browser forgets, and pages that are open stay until they are closed."""

    def get(self) -> None:
        """Sign out."""
        self.clear_cookie(self._gate.cookie)
        self._go("login")


class _ToForm(RequestHandler):
    """Leads to the form, and from there back."""

    def initialize(self, next: str) -> None:
        """Keep where to go afterwards."""
        self._wanted = f"?next={quote(next, safe='')}" if next else ""

    def prepare(self) -> None:
        """Answer any method."""
        self.set_header("Cache-Control", "no-store")
        self.redirect(f"./login{self._wanted}", status=303)
