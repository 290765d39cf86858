"""The server for others, asked as a browser and as an attacker asks."""

from __future__ import annotations

import json
import re
import shutil
import socket

import pytest

from explorer.audience.handlers import HEADERS
from explorer.audience.statics import STATICS
from explorer.publish.names import FILES, MANIFEST
from tests.audience.running import Running, key_of, picture
from tests.publish.folders import published

SOMEWHERE = "https://news.example.org"


@pytest.fixture(scope="module")
def running(whole):
    one = Running(whole / "before", whole / "after", origins=(SOMEWHERE,))
    yield one
    one.stop()


@pytest.fixture(scope="module")
def key(whole) -> str:
    return key_of(whole / "before")


@pytest.fixture(scope="module")
def other(whole) -> str:
    return key_of(whole / "after")


def addresses(key: str, other: str) -> list[str]:
    """One of each kind."""
    return [
        "/",
        f"/map/{key}",
        f"/map/{key}?embed=1",
        "/compare",
        f"/compare?first={other}&second={key}",
        picture(key),
        picture(key, more=f"&with={other}"),
        f"/leaf/{key}?at=0,0",
        f"/report/{key}",
        *(f"/files/{key}/{name}" for name in (*FILES, MANIFEST)),
        STATICS.address("map.js"),
        STATICS.address("audience.css"),
        "/health",
    ]


def test_every_address_answers_and_says_what_may_be_loaded(running, key, other) -> None:
    for path in addresses(key, other):
        answer = running.get(path)
        assert answer.code == 200, path
        policy = answer.headers["Content-Security-Policy"]
        assert policy.startswith("default-src 'none'"), path
        assert "unsafe-eval" not in policy
        assert answer.headers["X-Content-Type-Options"] == "nosniff"
        assert answer.headers["Referrer-Policy"] == "no-referrer"
        assert "Server" not in answer.headers
        assert "Set-Cookie" not in answer.headers
        assert "Access-Control-Allow-Origin" not in answer.headers
        framed = "?embed=1" in path
        assert policy.split("frame-ancestors ")[1].partition(";")[0] == (
            SOMEWHERE if framed else "'none'"
        )
        assert ("X-Frame-Options" in answer.headers) == (not framed)


def test_nobody_frames_a_map_where_no_origin_was_named(whole, key) -> None:
    alone = Running(whole / "before")
    answer = alone.get(f"/map/{key}?embed=1")
    alone.stop()
    assert answer.headers["X-Frame-Options"] == "DENY"
    assert answer.headers["Content-Security-Policy"] == HEADERS["Content-Security-Policy"]


def test_pages_ask_for_nothing_from_elsewhere(running, key, other) -> None:
    for path in addresses(key, other)[:5]:
        text = running.get(path).body.decode()
        assert not re.findall(r'(?:src|href|action)="(?!/|#|data:,")', text), path
        assert " onclick" not in text
        for asset in re.findall(r'(?:src|href)="(/static/[^"]+)"', text):
            assert running.get(asset).code == 200


def test_files_are_those_of_the_folder(running, whole, key) -> None:
    for name in (*FILES, MANIFEST):
        answer = running.get(f"/files/{key}/{name}")
        assert answer.body == (whole / "before" / name).read_bytes()
        assert answer.headers["Content-Disposition"] == f'attachment; filename="{name}"'
    report = running.get(f"/report/{key}")
    assert report.headers["Content-Type"].startswith("text/html")
    assert "sandbox" in report.headers["Content-Security-Policy"]
    assert "script" not in report.headers["Content-Security-Policy"]


def test_answers_are_the_same_for_all_and_made_once(running, key, other) -> None:
    before = running.state.responses.count
    areas = [{"box": [0, 0, 3000, 3000]}]
    first, second = (running.ask([key, other], areas) for _ in range(2))
    assert json.loads(first.body) == json.loads(second.body)
    assert {*json.loads(first.body)["maps"]} == {key, other}
    running.get(picture(key, "0,0,500,500"))
    running.get(picture(key, "0,0,500,500"))
    assert running.state.responses.count == before + 2


@pytest.mark.parametrize(
    ("path", "code"),
    [
        ("/nothing", 404),
        ("/map/0123456789", 404),
        ("/map/..%2f..%2fetc%2fpasswd", 404),
        ("/files/{key}/..", 404),
        ("/files/{key}/secret.csv", 404),
        ("/files/{key}/..%2f..%2fsecret", 404),
        ("/static/000000000000/map.js", 404),
        ("/static/{mark}/..%2fhandlers.py", 404),
        ("/picture/{key}.png", 400),
        ("/picture/{key}.png?at=0,0,1,1&size=9,9&look=x&lines=1", 400),
        ("/picture/{key}.png?at=%ff&size=9,9&look=paper&lines=1", 400),
        ("/leaf/{key}", 400),
        ("/leaf/{key}?at=1e9,1e9", 400),
        ("/compare?first=x", 404),
        ("/answers", 405),
        ("/ws", 404),
        ("/admin", 404),
        ("/autoload.js", 404),
    ],
)
def test_what_is_not_there_is_one_sentence(running, key, path, code) -> None:
    answer = running.get(path.format(key=key, mark=STATICS.mark))
    assert answer.code == code
    text = answer.body.decode()
    assert len(text) < 2000
    assert "Traceback" not in text
    assert "explorer" not in text.lower()
    assert ".py" not in text
    assert answer.headers["Content-Security-Policy"] == HEADERS["Content-Security-Policy"]


@pytest.mark.parametrize("body", [b"", b"{}", b"[]", b"\xff", b"[" * 20_000, b'{"maps": 1}'])
def test_a_question_that_is_none_is_one_sentence(running, body) -> None:
    answer = running.get("/answers", method="POST", body=body)
    assert answer.code == 400
    assert {*json.loads(answer.body)} == {"said"}


def test_other_methods_and_other_names_are_refused(running, key) -> None:
    for method in ("PUT", "DELETE", "OPTIONS", "PATCH"):
        body = b"x" if method in ("PUT", "PATCH") else None
        assert running.get("/", method=method, body=body).code == 405
    for host in ("evil.example", "localhost", "127.0.0.1:1", "localhost.evil.example"):
        assert running.get(f"/map/{key}", headers={"Host": host}).code == 421
    assert running.get("/", headers={"Host": f"LOCALHOST:{running.port}"}).code == 200


def test_what_is_too_long_ends_its_connection(running) -> None:
    def sent(content: bytes) -> bytes:
        with socket.create_connection(("127.0.0.1", running.port)) as wire:
            wire.setblocking(False)

            async def talk() -> bytes:
                await running.loop.sock_sendall(wire, content)
                return await running.loop.sock_recv(wire, 4096)

            try:
                return bytes(running.do(talk()))
            except ConnectionError:
                return b""

    host = f"Host: localhost:{running.port}\r\n".encode()
    long = b"POST /answers HTTP/1.1\r\n" + host + b"Content-Length: 40000000\r\n\r\n"
    for content in (
        long,
        b"GET / HTTP/1.1\r\n" + host + b"X: " + b"x" * 100_000 + b"\r\n\r\n",
        b"GET /" + b"x" * 100_000 + b" HTTP/1.1\r\n\r\n",
        b"\x00" * 1000 + b"\r\n\r\n",
    ):
        assert b" 200 " not in sent(content)
    assert running.get("/").code == 200


def test_a_map_that_is_taken_away_is_one_sentence_and_the_others_go_on(whole, tmp_path) -> None:
    shutil.copytree(whole, tmp_path / "shown")
    folders = tmp_path / "shown" / "before", tmp_path / "shown" / "after"
    key, other = map(key_of, folders)
    one = Running(*folders)
    assert "Rides of Amber, after" in one.get("/compare").body.decode()
    shutil.rmtree(folders[1])
    # A file that is being read is looked at, too.
    assert one.get(f"/files/{other}/leaves.csv").code in (410, 599)
    one.state.check_files()
    for path in addresses(other, key)[1:]:
        if other in path:
            answer = one.get(path)
            assert answer.code == 410, path
            assert "taken away, or changed" in answer.body.decode()
    assert one.ask([other], []).code == one.ask([key, other], []).code == 410
    listing = one.get("/").body.decode()
    assert "taken away, or changed" in listing
    assert listing.count('href="/map/') == 1
    assert one.get("/compare").code == 400
    assert one.get(f"/map/{key}").code == one.get(picture(key)).code == 200
    assert one.ask([key], [{"box": [0, 0, 1, 1]}]).code == 200
    one.stop()


def test_texts_of_a_publisher_execute_nowhere(tmp_path) -> None:
    from dataclasses import replace

    from explorer.publish.directory import write_directory
    from tests.publish.folders import ABOUT

    evil = "<img src=x onerror=alert(1)>\"'</script><script>alert(1)</script>{{7*7}}"
    about = replace(ABOUT, title=evil, curator=evil, region=evil, use=evil, licence=evil)
    write_directory(published(about=about), tmp_path / "evil")
    write_directory(published(), tmp_path / "other")
    one = Running(tmp_path / "evil", tmp_path / "other")
    key = key_of(tmp_path / "evil")
    for path in ("/", f"/map/{key}", f"/map/{key}?embed=1", "/compare"):
        text = one.get(path).body.decode()
        assert "<img src=x" not in text
        assert "<script>" not in text
        assert "onerror=alert(1)>" not in text
    one.stop()
