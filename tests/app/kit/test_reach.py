"""The address to invite others with is one whose pages may use the server."""

import socket

import pytest

from explorer.app import serve
from explorer.app.kit.reach import Reach
from explorer.serving import hosts
from explorer.serving.hosts import own_addresses
from tests.app.test_server import application

NAMES = ("localhost:5006", "127.0.0.1:5006")


@pytest.mark.parametrize(
    ("here", "host", "base"),
    [
        (Reach("127.0.0.1", 5006, NAMES), "localhost:5006", ""),
        (Reach("0.0.0.0", 5006, (*NAMES, "0.0.0.0:5006")), "localhost:5006", ""),
        (Reach("192.0.2.7", 80, ("192.0.2.7:80",)), "localhost", "http://192.0.2.7:80"),
        # How this visitor came is best, if its pages may use the server.
        (Reach("0.0.0.0", 1, ("192.0.2.7:1", "a.example:1")), "a.example:1", "http://a.example:1"),
        (Reach("0.0.0.0", 1, ("192.0.2.7:1",)), "evil.example", "http://192.0.2.7:1"),
        (Reach("127.0.0.1", 1, (*NAMES, "a.example:1", "a.example")), "", "http://a.example"),
    ],
)
def test_the_address_is_reachable_and_allowed(here, host, base) -> None:
    assert here.base(host) == base
    assert not base or base.removeprefix("http://") in here.origins


def test_why_nobody_else_can_come_is_one_sentence() -> None:
    assert "--address 0.0.0.0" in Reach("127.0.0.1", 1).why_not
    assert "--allow-origin" in Reach("0.0.0.0", 1).why_not


def test_a_server_that_listens_everywhere_answers_to_its_own_address(monkeypatch) -> None:
    monkeypatch.setattr(hosts, "own_addresses", lambda _address: ["192.0.2.7"])
    server = serve("madeup", port=0, open=False, warm=False, start=False, address="0.0.0.0")
    try:
        assert f"192.0.2.7:{server.port}" in application(server).websocket_origins
    finally:
        server.stop()


def test_own_addresses_are_asked_for_only_where_all_are_listened_at(monkeypatch) -> None:
    monkeypatch.setattr(socket, "gethostbyname_ex", lambda _n: ("a", [], ["127.0.1.1", "10.9.8.7"]))
    assert own_addresses("127.0.0.1") == []
    assert "10.9.8.7" in own_addresses("0.0.0.0")
    assert "127.0.1.1" not in own_addresses("0.0.0.0")
