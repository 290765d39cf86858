"""Where others can open this server: the address to send them, or why there is none."""

from __future__ import annotations

import contextlib
import ipaddress
import re
import socket
from collections.abc import Sequence
from dataclasses import dataclass

import segno

#: What stands for "every address of this computer".
EVERYWHERE = ("0.0.0.0", "::", "")
_PORT = re.compile(r":[0-9]+$")
ALONE = (
    "Only this computer can open it: stop the explorer and start it with --address 0.0.0.0, so "
    "that others in this network can."
)
NOWHERE = (
    "This computer's own address in the network is not known: start the explorer with --address "
    "and --allow-origin followed by it."
)


@dataclass(frozen=True)
class Reach:
    """How a server is reached.

    Parameters
    ----------
    address, port : where it listens
    origins : hosts whose pages may use it, as "name:port" or "name"
    """

    address: str
    port: int
    origins: tuple[str, ...] = ()

    def base(self, host: str = "", secure: bool = False) -> str:
        """Where others can open the server, without a slash at the end; "" if nobody else can.

        ``host`` is how this visitor came, which is the best address unless it is loopback;
        ``secure`` says whether by https. Whatever the address, its pages may use the server.
        """
        scheme = "https" if secure else "http"
        if host and not is_loopback(host) and self._allows(host):
            return f"{scheme}://{host}"
        named = [each for each in self.origins if not is_loopback(each)]
        others = [each for each in named if _bare(each) not in EVERYWHERE]
        if is_loopback(self.address):
            # A proxy in front of it has the usual port.
            others.sort(key=lambda each: bool(_PORT.search(each)))
        return f"http://{others[0]}" if others else ""

    @property
    def why_not(self) -> str:
        """Why nobody else can open it, in one sentence."""
        return NOWHERE if self.address in EVERYWHERE else ALONE

    def _allows(self, host: str) -> bool:
        # A host without a port is that of port 80 or 443.
        return host.lower() in self.origins


def is_loopback(host: str) -> bool:
    """Whether a host, with a port or without, is this computer alone.

    >>> is_loopback("localhost:5006"), is_loopback("127.0.0.1"), is_loopback("192.0.2.7:5006")
    (True, True, False)
    """
    bare = _bare(host)
    try:
        return ipaddress.ip_address(bare).is_loopback
    except ValueError:
        return bare == "localhost"


def own_addresses(address: str) -> list[str]:
    """Return this computer's addresses in its networks, where the server listens at all of them.

    They are names of this server and of no other site, so their pages may use it.
    """
    if address not in EVERYWHERE:
        return []
    found: list[str] = []
    udp = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
    # Sends nothing: it only asks which of its addresses would be used. Without a network none is.
    with udp as probe, contextlib.suppress(OSError):
        probe.connect(("192.0.2.1", 9))
        found.append(probe.getsockname()[0])
    with contextlib.suppress(OSError):
        found += socket.gethostbyname_ex(socket.gethostname())[2]
    return [each for each in dict.fromkeys(found) if not is_loopback(each) and each != "0.0.0.0"]


def qr_code(address: str) -> str:
    """A QR code of an address as an SVG picture, dark on light in both themes."""
    drawn: str = segno.make(address, error="m", micro=False).svg_inline(
        scale=1, border=3, dark="#000000", light="#ffffff", omitsize=True
    )
    return f'<div class="qr" role="img" aria-label="QR code of the address">{drawn}</div>'


def own_names(address: str) -> Sequence[str]:
    """All names that this server has by itself."""
    return ("localhost", "127.0.0.1", address, *own_addresses(address))


def _bare(host: str) -> str:
    return _PORT.sub("", host.lower()).strip("[]")
