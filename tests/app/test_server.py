"""The server starts, answers and refuses what it cannot do."""

import multiprocessing
import socket
import subprocess
import sys
import urllib.request
from threading import Thread

import pytest

from explorer.app import serve
from explorer.cli import main
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
        assert server._tornado.websocket_origins == {
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
    ],
)
def test_an_origin_that_is_not_one_host_is_refused(origin) -> None:
    with pytest.raises(InputError, match=r"any site|not a host"):
        serve("madeup", port=0, open=False, start=False, origins=[origin])


def test_the_command_passes_origins_on(monkeypatch) -> None:
    passed: dict = {}
    monkeypatch.setattr("explorer.app.server.serve", lambda **given: passed.update(given))
    main(["serve", "--no-open", "--allow-origin", "a.example", "--allow-origin", "b.example:81"])
    assert passed["origins"] == ["a.example", "b.example:81"]


def test_the_command_refuses_every_site_in_one_sentence(capsys) -> None:
    assert main(["serve", "--no-open", "--no-warm", "--port", "0", "--allow-origin", "*"]) != 0
    assert "any site" in capsys.readouterr().err
