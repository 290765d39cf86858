"""A visitor who opens a page, sends changes and takes none of the answers, over a bare socket."""

from __future__ import annotations

import base64
import json
import os
import re
import socket
import struct
from urllib.request import urlopen

from tests.benchmarks.websocket_client import model_with_label

#: Bytes that the system may take for a client that does not.
_ROOM = 4096
#: The opcode of a ping; those of Tornado are empty.
_PING = 9


class Silent:
    """Reads until it has its page, and nothing after that.

    Parameters
    ----------
    port : of a server on this computer
    """

    def __init__(self, port: int) -> None:
        self._host = f"localhost:{port}"
        self._socket = socket.socket()
        self._socket.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, _ROOM)
        self._socket.settimeout(60)
        self._port, self._rest = port, b""

    def open(self, label: str) -> str:
        """Open the page; returns the id of the widget with this label."""
        with urlopen(f"http://{self._host}/", timeout=60) as page:
            found = re.search(r'"token":\s*"([^"]+)"', page.read().decode())
        assert found is not None, "the page holds no token"
        self._socket.connect(("127.0.0.1", self._port))
        key = base64.b64encode(os.urandom(16)).decode()
        lines = [
            "GET /ws HTTP/1.1",
            f"Host: {self._host}",
            f"Origin: http://{self._host}",
            "Upgrade: websocket",
            "Connection: Upgrade",
            f"Sec-WebSocket-Key: {key}",
            "Sec-WebSocket-Version: 13",
            f"Sec-WebSocket-Protocol: bokeh, {found[1]}",
        ]
        self._socket.sendall(("\r\n".join(lines) + "\r\n\r\n").encode())
        while b"\r\n\r\n" not in self._rest:
            self._rest += self._socket.recv(_ROOM)
        self._rest = self._rest.partition(b"\r\n\r\n")[2]
        while '"ACK"' not in self._text():
            pass
        self._send("PULL-DOC-REQ", {})
        while True:
            model = model_with_label(self._text(), label)
            if model is not None:
                return model

    def change(self, model: str, value: float) -> None:
        """Set the value of a model; OSError once the server has ended the connection."""
        event = {"kind": "ModelChanged", "model": {"id": model}, "attr": "value", "new": value}
        self._send("PATCH-DOC", {"events": [event]})

    def close(self) -> None:
        """End the connection."""
        self._socket.close()

    def _send(self, kind: str, content: dict[str, object]) -> None:
        for part in ({"msgid": os.urandom(8).hex(), "msgtype": kind}, {}, content):
            text = json.dumps(part).encode()
            # A mask of zeros leaves the text as it is.
            size = bytes([0x80 | len(text)]) if len(text) < 126 else b"\xfe"
            if len(text) >= 126:
                size += struct.pack(">H", len(text))
            self._socket.sendall(b"\x81" + size + bytes(4) + text)

    def _text(self) -> str:
        """The next message; pings before it are answered."""
        while (head := self._take(2))[0] & 0x0F == _PING:
            self._take(head[1])
            self._socket.sendall(b"\x8a\x80" + bytes(4))
        length = head[1] & 0x7F
        if length == 126:
            length = int.from_bytes(self._take(2), "big")
        elif length == 127:
            length = int.from_bytes(self._take(8), "big")
        return self._take(length).decode("utf-8", "replace")

    def _take(self, size: int) -> bytes:
        parts, there = [self._rest], len(self._rest)
        while there < size:
            part = self._socket.recv(1 << 16)
            if not part:
                raise ConnectionError("the server has ended the connection")
            parts.append(part)
            there += len(part)
        whole = b"".join(parts)
        self._rest = whole[size:]
        return whole[:size]
