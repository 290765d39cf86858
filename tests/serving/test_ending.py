"""A server that is told to stop: nobody new, a drawing finishes, nothing else is waited for."""

import asyncio
import contextlib
import os
import signal
import subprocess
import sys
import threading

import pytest

from explorer.serving import ending as module
from explorer.serving.ending import Ending
from explorer.serving.entrance import Entrance

SERVING = """
import multiprocessing, pathlib, signal, sys, time
from concurrent.futures import ThreadPoolExecutor
from explorer.app.server import serve
from explorer.serving.ending import ENDING, leave, run_until_stopped

def draw():
    with ENDING.finishing():
        print("ready", flush=True)
        while not ENDING.begun:
            time.sleep(0.01)
        time.sleep(0.5)
        pathlib.Path(sys.argv[1]).write_text("drawn")

if __name__ == "__main__":
    server = serve("madeup", port=0, open=False, warm=False, start=False)
    # A read that takes for ever, and the process of a sweep.
    child = multiprocessing.get_context("spawn").Process(target=time.sleep, args=(600,))
    child.start()
    print("child", child.pid, flush=True)
    pool = ThreadPoolExecutor(2)
    if sys.argv[2] == "plain":
        def refuse(*_):
            raise NotImplementedError
        server.io_loop.asyncio_loop.add_signal_handler = refuse
        # Whoever began the tests may have told their processes to ignore it.
        signal.signal(signal.SIGINT, signal.default_int_handler)
    # Once it listens to signals.
    server.io_loop.add_callback(lambda: [pool.submit(time.sleep, 600), pool.submit(draw)] and None)
    run_until_stopped(server, lambda said: print(said, flush=True))
    leave()
"""


@pytest.mark.skipif(sys.platform != "linux", reason="signals of Unix, and /proc")
@pytest.mark.parametrize(
    ("told", "loop"),
    [(signal.SIGTERM, "signals"), (signal.SIGINT, "plain")],
)
def test_a_drawing_finishes_and_nothing_else_keeps_the_server(tmp_path, told, loop) -> None:
    """Also where an event loop knows no signals, as on Windows."""
    script, drawn = tmp_path / "serving.py", tmp_path / "drawn"
    script.write_text(SERVING)
    command = [sys.executable, "-u", str(script), str(drawn), loop]
    server = subprocess.Popen(command, stdout=subprocess.PIPE, text=True, start_new_session=True)
    assert server.stdout is not None

    def kill_all() -> None:
        with contextlib.suppress(ProcessLookupError):
            os.killpg(server.pid, signal.SIGKILL)

    # A server that stays must not keep the tests, nor a child of it that holds on to its output.
    patience = threading.Timer(300, kill_all)
    patience.start()
    said, child = [], 0
    try:
        for line in server.stdout:
            said.append(line)
            if line.startswith("child"):
                child = int(line.split()[1])
            if line == "ready\n":
                server.send_signal(told)
                break
        # It would stay for ten minutes.
        assert server.wait(60) == 0
        with pytest.raises(ProcessLookupError):
            # Ended, and not a child of anybody any more.
            os.kill(child, 0)
    finally:
        kill_all()
        patience.cancel()
    said += server.stdout.readlines()
    assert drawn.read_text() == "drawn"
    assert "".join(said).endswith(
        "The explorer stops when the release that is being drawn is there.\n"
        "The explorer has stopped.\n"
    )


def test_who_comes_late_is_not_let_in(monkeypatch) -> None:
    entrance = Entrance(list)
    assert entrance.admits("1")
    monkeypatch.setattr(module.ENDING, "begun", True)
    assert not entrance.admits("1")


def test_what_takes_too_long_is_not_waited_for() -> None:
    one, gate = Ending(), threading.Event()

    def draw() -> None:
        with one.finishing():
            gate.wait()

    thread = threading.Thread(target=draw)
    thread.start()
    while not one.busy:
        pass
    assert not asyncio.run(one.quiet(0.1))
    gate.set()
    thread.join()
    assert asyncio.run(one.quiet(60))
