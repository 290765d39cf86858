"""The server: one process, cities in memory once, everything compiled before the first visitor."""

from __future__ import annotations

import contextlib
import mmap
import multiprocessing
import re
import secrets
import socket
import sys
import time
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import panel as pn
from bokeh.settings import settings as bokeh

from explorer.app import pages as registry
from explorer.app.kit.reach import Reach, own_names
from explorer.app.pages import Page
from explorer.app.work.doors import guard, health, sessions
from explorer.app.work.ending import run_until_told
from explorer.errors import InputError
from explorer.grid.apart.limits import SUPPORTED
from explorer.grid.apart.reading import UNLIMITED

if TYPE_CHECKING:
    from explorer.scenario import Scenario, Story

_HOST = re.compile(r"([A-Za-z0-9]([A-Za-z0-9._-]*[A-Za-z0-9])?|\[[0-9A-Fa-f:]+\])(:[0-9]{1,5})?")
_WITH_PORT = re.compile(r":[0-9]+$")


def serve(
    city: str | None = None,
    port: int = 5006,
    open: bool = True,
    address: str = "127.0.0.1",
    origins: Sequence[str] = (),
    warm: bool = True,
    start: bool = True,
    say: Callable[[str], None] = print,
    scenario: Scenario | Story | None = None,
    **choices: Any,
) -> Any:
    """Serve the app until it is interrupted. It shows exact counts: curator mode.

    Parameters
    ----------
    city : a key of the catalogue; None is the bundled made-up city
    port : 0 picks a free one
    open : whether to open a browser
    address : where to listen; 127.0.0.1 is this computer only
    origins : further hosts in whose pages a browser may use the server, such as "maps.example.org"
        or "192.0.2.7:8080"; a host without a port may have the server's port or the usual one
    warm : whether to read the city and compile before the first visitor, 3 to 15 seconds
    start : False returns the server without running it
    say : called with a line on where the page is
    scenario : what visitors begin with, on its page, unless their link says otherwise; of a story
        its first screen, with the story's text below it
    **choices : first settings of each visitor, see `ExploreState`

    Returns
    -------
    The Bokeh server.

    Raises
    ------
    InputError
        For a city that is not in the catalogue, a port that is taken or not a port, an origin that
        is not one host, or a call in a process that a sweep has started.
    """
    # Inside, since a process that serves an audience must not load what may hold exact numbers.
    from explorer.app.curator.start import known_city, known_lesson
    from explorer.cities.catalogue import cities
    from explorer.scenario import Scenario
    from explorer.scenario.kinds import MAPS

    _refuse_in_a_worker()
    story = None
    if not isinstance(scenario, Scenario | None):
        story, scenario = scenario, scenario.first
    if scenario is not None:
        known_city(scenario)
        known_lesson(scenario)
        if scenario.kind is MAPS:
            city, choices = scenario.city, {"side": scenario.side, **choices}
    key = city or next(iter(cities()))
    where = _checked(port, origins)
    if warm:
        warm_up(key, **choices)
    begin = {"city": key, "scenario": scenario, **choices}
    first = "explore" if scenario is None else scenario.page
    curators = registry.pages("curator")
    return _listen(curators, first, begin, address, where, open, start, say, story)


def serve_audience(
    port: int = 5006,
    open: bool = True,
    address: str = "127.0.0.1",
    origins: Sequence[str] = (),
    start: bool = True,
    say: Callable[[str], None] = print,
    **begin: Any,
) -> Any:
    """Serve the pages for an audience until interrupted; nothing that may be exact is loaded.

    Parameters
    ----------
    port, open, address, origins, start, say : as for `serve`
    **begin : what the pages are made with

    Returns
    -------
    The Bokeh server.

    Raises
    ------
    InputError
        As `serve`, and where there is no page for an audience.
    """
    _refuse_in_a_worker()
    shown = registry.pages("audience")
    if not shown:
        raise InputError("There is no page for an audience yet: serve the curator's pages.")
    where = _checked(port, origins)
    return _listen(shown, shown[0].key, begin, address, where, open, start, say)


def _refuse_in_a_worker() -> None:
    # Processes of a sweep read the script of their parent again, under the name "__mp_main__" (in
    # the parent that stands for "__main__") and before they know of a parent.
    script = getattr(sys.modules.get("__mp_main__"), "__name__", "__main__")
    if script == "__mp_main__" or multiprocessing.parent_process() is not None:
        raise InputError(
            'Put the call of serve under if __name__ == "__main__": the processes of a sweep read '
            "your script again, and each of them would serve, too."
        )


def _checked(port: int, origins: Sequence[str]) -> tuple[int, list[str]]:
    if not 0 <= port <= 65535:
        raise InputError(f"{port!r} is not a port: give a whole number from 0 to 65535.")
    return port, [_host(each) for each in origins]


def _listen(
    shown: Sequence[Page],
    first: str,
    begin: Mapping[str, Any],
    address: str,
    where: tuple[int, Sequence[str]],
    open: bool,
    start: bool,
    say: Callable[[str], None],
    story: Story | None = None,
) -> Any:
    """Serve ``shown``, the page ``first`` at the root too, each made with ``begin``.

    A visitor of the page ``first`` begins with ``story``.
    """
    port, hosts = where
    # Checks for whoever writes a page, a tenth of the time of opening one: tests make them.
    bokeh.perform_error_diagnostics = bokeh.perform_document_validation = False
    kinds = {page.key: page.load() for page in shown}
    routes = {"/": first, **{page.address: page.key for page in shown}}
    try:
        port = port or _free_port(address)
        # This computer's names, those that were given, and no other site's page.
        origins = _allowed(own_names(address), hosts, port)
        reach = Reach(address, port, tuple(origins))

        def maker(key: str) -> Callable[[], Any]:
            more = {"reach": reach} if kinds[key].INVITES else {}

            def make() -> Any:
                page: Any = kinds[key].served(shown, **begin, **more)
                if story is not None and key == first:
                    page.begin_story(story)
                return page.page()

            return make

        server = pn.serve(
            {route: maker(key) for route, key in routes.items()},
            port=port,
            address=address,
            websocket_origin=origins,
            # Who knows or chooses the id of a session has its document: only ours count.
            sign_sessions=True,
            secret_key=secrets.token_bytes(32),
            show=open,
            start=False,
            title={route: kinds[key].TITLE for route, key in routes.items()},
            admin=False,
            verbose=False,
            extra_patterns=[health(lambda: _state(server))],
        )
        guard(server, origins, routes)
    except OSError as error:
        raise InputError(
            f"Port {port} cannot be used ({error.strerror or error}): give another one with --port."
        ) from error
    if not SUPPORTED:
        say(UNLIMITED)
    say(f"The explorer is at http://localhost:{server.port} (stop it with Ctrl-C)")
    if start:
        run_until_told(server, say)
    return server


def _state(server: Any) -> dict[str, float]:
    """How a server is, without a count of anything that is on its pages."""
    found: dict[str, float] = {"sessions": sessions(server)}
    # Elsewhere than on Linux nothing is said of memory.
    with contextlib.suppress(OSError):
        pages = int(Path("/proc/self/statm").read_text("ascii").split()[1])
        found["memory_mb"] = round(pages * mmap.PAGESIZE / 2**20)
    return found


def _host(origin: str) -> str:
    """A host with or without a port; a pattern would open the exact counts to any site's page."""
    if "*" in origin:
        raise InputError(
            f"{origin[:60]!r} would let the page of any site read the exact counts: name each host "
            "with its own --allow-origin."
        )
    if not _HOST.fullmatch(origin):
        raise InputError(
            f"{origin[:60]!r} is not a host: give a name such as maps.example.org or "
            "maps.example.org:8080, without http:// and without a path."
        )
    return origin.lower()


def _allowed(own: Sequence[str], further: Sequence[str], port: int) -> list[str]:
    """Origins of websockets: the server's own names at its port, and the hosts that were named."""
    # A name without a port stands for ports 80 and 443: a proxy in front has one of them.
    bare = [host for host in further if not _WITH_PORT.search(host)]
    return [*(f"{host}:{port}" for host in (*own, *bare)), *further]


def _free_port(address: str) -> int:
    """A port that nobody listens at; the server must know its name before it starts."""
    with socket.socket() as probe:
        probe.bind((address, 0))
        port: int = probe.getsockname()[1]
    return port


def warm_up(city: str, **choices: Any) -> float:
    """Read ``city``, compile every kernel a curator's page needs; returns the seconds it took."""
    started = time.perf_counter()
    # Inside, as in `serve`.
    from explorer.grid.apart.reading import prepare
    from explorer.grid.areas import foreign as areas
    from explorer.points import foreign as points
    from explorer.queries import foreign as boxes
    from explorer.trips import foreign as trips

    prepare(points.as_plain, trips.as_plain, areas.as_plain, boxes.ranges_as_plain)
    for page in registry.pages("curator"):
        page.load().warm(city=city, **choices)
    return time.perf_counter() - started
