"""Where a server listens: its sockets, and one sentence where it cannot have them."""

from __future__ import annotations

import errno
import os
import socket

from tornado.netutil import bind_sockets

from explorer.errors import InputError


def listening_sockets(port: int, address: str, backlog: int = 128) -> list[socket.socket]:
    """Return sockets that listen, as many as ``address`` has of IPv4 and IPv6, all at one port.

    Parameters
    ----------
    port : 0 to 65535; 0 picks a free one
    address : IPv4 or IPv6 address or host name of this computer; "" listens at all its addresses
    backlog : connections that may wait to be accepted

    Raises
    ------
    InputError
        For a port that is in use or needs more rights, an address that is not this computer's,
        and a host name that is not known.

    Examples
    --------
    >>> (only,) = listening_sockets(0, "127.0.0.1")
    >>> only.getsockname()[0]
    '127.0.0.1'
    >>> only.close()
    """
    try:
        sockets = bind_sockets(port, address, backlog=backlog)
    # A name that cannot be a host's is a ValueError.
    except (OSError, ValueError) as error:
        raise unusable(port, address, error) from error
    if not sockets:
        # An address of IPv6 on a system without it.
        raise unusable(port, address, OSError(errno.EADDRNOTAVAIL, ""))
    return sockets


def usable_port(port: int, address: str) -> int:
    """Return ``port`` if a server can listen there now, and a free one for 0.

    It listens for a moment, exactly as a server will: a port whose last connections are still
    timing out is usable. Parameters and errors are those of `listening_sockets`.
    """
    sockets = listening_sockets(port, address)
    chosen: int = sockets[0].getsockname()[1]
    for one in sockets:
        one.close()
    return chosen


def unusable(port: int, address: str, error: Exception) -> InputError:
    """The sentence about a port or an address that a server cannot have, to be raised."""
    code = getattr(error, "errno", None)
    if isinstance(error, ValueError | socket.gaierror) or code == errno.EADDRNOTAVAIL:
        return InputError(
            f"{address[:60]!r} is not an address of this computer: give --address 127.0.0.1 for "
            "this computer alone, 0.0.0.0 for all its networks, or one of its own addresses."
        )
    another = "give another one with --port, or --port 0 for any that is free."
    where = f"Port {port} at {address or '0.0.0.0'}"
    if code == errno.EADDRINUSE:
        return InputError(f"{where} is in use by another program: {another}")
    if code == errno.EACCES:
        return InputError(f"{where} needs more rights than this user has: {another}")
    return InputError(f"{where} cannot be used ({os.strerror(code) if code else error}): {another}")
