"""The names of this computer: a server answers to these, and to no other that it was not given."""

from __future__ import annotations

import contextlib
import ipaddress
import re
import socket
from collections.abc import Sequence

#: What represents "every address of this computer".
EVERYWHERE = ("0.0.0.0", "::", "")
PORT = re.compile(r":[0-9]+$")


def is_loopback(host: str) -> bool:
    """Whether a host, with a port or without, is this computer alone.

    >>> is_loopback("localhost:5006"), is_loopback("127.0.0.1"), is_loopback("192.0.2.7:5006")
    (True, True, False)
    """
    alone = bare(host)
    try:
        return ipaddress.ip_address(alone).is_loopback
    except ValueError:
        return alone == "localhost"


def own_addresses(address: str) -> list[str]:
    """Return this computer's addresses in its networks, where the server listens at all of them.

    They are names of this server and of no other site, so their pages may use it.
    """
    if address not in EVERYWHERE:
        return []
    results: list[str] = []
    udp = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
    # Sends nothing: it only asks which of its addresses would be used. Without a network none is.
    with udp as probe, contextlib.suppress(OSError):
        probe.connect(("192.0.2.1", 9))
        results.append(probe.getsockname()[0])
    with contextlib.suppress(OSError):
        results += socket.gethostbyname_ex(socket.gethostname())[2]
    return [
        fromkey
        for fromkey in dict.fromkeys(results)
        if not is_loopback(fromkey) and fromkey != "0.0.0.0"
    ]


def own_names(address: str) -> Sequence[str]:
    """All names that this server has by itself, as they are in addresses of pages.

    >>> own_names("0:0:0:0:0:0:0:1")
    ('localhost', '127.0.0.1', '[::1]')
    """
    with contextlib.suppress(ValueError):
        ip = ipaddress.ip_address(address)
        address = f"[{ip}]" if ip.version == 6 else address
    return ("localhost", "127.0.0.1", address, *own_addresses(address.strip("[]")))


def bare(host: str) -> str:
    """A host without its port."""
    return PORT.sub("", host.lower()).strip("[]")
