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
