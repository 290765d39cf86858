"""What all answers have in common: what they share, what they say of themselves, and faults."""

from __future__ import annotations

import logging
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

from tornado.iostream import StreamClosedError
from tornado.web import HTTPError, RequestHandler

from explorer.audience import pages
from explorer.audience.exhibits import Changed, Exhibition, Gone, Unknown
from explorer.audience.packed import Packed
from explorer.audience.said import words
from explorer.audience.shared import Busy, Shared, Turns
from explorer.errors import InputError
from explorer.serving.entrance import AGAIN
from explorer.serving.heads import heads

_LOG = logging.getLogger(__name__)
#: Scripts and styles are ours; ``style`` attributes carry places on a bar.
POLICY = {
    "default-src": "'none'",
    "script-src": "'self'",
    "style-src": "'self' 'unsafe-inline'",
    "img-src": "'self' blob: data:",
    "connect-src": "'self'",
    "base-uri": "'none'",
    "form-action": "'self'",
    "frame-ancestors": "'none'",
}
HEADERS = heads(POLICY)
#: Seconds for which a browser keeps a picture or an answer.
_KEEP = 3600


@dataclass(eq=False)
class House:
    """What all handlers share.

    Parameters
    ----------
    exhibition : what is shown
    origins : of pages that may frame a map, such as "https://example.org"
    threads : that make pictures
    """

    exhibition: Exhibition
    origins: tuple[str, ...] = ()
    threads: int = 2
    turns: Turns = field(init=False)
    shared: Shared = field(init=False)
    pages: dict[Any, Packed] = field(init=False, default_factory=dict)

    def __post_init__(self) -> None:
        self.turns = Turns(self.threads)
        self.shared = Shared(self.turns)

    def page(self, key: Any, make: Callable[[], bytes]) -> Packed:
        """A page, made once as long as the same maps are shown."""
        result = self.pages.get(key)
        if result is None:
            if len(self.pages) > 4 * len(self.exhibition) ** 2 + 20:
                self.pages.clear()
            result = self.pages[key] = Packed.of(make())
        return result

    def look(self) -> list[str]:
        """Let go of maps that are not as they were; returns their titles."""
        left = self.exhibition.look()
        if left:
            self.pages.clear()
        return left


class Answer(RequestHandler):
    """What all answers have in common."""

    def initialize(self, house: House) -> None:
        """Keep what is shared."""
        self.house = house

    def set_default_headers(self) -> None:
        """Say of each answer what pages may load, and by whom they may be framed."""
        for name, value in HEADERS.items():
            self.set_header(name, value)
        self.clear_header("Server")

    def compute_etag(self) -> None:
        """None: what does not change has an address of its own."""

    def asked(self) -> dict[str, str]:
        """The arguments of the address, the last of each name."""
        result: dict[str, str] = {}
        for name, values in self.request.query_arguments.items():
            try:
                result[name] = values[-1].decode()
            except UnicodeDecodeError:
                raise HTTPError(400) from None
        return result

    async def shown(self, key: object, make: Callable[[], bytes], kind: str) -> None:
        """Answer with bytes that are the same for all who ask for the same."""
        content = await self.house.shared.get(key, self.request.remote_ip or "", make)
        self.set_header("Content-Type", kind)
        self.set_header("Cache-Control", f"private, max-age={_KEEP}")
        self.finish(content)

    def page(self, text: Packed, status: int = 200) -> None:
        """Answer with a page."""
        self.set_status(status)
        self.set_header("Content-Type", "text/html; charset=utf-8")
        self.set_header("Cache-Control", "no-cache")
        self.packed(text)

    def packed(self, text: Packed) -> None:
        """Answer with a text, packed for who can unpack it."""
        self.set_header("Vary", "Accept-Encoding")
        if "gzip" in self.request.headers.get("Accept-Encoding", ""):
            self.set_header("Content-Encoding", "gzip")
            self.finish(text.packed)
        else:
            self.finish(text.plain)

    def write_error(self, status_code: int, **more: Any) -> None:
        """One sentence, as a page or for a script; never what went wrong inside."""
        error = (more.get("exc_info") or (None, None, None))[1]
        title, sentence, status = _said(error, status_code)
        self.set_status(status)
        self.set_header("Cache-Control", "no-store")
        if status in (429, 503):
            self.set_header("Retry-After", str(AGAIN))
        if self.request.path.startswith(("/picture/", "/answers", "/leaf/")):
            self.set_header("Content-Type", "application/json")
            self.finish({"said": sentence})
        else:
            again = AGAIN if status in (429, 503) else 0
            self.set_header("Content-Type", "text/html; charset=utf-8")
            self.finish(pages.sentence_page(title, sentence, again))

    def log_exception(self, typ: Any, value: Any, trace: Any) -> None:
        """Write into the log what is our fault, without what was asked."""
        if not isinstance(value, InputError | HTTPError | Busy | Changed | StreamClosedError):
            _LOG.error("An answer failed (%s)", typ.__name__, exc_info=(typ, value, trace))


def _said(error: Any, status: int) -> tuple[str, str, int]:
    """A title, a sentence and the status of what could not be answered."""
    if isinstance(error, Gone | Changed):
        return "Not here any more", words("gone"), 410
    if isinstance(error, Unknown):
        return "Not here", str(error), 404
    if isinstance(error, Busy):
        return "One moment", words("few"), 429
    if isinstance(error, InputError):
        return "This cannot be answered", str(error), 400
    if status == 404:
        return "Not here", "There is no such page on this server.", 404
    if status >= 500:
        return "This went wrong", "This could not be answered: try again in a moment.", 500
    return "This cannot be answered", "This is no question of a page of this server.", status
