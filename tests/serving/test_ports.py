"""Ports are looked at before anything heavy, exactly as a server takes them."""

from __future__ import annotations

import errno
import re
import socket
import subprocess
import sys
from collections.abc import Iterator

import pytest

from explorer.errors import InputError
from explorer.serving import ports
from explorer.serving.ports import listening_sockets, usable_port
from tests.helpers import needs_ipv6

_SERVE = """
import sys
from explorer.cli import main
code = main(sys.argv[1:])
print(*{name.partition(".")[0] for name in sys.modules})
raise SystemExit(code)
"""


@pytest.fixture
def taken() -> Iterator[int]:
    """A port at which another program listens, at all addresses of this computer."""
    sockets = listening_sockets(0, "")
    yield sockets[0].getsockname()[1]
    for one in sockets:
        one.close()


@pytest.mark.parametrize(
    "flags",
    [
        [],
        ["--class-only"],
        ["--audience", "nowhere"],
        ["--scenario", "nowhere.yaml"],
        ["--address", "0.0.0.0"],
        pytest.param(["--address", "::", "--class-only"], marks=needs_ipv6),
    ],
    ids=" ".join,
)
def test_the_command_says_so_before_it_loads_the_app(taken, flags) -> None:
    command = [sys.executable, "-c", _SERVE, "serve", "--no-open", "--port", str(taken), *flags]
    ran = subprocess.run(command, capture_output=True, text=True, check=False, timeout=120)
    assert ran.returncode == 2
    (sentence,) = ran.stderr.splitlines()
    assert f"Port {taken} " in sentence
    assert "--port 0" in sentence
    # Every command loads numba.
    heavy = {"bokeh", "datashader", "geopandas", "holoviews", "panel", "pandas", "pyarrow"}
    assert not heavy & {*ran.stdout.split()}


@pytest.mark.parametrize("address", ["127.0.0.1", "localhost", "0.0.0.0", ""])
def test_a_free_port_is_usable_afterwards(address) -> None:
    port = usable_port(0, address)
    assert port > 0
    assert usable_port(port, address) == port
    for one in listening_sockets(port, address):
        one.close()


def test_a_port_with_connections_that_time_out_is_free() -> None:
    listener = listening_sockets(0, "127.0.0.1")[0]
    listener.setblocking(True)
    port = listener.getsockname()[1]
    with socket.create_connection(("127.0.0.1", port)) as visitor:
        # Who closes first keeps the connection for a minute, as a server that is started anew.
        listener.accept()[0].close()
        listener.close()
        visitor.recv(1)
    if sys.platform == "linux":
        with socket.socket() as plain, pytest.raises(OSError, match="in use"):
            plain.bind(("127.0.0.1", port))
    assert usable_port(port, "127.0.0.1") == port


@pytest.mark.parametrize(
    "address",
    [
        "192.0.2.1",
        "2001:db8::1",
        "no-such-host.invalid",
        "[::1]",
        "http://localhost",
        "a" * 70,
        "\0",
    ],
)
@pytest.mark.parametrize("port", [0, 5006])
def test_an_address_of_another_computer_or_of_none_is_one_sentence(address, port) -> None:
    with pytest.raises(InputError, match="not an address of this computer: give --address"):
        usable_port(port, address)


@pytest.mark.parametrize(
    ("code", "said"),
    [
        (errno.EADDRINUSE, "in use"),
        (errno.EACCES, "rights"),
        (errno.EADDRNOTAVAIL, "not an address of this computer"),
        (errno.ENOBUFS, "cannot be used"),
    ],
)
def test_what_the_system_refuses_is_one_sentence_with_a_way_out(monkeypatch, code, said) -> None:
    def refuse(*_: object, **__: object) -> None:
        raise OSError(code, "refused")

    monkeypatch.setattr(ports, "bind_sockets", refuse)
    with pytest.raises(InputError, match=said) as refused:
        usable_port(80, "127.0.0.1")
    assert re.search(r"--(port|address) \w", str(refused.value))
