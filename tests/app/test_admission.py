"""Who is let in: a class alone, names and passwords, ids of sessions that are over."""

import asyncio
import contextlib
import logging
import re
import time
from types import SimpleNamespace
from urllib.parse import urlencode

import pytest
from bokeh.util.token import generate_jwt_token, get_session_id, get_token_payload
from tornado.httpclient import HTTPRequest
from tornado.websocket import WebSocketClosedError, websocket_connect

from explorer.app import pages as registry
from explorer.app.work import access as sign_in
from explorer.cli import main
from tests.app.test_server import Running, token_of

OTHERS = [page.address for page in registry.PAGES if page.key != "classroom"]
SECRET = "a long secret of Ada's"


def served_with(**options):
    """Give a test a server with these options, in place of one with passwords."""
    return pytest.mark.parametrize("running", [options], ids=[""], indirect=True)


@pytest.fixture
def people(tmp_path):
    path = tmp_path / "people"
    path.write_text(f"ada:{SECRET}\n")
    path.chmod(0o600)
    return path


@pytest.fixture
def running(request, people):
    """A server with names and passwords."""
    one = Running(**{"auth": people, **getattr(request, "param", {})})
    yield one
    one.stop()


async def log_in(running, password=SECRET, name="ada", next="", **headers):
    body = urlencode({"name": name, "password": password, "next": next})
    return await running.ask("login", method="POST", body=body, headers=headers)


def cookie_of(answer) -> str:
    return answer.headers["Set-Cookie"].partition(";")[0]


@served_with(auth=None, class_only=True)
async def test_a_class_alone_has_no_other_page_and_logs_no_key(running, caplog) -> None:
    key = re.search(r"/class\?teach=(\S+)", " ".join(running.said))[1]
    page = await running.get("class")
    assert page.code == 200
    assert key not in page.body.decode()
    token = token_of(page)
    assert '"ACK"' in await running.document(token, "class/")
    cookie = f"dp-class-ABC=xyz; teach={key}"
    for path in OTHERS:
        for more in ("", "?s=x", f"?teach={key}", "/", "/autoload.js", "/metadata"):
            answer = await running.ask(f"{path}{more}", headers={"Cookie": cookie})
            assert answer.code == 403, path + more
        assert "class page alone: open /class." in (await running.ask(path)).body.decode()
        assert await running.document(token, f"{path}/") is None
        assert await running.document(token, f"{path}/", cookie) is None
    assert "<title>Class result</title>" in (await running.get()).body.decode()
    for path in ("health", "static/js/bokeh.min.js"):
        assert (await running.get(path)).code == 200
    assert len(running.application._applications) == 2, "the other pages are not even there"
    for path in ("nowhere?teach=KEY", "class/autoload.js?teach=KEY"):
        assert (await running.ask(path)).code >= 400
    assert "KEY" not in caplog.text
    assert key not in caplog.text


async def test_without_a_password_there_is_the_form_alone(running) -> None:
    for path in ("", "class", "explore"):
        answer = await running.ask(f"{path}?s=a%20b")
        assert (answer.code, answer.body) == (303, b"")
        assert answer.headers["Location"] == f"./login?next={path}%3Fs%3Da%2520b"
    for path in ("static/js/bokeh.min.js", "explore/ws", "components/x", "nowhere"):
        assert (await running.ask(path)).code == 403
    for method in ("POST", "PUT", "DELETE", "OPTIONS"):
        body = "" if method in ("POST", "PUT") else None
        assert (await running.ask("class", method=method, body=body)).code == 403
    form = await running.ask("login?next=class%3Fs%3D1")
    assert form.code == 200
    assert 'value="class?s=1"' in form.body.decode()
    assert "frame-ancestors 'none'" in form.headers["Content-Security-Policy"]
    assert (await running.ask("health")).code == 200
    assert (await running.document("x", "class/")) is None


async def test_who_signs_in_has_all_pages_their_files_and_websockets(running) -> None:
    answer = await log_in(running, next="class?s=1")
    assert (answer.code, answer.headers["Location"]) == (303, "./class?s=1")
    sent = answer.headers["Set-Cookie"]
    assert all(part in sent for part in ("HttpOnly", "SameSite=Lax", "Path=/"))
    assert "Secure" not in sent
    over_https = await log_in(running, **{"X-Forwarded-Proto": "https"})
    assert "Secure" in over_https.headers["Set-Cookie"]
    cookie = cookie_of(answer)
    page = await running.get("class", Cookie=cookie)
    assert page.code == 200
    token = token_of(page)
    # What proves a person's name is in no script of the page.
    assert cookie.partition("=")[2].split("|")[-1] not in str(get_token_payload(token))
    assert '"ACK"' in await running.document(token, "class/", cookie)
    assert await running.document(token, "class/") is None
    assert (await running.get("static/js/bokeh.min.js", Cookie=cookie)).code == 200
    out = await running.ask("logout", headers={"Cookie": cookie})
    assert out.headers["Location"] == "./login"
    assert cookie_of(out) == f'{cookie.partition("=")[0]}=""'


async def test_signing_in_leads_to_this_server_alone_and_only_from_it(running) -> None:
    for wanted in (
        "//evil.example",
        "https://evil.example",
        "\\\\evil.example",
        "a/../b",
        "x\r\nY: z",
    ):
        assert (await log_in(running, next=wanted)).headers["Location"] == "./"
    answer = await log_in(running, **{"Sec-Fetch-Site": "cross-site"})
    assert answer.code == 403
    assert "Set-Cookie" not in answer.headers


async def test_forged_foreign_and_old_cookies_are_refused(running, people, monkeypatch) -> None:
    other = Running(auth=people)
    name, _, value = cookie_of(await log_in(running)).partition("=")
    elsewhere = cookie_of(await log_in(other)).partition("=")[2]
    other.server.stop()
    changed = value.replace("4:YWRh", "4:YWRi")
    assert changed != value
    for each in (changed, elsewhere, value[:-1], "ada", "", "2|1:0|" + "9" * 5000):
        answer = await running.ask("class", headers={"Cookie": f"{name}={each}"})
        assert answer.code == 303, each[:80]
    now = time.time()
    monkeypatch.setattr(time, "time", lambda: now + sign_in.DAYS * 86_400 + 1)
    assert (await running.ask("class", headers={"Cookie": f"{name}={value}"})).code == 303


async def test_wrong_passwords_are_limited_and_nothing_is_said_of_them(running, caplog) -> None:
    caplog.set_level(logging.DEBUG)
    # Right ones are no tries.
    for _ in range(2 * sign_in.TRIES):
        assert (await log_in(running)).code == 303
    answers = [(await log_in(running, f"guess {n}")) for n in range(sign_in.TRIES + 2)]
    assert [each.code for each in answers] == [403] * sign_in.TRIES + [429] * 2
    assert "guess" not in " ".join(each.body.decode() for each in answers)
    late = await log_in(running)
    assert late.code == 429
    assert "Too many wrong passwords: wait" in late.body.decode()
    assert int(late.headers["Retry-After"]) > 0
    # Another name is not shut out with this one.
    assert (await log_in(running, "guess", "bob")).code == 403
    assert "guess" not in caplog.text
    assert SECRET not in caplog.text


def test_addresses_do_not_use_up_each_others_tries() -> None:
    gate = sign_in.SignIn(
        SimpleNamespace(right=lambda _name, password: password == SECRET), 1, ["/"]
    )

    async def visit() -> None:
        for _ in range(sign_in.TRIES):
            assert await gate.proves("ada", "wrong", "192.0.2.7") is None
        assert await gate.proves("ada", SECRET, "192.0.2.7") > 0
        assert await gate.proves("ada", SECRET, "192.0.2.8") == 0
        # Many names are tried from one address no more often than all may be.
        for n in range(sign_in.ALL_TRIES):
            await gate.proves(f"name{n}", "wrong", "192.0.2.9")
        assert await gate.proves("ada", SECRET, "192.0.2.9") > 0

    asyncio.run(visit())


@served_with(class_only=True)
async def test_participants_of_a_class_alone_need_no_password(running) -> None:
    assert any("/login?next=class" in each for each in running.said)
    page = await running.get("class")
    assert page.code == 200
    assert '"ACK"' in await running.document(token_of(page), "class/")
    assert '"ACK"' in await running.document(token_of(await running.get()))
    assert (await running.ask("explore")).code == 403
    cookie = cookie_of(await log_in(running, next="class"))
    assert (await running.ask("explore", headers={"Cookie": cookie})).code == 403


def test_a_bad_file_of_passwords_ends_the_command_with_one_sentence(people, capsys) -> None:
    people.chmod(0o644)
    assert main(["serve", "--no-open", "--no-warm", "--port", "0", "--auth", str(people)]) == 2
    said = capsys.readouterr()
    assert "Others than its owner" in said.err
    assert said.err.count("\n") == 1
    assert SECRET not in said.err + said.out


@served_with(auth=None)
async def test_what_is_too_large_is_not_read_and_not_logged(running, caplog) -> None:
    answer = await running.ask("class", method="POST", body="x" * 100_000)
    assert answer.code in (400, 413, 599)
    for size, closed in ((900_000, False), (2_100_000, True), (13_000_000, True)):
        token = token_of(await running.get("class"))
        request = HTTPRequest(
            f"ws://{running.url}/class/ws", headers={"Origin": f"http://{running.url}"}
        )
        socket = await websocket_connect(request, subprotocols=["bokeh", token])
        for _ in range(3):
            assert await socket.read_message() is not None
        content = "4711" * (size // 4)
        for part in ('{"msgid": "1", "msgtype": "SERVER-INFO-REQ"}', "{}", f'"{content}"'):
            # It may be closed before all of it has been sent.
            with contextlib.suppress(WebSocketClosedError):
                await socket.write_message(part)
        assert (await socket.read_message() is None) is closed
        assert socket.close_code in ((1009, 1006) if closed else (None,))
        socket.close()
    assert "4711" not in caplog.text


@served_with(auth=None)
async def test_a_token_that_has_expired_is_refused_and_a_reload_is_not(running) -> None:
    token = token_of(await running.get("class"))
    assert '"ACK"' in await running.document(token, "class/")
    session = get_session_id(token)

    def signed(expiration: int) -> str:
        more = {"headers": {}, "cookies": {}, "arguments": {}}
        return generate_jwt_token(
            session,
            secret_key=running.application.secret_key,
            signed=True,
            extra_payload=more,
            expiration=expiration,
        )

    # By this server, of a session that is there: one in time, and one too late.
    assert '"ACK"' in await running.document(signed(60), "class/")
    assert await running.document(signed(-1), "class/") is None
    again = token_of(await running.get("class"))
    assert get_session_id(again) != session
    assert '"ACK"' in await running.document(again, "class/")
