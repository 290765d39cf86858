"""Who may open another page, and the small pages of those who may not.

Opening a page costs about half a second of a processor, so an address may open a few at once and
then two a second, and there are no more sessions than the memory bears: who comes beyond that gets
a small page that tries again by itself.
"""

from __future__ import annotations

import html
from collections.abc import Callable, Sequence

from tornado.web import RequestHandler

from explorer.grid.allowance import Buckets
from explorer.serving.ending import ENDING

#: Pages an address may open at once and a second; a school class may share an address.
AT_ONCE, A_SECOND = 12, 2.0
#: Sessions of all visitors, one of which takes 6 to 30 MB, and of one address: the rest is kept for
#: others.
MOST_SESSIONS, MOST_OF_ONE = 150, 100
#: Seconds after which the page for who comes too late asks again.
AGAIN = 4
_STYLE = "font: 18px/1.5 system-ui, sans-serif; margin: 4em auto; max-width: 32em; padding: 0 1em"


class Entrance:
    """Whether another page may be opened now.

    Parameters
    ----------
    visitors : the address of each session there is
    most : sessions of all visitors
    most_of_one : sessions of one address
    a_second, at_once : pages that an address may open, `A_SECOND` and `AT_ONCE` unless told
    """

    def __init__(
        self,
        visitors: Callable[[], Sequence[str]],
        most: int = MOST_SESSIONS,
        most_of_one: int = MOST_OF_ONE,
        *,
        a_second: float | None = None,
        at_once: float | None = None,
    ) -> None:
        self._visitors, self._most, self._most_of_one = visitors, most, most_of_one
        self._opened = Buckets(a_second or A_SECOND, at_once or AT_ONCE)

    def full(self, address: str) -> bool:
        """Whether no one else, or no one else from this address, can have a page."""
        visitors = self._visitors()
        few = len(visitors) < self._most and visitors.count(address) < self._most_of_one
        return ENDING.begun or not few

    def admits(self, address: str) -> bool:
        """Whether a visitor from this address may open a page; counts as one if so."""
        return not self.full(address) and self._opened[address].has()


def plain_page(title: str, sentence: str, more: str = "", head: str = "") -> str:
    """A page of a title and a sentence, both plain text; ``more`` and ``head`` are HTML."""
    title = html.escape(title)
    text = f"<p>{html.escape(sentence)}</p>" if sentence else ""
    return (
        f'<!doctype html><html lang="en"><meta charset="utf-8">'
        f'<meta name="viewport" content="width=device-width">{head}<title>{title}</title>'
        f'<body style="{_STYLE}"><h1>{title}</h1>{text}{more}</body></html>'
    )


class Refused(RequestHandler):
    """Answers any request with a status and one sentence; a websocket, too."""

    def initialize(self, status: int, title: str, sentence: str) -> None:
        """Keep the answer."""
        self._status, self._page = status, plain_page(title, sentence)

    def prepare(self) -> None:
        """Answer any method."""
        self.set_status(self._status)
        self.finish(self._page)


class Later(RequestHandler):
    """The page for who comes too late: it tries again by itself, and has no session."""

    def prepare(self) -> None:
        """Answer any method."""
        self.set_status(429)
        self.set_header("Retry-After", str(AGAIN))
        sentence = (
            "Many people are opening the explorer just now. "
            f"This page tries again by itself in {AGAIN} seconds."
        )
        refresh = f'<meta http-equiv="refresh" content="{AGAIN}">'
        self.finish(plain_page("One moment", sentence, head=refresh))
