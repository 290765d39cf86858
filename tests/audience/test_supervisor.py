"""The command, the process that answers and the one that watches it."""

from __future__ import annotations

import json
import os
import shutil
import signal
import socket
import subprocess
import sys
import time
import urllib.error
import urllib.request
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import psutil
import pytest

from explorer.audience.supervisor import Settings, serve
from explorer.cli import main
from explorer.errors import InputError
from tests.audience.running import key_of
from tests.audience.serving import Served
from tests.publish.folders import made_good, saved_otherwise

unix = pytest.mark.skipif(sys.platform == "win32", reason="signals and sockets of Unix")


@pytest.mark.parametrize(
    ("flags", "said"),
    [
        (["--audience", "nowhere"], "There is no folder nowhere"),
        (["--audience", ".", "--city", "madeup"], "leave out --city"),
        (["--audience", ".", "--auth", "x"], "leave out --auth"),
        (["--embed-origin", "https://x.org"], "leave out --embed-origin"),
    ],
)
def test_what_makes_no_sense_is_one_sentence(flags, said, capfd, monkeypatch) -> None:
    def become(_program: str, command: list[str], environment: dict[str, str]) -> None:
        done = subprocess.run(command, env=environment, check=False)
        raise SystemExit(done.returncode)

    monkeypatch.setattr(os, "execve", become)
    try:
        code: object = main(["serve", *flags])
    except SystemExit as ended:
        code = ended.code
    assert code == 2
    error = capfd.readouterr().err.strip()
    assert said in error
    assert len(error.splitlines()) == 1


def test_a_folder_of_which_one_does_not_hold_is_not_shown_at_all(whole, tmp_path) -> None:
    shutil.copytree(whole, tmp_path / "shown")
    saved_otherwise(tmp_path / "shown" / "after", preview=True)
    made_good(tmp_path / "shown" / "after")
    said: list[str] = []
    with pytest.raises(InputError, match=r"after is not shown.*preview"):
        serve(Settings((str(tmp_path / "shown"),), port=0), said.append)
    assert said == ["Verifying 2 releases …"]


def test_a_port_that_is_taken_and_bad_names_are_said_before_anything_is_read(whole) -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
        for settings, said in (
            (Settings((str(whole),), port), f"Port {port} .* in use"),
            (Settings((str(whole),), 0, origins=("*",)), "is not an origin"),
            (Settings((str(whole),), 0, hosts=("*",)), "name each host"),
        ):
            with pytest.raises(InputError, match=said):
                serve(settings, pytest.fail)


def until(what, seconds: float = 60.0) -> None:
    end = time.monotonic() + seconds
    while not what():
        assert time.monotonic() < end
        time.sleep(0.05)


@unix
def test_nothing_that_reads_every_format_stays_and_no_worker_outlives_who_watches_it(whole) -> None:
    served = Served(whole / "before")
    watching, worker = psutil.Process(served.process.pid), served.worker
    assert watching.children(recursive=True) == [worker]
    for each in (watching, worker):
        mapped = Path(f"/proc/{each.pid}/maps").read_text()
        assert "gdal" not in mapped
        assert "opendp" not in mapped
    # Not one module of the command has stayed.
    assert "explorer.audience" in " ".join(watching.cmdline())
    served.process.kill()
    served.process.wait(30)
    until(lambda: not worker.is_running() or worker.status() == "zombie")


def ask(port: int, path: str, areas: list[dict] | None = None) -> int:
    """Status of an answer; a connection that was cut is opened again once."""
    body = None if areas is None else json.dumps({"maps": [path], "areas": areas}).encode()
    address = f"http://127.0.0.1:{port}" + (path if areas is None else "/answers")
    request = urllib.request.Request(address, body, {"Host": f"localhost:{port}"})
    for again in (True, False):
        try:
            return urllib.request.urlopen(request, timeout=30).status
        except urllib.error.HTTPError as refused:
            return refused.code
        except OSError:
            if not again:
                raise
    raise AssertionError


@unix
def test_visitors_are_answered_while_the_worker_is_killed_and_a_map_goes(whole, tmp_path) -> None:
    folder = tmp_path / "shown"
    shutil.copytree(whole, folder)
    kept, other = key_of(folder / "before"), key_of(folder / "after")
    served = Served(folder)
    try:
        assert [ask(served.port, f"/map/{key}") for key in (kept, other)] == [200, 200]
        # Exchanged: as it is, it is not what was verified.
        (folder / "after" / "leaves.csv").write_text("leaf,count\n0,4711\n")
        until(lambda: ask(served.port, f"/map/{other}") == 410)
        first = served.worker
        first.kill()
        # Visitors of that moment wait, and are answered.
        with ThreadPoolExecutor(6) as visitors:
            boxes = [[{"box": [0, 0, 100 * n, 100]}] for n in range(1, 7)]
            codes = visitors.map(lambda box: ask(served.port, kept, box), boxes)
            assert {*codes} == {200}
        assert served.worker.pid != first.pid
        assert ask(served.port, f"/map/{other}") == 410, "the next worker does not show it either"
        assert b"another one takes its place" in served.said
        both = [psutil.Process(served.process.pid), served.worker]
        served.process.send_signal(signal.SIGINT)
        assert served.process.wait(30) == 0
        assert not [each for each in both if each.is_running() and each.status() != "zombie"]
        until(lambda: served.said.endswith(b"The explorer has stopped.\n"))
    finally:
        served.process.kill()
