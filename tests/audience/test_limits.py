"""Who asks for too much waits or comes again; faults say nothing of what was asked."""

from __future__ import annotations

import json
import socket

import pytest

from explorer.audience import pages
from explorer.audience import server as module
from tests.audience.running import Running, key_of, picture


@pytest.fixture(scope="module")
def key(whole) -> str:
    return key_of(whole / "before")


def test_who_comes_when_it_is_full_gets_a_page_that_tries_again(whole, key, monkeypatch) -> None:
    monkeypatch.setattr(module, "PAGES", 1e-9)
    monkeypatch.setattr(module, "PAGES_AT_ONCE", 3)
    one = Running(whole / "before")
    found = [one.get(f"/map/{key}") for _ in range(5)]
    assert [each.code for each in found] == [200] * 3 + [429] * 2
    late = found[-1]
    assert 'http-equiv="refresh"' in late.body.decode()
    assert "tries again by itself" in late.body.decode()
    assert late.headers["Retry-After"] == "4"
    # Who has a page goes on.
    assert one.get(picture(key)).code == 200
    one.stop()


def test_more_connections_than_it_bears_are_closed(whole, key, monkeypatch) -> None:
    monkeypatch.setattr(module, "MOST_CONNECTIONS", 4)
    one = Running(whole / "before")
    wires = [socket.create_connection(("127.0.0.1", one.port)) for _ in range(6)]
    assert one.get(f"/map/{key}").code == 429
    assert json.loads(one.get("/health").body)["connections"] == 7
    wires += [socket.create_connection(("127.0.0.1", one.port)) for _ in range(2)]
    assert one.get(f"/map/{key}").code == 599, "there is no answer"
    for wire in wires:
        wire.close()
    assert one.get(f"/map/{key}").code == 200
    assert json.loads(one.get("/health").body)["connections"] == 1
    one.stop()


def test_who_asks_without_end_waits_and_nobody_else_does(whole, key, monkeypatch) -> None:
    monkeypatch.setattr(module, "REQUESTS", 1e-9)
    monkeypatch.setattr(module, "REQUESTS_AT_ONCE", 5)
    one = Running(whole / "before", proxied=True)

    def come(address: str) -> int:
        return one.get(picture(key), headers={"X-Forwarded-For": address}).code

    assert [come("192.0.2.1") for _ in range(7)] == [200] * 5 + [429] * 2
    assert come("192.0.2.2") == 200
    one.stop()


def test_a_fault_of_ours_is_one_sentence_and_one_line_without_what_was_asked(
    whole, key, monkeypatch, caplog
) -> None:
    def fail(*_: object) -> bytes:
        raise ValueError("secret 4711")

    monkeypatch.setattr(pages, "map_page", fail)
    one = Running(whole / "before")
    answer = one.get(f"/map/{key}?x=4711")
    one.stop()
    assert answer.code == 500
    assert "4711" not in answer.body.decode()
    assert "?x=4711" not in caplog.text
