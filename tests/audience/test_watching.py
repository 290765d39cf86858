"""The command, the process that answers and the one that watches it."""

from __future__ import annotations

import os
import shutil
import socket
import subprocess
import sys
import time
from pathlib import Path

import psutil
import pytest

from explorer.audience.watching import Settings, serve
from explorer.cli import main
from explorer.errors import InputError
from tests.audience.running import two_folders
from tests.load.serving import Served
from tests.publish.folders import made_good, saved_otherwise

unix = pytest.mark.skipif(sys.platform == "win32", reason="signals and sockets of Unix")


@pytest.fixture(scope="module")
def root(tmp_path_factory) -> Path:
    return two_folders(tmp_path_factory.mktemp("releases"))


@pytest.mark.parametrize(
    ("flags", "said"),
    [
        (["--audience", "nowhere"], "There is no folder nowhere"),
        (["--audience", ".", "--city", "madeup"], "leave out --city"),
        (["--audience", ".", "--class-only"], "leave out --class-only"),
        (["--audience", ".", "--auth", "x"], "leave out --auth"),
        (["--audience", ".", "--scenario", "x"], "leave out --scenario"),
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


def test_a_folder_of_which_one_does_not_hold_is_not_shown_at_all(root, tmp_path) -> None:
    shutil.copytree(root, tmp_path / "shown")
    saved_otherwise(tmp_path / "shown" / "after", preview=True)
    made_good(tmp_path / "shown" / "after")
    said: list[str] = []
    with pytest.raises(InputError, match=r"after is not shown.*preview"):
        serve(Settings((str(tmp_path / "shown"),), port=0), said.append)
    assert said == ["Verifying 2 releases …"]


def test_a_port_that_is_taken_and_bad_names_are_said_before_anything_is_read(root) -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
        for settings, said in (
            (Settings((str(root),), port), f"Port {port} .* in use"),
            (Settings((str(root),), 0, origins=("*",)), "is not an origin"),
            (Settings((str(root),), 0, hosts=("*",)), "name each host"),
        ):
            with pytest.raises(InputError, match=said):
                serve(settings, pytest.fail)


def until(what, seconds: float = 60.0) -> None:
    end = time.monotonic() + seconds
    while not what():
        assert time.monotonic() < end
        time.sleep(0.05)


@unix
def test_nothing_that_reads_every_format_stays_and_no_worker_outlives_who_watches_it(root) -> None:
    served = Served(root / "before")
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
