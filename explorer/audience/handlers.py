"""What answers requests. Nothing is kept of the visitor, and every answer is the same for all."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable, Mapping
from functools import partial
from typing import Any

from tornado.iostream import StreamClosedError
from tornado.web import HTTPError, RequestHandler

from explorer.audience import pages
from explorer.audience.answers import answered, described, maps_of, place_of, queries_of, words
from explorer.audience.app_state import AppState, Busy
from explorer.audience.pictures import PictureRequest, draw_png
from explorer.audience.releases import Changed, Gone, Unknown
from explorer.audience.statics import STATICS, Compressed
from explorer.errors import InputError
from explorer.publish.names import REPORT
from explorer.publish.report import POLICY as REPORT_POLICY
from explorer.serving.entrance import AGAIN
from explorer.serving.headers import security_headers

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
HEADERS = security_headers(POLICY)
#: Seconds for which a browser keeps a picture or an answer.
_KEEP = 3600
#: Seconds after which who reads nothing of a file is let go.
_STALLED = 60.0


class Handler(RequestHandler):
    """What all answers have in common."""

    def initialize(self, state: AppState) -> None:
        """Keep what is shared."""
        self.state = state

    def set_default_headers(self) -> None:
        """Say of each answer what pages may load, and by whom they may be framed."""
        for name, value in HEADERS.items():
            self.set_header(name, value)
        self.clear_header("Server")

    def compute_etag(self) -> None:
        """None: what does not change has an address of its own."""

    def arguments(self) -> dict[str, str]:
        """The arguments of the address, the last of each name."""
        result: dict[str, str] = {}
        for name, values in self.request.query_arguments.items():
            try:
                result[name] = values[-1].decode()
            except UnicodeDecodeError:
                raise HTTPError(400) from None
        return result

    async def respond(self, key: object, make: Callable[[], bytes], kind: str) -> None:
        """Answer with bytes that are the same for all who ask for the same."""
        content = await self.state.responses.get(key, self.request.remote_ip or "", make)
        self.set_header("Content-Type", kind)
        self.set_header("Cache-Control", f"private, max-age={_KEEP}")
        self.finish(content)

    def page(self, key: Any, make: Callable[[], bytes]) -> None:
        """Answer with a page."""
        self.set_header("Content-Type", "text/html; charset=utf-8")
        self.set_header("Cache-Control", "no-cache")
        self.compressed(self.state.page(key, make))

    def compressed(self, content: Compressed) -> None:
        """Answer with a text, compressed for a browser that takes it so."""
        self.set_header("Vary", "Accept-Encoding")
        if "gzip" in self.request.headers.get("Accept-Encoding", ""):
            self.set_header("Content-Encoding", "gzip")
            self.finish(content.gzipped)
        else:
            self.finish(content.plain)

    def write_error(self, status_code: int, **more: Any) -> None:
        """One sentence, as a page or for a script; never what went wrong inside."""
        error = (more.get("exc_info") or (None, None, None))[1]
        title, sentence, status = _refusal(error, status_code)
        self.set_status(status)
        self.set_header("Cache-Control", "no-store")
        again = AGAIN if status in (429, 503) else 0
        if again:
            self.set_header("Retry-After", str(again))
        if self.request.path.startswith(("/picture/", "/answers", "/leaf/")):
            self.set_header("Content-Type", "application/json")
            self.finish({"said": sentence})
        else:
            self.set_header("Content-Type", "text/html; charset=utf-8")
            self.finish(pages.sentence_page(title, sentence, again))

    def log_exception(self, typ: Any, value: Any, trace: Any) -> None:
        """Write into the log what is our fault, without what was asked."""
        if not isinstance(value, InputError | HTTPError | Busy | Changed | StreamClosedError):
            _LOG.error("An answer failed (%s)", typ.__name__, exc_info=(typ, value, trace))


def _refusal(error: Any, status: int) -> tuple[str, str, int]:
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


class NotFound(Handler):
    """Every other address."""

    def prepare(self) -> None:
        """Refuse any method."""
        raise HTTPError(404)


class Listing(Handler):
    """All maps, or the one there is."""

    def get(self) -> None:
        """Answer with a page."""
        releases = self.state.releases
        maps = list(releases)
        if len(maps) == 1 and not releases.gone:
            self.page(("map", maps[0].key, False), partial(pages.map_page, maps[0], releases))
        else:
            self.page("listing", partial(pages.listing, releases))


class Map(Handler):
    """One map; with ``?embed=1`` for a frame in another page."""

    def get(self, key: str) -> None:
        """Answer with a page."""
        served = self.state.releases[key]
        embedded = self.arguments().get("embed") == "1"
        if embedded and self.state.origins:
            # Only this page, and only by those who were named.
            policy = {**POLICY, "frame-ancestors": " ".join(self.state.origins)}
            name = "Content-Security-Policy"
            self.set_header(name, security_headers(policy)[name])
            self.clear_header("X-Frame-Options")
        make = partial(pages.map_page, served, self.state.releases, embedded)
        self.page(("map", key, embedded), make)


class Compare(Handler):
    """Two maps over each other."""

    def get(self) -> None:
        """Answer with a page."""
        releases, arguments = self.state.releases, self.arguments()
        named = [releases[arguments[name]] for name in ("first", "second") if name in arguments]
        maps = [*named, *(served for served in releases if served not in named)]
        if len(maps) < 2:
            raise InputError("There are no two maps on this server to compare.")
        first, second = maps[:2]
        make = partial(pages.compare_page, releases, (first, second))
        self.page(("compare", first.key, second.key), make)


class Picture(Handler):
    """What a map holds in a window."""

    async def get(self, key: str) -> None:
        """Answer with PNG; with "with" in the colours that this map shares with another."""
        releases, arguments = self.state.releases, self.arguments()
        served = releases[key]
        both = [served, *([releases[arguments["with"]]] if "with" in arguments else [])]
        picture, scale = PictureRequest.of(arguments, served), releases.scale(both)
        make = partial(draw_png, served, picture, scale)
        await self.respond((key, picture, scale.top), make, "image/png")


class Leaf(Handler):
    """The small area of a map under a place."""

    async def get(self, key: str) -> None:
        """Answer as JSON."""
        served = self.state.releases[key]
        leaf = place_of(self.arguments(), served)
        await self.respond((key, leaf), partial(described, served, leaf), "application/json")


class Answers(Handler):
    """What maps say of areas."""

    async def post(self) -> None:
        """Answer as JSON."""
        keys, areas = maps_of(self.request.body)
        maps = [self.state.releases[key] for key in keys]

        def make() -> bytes:
            # Shapes take longer than boxes: they are checked in the thread, too.
            return answered(queries_of(areas, maps[0].release.grid), maps)

        await self.respond(self.request.body, make, "application/json")


class File(Handler):
    """A file of a release, to be taken along; the report, to be read."""

    async def get(self, key: str, name: str = REPORT) -> None:
        """Send it in pieces."""
        file = self.state.releases[key].files.get(name)
        if file is None:
            raise HTTPError(404)
        if self.request.path.startswith("/report/"):
            # It came from elsewhere, and brings its own style and nothing else.
            policy = f"{REPORT_POLICY}; frame-ancestors 'none'; sandbox"
            self.set_header("Content-Security-Policy", policy)
            self.set_header("Content-Type", "text/html; charset=utf-8")
        else:
            self.set_header("Content-Type", "application/octet-stream")
            self.set_header("Content-Disposition", f'attachment; filename="{name}"')
        self.set_header("Content-Length", str(file.size))
        self.set_header("Cache-Control", "no-cache")
        begun = False
        try:
            for piece in file.pieces():
                self.write(piece)
                await asyncio.wait_for(self.flush(), _STALLED)
                begun = True
        except (Changed, TimeoutError, StreamClosedError) as error:
            if isinstance(error, Changed) and not begun:
                raise
            # Half a file is none: anyone who still reads sees that it is not whole.
            self.detach().close()


class Static(Handler):
    """Style and scripts."""

    def get(self, mark: str, name: str) -> None:
        """Answer with a file, which never changes at this address."""
        static = STATICS.get(mark, name)
        if static is None:
            raise HTTPError(404)
        self.set_header("Content-Type", static[1])
        self.set_header("Cache-Control", "public, max-age=31536000, immutable")
        self.compressed(static[0])


class Health(Handler):
    """How the server is, without a count of anything on its maps."""

    def initialize(self, state: AppState, health: Callable[[], Mapping[str, float]]) -> None:  # type: ignore[override]
        """Keep what says so."""
        self.state, self._health = state, health

    def get(self) -> None:
        """Answer as JSON, which no browser keeps."""
        self.set_header("Cache-Control", "no-store")
        self.finish(dict(self._health()))


_KEY = "([0-9a-f]{10})"


def routes(state: AppState, health: Callable[[], Mapping[str, float]]) -> list[Any]:
    """Every address of the server."""
    shared = {"state": state}
    return [
        ("/", Listing, shared),
        (f"/map/{_KEY}", Map, shared),
        ("/compare", Compare, shared),
        (f"/picture/{_KEY}[.]png", Picture, shared),
        (f"/leaf/{_KEY}", Leaf, shared),
        ("/answers", Answers, shared),
        (f"/report/{_KEY}", File, shared),
        (f"/files/{_KEY}/([a-z.]{{1,20}})", File, shared),
        ("/static/([0-9a-f]{12})/([a-z]{1,20}[.](?:js|css))", Static, shared),
        ("/health", Health, {**shared, "health": health}),
    ]
