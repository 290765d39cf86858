"""The server starts, answers and refuses what it cannot do."""

import asyncio
import gc
import json
import multiprocessing
import re
import socket
import subprocess
import sys
import time
import weakref

import panel as pn
import pytest
from bokeh.models import ImportedStyleSheet
from bokeh.util.token import generate_jwt_token, get_session_id
from tornado.httpclient import AsyncHTTPClient, HTTPClientError, HTTPRequest
from tornado.websocket import websocket_connect

from explorer.app import ClassResult, serve
from explorer.app import server as server_module
from explorer.app.work import limits
from explorer.cli import main
from explorer.errors import InputError
from explorer.serving import entrance
from explorer.serving.ports import usable_port
from tests.benchmarks.websocket_client import Client
from tests.helpers import needs_ipv6


def application(server):
    """Tornado's, which has what visitors ask for."""
    return server._tornado


class Running:
    """A server in this process; ``visit`` runs beside its loop and ends it."""

    def __init__(self, **more) -> None:
        self.said: list[str] = []
        quiet = {"open": False, "warm": False, "start": False, "say": self.said.append}
        self.server = serve("madeup", port=0, side=256, **quiet, **more)
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


def test_it_serves_the_page_on_a_free_port(running) -> None:
    assert f":{running.server.port}" in running.said[0]

    async def visit() -> None:
        page = await running.get()
        assert "Private map explorer" in page.body.decode()

    running.do(visit)


def test_only_a_session_that_the_server_made_has_a_document(running) -> None:
    def forged(session: str, key: bytes | None) -> str:
        return generate_jwt_token(session, secret_key=key, signed=key is not None)

    async def visit() -> None:
        token = token_of(await running.get("class"))
        assert '"ACK"' in await running.document(token, "class/")
        # Whoever knows the id of that session, but not the secret, does not get in.
        session = get_session_id(token)
        for other in (
            forged(session, None),
            forged(session, b"another secret"),
            forged("chosen", None),
            token[:-2] + ("AA" if token[-2:] != "AA" else "BB"),
        ):
            assert await running.document(other, "class/") is None

    running.do(visit)


@pytest.mark.parametrize("kind", ["bokeh-session-id", "bokeh-token"])
def test_an_address_cannot_choose_the_session(running, kind) -> None:
    async def visit() -> None:
        # Even a right one: its sender would share it with whoever opens the link.
        token = token_of(await running.get("class"))
        right = token if kind == "bokeh-token" else get_session_id(token)
        for path in ("class", "class/autoload.js"):
            asked = f"{path}?bokeh-autoload-element=x&{kind}="
            assert (await running.get(asked + right)).code == 403
            assert (await running.get(asked + "chosen")).code == 403
        assert (await running.get("class", **{"Bokeh-Session-Id": right})).code == 403

    running.do(visit)


def test_every_answer_says_how_it_may_be_used(running) -> None:
    async def visit() -> None:
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

    running.do(visit)


@pytest.mark.parametrize("host", ["localhost.evil.example", "evil.example:80", "127.0.0.1", ""])
def test_a_name_that_is_not_the_servers_own_is_not_answered(running, host) -> None:
    async def visit() -> None:
        assert (await running.get("class", Host=host)).code == 421

    running.do(visit)


def test_health_says_how_many_visitors_there_are(running) -> None:
    async def visit() -> None:
        before = json.loads((await running.get("health")).body)
        await running.get("class")
        after = json.loads((await running.get("health")).body)
        assert after["sessions"] == before["sessions"] + 1
        assert after.keys() <= {"sessions", "memory_mb"}

    running.do(visit)


def test_who_opens_pages_without_end_is_put_off_and_the_page_tries_again(monkeypatch) -> None:
    monkeypatch.setattr(entrance, "A_SECOND", 1e-9)
    monkeypatch.setattr(entrance, "AT_ONCE", 3)
    running = Running()

    async def visit() -> None:
        found = [await running.get("class") for _ in range(5)]
        late = next(each for each in found if each.code == 429)
        assert "tries again by itself" in late.body.decode()
        assert late.headers["Retry-After"] == str(entrance.AGAIN)
        assert [each.code for each in found] == [200] * 3 + [429] * 2

    running.do(visit)
    running.stop()


def made(server) -> list[bool]:
    """Whether each session's page has its content."""
    documents = [session.document for session in server.get_sessions()]
    return [len(document.models) > 20 for document in documents]


def test_content_is_made_for_those_who_come_for_it_alone(running) -> None:
    async def visit() -> None:
        pages = [await running.get("class") for _ in range(3)]
        assert made(running.server) == [False] * 3
        # The first script of a page asks for its content, and its websocket, too.
        session = re.search(r'"Explorer-Session": "([^"]+)"', pages[0].body.decode())[1]
        asked = await running.get("class/ws", **{"Explorer-Session": session})
        assert (asked.code, asked.body) == (204, b"")
        while not any(made(running.server)):
            await asyncio.sleep(0.02)
        assert sorted(made(running.server)) == [False, False, True]
        for page in pages[:2]:
            assert '"ACK"' in await running.document(token_of(page), "class/")
        assert sorted(made(running.server)) == [False, True, True]
        # Nothing is made for an id that was chosen.
        asked = await running.get("class/ws", **{"Explorer-Session": "chosen"})
        assert asked.code == 204
        assert sorted(made(running.server)) == [False, True, True]

    running.do(visit)


def test_content_that_cannot_be_made_is_a_sentence(running, monkeypatch, caplog) -> None:
    def fails(*_: object, **__: object) -> None:
        raise RuntimeError("4711")

    monkeypatch.setattr(ClassResult, "served", fails)

    async def visit() -> None:
        client = Client(running.server.port, "class")
        document = await client.open()
        assert "This page could not be made" in document
        assert "4711" not in document
        client.close()

    running.do(visit)
    assert "4711" in caplog.text


def test_a_page_that_nobody_comes_for_is_given_up(monkeypatch) -> None:
    quick = {"unused_session_lifetime_milliseconds": 1, "check_unused_sessions_milliseconds": 20}
    monkeypatch.setattr(limits, "OPTIONS", {**limits.OPTIONS, **quick})
    running = Running()

    async def visit() -> None:
        page = await running.get("class")
        token = token_of(page)
        client = Client(running.server.port, "class")
        await client.open()
        while len(running.server.get_sessions()) > 1:
            await asyncio.sleep(0.02)
        (session,) = running.server.get_sessions()
        assert session.connection_count == 1, "the one that a browser has stays"
        gone.append(weakref.ref(session.document))
        del session
        # A token is good for a while: its session is made again, with its content and styles.
        late = Client(running.server.port, "class")
        document = await late.connect(token)
        assert "Class code" in document
        assert "https://" not in "".join(re.findall(r'"url":"[^"]*', document))
        late.close()
        client.close()
        while running.server.get_sessions():
            await asyncio.sleep(0.02)
        await asyncio.sleep(0.5)

    gone: list[weakref.ref] = []
    running.do(visit)
    running.stop()
    for _ in range(3):
        gc.collect()
    assert [each() for each in gone] == [None], "its document is given back"


def test_visits_that_ended_leave_no_page_of_maps_in_memory(monkeypatch) -> None:
    quick = {"unused_session_lifetime_milliseconds": 1, "check_unused_sessions_milliseconds": 20}
    monkeypatch.setattr(limits, "OPTIONS", {**limits.OPTIONS, **quick})
    running = Running()
    documents: list[weakref.ref] = []

    async def visit() -> None:
        for _ in range(3):
            client = Client(running.server.port, "explore")
            assert "Private map explorer" in await client.open()
            documents.extend(weakref.ref(s.document) for s in running.server.get_sessions())
            client.close()
            while running.server.get_sessions():
                await asyncio.sleep(0.02)
            # What was under way ends.
            await asyncio.sleep(1.5)

    running.do(visit)
    running.stop()
    for _ in range(3):
        gc.collect()
    # A task of Panel that lasts may keep the context that it was begun in: one page, and not more.
    assert len([1 for document in documents if document() is not None]) <= 1


def test_a_frame_is_in_the_theme_that_is_asked_for(running) -> None:
    async def visit() -> None:
        for _ in range(2):
            dark, light = [
                (await running.get(f"class?theme={theme}")).body.decode()
                for theme in ("dark", "light")
            ]
            assert "--mui-palette-background-default: #161d26" in dark
            assert "--mui-palette-background-default: #ffffff" in light
        remembered = await running.get("class", Cookie="explorer-frame=theme:light")
        assert "--mui-palette-background-default: #ffffff" in remembered.body.decode()

    running.do(visit)


def test_content_that_is_made_late_knows_the_address_and_takes_no_style_from_elsewhere(
    running,
) -> None:
    async def visit() -> None:
        token = token_of(await running.get("class?class=ABCDEFGH"))
        await running.document(token, "class/")
        session = running.server.get_session("/class", get_session_id(token))
        doc = session.document
        assert doc.session_context.request.arguments == {"class": [b"ABCDEFGH"]}
        sheets = [
            each.url for root in doc.roots for each in root.select({"type": ImportedStyleSheet})
        ]
        assert sheets
        assert not [each for each in sheets if each.startswith("http")]

    running.do(visit)


@pytest.mark.parametrize("path", ["explore", "learn"])
def test_the_code_of_the_widgets_is_read_with_the_page_and_no_webgl(running, path) -> None:
    """Not after the content has come; and what no map uses is not read at all."""

    async def visit() -> None:
        page = (await running.get(path)).body.decode()
        early = set(re.findall(r'rel="preload"[^>]*href="([^"]+)"', page))
        assert early == set(re.findall(r'importShim\("([^"]+)"\)', page))
        (code,) = early
        assert (await running.get(code.removeprefix("./"))).code == 200
        assert "bokeh.min.js" in page
        assert "bokeh-gl" not in page

    running.do(visit)


def test_each_server_has_a_secret_of_its_own(running) -> None:
    other = Running()

    async def visit() -> None:
        token = token_of(await running.get("class"))
        assert await other.document(token, "class/") is None

    try:
        running.do(visit)
    finally:
        other.stop()


def test_a_taken_port_is_refused_before_anything_is_warmed_up(monkeypatch) -> None:
    monkeypatch.setattr(server_module, "warm_up", lambda *_, **__: pytest.fail("warmed up"))
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
        with pytest.raises(InputError, match=f"Port {port} .* in use"):
            serve("madeup", port=port, open=False, warm=True, start=False)


@pytest.mark.parametrize("beside", [{}, {"class_only": True}])
def test_a_port_that_is_taken_while_the_server_gets_ready_is_the_same_sentence(
    monkeypatch, beside
) -> None:
    others: list[socket.socket] = []
    port = usable_port(0, "127.0.0.1")

    def taken_meanwhile(*_: object, **__: object) -> None:
        others.append(socket.create_server(("127.0.0.1", port)))

    monkeypatch.setattr(server_module, "warm_up", taken_meanwhile)
    with pytest.raises(InputError, match=f"Port {port} .* in use"):
        serve("madeup", port=port, open=False, warm=True, start=False, **beside)
    (other,) = others
    other.close()


@pytest.mark.parametrize(
    ("address", "name"),
    [
        ("127.0.0.1", "127.0.0.1"),
        ("localhost", "localhost"),
        ("0.0.0.0", "127.0.0.1"),
        ("", "127.0.0.1"),
        pytest.param("::1", "", marks=needs_ipv6),
    ],
)
def test_it_serves_at_any_address_of_this_computer(address, name) -> None:
    running = Running(address=address)
    running.url = f"{name}:{running.server.port}"

    async def visit() -> None:
        if not name:
            # Of IPv6 by the name localhost, where the system has it for both.
            host = f"localhost:{running.server.port}"
            running.url = f"[{address}]:{running.server.port}"
            assert (await running.get("class", Host=host)).code == 200
            assert (await running.get("class")).code == 421
            return
        page = await running.get("class")
        assert page.code == 200
        # The websocket comes from a page of the same name.
        assert '"ACK"' in await running.document(token_of(page), "class/")

    running.do(visit)
    running.stop()


@pytest.mark.parametrize("port", [-1, 65536])
def test_a_number_that_is_no_port_is_refused(port) -> None:
    with pytest.raises(InputError, match="port"):
        serve("madeup", port=port, open=False, warm=False, start=False)


def test_an_unknown_city_is_refused_before_anything_starts() -> None:
    with pytest.raises(InputError, match="no city"):
        serve("atlantis", port=0, open=False, start=False)


@pytest.mark.parametrize("patience", [0.02, 60.0])
def test_who_waits_long_for_the_first_start_is_told_why(monkeypatch, patience) -> None:
    said: list[str] = []
    monkeypatch.setattr(server_module, "_PATIENCE", patience)
    monkeypatch.setattr(server_module, "warm_up", lambda *_, **__: time.sleep(0.3))
    serve("madeup", port=0, open=False, warm=True, start=False, say=said.append).stop()
    told = said.count(server_module.COMPILING)
    assert told == (patience < 1)
    assert "The explorer is at" in said[-1]


def test_a_process_that_another_started_does_not_serve(monkeypatch) -> None:
    monkeypatch.setattr(multiprocessing, "parent_process", object)
    with pytest.raises(InputError, match="Put the call of serve under if __name__"):
        serve("madeup", port=0, open=False, warm=False, start=False)


@pytest.mark.slow
def test_a_script_without_a_guard_serves_once_and_its_workers_say_why(tmp_path) -> None:
    script = tmp_path / "script.py"
    script.write_text(
        "from concurrent.futures import ProcessPoolExecutor\n"
        "from multiprocessing import get_context\n"
        "from explorer.app import serve\n"
        "server = serve('madeup', port=0, open=False, warm=False, start=False)\n"
        "ProcessPoolExecutor(1, get_context('spawn')).submit(len, 'abc').result()\n"
    )
    ran = subprocess.run(
        [sys.executable, script], check=False, capture_output=True, text=True, timeout=120
    )
    assert ran.returncode != 0
    assert ran.stdout.count("The explorer is at") == 1
    assert "InputError: Put the call of serve under if __name__ ==" in ran.stderr


def test_only_the_hosts_that_were_named_are_allowed() -> None:
    hosts = ["maps.example.org", "192.0.2.7:8080"]
    server = serve("madeup", port=0, open=False, warm=False, start=False, origins=hosts)
    try:
        port = server.port
        assert application(server).websocket_origins == {
            f"localhost:{port}",
            f"127.0.0.1:{port}",
            f"maps.example.org:{port}",
            "maps.example.org:80",
            "192.0.2.7:8080",
        }
    finally:
        server.stop()


@pytest.mark.parametrize(
    "origin",
    [
        "*",
        "*:5006",
        "*.example.org",
        "192.0.*.*",
        "https://a.example",
        "a.example/x",
        "a b",
        "",
        ":",
        "[::1]:5006",
    ],
)
def test_an_origin_that_is_not_one_host_is_refused(origin) -> None:
    with pytest.raises(InputError, match=r"any site|not a host|name of the host"):
        serve("madeup", port=0, open=False, start=False, origins=[origin])


def test_the_command_passes_origins_on(monkeypatch) -> None:
    passed: dict = {}
    monkeypatch.setattr("explorer.app.server.serve", lambda **given: passed.update(given))
    main(["serve", "--no-open", "--allow-origin", "a.example", "--allow-origin", "b.example:81"])
    assert passed["origins"] == ["a.example", "b.example:81"]


def test_the_command_refuses_every_site_in_one_sentence(capsys) -> None:
    assert main(["serve", "--no-open", "--no-warm", "--port", "0", "--allow-origin", "*"]) != 0
    assert "any site" in capsys.readouterr().err
