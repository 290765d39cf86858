"""Where others can open this server: the address to send them, or why there is none."""

from __future__ import annotations

from dataclasses import dataclass

import segno

from explorer.serving.hosts import EVERYWHERE, PORT, bare, is_loopback

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
        """Where others can open the server, without a slash at the end; "" if no one else can.

        ``host`` is how this visitor came, which is the best address unless it is loopback;
        ``secure`` says whether by https. Whatever the address, its pages may use the server.
        """
        scheme = "https" if secure else "http"
        if host and not is_loopback(host) and self._allows(host):
            return f"{scheme}://{host}"
        named = [origin for origin in self.origins if not is_loopback(origin)]
        others = [origin for origin in named if bare(origin) not in EVERYWHERE]
        if is_loopback(self.address):
            # A proxy in front of it has the usual port.
            others.sort(key=lambda origin: bool(PORT.search(origin)))
        return f"http://{others[0]}" if others else ""

    @property
    def why_not(self) -> str:
        """Why no one else can open it, in one sentence."""
        return NOWHERE if self.address in EVERYWHERE else ALONE

    def _allows(self, host: str) -> bool:
        # A host without a port is that of port 80 or 443.
        return host.lower() in self.origins


def qr_code(address: str) -> str:
    """A QR code of an address as an SVG picture, dark on light in both themes."""
    drawn: str = segno.make(address, error="m", micro=False).svg_inline(
        scale=1, border=3, dark="#000000", light="#ffffff", omitsize=True
    )
    return f'<div class="qr" role="img" aria-label="QR code of the address">{drawn}</div>'
