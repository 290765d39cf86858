"""The server itself: one process that listens, with limits on what one address may do."""

from __future__ import annotations

import mmap
import socket
from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from tornado.httpserver import HTTPServer
from tornado.httputil import HTTPServerRequest
from tornado.ioloop import IOLoop, PeriodicCallback
from tornado.iostream import IOStream
from tornado.web import Application, RequestHandler

from explorer.audience.handlers import Nothing, routes
from explorer.audience.house import HEADERS, House
from explorer.grid.allowance import Buckets
from explorer.serving.addresses import address_of, household
from explorer.serving.entrance import Entrance, Later
from explorer.serving.heads import said, write_faults
from explorer.serving.plain_pages import Refused

#: Connections at a time, of all and of one address; a browser opens up to six.
MOST_CONNECTIONS, MOST_OF_ONE = 1_500, 600
#: Pages that one address opens a second and at once: a class may share it.
PAGES, PAGES_AT_ONCE = 30.0, 150
#: Requests of one address a second and at once.
REQUESTS, REQUESTS_AT_ONCE = 300.0, 900
#: Bytes of a question, and of what is before it.
_MOST_BODY, _MOST_HEAD = 32_000, 16_000
#: Seconds for which a connection may be silent, and for a question to arrive.
_SILENT, _SLOW = 65.0, 15.0
#: Milliseconds between two looks at whether releases are as they were.
_LOOK = 1000
_PAGES = ("/", "/compare", "/map/")


class Server(HTTPServer):
    """Knows where connections come from, and takes no more than it bears."""

    def initialize(self, *arguments: Any, **settings: Any) -> None:
        """Begin without connections."""
        super().initialize(*arguments, **settings)
        self.open: Counter[str] = Counter()

    def handle_stream(self, stream: IOStream, address: tuple[Any, ...]) -> None:
        """Take a connection, or close it at once where no one else is taken."""
        if len(self._connections) >= 2 * MOST_CONNECTIONS:
            stream.close()
            return
        super().handle_stream(stream, address)

    def start_request(self, server_conn: Any, request_conn: Any) -> Any:
        """Count a connection with its first request."""
        if not hasattr(server_conn, "counted_as"):
            address = request_conn.context.remote_ip
            server_conn.counted_as = household(address) or address
            self.open[server_conn.counted_as] += 1
        return super().start_request(server_conn, request_conn)

    def on_close(self, server_conn: Any) -> None:
        """Count it no more."""
        super().on_close(server_conn)
        name = getattr(server_conn, "counted_as", "")
        if name:
            self.open[name] -= 1
            if self.open[name] <= 0:
                del self.open[name]


class Pages(Application):
    """Answers its own names alone, and not too many at a time."""

    def __init__(self, house: House, hosts: Sequence[str], proxied: bool) -> None:
        super().__init__(
            routes(house, self._state),
            default_handler_class=Nothing,
            default_handler_args={"house": house},
            log_function=write_faults,
        )
        self.house, self._hosts, self._proxied = house, frozenset(hosts), proxied
        self.server: Server | None = None
        self._requests = Buckets(REQUESTS, REQUESTS_AT_ONCE)
        self._entrance = Entrance(
            self._connections,
            MOST_CONNECTIONS,
            MOST_OF_ONE,
            a_second=PAGES,
            at_once=PAGES_AT_ONCE,
        )
        # Of answers that are not ours, too.
        self.transforms.append(said(HEADERS))

    def find_handler(self, request: HTTPServerRequest, **more: Any) -> Any:
        """What answers a request."""
        request.remote_ip = address_of(request, self._proxied)
        if request.host.lower() not in self._hosts:
            return self._refused(request, 421, "This server has another name.")
        if request.method not in ("GET", "HEAD", "POST"):
            return self._refused(request, 405, "This server is for reading.")
        if not self._requests[request.remote_ip].has():
            return self.get_handler_delegate(request, Later)
        page = request.path.startswith("/map/") or request.path in _PAGES
        if page and not self._entrance.admits(request.remote_ip):
            return self.get_handler_delegate(request, Later)
        return super().find_handler(request, **more)

    def _refused(self, request: HTTPServerRequest, status: int, sentence: str) -> Any:
        answer: tuple[type[RequestHandler], dict[str, Any]] = (
            Refused,
            {"status": status, "title": "Not here", "sentence": sentence},
        )
        return self.get_handler_delegate(request, *answer)

    def _connections(self) -> list[str]:
        return [] if self.server is None else list(self.server.open.elements())

    def _state(self) -> dict[str, float]:
        result: dict[str, float] = {
            "maps": len(self.house.exhibition),
            "connections": len(self._connections()),
        }
        statm = Path("/proc/self/statm")
        if statm.exists():
            pages = int(statm.read_text("ascii").split()[1])
            result["memory_mb"] = round(pages * mmap.PAGESIZE / 2**20)
        return result


class Listening:
    """A server on sockets that are open already, as `run_until_told` runs it."""

    def __init__(
        self, house: House, sockets: Sequence[socket.socket], hosts: Sequence[str], proxied: bool
    ) -> None:
        self.io_loop = IOLoop.current()
        self._application = Pages(house, hosts, proxied)
        self.server = self._application.server = Server(
            self._application,
            max_body_size=_MOST_BODY,
            max_buffer_size=4 * _MOST_BODY,
            max_header_size=_MOST_HEAD,
            idle_connection_timeout=_SILENT,
            body_timeout=_SLOW,
        )
        self._sockets = sockets
        self._looks = PeriodicCallback(self._look, _LOOK)

    def _look(self) -> None:
        self._application.house.look()

    def start(self) -> None:
        """Listen."""
        self.server.add_sockets(self._sockets)
        self._looks.start()

    def stop(self, wait: bool = False) -> None:
        """Take no new connection."""
        self._looks.stop()
        self.server.stop()
