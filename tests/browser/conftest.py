"""A server of our own in its own process, and a page that fails on anything unexpected."""

from __future__ import annotations

import os
import re
import subprocess
import sys
import threading
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, ClassVar

import pytest
from playwright.sync_api import Browser, BrowserContext, Page, Request, expect, sync_playwright

from tests.browser.visit import PATIENCE, ROW, steady

ROOT = Path(__file__).resolve().parents[2]
# Folders of the environments whose versions serve, one for each process of the run; that of the
# tests where none is named.
_FOLDERS = (os.environ.get("EXPLORER_SERVED_FROM") or sys.prefix).split(os.pathsep)
_PROCESS = int(os.environ.get("PYTEST_XDIST_WORKER", "gw0").removeprefix("gw"))
#: Folder of the environment whose versions serve.
ENVIRONMENT = Path(_FOLDERS[_PROCESS % len(_FOLDERS)]).absolute()
PYTHON = str(ENVIRONMENT / "bin" / "python")
FLAGS = [
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
]
#: A visitor on a phone.
PHONE: dict[str, Any] = {
    "viewport": {"width": 390, "height": 844},
    "user_agent": "Mozilla/5.0 (Linux; Android 14) Mobile",
}
LAPTOP: dict[str, Any] = {"viewport": {"width": 1366, "height": 768}, "accept_downloads": True}
#: Windows that everything must fit, width and height: a small laptop's and a large screen's.
LAPTOP_AND_SCREEN = [(1920, 1080), (1366, 768)]
_LOOPBACK = re.compile(r"(data|blob|about):|(https?|wss?)://(localhost|127\.0\.0\.1)[:/]")
#: The visitors with one kind of window share a browser's cache, see `new_page`.
_SHARED: dict[str, BrowserContext] = {}


expect.set_options(timeout=1000 * PATIENCE)


class Started:
    """A process of our own that serves pages on loopback; ``log`` holds all it printed.

    Parameters
    ----------
    command : what is started, and ends with `stop`
    said : pattern of what it prints once it is ready; the first group is its address
    patience : seconds until it is ready
    **options : folder and environment, of `subprocess.Popen`
    """

    def __init__(
        self, command: list[str], said: str, patience: float = 3 * PATIENCE, **options: Any
    ) -> None:
        self.process = subprocess.Popen(
            command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, **options
        )
        self.log: list[str] = []
        self._ready, self._said = threading.Event(), re.compile(said)
        self.url = ""
        threading.Thread(target=self._read, daemon=True).start()
        if not self._ready.wait(patience) or not self.url:
            self.process.kill()
            pytest.fail("it did not start:\n" + "".join(self.log), pytrace=False)

    def _read(self) -> None:
        assert self.process.stdout is not None
        for line in self.process.stdout:
            self.log.append(line)
            found = self._said.search(line)
            if found and not self.url:
                self.url = found[1]
                self._ready.set()
        self._ready.set()

    def stop(self) -> None:
        self.process.terminate()
        try:
            self.process.wait(PATIENCE)
        except subprocess.TimeoutExpired:
            self.process.kill()
            pytest.fail("it did not end:\n" + "".join(self.log[-30:]), pytrace=False)


class Server(Started):
    """``explorer.app.serve`` on a free port, with all pages prepared unless ``call`` says no."""

    def __init__(self, call: str) -> None:
        call += "" if "warm=" in call else ", warm=True"
        code = f"from explorer.app import serve; serve({call}, port=0, open=False)"
        command = [PYTHON, "-u", "-c", code]
        # One of another version compiles first, beside the other tests.
        patience = (3 if sys.executable == PYTHON else 8) * PATIENCE
        super().__init__(command, r"explorer is at (http://\S+)", patience, cwd=ROOT)


@pytest.fixture(scope="session")
def server() -> Iterator[Server]:
    """The made-up city on a small grid, so that every picture is quick."""
    running = Server("'madeup', side=256, epsilon=1.0")
    yield running
    running.stop()
    assert not Watch.all, "\n".join(Watch.all)
    assert not unexpected(running.log), "\n".join(unexpected(running.log))


@pytest.fixture(scope="session")
def browser(chromium: str, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Browser]:
    with sync_playwright() as play:
        one = play.chromium.launch(executable_path=chromium, args=FLAGS)
        # Only a browser with a folder of its own keeps compiled scripts: a quarter of a visit.
        _SHARED[str(LAPTOP)] = play.chromium.launch_persistent_context(
            tmp_path_factory.mktemp("chromium"), executable_path=chromium, args=FLAGS, **LAPTOP
        )
        yield one
        while _SHARED:
            _SHARED.popitem()[1].close()
        one.close()


def _expected(asked: Request) -> bool:
    """Whether nothing is asked of another computer; a test itself may open a file it has saved."""
    opened = asked.is_navigation_request() and asked.frame.parent_frame is None
    return bool(_LOOPBACK.match(asked.url)) or (opened and asked.url.startswith("file:"))


class Watch:
    """Notes whatever a page must not do."""

    #: What any page has done, by its address; it fails at the end of all tests, see `server`.
    all: ClassVar[list[str]] = []

    def __init__(self, page: Page, url: str) -> None:
        self.found: list[str] = []
        page.on("pageerror", lambda error: self.found.append(f"page error: {error}"))
        page.on(
            "console",
            lambda said: said.type == "error" and self.found.append(f"console: {said.text}"),
        )
        inside = (url, "data:", "blob:", f"blob:{url}")
        page.on(
            "request",
            lambda asked: (
                asked.url.startswith(inside) or self.found.append(f"asks elsewhere: {asked.url}")
            ),
        )


def watch_console(page: Page) -> None:
    """Note what any page must not do: errors, failed requests, requests to another computer."""

    def note(what: str) -> None:
        Watch.all.append(f"{page.url[:80]}: {what[:300]}")

    def failed(asked: Request) -> None:
        # Who leaves a page breaks off what it still asks for.
        if asked.failure != "net::ERR_ABORTED":
            note(f"failed: {asked.url[:120]} ({asked.failure})")

    page.on("pageerror", lambda error: note(f"page error: {error}"))
    page.on("console", lambda said: said.type == "error" and note(f"console: {said.text}"))
    page.on("requestfailed", failed)
    page.on("response", lambda a: a.status >= 400 and note(f"{a.status}: {a.url[:120]}"))
    page.on("request", lambda asked: _expected(asked) or note(f"asks {asked.url[:120]}"))


def new_page(browser: Browser, **options: Any) -> Page:
    """An empty page of a new visitor, with a laptop's window unless ``options`` say otherwise.

    A page need not read 5 MB of scripts again that another visitor with the same window has read.
    """
    window = {**LAPTOP, **options}
    context = _SHARED.get(str(window))
    if context is None:
        context = _SHARED[str(window)] = browser.new_context(**window)
    context.set_default_timeout(1000 * PATIENCE)
    page = context.new_page()
    watch_console(page)
    return page


def leave(page: Page) -> None:
    """Close a page of `new_page` and forget what it kept in the browser."""
    page.evaluate("localStorage.clear()")
    page.context.clear_cookies()
    page.close()


def come_to(
    browser: Browser, server: Server, path: str, first: str, last: str = "", **options: Any
) -> tuple[Page, Watch]:
    """A page with maps and a table, and its watch.

    Parameters
    ----------
    path : of the page, "" for the root
    first, last : names of the map that must be there and of the one that must have come to rest
    **options : see `new_page`
    """
    page = new_page(browser, **options)
    watch = Watch(page, server.url)
    page.goto(server.url + path)
    page.get_by_role("img", name=first).wait_for()
    page.locator(ROW).first.wait_for()
    settle(page, last or first)
    return page, watch


def open_page(browser: Browser, server: Server, **options: Any) -> tuple[Page, Watch]:
    """Explore with its maps painted, and its watch."""
    return come_to(browser, server, "", "Private map", **options)


def visiting(server: Server, arrive: Callable[[], tuple[Page, Watch]]) -> Iterator[Page]:
    """A visit; fails on page errors, console errors, foreign requests, server tracebacks."""
    before = len(server.log)
    page, watch = arrive()
    yield page
    page.wait_for_timeout(100)
    leave(page)
    assert not watch.found, "\n".join(watch.found)
    assert not troubles("".join(server.log[before:]))


def visits(
    browser: Browser, server: Server, path: str, first: str, last: str = "", **options: Any
) -> Iterator[Page]:
    """A visit to a page with maps and a table; parameters as of `come_to`."""
    yield from visiting(server, lambda: come_to(browser, server, path, first, last, **options))


def settle(page: Page, name: str = "Private map") -> None:
    """Wait until a map has kept its place for a while: the layout comes in steps."""
    steady(page, lambda: page.get_by_role("img", name=name).bounding_box())


def resize(page: Page, width: int, height: int, name: str = "Private map") -> None:
    """Give the window another size and wait until a map has found its place in it."""
    page.set_viewport_size({"width": width, "height": height})
    settle(page, name)


#: The task's own line names its exception, so that no other one is taken along.
_LEFT = re.compile(
    r"(ERROR:asyncio:)?Task exception was never retrieved\n"
    r"future: <Task [^\n]*exception=WebSocketClosedError\(\)>\n"
    r"Traceback.*?\ntornado\.websocket\.WebSocketClosedError\n",
    flags=re.DOTALL,
)
_USUAL = re.compile(
    r"The explorer (is at|has stopped)|Still getting ready|.*message as connection was closed"
)


def troubles(logged: str) -> str:
    """What a server should not have logged; a visitor who leaves while it writes is no trouble."""
    logged = _LEFT.sub("", logged)
    return logged if re.search(r"Traceback|Error|ERROR", logged) else ""


def unexpected(log: list[str]) -> list[str]:
    """All lines of a log but of its start and end, and that visitors left while it was writing."""
    lines = _LEFT.sub("", "".join(log)).splitlines()
    return [each for each in lines if each.strip() and not _USUAL.match(each)]


@pytest.fixture
def page(browser: Browser, server: Server) -> Iterator[Page]:
    """A fresh visit to Explore."""
    yield from visiting(server, lambda: open_page(browser, server))


@pytest.fixture(scope="module")
def seen(browser: Browser, server: Server) -> Iterator[Page]:
    """A visit to Explore that tests of one file share: they look, or leave it as it was."""
    yield from visiting(server, lambda: open_page(browser, server))
