"""Hosts and addresses: the names that a server answers to, and where its visitors are.

Behind a proxy every visitor has the proxy's address, and what a proxy says of them
(``X-Forwarded-For``) may have been written by anybody unless there is one. It is believed where the
server was told that there is.
"""

from __future__ import annotations

import contextlib
import ipaddress
import re
import socket
from collections.abc import Sequence

from tornado.httputil import HTTPServerRequest

from explorer.errors import InputError

#: What represents "every address of this computer".
EVERYWHERE = ("0.0.0.0", "::", "")
PORT = re.compile(r":[0-9]+$")
_HOST = re.compile(r"([A-Za-z0-9]([A-Za-z0-9._-]*[A-Za-z0-9])?|\[[0-9A-Fa-f:]+\])(:[0-9]{1,5})?")
_ORIGIN = re.compile(r"https?://[A-Za-z0-9]([A-Za-z0-9.-]*[A-Za-z0-9])?(:[0-9]{1,5})?")
#: What a provider gives to one household: all of it counts as one address.
_HOUSEHOLD = 64


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


def checked_origin(origin: str) -> str:
    """An origin of pages that may frame a map, as browsers compare it.

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


def allowed_origins(names: Sequence[str], further: Sequence[str], port: int) -> list[str]:
    """Origins of websockets: the server's own names at its port, and the hosts that were named."""
    # A name without a port represents ports 80 and 443: a proxy in front has one of them.
    without_port = [host for host in further if not PORT.search(host)]
    return [*(f"{host}:{port}" for host in (*names, *without_port)), *further]


def bare(host: str) -> str:
    """A host without its port."""
    return PORT.sub("", host.lower()).strip("[]")


def is_loopback(host: str) -> bool:
    """Whether a host, with a port or without, is this computer alone.

    >>> is_loopback("localhost:5006"), is_loopback("127.0.0.1"), is_loopback("192.0.2.7:5006")
    (True, True, False)
    """
    try:
        return ipaddress.ip_address(bare(host)).is_loopback
    except ValueError:
        return bare(host) == "localhost"


def own_addresses(address: str) -> list[str]:
    """Return this computer's addresses in its networks, where the server listens at all of them.

    They are names of this server and of no other site, so their pages may use it.
    """
    if address not in EVERYWHERE:
        return []
    results: list[str] = []
    # Sends nothing: it only asks which of its addresses would be used. Without a network none is.
    udp = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
    with udp as probe, contextlib.suppress(OSError):
        probe.connect(("192.0.2.1", 9))
        results.append(probe.getsockname()[0])
    with contextlib.suppress(OSError):
        results += socket.gethostbyname_ex(socket.gethostname())[2]
    return [own for own in dict.fromkeys(results) if not is_loopback(own) and own != "0.0.0.0"]


def own_names(address: str) -> Sequence[str]:
    """All names that this server has by itself, as they are in addresses of pages.

    >>> own_names("0:0:0:0:0:0:0:1")
    ('localhost', '127.0.0.1', '[::1]')
    """
    with contextlib.suppress(ValueError):
        ip = ipaddress.ip_address(address)
        address = f"[{ip}]" if ip.version == 6 else address
    return ("localhost", "127.0.0.1", address, *own_addresses(address.strip("[]")))


def address_of(request: HTTPServerRequest, proxied: bool = False) -> str:
    """The address that limits count a request by; of IPv6 the network of its household.

    ``proxied`` believes the last address that a proxy in front has added.
    """
    address = request.remote_ip or ""
    if proxied:
        # A proxy adds who asked it at the end; what is before came with the request.
        forwarded = request.headers.get("X-Forwarded-For", "").rpartition(",")[2].strip()
        address = household(forwarded) or address
    return household(address) or address


def household(address: str) -> str:
    """An address as limits count it, "" for what is none.

    >>> household("192.0.2.7"), household("::ffff:192.0.2.7"), household("2001:db8::1:2:3:4")
    ('192.0.2.7', '192.0.2.7', '2001:db8::/64')
    """
    with contextlib.suppress(ValueError):
        parsed = ipaddress.ip_address(address)
        if isinstance(parsed, ipaddress.IPv4Address):
            return str(parsed)
        if parsed.ipv4_mapped is not None:
            return str(parsed.ipv4_mapped)
        return str(ipaddress.ip_network((int(parsed), _HOUSEHOLD), strict=False))
    return ""
