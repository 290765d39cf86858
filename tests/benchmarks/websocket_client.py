"""One session of the app without a browser: opens a page, sees its messages, sends changes."""

from __future__ import annotations

import json
import random
import re
from collections.abc import AsyncIterator, Callable
from typing import Any

from tornado.httpclient import AsyncHTTPClient, HTTPRequest
from tornado.websocket import WebSocketClientConnection, websocket_connect


class Client:
    """A bare websocket client of one page.

    Parameters
    ----------
    port : of a server on this computer
    path : of the page, with what the address asks for
    """

    def __init__(self, port: int, path: str = "") -> None:
        self._base, self._path = f"localhost:{port}", path
        self._socket: WebSocketClientConnection | None = None

    async def open(self, *, ready: bool = True) -> str:
        """Get the page, connect, pull the document, say that it is ready; returns it as JSON."""
        document = await self.connect(await self.ask())
        if ready:
            self.ready()
        return document

    async def open_until(
        self, label: str, find: Callable[[str, str], str | None] | None = None
    ) -> str:
        """Open the page and read until a control with this label has come; returns its id."""
        find, text = find or model_with_label, await self.open()
        while (control := find(text, label)) is None:
            text = json.dumps(await self._message(), separators=(",", ":"))
        return control

    async def ask(self) -> str:
        """Get the page; returns the token in it."""
        page = await AsyncHTTPClient().fetch(
            f"http://{self._base}/{self._path}", request_timeout=120
        )
        found = re.search(r'"token":\s*"([^"]+)"', page.body.decode())
        assert found is not None, "the page holds no token"
        return found[1]

    async def connect(self, token: str) -> str:
        """Connect and pull the document; returns it as JSON."""
        route = self._path.partition("?")[0]
        address = f"ws://{self._base}/{route + '/' if route else ''}ws"
        request = HTTPRequest(address, headers={"Origin": f"http://{self._base}"})
        self._socket = await websocket_connect(
            request, subprotocols=["bokeh", token], max_message_size=50_000_000
        )
        await self._message()
        self._send("PULL-DOC-REQ", {})
        return json.dumps(await self._message(), separators=(",", ":"))

    def ready(self) -> None:
        """Say that the page stands in the browser."""
        self.event({"type": "event", "name": "document_ready", "values": {"type": "map"}})

    async def parts(self) -> AsyncIterator[str | bytes]:
        """Every part of every message that arrives, until the connection ends."""
        assert self._socket is not None
        while (part := await self._socket.read_message()) is not None:
            yield part

    def change(self, model: str, attribute: str, value: Any) -> None:
        """Set a property of a model."""
        event = {"kind": "ModelChanged", "model": {"id": model}, "attr": attribute, "new": value}
        self._send("PATCH-DOC", {"events": [event]})

    def click(self, component: str) -> None:
        """Press a button."""
        entries = [["model", {"id": component}], ["node", "click"], ["data", {"type": "map"}]]
        self.event(
            {"type": "event", "name": "dom_event", "values": {"type": "map", "entries": entries}}
        )

    def close(self) -> None:
        """End the connection."""
        if self._socket is not None:
            self._socket.close()

    def event(self, values: dict[str, Any]) -> None:
        """Send an event of BokehJS."""
        event = {"kind": "MessageSent", "msg_type": "bokeh_event", "msg_data": values}
        self._send("PATCH-DOC", {"events": [event]})

    def _send(self, kind: str, content: dict[str, Any]) -> None:
        assert self._socket is not None
        header = {"msgid": f"{random.getrandbits(64):x}", "msgtype": kind}
        for part in (header, {}, content):
            self._socket.write_message(json.dumps(part))

    async def _message(self) -> Any:
        """The content of the next message; its buffers are read and dropped."""
        assert self._socket is not None
        header = json.loads(await self._socket.read_message() or "{}")
        await self._socket.read_message()
        content = json.loads(await self._socket.read_message() or "{}")
        for _ in range(header.get("num_buffers", 0)):
            await self._socket.read_message()
            await self._socket.read_message()
        return content


def model_with_label(document: str, label: str) -> str | None:
    """The id of the data behind a widget, from JSON that holds it; None where it does not."""
    pattern = r'"id":"(p\d+)","attributes":\{(?:(?!"id":).)*?"label":"' + re.escape(label) + '"'
    found = re.search(pattern, document)
    return found[1] if found else None


def component_with_label(document: str, label: str) -> str | None:
    """The id of the component itself, which takes events such as a click."""
    data = model_with_label(document, label)
    if data is None:
        return None
    before = document[: document.index(f'"id":"{data}"')]
    return re.findall(r'Component","id":"(p\d+)"', before)[-1]
