"""The server starts, answers and refuses what it cannot do."""

import asyncio
import gc
import logging
import multiprocessing
import re
import socket
import time
import weakref
from collections.abc import Iterator

import panel as pn
import pytest
from bokeh.util.token import generate_jwt_token, get_session_id
from tornado.httpclient import AsyncHTTPClient, HTTPClientError, HTTPRequest
from tornado.websocket import websocket_connect

from explorer.app import ClassResult, serve
from explorer.app import server as server_module
from explorer.app.work import limits
from explorer.errors import InputError
from explorer.scenario import Scenario
from explorer.serving import entrance
from explorer.serving.ports import usable_port
from tests.benchmarks.websocket_client import Client
from tests.helpers import needs_ipv6


def application(server):
    """Tornado's, which has what visitors ask for."""
    return server._tornado


class Running:
    """A server in this process; ``visit`` runs beside its loop and ends it."""

    def __init__(self, city: str = "madeup", side: int | None = 256, **more) -> None:
        self.said: list[str] = []
        quiet = {"open": False, "warm": False, "start": False, "say": self.said.append}
        begin = {} if side is None else {"side": side}
        self.server = serve(city, port=0, **begin, **quiet, **more)
        self.url = f"127.0.0.1:{self.server.port}"
        self.server.start()

    @property
    def application(self):
        """That of the server."""
        return application(self.server)

    def do(self, visit) -> None:
        """Run the coroutine function ``visit`` while the server serves."""
        self.server.io_loop.run_sync(visit, timeout=120)

    def stop(self) -> None:
        """End the server, which leaves no page behind as the one that is handled here."""
        self.server.stop()
        assert pn.state.curdoc is None

    async def get(self, path: str = "", **headers: str):
        return await self.ask(path, headers=headers, follow_redirects=True)

    async def ask(self, path: str, **more):
        """The answer to a request, without following where it leads."""
        more = {"follow_redirects": False, "request_timeout": 60, **more}
        return await AsyncHTTPClient().fetch(f"http://{self.url}/{path}", raise_error=False, **more)

    async def document(self, token: str, path: str = "", cookie: str = "") -> str | None:
        """What a websocket with this token gets, from "ACK" on; None when it is refused."""
        headers = {"Origin": f"http://{self.url}", "Cookie": cookie}
        request = HTTPRequest(f"ws://{self.url}/{path}ws", headers=headers)
        try:
            socket = await websocket_connect(request, subprotocols=["bokeh", token])
        except HTTPClientError:
            return None
        return await socket.read_message()


@pytest.fixture
def running():
    one = Running()
    yield one
    one.stop()


def token_of(page) -> str:
    found = re.search(r'"token":\s*"([^"]+)"', page.body.decode())
    assert found is not None
    return found[1]


async def test_only_a_session_that_the_server_made_has_a_document(running) -> None:
    token = token_of(await running.get("class"))
    assert '"ACK"' in await running.document(token, "class/")
    # The id of that session is not enough without the secret.
    session = get_session_id(token)
    forged = [
        generate_jwt_token(name, secret_key=key, signed=key is not None)
        for name, key in ((session, None), (session, b"another secret"), ("chosen", None))
    ]
    other = Running()
    forged += [token[:-2] + ("AA" if token[-2:] != "AA" else "BB")]
    forged += [token_of(await other.get("class"))]
    other.server.stop()
    for each in forged:
        assert await running.document(each, "class/") is None
    # An address cannot choose it: a sender would share it with all who open the link.
    for kind, right in (("bokeh-session-id", session), ("bokeh-token", token)):
        for path in ("class", "class/autoload.js"):
            for value in (right, "chosen"):
                asked = f"{path}?bokeh-autoload-element=x&{kind}={value}"
                assert (await running.get(asked)).code == 403
        assert (await running.get("class", **{"Bokeh-Session-Id": right})).code == 403


async def test_every_answer_says_how_it_may_be_used(running) -> None:
    for path in ("class", "health", "static/js/bokeh.min.js", "nowhere"):
        said = (await running.get(path)).headers
        assert said["X-Frame-Options"] == "DENY"
        assert said["X-Content-Type-Options"] == "nosniff"
        assert said["Referrer-Policy"] == "no-referrer"
        assert "frame-ancestors 'none'" in said["Content-Security-Policy"]
        assert "Server" not in said
    # A script that would build the page into the page of any site.
    there = await running.get("class/autoload.js?bokeh-autoload-element=1")
    assert there.code == 403
    assert "Access-Control-Allow-Origin" not in there.headers
    for host in ("localhost.evil.example", "evil.example:80", "127.0.0.1", ""):
        assert (await running.get("class", Host=host)).code == 421


async def test_the_code_of_the_widgets_is_read_with_the_page_in_its_theme(running) -> None:
    """Not after the content has come; and WebGL, which no map uses, is not read at all."""
    for path, background in (("explore?theme=dark", "161d26"), ("learn?theme=light", "ffffff")):
        page = (await running.get(path)).body.decode()
        early = set(re.findall(r'rel="preload"[^>]*href="([^"]+)"', page))
        assert early == set(re.findall(r'importShim\("([^"]+)"\)', page))
        (code,) = early
        assert (await running.get(code.removeprefix("./"))).code == 200
        assert "bokeh-gl" not in page
        assert f"--mui-palette-background-default: #{background}" in page


def test_who_opens_pages_without_end_is_put_off(monkeypatch) -> None:
    monkeypatch.setattr(entrance, "A_SECOND", 1e-9)
    monkeypatch.setattr(entrance, "AT_ONCE", 3)
    running = Running()

    async def visit() -> None:
        answers = [await running.get("class") for _ in range(5)]
        assert [each.code for each in answers] == [200] * 3 + [429] * 2
        assert answers[-1].headers["Retry-After"] == str(entrance.AGAIN)

    running.do(visit)
    running.stop()


# Content, which is made for those who come for it.


def made(server) -> list[bool]:
    """Whether each session's page has its content."""
    return sorted(len(session.document.models) > 20 for session in server.get_sessions())


async def test_content_is_made_for_those_who_come_for_it_alone(running) -> None:
    pages = [await running.get("class") for _ in range(3)]
    assert made(running.server) == [False] * 3
    # The first script of a page asks for its content, and its websocket, too.
    session = re.search(r'"Explorer-Session": "([^"]+)"', pages[0].body.decode())[1]
    asked = await running.get("class/ws", **{"Explorer-Session": session})
    assert (asked.code, asked.body) == (204, b"")
    while not any(made(running.server)):
        await asyncio.sleep(0.02)
    assert made(running.server) == [False, False, True]
    for page in pages[:2]:
        assert '"ACK"' in await running.document(token_of(page), "class/")
    assert made(running.server) == [False, True, True]
    # Nothing is made for an id that was chosen.
    assert (await running.get("class/ws", **{"Explorer-Session": "chosen"})).code == 204
    assert made(running.server) == [False, True, True]


async def test_content_that_cannot_be_made_is_a_sentence(running, monkeypatch, caplog) -> None:
    def fails(*_: object, **__: object) -> None:
        raise RuntimeError("4711")

    monkeypatch.setattr(ClassResult, "served", fails)
    client = Client(running.server.port, "class")
    document = await client.open()
    client.close()
    assert "This page could not be made" in document
    assert "4711" not in document
    assert "4711" in caplog.text


@pytest.fixture
def forgetful(monkeypatch) -> Iterator[Running]:
    """A server that gives pages up at once that are not looked at."""
    # Records that pytest keeps of Panel's messages hold what they are about, pages included.
    logging.disable(logging.INFO)
    quick = {"unused_session_lifetime_milliseconds": 1, "check_unused_sessions_milliseconds": 20}
    monkeypatch.setattr(limits, "OPTIONS", {**limits.OPTIONS, **quick})
    yield Running()
    logging.disable(logging.NOTSET)


def test_a_page_that_is_not_come_for_is_given_up(forgetful) -> None:
    sessions, gone = forgetful.server.get_sessions, []

    async def visit() -> None:
        token = token_of(await forgetful.get("class?class=ABCDEFGH"))
        client = Client(forgetful.server.port, "class")
        await client.open()
        while len(sessions()) > 1:
            await asyncio.sleep(0.02)
        assert sessions()[0].connection_count == 1, "the one that a browser has stays"
        gone.append(weakref.ref(sessions()[0].document))
        # A token is good for a while: its session is made again, with its address and styles.
        late = Client(forgetful.server.port, "class")
        document = await late.connect(token)
        assert "Class code" in document
        assert "https://" not in "".join(re.findall(r'"url":"[^"]*', document))
        late.close()
        client.close()
        while sessions():
            await asyncio.sleep(0.02)
        await asyncio.sleep(0.5)

    forgetful.do(visit)
    forgetful.stop()
    for _ in range(3):
        gc.collect()
    assert [each() for each in gone] == [None], "its document is given back"


def test_visits_that_ended_leave_no_page_of_maps_in_memory(forgetful) -> None:
    documents: list[weakref.ref] = []

    async def visit() -> None:
        for _ in range(3):
            client = Client(forgetful.server.port, "explore")
            assert "Private map explorer" in await client.open()
            documents.extend(weakref.ref(s.document) for s in forgetful.server.get_sessions())
            client.close()
            while forgetful.server.get_sessions():
                await asyncio.sleep(0.02)
        # What was under way ends, on a busy machine later. A task of Panel that lasts may keep the
        # context that it was begun in: one page, and not more.
        for _ in range(120):
            await asyncio.sleep(0.25)
            gc.collect()
            if sum(document() is not None for document in documents) <= 1:
                return
        pytest.fail("pages stay in memory")

    forgetful.do(visit)
    forgetful.stop()


# Where it serves.


@pytest.mark.parametrize("beside", [{}, {"class_only": True}])
def test_a_port_that_is_taken_while_the_server_gets_ready_is_the_same_sentence(
    monkeypatch, beside
) -> None:
    others: list[socket.socket] = []
    port = usable_port(0, "127.0.0.1")

    def taken_meanwhile(*_: object, **__: object) -> None:
        others.append(socket.create_server(("127.0.0.1", port)))

    monkeypatch.setattr(server_module, "warm_up", taken_meanwhile)
    for _ in range(2):
        with pytest.raises(InputError, match=f"Port {port} .* in use"):
            serve("madeup", port=port, open=False, warm=True, start=False, **beside)
    (other,) = others
    other.close()


@pytest.mark.parametrize(
    ("address", "name"),
    [("localhost", "localhost"), ("", "127.0.0.1"), pytest.param("::1", "", marks=needs_ipv6)],
)
def test_it_serves_at_any_address_of_this_computer(address, name) -> None:
    running = Running(address=address)
    running.url = f"{name or '[::1]'}:{running.server.port}"
    assert f":{running.server.port}" in running.said[0]

    async def visit() -> None:
        if not name:
            # Of IPv6 by the name localhost, where the system has it for both.
            host = f"localhost:{running.server.port}"
            assert (await running.get("class", Host=host)).code == 200
            assert (await running.get("class")).code == 421
            return
        # The websocket comes from a page of the same name.
        token = token_of(await running.get("class"))
        assert '"ACK"' in await running.document(token, "class/")

    running.do(visit)
    running.stop()


@pytest.mark.parametrize("patience", [0.02, 60.0])
def test_who_waits_long_for_the_first_start_is_told_why(monkeypatch, patience) -> None:
    said: list[str] = []
    monkeypatch.setattr(server_module, "_PATIENCE", patience)
    monkeypatch.setattr(server_module, "warm_up", lambda *_, **__: time.sleep(0.3))
    serve("madeup", port=0, open=False, warm=True, start=False, say=said.append).stop()
    assert said.count(server_module.COMPILING) == (patience < 1)
    assert "The explorer is at" in said[-1]


@pytest.mark.parametrize(
    ("begin", "paths"),
    [
        ({}, {"": True, "explore": True, "?theme=dark": True, "?theme=dark&left=1": False}),
        ({"city": "nation"}, {"": False}),
        ({"epsilon": 0.3}, {"": False}),
        ({"scenario": Scenario()}, {"": False, "explore": False}),
        ({"class_only": True}, {"": False, "explore": False}),
    ],
)
def test_a_kept_picture_is_in_the_first_answer_of_the_made_up_city_alone(begin, paths) -> None:
    running = Running(side=None, **begin)

    async def visit() -> None:
        for path, is_kept in paths.items():
            answer = await running.get(path)
            assert (b'id="first-screen"' in answer.body) == is_kept, path

    running.do(visit)
    running.stop()


def test_only_the_hosts_that_were_named_are_allowed(monkeypatch) -> None:
    quiet = {"port": 0, "open": False, "warm": False, "start": False}
    server = serve("madeup", origins=["maps.example.org", "192.0.2.7:8080"], **quiet)
    port = server.port
    assert application(server).websocket_origins == {
        *(f"{host}:{port}" for host in ("localhost", "127.0.0.1", "maps.example.org")),
        "maps.example.org:80",
        "192.0.2.7:8080",
    }
    server.stop()
    wrong = ["*", "*:5006", "*.example.org", "192.0.*.*", "https://a.example", "a.example/x"]
    for origin in [*wrong, "a b", "", ":", "[::1]:5006"]:
        with pytest.raises(InputError, match=r"any site|not a host|name of the host"):
            serve("madeup", origins=[origin], **quiet)
    monkeypatch.setattr(multiprocessing, "parent_process", object)
    with pytest.raises(InputError, match="Put the call of serve under if __name__"):
        serve("madeup", **quiet)
