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
from tornado.web import Application

from explorer.audience.app_state import AppState
from explorer.audience.handlers import HEADERS, NotFound, routes
from explorer.grid.allowance import Buckets
from explorer.serving.entrance import Entrance, Later, Refused
from explorer.serving.headers import header_transform, log_faults
from explorer.serving.hosts import address_of, household

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


class App(Application):
    """Answers its own names alone, and not too many at a time."""

    def __init__(self, state: AppState, hosts: Sequence[str], proxied: bool) -> None:
        super().__init__(
            routes(state, self._health),
            default_handler_class=NotFound,
            default_handler_args={"state": state},
            log_function=log_faults,
        )
        self.state, self._hosts, self._proxied = state, frozenset(hosts), proxied
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
        self.transforms.append(header_transform(HEADERS))

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
        refusal = {"status": status, "title": "Not here", "sentence": sentence}
        return self.get_handler_delegate(request, Refused, refusal)

    def _connections(self) -> list[str]:
        return [] if self.server is None else list(self.server.open.elements())

    def _health(self) -> dict[str, float]:
        result: dict[str, float] = {
            "maps": len(self.state.releases),
            "connections": len(self._connections()),
        }
        statm = Path("/proc/self/statm")
        if statm.exists():
            pages = int(statm.read_text("ascii").split()[1])
            result["memory_mb"] = round(pages * mmap.PAGESIZE / 2**20)
        return result


class ListeningServer:
    """A server on sockets that are open already, as `run_until_stopped` runs it."""

    def __init__(
        self, state: AppState, sockets: Sequence[socket.socket], hosts: Sequence[str], proxied: bool
    ) -> None:
        self.io_loop = IOLoop.current()
        application = App(state, hosts, proxied)
        self.server = application.server = Server(
            application,
            max_body_size=_MOST_BODY,
            max_buffer_size=4 * _MOST_BODY,
            max_header_size=_MOST_HEAD,
            idle_connection_timeout=_SILENT,
            body_timeout=_SLOW,
        )
        self._sockets = sockets
        self._looks = PeriodicCallback(state.check_files, _LOOK)

    def start(self) -> None:
        """Listen."""
        self.server.add_sockets(self._sockets)
        self._looks.start()

    def stop(self, wait: bool = False) -> None:
        """Take no new connection."""
        self._looks.stop()
        self.server.stop()
