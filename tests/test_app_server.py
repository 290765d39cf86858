"""The server starts, answers and refuses what it cannot do."""

import socket
import urllib.request
from threading import Thread

import pytest

from explorer.app import serve
from explorer.errors import InputError


def test_it_serves_the_page_on_a_free_port() -> None:
    said: list[str] = []
    server = serve("madeup", port=0, open=False, warm=False, start=False, say=said.append)
    try:
        assert f":{server.port}" in said[0]
        loop = server.io_loop
        server.start()
        answer: list[str] = []

        def ask() -> None:
            url = f"http://127.0.0.1:{server.port}/"
            with urllib.request.urlopen(url, timeout=60) as page:
                answer.append(page.read().decode())
            loop.add_callback(loop.stop)

        Thread(target=ask, daemon=True).start()
        loop.call_later(90, loop.stop)
        loop.start()
        assert "Private map explorer" in answer[0]
    finally:
        server.stop()


def test_a_taken_port_is_one_sentence() -> None:
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        port = taken.getsockname()[1]
        with pytest.raises(InputError, match=str(port)):
            serve("madeup", port=port, open=False, warm=False, start=False)


@pytest.mark.parametrize("port", [-1, 65536])
def test_a_number_that_is_no_port_is_refused(port) -> None:
    with pytest.raises(InputError, match="port"):
        serve("madeup", port=port, open=False, warm=False, start=False)


def test_an_unknown_city_is_refused_before_anything_starts() -> None:
    with pytest.raises(InputError, match="no city"):
        serve("atlantis", port=0, open=False, start=False)
