"""Which pages of others may frame a map."""

from __future__ import annotations

import re

from explorer.errors import InputError

_ORIGIN = re.compile(r"https?://[A-Za-z0-9]([A-Za-z0-9.-]*[A-Za-z0-9])?(:[0-9]{1,5})?")


def checked_origin(origin: str) -> str:
    """An origin as browsers compare it.

    Raises
    ------
    InputError
        For anything else, above all for a pattern, which would let the page of any site frame it.

    Examples
    --------
    >>> checked_origin("https://News.example.org")
    'https://news.example.org'
    >>> checked_origin("https://*.example.org")
    Traceback (most recent call last):
    explorer.errors.InputError: 'https://*.example.org' is not an origin: ...
    """
    if not _ORIGIN.fullmatch(origin):
        raise InputError(
            f"{origin[:60]!r} is not an origin: give each page's own with --embed-origin, such as "
            "https://news.example.org, without a path."
        )
    return origin.lower()
