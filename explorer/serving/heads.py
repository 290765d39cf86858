"""What is said of every answer: how it may be framed, what it may load, and nothing of us."""

from __future__ import annotations

import logging
from collections.abc import Mapping

from tornado.httputil import HTTPHeaders
from tornado.web import OutputTransform, RequestHandler

_LOG = logging.getLogger(__name__)


def heads(policy: Mapping[str, str]) -> dict[str, str]:
    """The heads of every answer, with what pages may load and by whom they may be framed."""
    return {
        "Content-Security-Policy": "; ".join(f"{name} {value}" for name, value in policy.items()),
        "X-Frame-Options": "DENY",
        "X-Content-Type-Options": "nosniff",
        "Referrer-Policy": "no-referrer",
    }


def said(added: Mapping[str, str]) -> type[OutputTransform]:
    """What adds heads to each answer, and takes away what others need not know."""

    class Said(OutputTransform):
        """Adds them."""

        def transform_first_chunk(
            self, status_code: int, headers: HTTPHeaders, chunk: bytes, finishing: bool
        ) -> tuple[int, HTTPHeaders, bytes]:
            """Change the head of an answer."""
            # What brings a policy of its own brings all of them.
            if "Content-Security-Policy" not in headers:
                for name, value in added.items():
                    headers[name] = value
            headers.pop("Server", None)
            return status_code, headers, chunk

    return Said


def write_faults(handler: RequestHandler) -> None:
    """Write into the log what went wrong here, and not whatever a visitor asks for in vain.

    One client could fill a disk with that, and an address may hold a teacher's key.
    """
    if handler.get_status() >= 500:
        _LOG.error("%d %s %s", handler.get_status(), handler.request.method, handler.request.path)
