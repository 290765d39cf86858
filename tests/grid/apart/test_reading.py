"""A reader of a stranger's file takes what it may and no more, and is gone when nobody waits."""

import os
import signal
import subprocess
import sys
import threading
import time
from pathlib import Path

import numpy as np
import pytest

from explorer import InputError
from explorer.grid import gdal
from explorer.grid.apart import GivenUp, Limits, read_apart
from explorer.grid.apart import reading as apart
from explorer.grid.apart.plain import NotPlain, frames, received
from tests.grid.apart import readers
from tests.refusals import refuses

SMALL = Limits(cpu=1, memory=100_000_000, wall=20)


def is_there(pid):
    try:
        return "State:\tZ" not in Path(f"/proc/{pid}/status").read_text()
    except OSError:
        return False


def until(what, seconds=30.0):
    end = time.monotonic() + seconds
    while not what():
        assert time.monotonic() < end, "it has not come to pass"
        time.sleep(0.02)


def children(pid):
    """Processes that a process has forked and not reaped."""
    found = []
    for task in Path(f"/proc/{pid}/task").iterdir():
        found += map(int, (task / "children").read_text().split())
    return found


def test_arrays_and_texts_come_back_from_another_process():
    ends = []
    found = read_apart(readers.repeat, b"abc", 1.5, None, "array 0", True, ended=ends.append)
    assert found["size"] == 3
    assert found["more"] == [1.5, None, "array 0", True]
    assert found["x"].tolist() == [0, 1, 2]
    assert found["pid"] != os.getpid()
    assert ends[0].code == 0
    other = read_apart(readers.repeat, b"")
    assert other["pid"] != found["pid"]


def test_no_reader_is_forked_from_a_process_with_threads():
    read_apart(readers.repeat, b"")
    assert len(list(Path(f"/proc/{apart.warden()}/task").iterdir())) == 1


def test_a_refusal_is_its_sentence_and_a_failure_says_no_value(caplog):
    refuses(r"^This is a bad file; give another\.$", read_apart, readers.refuse, b"a bad file")
    with pytest.raises(InputError, match="it may be damaged") as failed:
        read_apart(readers.fail, b"secret")
    assert "secret" not in str(failed.value) + caplog.text
    assert "KeyError" in caplog.text


@pytest.mark.parametrize(("work", "why", "sentence"), [
    (readers.spin, "cpu", "more than 1 seconds of work, so it was given up"),
    (readers.hoard, "", "more than 0.1 GB of memory, so it was given up"),
    (readers.hoard_and_say_damaged, "", "more than 0.1 GB of memory"),
    (readers.crash, "", "could not be read; it may be damaged"),
    (readers.leave, "", "could not be read; it may be damaged"),
    (readers.answer_with_objects, "", "could not be read; it may be damaged"),
])  # fmt: skip
def test_each_limit_is_one_sentence(work, why, sentence):
    ends = []
    refuses(sentence, read_apart, work, b"", limits=SMALL, ended=ends.append)
    assert ends[0].why == why
    assert ends[0].cpu < 3
    # The next one is as good as new.
    assert read_apart(readers.repeat, b"ab", limits=SMALL)["size"] == 2


def test_who_sleeps_too_long_is_ended(tmp_path):
    note = tmp_path / "pid"
    with pytest.raises(InputError, match="more than 1 seconds, so it was given up"):
        read_apart(readers.sleep, str(note).encode(), limits=Limits(wall=1.0))
    until(lambda: not is_there(int(note.read_text())))


def test_a_reader_that_nobody_waits_for_is_ended(tmp_path):
    note = tmp_path / "pid"
    with pytest.raises(GivenUp):
        read_apart(readers.sleep, str(note).encode(), given_up=note.exists)
    until(lambda: note.read_text() and not is_there(int(note.read_text())))


def test_two_are_read_at_a_time_and_the_rest_wait_in_turn(tmp_path):
    read_apart(readers.repeat, b"")
    warden = apart.warden()
    assert warden is not None
    until(lambda: not children(warden))
    stop = threading.Event()
    most = 0

    def ask(number):
        with pytest.raises(GivenUp):
            read_apart(readers.sleep, str(tmp_path / f"{number}").encode(), given_up=stop.is_set)

    threads = [threading.Thread(target=ask, args=(number,)) for number in range(50)]
    for each in threads:
        each.start()
    until(lambda: len(list(tmp_path.iterdir())) == 2)
    for _ in range(20):
        most = max(most, len(children(warden)))
        time.sleep(0.01)
    stop.set()
    for each in threads:
        each.join()
    assert most == apart.MOST_READERS == 2
    assert len(list(tmp_path.iterdir())) == 2
    until(lambda: not children(warden))


def test_a_warden_that_was_killed_is_replaced():
    read_apart(readers.repeat, b"")
    first = apart.warden()
    assert first is not None
    os.kill(first, signal.SIGKILL)
    until(lambda: not is_there(first))
    assert read_apart(readers.repeat, b"a")["size"] == 1
    assert apart.warden() != first


@pytest.mark.parametrize("ending", [signal.SIGTERM, signal.SIGKILL, signal.SIGINT])
def test_nothing_is_left_of_a_server_that_ends_while_it_reads(ending, tmp_path):
    note, folder = tmp_path / "pid", tmp_path / "tmp"
    folder.mkdir()
    code = (
        "import sys; from explorer.grid.apart import read_apart, reading\n"
        "from tests.grid.apart import readers\n"
        "read_apart(readers.repeat, b''); print(reading.warden(), flush=True)\n"
        f"read_apart(readers.sleep, {str(note)!r}.encode())"
    )
    root = Path(__file__).resolve().parents[3]
    server = subprocess.Popen(
        [sys.executable, "-c", code],
        cwd=root,
        env={**os.environ, "TMPDIR": str(folder)},
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        text=True,
    )
    with server:
        warden = int(server.stdout.readline())
        until(lambda: note.exists() and note.read_text())
        server.send_signal(ending)
    for pid in (warden, int(note.read_text())):
        until(lambda pid=pid: not is_there(pid))
    assert list(folder.iterdir()) == []


def told(value):
    """A value sent and received."""
    sent = memoryview(b"".join(bytes(each) for each in frames(value)))
    at = 0

    def fill(buffer):
        nonlocal at
        view = memoryview(buffer)
        view[:] = sent[at : at + len(view)]
        at += len(view)

    return received(fill, 10**6)


def test_plain_values_come_back_as_they_were():
    sent = {
        "a": [None, True, 3, 0.1, "array 0", "text "],
        "x": np.arange(6, dtype=">i2").reshape(2, 3)[:, ::2],
        "t": np.array(["2020-01-02"], "datetime64[ms]"),
        "none": np.empty((0, 4)),
    }
    came = told(sent)
    assert isinstance(came, dict)
    assert came["a"] == sent["a"]
    for name in ("x", "t", "none"):
        assert came[name].dtype == sent[name].dtype
        np.testing.assert_array_equal(came[name], sent[name])


@pytest.mark.parametrize(
    "value", [{1: 2}, {"a": object()}, np.array([None]), np.array(["a"]), b"a", {"a": {1, 2}}]
)
def test_nothing_else_is_sent(value):
    with pytest.raises(NotPlain):
        frames(value)


@pytest.mark.parametrize("head", [
    b"[]", b"{}", b'{"value": "array 0", "arrays": []}', b'{"value": 1, "arrays": [["|O", [1]]]}',
    b'{"value": 1, "arrays": [["<f8", [1000000000]]]}',
    b'{"value": 1, "arrays": [["<f8", [-1]]]}', b'{"value": 1, "arrays": [["S9999", [1]]]}',
    b"[" * 100_000,
])  # fmt: skip
def test_no_answer_makes_an_object_or_a_huge_array(head):
    parts = [len(head).to_bytes(8, "little"), head]

    def fill(buffer):
        memoryview(buffer)[:] = parts.pop(0)

    with pytest.raises(NotPlain):
        received(fill, 10**6)


# Where the process is ours, GDAL has the drivers that we mean and no other.

ROOT = Path(__file__).resolve().parents[2]


def test_readers_of_foreign_files_have_three_drivers():
    assert read_apart(readers.drivers, b"") == sorted(gdal.DRIVERS)


def test_commands_have_three_drivers_and_say_nothing_of_the_others():
    code = (
        "import sys; from explorer.cli import main; sys.argv[1:] = ['info', '--help']\n"
        "try: main()\nexcept SystemExit: pass\n"
        "import pyogrio; print(sorted(pyogrio.list_drivers()))"
    )
    made = subprocess.run(
        [sys.executable, "-c", code],
        cwd=ROOT,
        env={name: value for name, value in os.environ.items() if not name.startswith("GDAL")},
        capture_output=True,
        text=True,
        check=True,
    )
    assert made.stdout.splitlines()[-1] == str(sorted(gdal.DRIVERS))
    assert made.stderr == ""
