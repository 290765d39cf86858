"""Which hosts a server answers to: its own names, and those that it was given."""

from __future__ import annotations

import re
from collections.abc import Sequence

from explorer.errors import InputError

_HOST = re.compile(r"([A-Za-z0-9]([A-Za-z0-9._-]*[A-Za-z0-9])?|\[[0-9A-Fa-f:]+\])(:[0-9]{1,5})?")
_WITH_PORT = re.compile(r":[0-9]+$")


def checked_host(origin: str) -> str:
    """A host with or without a port; a pattern would open the exact counts to any site's page."""
    if "*" in origin:
        raise InputError(
            f"{origin[:60]!r} would let the page of any site read the exact counts: name each host "
            "with its own --allow-origin."
        )
    if not _HOST.fullmatch(origin):
        raise InputError(
            f"{origin[:60]!r} is not a host: give a name such as maps.example.org or "
            "maps.example.org:8080, without http:// and without a path."
        )
    return origin.lower()


def allowed_origins(names: Sequence[str], further: Sequence[str], port: int) -> list[str]:
    """Origins of websockets: the server's own names at its port, and the hosts that were named."""
    # A name without a port represents ports 80 and 443: a proxy in front has one of them.
    bare = [host for host in further if not _WITH_PORT.search(host)]
    return [*(f"{host}:{port}" for host in (*names, *bare)), *further]
