"""The server: one process, cities in memory once, a page loaded when it is first opened."""

from __future__ import annotations

import contextlib
import mmap
import multiprocessing
import os
import secrets
import sys
import threading
import time
import warnings
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import panel as pn
from bokeh.settings import settings as bokeh
from bokeh.util.warnings import BokehUserWarning

from explorer.app import compat
from explorer.app import pages as registry
from explorer.app.kit.reach import Reach
from explorer.app.pages import Page
from explorer.app.work import limits
from explorer.app.work.access import HEADERS, Access, Admission, health
from explorer.app.work.content import Contents
from explorer.app.work.document import own_name
from explorer.app.work.passwords import read_passwords
from explorer.errors import InputError
from explorer.grid.apart.limits import SUPPORTED
from explorer.grid.apart.reading import UNLIMITED
from explorer.serving.ending import run_until_stopped
from explorer.serving.headers import log_faults
from explorer.serving.hosts import allowed_origins, checked_host, own_names
from explorer.serving.ports import unusable, usable_port

if TYPE_CHECKING:
    from explorer.scenario import Scenario, Story

_NOT_MADE = "This page could not be made. Reload it, or ask for what the server wrote about it."
#: Seconds that getting ready takes at most, as a rule, where all is compiled already.
_PATIENCE = 15.0
#: Seconds after which a server that listens loads its first page: who comes at once is answered.
_SOON = 0.2
#: Seconds between the first page that a browser has and the loading of datashader.
_DRAWING = 10.0
#: What is said once they have passed.
COMPILING = (
    "Still getting ready: the first start on a computer compiles, which takes a minute or two. "
    "Later ones take seconds."
)


def serve(
    city: str | None = None,
    port: int = 5006,
    open: bool = True,
    address: str = "127.0.0.1",
    origins: Sequence[str] = (),
    warm: bool = False,
    start: bool = True,
    say: Callable[[str], None] = print,
    scenario: Scenario | Story | None = None,
    class_only: bool = False,
    auth: str | os.PathLike[str] | None = None,
    proxied: bool = False,
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
    warm : whether to load and compile all pages, and to read the city, before the first visitor, as
        for a workshop; else each page is loaded and compiled when it is first opened
    start : False returns the server without running it
    say : called with a line on where the page is; before that, from another thread, with one on
        what takes so long, after 15 seconds
    scenario : what visitors begin with, on its page, unless their link says otherwise; of a story
        its first screen, with the story's text below it
    class_only : serve the Class page and nothing else, so that a class of participants cannot open
        the truth; a teacher comes by an address with a key, which is said at the start
    auth : file of names and passwords, see `read_passwords`: no one comes in without; with
        ``class_only`` teachers sign in in place of the key, and participants need none
    proxied : whether visitors come through a proxy that says where they are (the last address of
        ``X-Forwarded-For``), and in no other way
    **choices : first settings of each visitor, see `ExploreState`

    Returns
    -------
    The Bokeh server.

    Raises
    ------
    InputError
        For a city that is not in the catalogue, a port that is taken or not a port, an
        address that is not this computer's, an origin that is not one host, a file of passwords
        that others can read or that is none, a scenario next to the class alone, or a call in a
        process that a sweep has started.
    """
    # Exact modules are loaded inside: this one may be loaded where nothing exact may be.
    _refuse_in_a_worker()
    where = _checked(port, address, origins)
    if class_only and scenario is not None:
        raise InputError("A class alone begins with a city: leave out the scenario.")
    passwords = None if auth is None else read_passwords(auth)
    story = None
    if scenario is not None:
        from explorer.app.curator.start import known_city, known_lesson
        from explorer.scenario import Scenario
        from explorer.scenario.kinds import MAPS

        if not isinstance(scenario, Scenario):
            story, scenario = scenario, scenario.first
        known_city(scenario)
        known_lesson(scenario)
        if scenario.kind is MAPS:
            city, choices = scenario.city, {"side": scenario.side, **choices}
    if city is not None:
        from explorer.cities.catalogue import find

        find(city)
    if choices:
        from explorer.app.state import ExploreState

        # A wrong one is refused here, and not by the page of each visitor.
        ExploreState(**choices)
    served = registry.PAGES
    begin = {"city": city, "scenario": scenario, **choices}
    first = "explore" if scenario is None else scenario.page
    teach_at = ""
    if class_only:
        from explorer.app.classroom.page import Teachers

        first, teachers = "classroom", Teachers.who_sign_in() if passwords else Teachers.by_key()
        served = tuple(page for page in served if page.key == first)
        teach_at = teachers.address
        begin["teachers"] = teachers
    _prepare_process()
    if warm:
        with _told_if_long(say):
            warm_up(city, served, **choices)
    ways = Admission(passwords, class_only, proxied), teach_at
    return _listen(served, first, begin, address, where, open, start, say, story, *ways, warm)


def _prepare_process() -> None:
    """Apply what a server changes in its libraries; a second call changes nothing."""
    compat.apply()
    # Nothing is asked of the net.
    pn.config.inline = True
    # Nor is the browser asked about its owner: time zone, language, whether a program steers it.
    pn.config.browser_info = False
    limits.log_visitors_briefly()
    # A browser sends a model whole that it got with a change: no fault, and no line in the log.
    warnings.filterwarnings("ignore", "reference already known", BokehUserWarning)


@contextlib.contextmanager
def _told_if_long(say: Callable[[str], None]) -> Iterator[None]:
    """Say once why nothing is to be seen, where getting ready takes longer than it usually does."""
    late = threading.Timer(_PATIENCE, say, [COMPILING])
    late.daemon = True
    late.start()
    try:
        yield
    finally:
        late.cancel()
        # Where it is being said just now, it is said before what follows.
        late.join()


def _refuse_in_a_worker() -> None:
    # Processes of a sweep read the script of their parent again, under the name "__mp_main__" (in
    # the parent that represents "__main__") and before they know of a parent.
    script = getattr(sys.modules.get("__mp_main__"), "__name__", "__main__")
    if script == "__mp_main__" or multiprocessing.parent_process() is not None:
        raise InputError(
            'Put the call of serve under if __name__ == "__main__": the processes of a sweep read '
            "your script again, and each of them would serve, too."
        )


def _checked(port: int, address: str, origins: Sequence[str]) -> tuple[int, list[str]]:
    if not 0 <= port <= 65535:
        raise InputError(f"{port!r} is not a port: give a whole number from 0 to 65535.")
    hosts = [checked_host(origin) for origin in origins]
    # Nor does Panel: a server at an address of IPv6 is visited by name.
    if any("[" in host for host in hosts):
        raise InputError(
            "Bokeh takes no address of IPv6 for the origin of a page: give the name of the host."
        )
    # Before the minute or two that getting ready may take; 0 is chosen when that is done.
    usable_port(port, address)
    return port, hosts


def _listen(
    served: Sequence[Page],
    first: str,
    begin: Mapping[str, Any],
    address: str,
    where: tuple[int, Sequence[str]],
    open: bool,
    start: bool,
    say: Callable[[str], None],
    story: Story | None,
    admission: Admission,
    teach_at: str,
    ready: bool,
) -> Any:
    """Serve ``served``, the page ``first`` at the root too, each made with ``begin``.

    A visitor of the page ``first`` begins with ``story``, a teacher with ``teach_at``. Unless all
    is ``ready``, the page ``first`` is got ready once the server listens.
    """
    port, hosts = where
    # Checks for anyone who writes a page, a tenth of the time of opening one: tests make them.
    for name in ("perform_error_diagnostics", "perform_document_validation"):
        # Bokeh 3.9.0 has only the second.
        if hasattr(bokeh, name):
            getattr(bokeh, name).set_value(False)
    pages = {page.key: page for page in served}
    plain = all(value is None for name, value in begin.items() if name != "city")
    plain = plain and story is None and begin.get("city") in (None, "madeup")
    routes = {"/": first, **{page.address: page.key for page in served}}
    try:
        port = usable_port(port, address)
        # This computer's names, those that were given, and no other site's page.
        names = [name for name in own_names(address) if name and "[" not in name]
        origins = allowed_origins(names, hosts, port)
        reach = Reach(address, port, tuple(origins))
        # A page that is alone has no bar of pages.
        links = served if len(served) > 1 else ()
        sign_in = admission.sign_in(port, routes)
        contents, drawn = Contents(), threading.Event()

        def maker(key: str) -> Callable[[], Any]:
            def make() -> Any:
                def whole() -> Any:
                    # Loaded when it is first opened.
                    kind = pages[key].load()
                    more = {"reach": reach} if kind.INVITES else {}
                    page: Any = kind.served(links, **begin, **more)
                    page.signed_in = own_name()
                    if story is not None and key == first:
                        page.begin_story(story)
                    drawn.set()
                    return page.page()

                def failed() -> Any:
                    return pages[key].empty(links).fill([pn.pane.Markdown(_NOT_MADE)])

                return contents.late(pages[key].empty(links, plain), whole, failed)

            return make

        server = pn.serve(
            {route: maker(key) for route, key in routes.items()},
            port=port,
            address=address,
            websocket_origin=origins,
            # Who knows or chooses the id of a session has its document: only ours count.
            sign_sessions=True,
            secret_key=secrets.token_bytes(32),
            show=False,
            start=False,
            title={route: pages[key].heading for route, key in routes.items()},
            admin=False,
            verbose=False,
            extra_patterns=[health(lambda: _state(server)), *(sign_in.routes if sign_in else ())],
            # What proves someone stays out of the token that is in a page.
            exclude_cookies=[sign_in.cookie] if sign_in else [],
            exclude_headers=["Cookie"],
            transforms=[HEADERS],
            log_function=log_faults,
            **limits.OPTIONS,
        )
        addresses = {page.address for page in registry.PAGES} - {*routes}
        closed = addresses if admission.class_only else ()
        ways: dict[str, Any] = {"sign_in": sign_in, "closed": closed, "proxied": admission.proxied}
        Access(server, origins, routes, contents, **ways)
    except OSError as error:
        # Taken between the look at it and this.
        raise unusable(port, address, error) from error
    if not SUPPORTED:
        say(UNLIMITED)
    say(f"The explorer is at http://localhost:{server.port} (stop it with Ctrl-C)")
    if teach_at:
        say(f"The teacher's way in, for nobody else: http://localhost:{server.port}{teach_at}")
    if open:
        server.io_loop.add_callback(server.show, teach_at or "/")
    if not ready:
        work = threading.Thread(target=_get_ready, args=(pages[first], begin, drawn), daemon=True)
        server.io_loop.call_later(_SOON, work.start)
    if start:
        limits.collect_garbage_less_often()
        run_until_stopped(server, say)
    return server


def _get_ready(page: Page, begin: Mapping[str, Any], drawn: threading.Event) -> None:
    """Load a page, compile what it needs and compute what it shows first, before anybody comes.

    datashader, which counts points where a map is zoomed, follows once a page has been ``drawn``.
    """
    from explorer.app.work.compiling import prepare_page

    page.load()
    if not page.screen or begin.get("scenario") is not None:
        return
    from explorer.cities.catalogue import cities
    from explorer.views.heat import load_datashader_after

    prepare_page(page.key)
    choices = {name: value for name, value in begin.items() if name != "scenario"}
    # A visitor is told why a city cannot be read.
    with contextlib.suppress(InputError):
        page.compute(**{**choices, "city": begin["city"] or next(iter(cities()))})
    load_datashader_after(drawn, _DRAWING)


def _state(server: Any) -> dict[str, float]:
    """How a server is, without a count of anything that is on its pages."""
    result: dict[str, float] = {"sessions": len(server.get_sessions())}
    # Elsewhere than on Linux nothing is said of memory.
    with contextlib.suppress(OSError):
        pages = int(Path("/proc/self/statm").read_text("ascii").split()[1])
        result["memory_mb"] = round(pages * mmap.PAGESIZE / 2**20)
    return result


def warm_up(city: str | None, served: Sequence[Page] = (), **choices: Any) -> float:
    """Read ``city``, compile every kernel a curator's page needs; returns the seconds it took.

    ``served`` are the pages, all of them where there is none.
    """
    started = time.perf_counter()
    # Inside, as in `serve`.
    from explorer.cities.catalogue import cities
    from explorer.grid.apart.reading import prepare
    from explorer.grid.areas import foreign as areas
    from explorer.points import foreign as points
    from explorer.queries.range_files import ranges_as_plain
    from explorer.trips.trips import trips_as_plain
    from explorer.views.heat import load_datashader
    from explorer.views.packing import pack

    if len(served) != 1:
        # A class alone takes no files.
        prepare(points.as_plain, trips_as_plain, areas.as_plain, ranges_as_plain)
    city = city or next(iter(cities()))
    for page in served or registry.PAGES:
        page.prepare(city=city, **choices)
    # Pictures are packed where they are sent.
    pack(np.zeros((1, 1), np.uint8))
    load_datashader()
    return time.perf_counter() - started
