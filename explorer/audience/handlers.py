"""What answers requests. Nothing is kept of whoever asks, and every answer is the same for all."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from functools import partial
from typing import Any

from tornado.iostream import StreamClosedError
from tornado.web import HTTPError, RequestHandler

from explorer.audience import pages
from explorer.audience.answers import answered
from explorer.audience.asked import maps_of, queries_of
from explorer.audience.exhibits import Changed, Exhibition, Gone, Unknown
from explorer.audience.leaf import described, place_of
from explorer.audience.packed import Packed
from explorer.audience.pictures import Wanted, painted
from explorer.audience.said import words
from explorer.audience.shared import Busy, Shared, Turns
from explorer.audience.statics import STATICS
from explorer.errors import InputError
from explorer.publish.names import REPORT
from explorer.publish.report import POLICY as OF_REPORT
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
#: Seconds after which who reads nothing of a file is let go.
_STALLED = 60.0


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
        found = self.pages.get(key)
        if found is None:
            if len(self.pages) > 4 * len(self.exhibition) ** 2 + 20:
                self.pages.clear()
            found = self.pages[key] = Packed.of(make())
        return found

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
        found: dict[str, str] = {}
        for name, values in self.request.query_arguments.items():
            try:
                found[name] = values[-1].decode()
            except UnicodeDecodeError:
                raise HTTPError(400) from None
        return found

    async def shown(self, key: object, make: Callable[[], bytes], kind: str) -> None:
        """Answer with bytes that are the same for all who ask for the same."""
        found = await self.house.shared.get(key, self.request.remote_ip or "", make)
        self.set_header("Content-Type", kind)
        self.set_header("Cache-Control", f"private, max-age={_KEEP}")
        self.finish(found)

    def page(self, found: Packed, status: int = 200) -> None:
        """Answer with a page."""
        self.set_status(status)
        self.set_header("Content-Type", "text/html; charset=utf-8")
        self.set_header("Cache-Control", "no-cache")
        self.packed(found)

    def packed(self, found: Packed) -> None:
        """Answer with a text, packed for who can unpack it."""
        self.set_header("Vary", "Accept-Encoding")
        if "gzip" in self.request.headers.get("Accept-Encoding", ""):
            self.set_header("Content-Encoding", "gzip")
            self.finish(found.packed)
        else:
            self.finish(found.plain)

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


class Nothing(Answer):
    """Answers for every other address."""

    def prepare(self) -> None:
        """Refuse any method."""
        raise HTTPError(404)


class Listing(Answer):
    """All maps, or the one there is."""

    def get(self) -> None:
        """Answer."""
        exhibition = self.house.exhibition
        only = list(exhibition)
        if len(only) == 1 and not exhibition.gone:
            make = partial(pages.map_page, only[0], exhibition)
            self.page(self.house.page(("map", only[0].key, False), make))
        else:
            self.page(self.house.page("listing", partial(pages.listing, exhibition)))


class Map(Answer):
    """One map; with ``?embed=1`` for a frame in another page."""

    def get(self, key: str) -> None:
        """Answer."""
        exhibit = self.house.exhibition[key]
        embedded = self.asked().get("embed") == "1"
        if embedded and self.house.origins:
            # Only this page, and only by those who were named.
            policy = {**POLICY, "frame-ancestors": " ".join(self.house.origins)}
            self.set_header("Content-Security-Policy", heads(policy)["Content-Security-Policy"])
            self.clear_header("X-Frame-Options")
        make = partial(pages.map_page, exhibit, self.house.exhibition, embedded)
        self.page(self.house.page(("map", key, embedded), make))


class Compare(Answer):
    """Two maps over each other."""

    def get(self) -> None:
        """Answer."""
        exhibition, asked = self.house.exhibition, self.asked()
        named = [exhibition[asked[each]] for each in ("first", "second") if each in asked]
        shown = [*named, *(each for each in exhibition if each not in named)]
        if len(shown) < 2:
            raise InputError("There are no two maps on this server to compare.")
        first, second = shown[:2]
        make = partial(pages.compare_page, exhibition, (first, second))
        self.page(self.house.page(("compare", first.key, second.key), make))


class Picture(Answer):
    """What a map holds in a window."""

    async def get(self, key: str) -> None:
        """Answer with PNG; with "with" in the colours that this map shares with another."""
        exhibition, asked = self.house.exhibition, self.asked()
        exhibit = exhibition[key]
        both = [exhibit, *([exhibition[asked["with"]]] if "with" in asked else [])]
        wanted, scale = Wanted.of(asked, exhibit), exhibition.scale(both)
        make = partial(painted, exhibit, wanted, scale)
        await self.shown((key, wanted, scale.top), make, "image/png")


class Leaf(Answer):
    """The small area of a map under a place."""

    async def get(self, key: str) -> None:
        """Answer as JSON."""
        exhibit = self.house.exhibition[key]
        leaf = place_of(self.asked(), exhibit)
        await self.shown((key, leaf), partial(described, exhibit, leaf), "application/json")


class Answers(Answer):
    """What maps say of areas."""

    async def post(self) -> None:
        """Answer as JSON."""
        keys, areas = maps_of(self.request.body)
        exhibits = [self.house.exhibition[key] for key in keys]

        def make() -> bytes:
            # Here, in a thread: shapes take longer than boxes.
            return answered(queries_of(areas, exhibits[0].release.grid), exhibits)

        await self.shown(self.request.body, make, "application/json")


class File(Answer):
    """A file of a release, to be taken along; the report, to be read."""

    async def get(self, key: str, name: str = REPORT) -> None:
        """Send it in pieces."""
        exhibit = self.house.exhibition[key]
        held = exhibit.files.get(name)
        if held is None:
            raise HTTPError(404)
        if self.request.path.startswith("/report/"):
            # It came from elsewhere, and brings its own style and nothing else.
            policy = f"{OF_REPORT}; frame-ancestors 'none'; sandbox"
            self.set_header("Content-Security-Policy", policy)
            self.set_header("Content-Type", "text/html; charset=utf-8")
        else:
            self.set_header("Content-Type", "application/octet-stream")
            self.set_header("Content-Disposition", f'attachment; filename="{name}"')
        self.set_header("Content-Length", str(held.size))
        self.set_header("Cache-Control", "no-cache")
        begun = False
        try:
            for piece in held.pieces():
                self.write(piece)
                await asyncio.wait_for(self.flush(), _STALLED)
                begun = True
        except (Changed, TimeoutError, StreamClosedError) as error:
            if isinstance(error, Changed) and not begun:
                raise
            # Half a file is none: whoever still reads sees that it is not whole.
            self.detach().close()


class Static(Answer):
    """Style and scripts."""

    def get(self, mark: str, name: str) -> None:
        """Answer; they never change under this address."""
        found = STATICS.get(mark, name)
        if found is None:
            raise HTTPError(404)
        self.set_header("Content-Type", found[1])
        self.set_header("Cache-Control", "public, max-age=31536000, immutable")
        self.packed(found[0])


class Health(Answer):
    """How the server is, without a count of anything on its maps."""

    def initialize(self, house: House, ask: Callable[[], Mapping[str, float]]) -> None:  # type: ignore[override]
        """Keep what is asked."""
        self.house, self._ask = house, ask

    def get(self) -> None:
        """Answer as JSON, which nobody keeps."""
        self.set_header("Cache-Control", "no-store")
        self.finish(dict(self._ask()))


KEY = "([0-9a-f]{10})"


def routes(house: House, ask: Callable[[], Mapping[str, float]]) -> list[Any]:
    """Every address of the server."""
    with_house = {"house": house}
    return [
        ("/", Listing, with_house),
        (f"/map/{KEY}", Map, with_house),
        ("/compare", Compare, with_house),
        (f"/picture/{KEY}[.]png", Picture, with_house),
        (f"/leaf/{KEY}", Leaf, with_house),
        ("/answers", Answers, with_house),
        (f"/report/{KEY}", File, with_house),
        (f"/files/{KEY}/([a-z.]{{1,20}})", File, with_house),
        ("/static/([0-9a-f]{12})/([a-z]{1,20}[.](?:js|css))", Static, with_house),
        ("/health", Health, {"house": house, "ask": ask}),
    ]
