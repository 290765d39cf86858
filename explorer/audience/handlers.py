"""What answers requests. Nothing is kept of the visitor, and every answer is the same for all."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Mapping
from functools import partial
from typing import Any

from tornado.iostream import StreamClosedError
from tornado.web import HTTPError

from explorer.audience import pages
from explorer.audience.answers import answered
from explorer.audience.asked import maps_of, queries_of
from explorer.audience.exhibits import Changed
from explorer.audience.house import POLICY, Answer, House
from explorer.audience.leaf import described, place_of
from explorer.audience.pictures import Wanted, painted
from explorer.audience.statics import STATICS
from explorer.errors import InputError
from explorer.publish.names import REPORT
from explorer.publish.report import POLICY as OF_REPORT
from explorer.serving.heads import heads

#: Seconds after which who reads nothing of a file is let go.
_STALLED = 60.0


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
        exhibition, arguments = self.house.exhibition, self.asked()
        named = [exhibition[arguments[name]] for name in ("first", "second") if name in arguments]
        exhibits = [*named, *(exhibit for exhibit in exhibition if exhibit not in named)]
        if len(exhibits) < 2:
            raise InputError("There are no two maps on this server to compare.")
        first, second = exhibits[:2]
        make = partial(pages.compare_page, exhibition, (first, second))
        self.page(self.house.page(("compare", first.key, second.key), make))


class Picture(Answer):
    """What a map holds in a window."""

    async def get(self, key: str) -> None:
        """Answer with PNG; with "with" in the colours that this map shares with another."""
        exhibition, arguments = self.house.exhibition, self.asked()
        exhibit = exhibition[key]
        both = [exhibit, *([exhibition[arguments["with"]]] if "with" in arguments else [])]
        picture, scale = Wanted.of(arguments, exhibit), exhibition.scale(both)
        make = partial(painted, exhibit, picture, scale)
        await self.shown((key, picture, scale.top), make, "image/png")


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
        file = exhibit.files.get(name)
        if file is None:
            raise HTTPError(404)
        if self.request.path.startswith("/report/"):
            # It came from elsewhere, and brings its own style and nothing else.
            policy = f"{OF_REPORT}; frame-ancestors 'none'; sandbox"
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


class Static(Answer):
    """Style and scripts."""

    def get(self, mark: str, name: str) -> None:
        """Answer; they never change under this address."""
        static = STATICS.get(mark, name)
        if static is None:
            raise HTTPError(404)
        self.set_header("Content-Type", static[1])
        self.set_header("Cache-Control", "public, max-age=31536000, immutable")
        self.packed(static[0])


class Health(Answer):
    """How the server is, without a count of anything on its maps."""

    def initialize(self, house: House, ask: Callable[[], Mapping[str, float]]) -> None:  # type: ignore[override]
        """Keep what is asked."""
        self.house, self._ask = house, ask

    def get(self) -> None:
        """Answer as JSON, which no one keeps."""
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
