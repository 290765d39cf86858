"""Headers of every answer: how it may be framed, what it may load, and nothing of the server."""

from __future__ import annotations

import logging
from collections.abc import Mapping

from tornado.httputil import HTTPHeaders
from tornado.web import OutputTransform, RequestHandler

_LOG = logging.getLogger(__name__)


def security_headers(policy: Mapping[str, str]) -> dict[str, str]:
    """The headers of every answer, with a content security policy by directive."""
    return {
        "Content-Security-Policy": "; ".join(f"{name} {value}" for name, value in policy.items()),
        "X-Frame-Options": "DENY",
        "X-Content-Type-Options": "nosniff",
        "Referrer-Policy": "no-referrer",
    }


def header_transform(added: Mapping[str, str]) -> type[OutputTransform]:
    """Adds headers to each answer, and takes away what others need not know."""

    class Transform(OutputTransform):
        def transform_first_chunk(
            self, status_code: int, headers: HTTPHeaders, chunk: bytes, finishing: bool
        ) -> tuple[int, HTTPHeaders, bytes]:
            # What brings a policy of its own brings all of them.
            if "Content-Security-Policy" not in headers:
                for name, value in added.items():
                    headers[name] = value
            headers.pop("Server", None)
            return status_code, headers, chunk

    return Transform


def log_faults(handler: RequestHandler) -> None:
    """Write into the log what went wrong here, and not whatever a visitor asks for in vain.

    One client could fill a disk with that, and an address may hold a teacher's key.
    """
    if handler.get_status() >= 500:
        _LOG.error("%d %s %s", handler.get_status(), handler.request.method, handler.request.path)
