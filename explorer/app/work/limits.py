"""How much one visitor may say to a server that others use, too.

How many pages may be opened says `explorer.serving.entrance`. Messages of one connection are not
refused but waited with, before they are read on: who sends too many waits for their own, and nobody
else does. Who sends one that no browser sends is not listened to any more.
"""

from __future__ import annotations

import asyncio
from typing import Any

from bokeh.server.views.ws import WSHandler

from explorer.app.work.intake import Intake, TooLarge, kind_of


def slow_down_floods() -> bool:
    """Let who sends too much wait for the own messages; False if it is done already."""
    plain = WSHandler.on_message
    if hasattr(plain, "original"):
        return False

    async def on_message(self: Any, fragment: str | bytes) -> None:
        intake = self.__dict__.get("_explorer_intake")
        if intake is None:
            intake = self._explorer_intake = Intake(self.request.remote_ip or "")
        try:
            wait = intake.wait(fragment, kind_of(self))
        except TooLarge:
            self.close(1009, "This message is too large")
            return
        # Tornado reads a connection's next part when this one has been dealt with.
        if wait > 0:
            await asyncio.sleep(min(wait, 5.0))
        await plain(self, fragment)

    on_message.original = plain  # type: ignore[attr-defined]
    WSHandler.on_message = on_message
    return True
