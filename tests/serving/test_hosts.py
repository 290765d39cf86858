"""Where a visitor is: the connection says so, and a proxy only where there is one."""

from types import SimpleNamespace

import pytest
from tornado.httputil import HTTPHeaders

from explorer.serving.hosts import address_of, household


def request(remote: str, forwarded: str = ""):
    headers = HTTPHeaders({"X-Real-Ip": "198.51.100.9", "X-Forwarded-For": forwarded})
    return SimpleNamespace(remote_ip=remote, headers=headers)


def test_what_a_visitor_says_of_the_own_address_is_not_believed() -> None:
    assert address_of(request("192.0.2.7", "198.51.100.1")) == "192.0.2.7"


@pytest.mark.parametrize(
    ("said", "found"),
    [
        ("198.51.100.1", "198.51.100.1"),
        ("203.0.113.5, 198.51.100.1", "198.51.100.1"),
        ("198.51.100.1, nonsense", "127.0.0.1"),
        ("", "127.0.0.1"),
    ],
)
def test_behind_a_proxy_its_own_word_counts(said, found) -> None:
    assert address_of(request("127.0.0.1", said), proxied=True) == found


def test_a_household_is_one_address() -> None:
    assert household("2001:db8:0:1::1") == household("2001:db8:0:1:ffff::2")
    assert household("2001:db8:0:1::1") != household("2001:db8:0:2::1")
    assert household("::1") == "::/64"
    assert household("nonsense") == ""
    assert address_of(request("0.0.0.0")) == "0.0.0.0"
