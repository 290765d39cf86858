"""Where a visitor is: the address that limits count by.

Behind a proxy every visitor has the proxy's address, and what a proxy says of them
(``X-Forwarded-For``) may have been written by anybody unless there is one. It is believed where the
server was told that there is.
"""

from __future__ import annotations

import contextlib
import ipaddress

from tornado.httputil import HTTPServerRequest

#: What a provider gives to one household: all of it counts as one address.
_HOUSEHOLD = 64


def address_of(request: HTTPServerRequest, proxied: bool = False) -> str:
    """The address that a request comes from; of IPv6 the network of its household.

    ``proxied`` believes the last address that a proxy in front has added.
    """
    found = request.remote_ip or ""
    if proxied:
        # A proxy adds who asked it at the end; what is before came with the request.
        said = request.headers.get("X-Forwarded-For", "").rpartition(",")[2].strip()
        found = household(said) or found
    return household(found) or found


def household(address: str) -> str:
    """An address as limits count it, "" for what is none.

    >>> household("192.0.2.7"), household("::ffff:192.0.2.7"), household("2001:db8::1:2:3:4")
    ('192.0.2.7', '192.0.2.7', '2001:db8::/64')
    """
    with contextlib.suppress(ValueError):
        found = ipaddress.ip_address(address)
        if isinstance(found, ipaddress.IPv4Address):
            return str(found)
        if found.ipv4_mapped is not None:
            return str(found.ipv4_mapped)
        return str(ipaddress.ip_network((int(found), _HOUSEHOLD), strict=False))
    return ""
