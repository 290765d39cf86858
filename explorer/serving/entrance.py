"""Who may open another page: not too many at once, and not all of them from one address.

Opening a page costs about half a second of a processor, so an address may open a few at once and
then two a second, and there are no more sessions than the memory bears: who comes beyond that gets
a small page that tries again by itself.
"""

from __future__ import annotations

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
        there = self._visitors()
        few = len(there) < self._most and there.count(address) < self._most_of_one
        return ENDING.begun or not few

    def admits(self, address: str) -> bool:
        """Whether a visitor from this address may open a page; counts as one if so."""
        if self.full(address):
            return False
        return self._opened[address].has()


class Later(RequestHandler):
    """The page for who comes too late: it tries again by itself, and has no session."""

    def prepare(self) -> None:
        """Answer any method."""
        self.set_status(429)
        self.set_header("Retry-After", str(AGAIN))
        self.finish(
            f'<!doctype html><html lang="en"><meta charset="utf-8">'
            f'<meta http-equiv="refresh" content="{AGAIN}"><title>One moment</title>'
            f'<body style="font: 18px system-ui, sans-serif; margin: 4em auto; max-width: 32em">'
            f"<h1>One moment</h1><p>Many people are opening the explorer just now. "
            f"This page tries again by itself in {AGAIN} seconds.</p></body></html>"
        )
