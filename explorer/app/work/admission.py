"""Who is let into a server, and to what: the gates before its pages."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass
from typing import Any

from explorer.app.work.doors import Gate, shut
from explorer.app.work.passwords import Passwords
from explorer.app.work.sign_in import SignIn

#: What a page needs besides itself.
_FILES = ("static", "components")
_ALONE = "This server has the class page alone: open /class."


@dataclass(frozen=True)
class Admission:
    """Who is let in.

    Parameters
    ----------
    passwords : who may sign in; without them nobody has to
    class_only : whether the class page is all there is; nobody has to sign in for that
    proxied : whether a proxy in front says where visitors are
    """

    passwords: Passwords | None = None
    class_only: bool = False
    proxied: bool = False

    def gates(self, port: int, pages: Collection[str], all_pages: Collection[str]) -> Gates:
        """The gates of a server that has ``pages`` out of ``all_pages``, both as paths."""
        found: list[Gate] = []
        if self.class_only:
            found.append(shut({*all_pages} - {page.strip("/") for page in pages}, _ALONE))
        if self.passwords is None:
            return Gates(found)
        anybody = (*pages, *_FILES) if self.class_only else ()
        sign_in = SignIn(self.passwords, port, pages, anybody)
        return Gates([*found, sign_in.refusal], sign_in.routes, [sign_in.cookie])


@dataclass(frozen=True)
class Gates:
    """What stands before pages, the pages about signing in, and the cookies that prove it."""

    gates: list[Gate]
    forms: tuple[Any, ...] | list[Any] = ()
    cookies: tuple[str, ...] | list[str] = ()
