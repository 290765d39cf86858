"""The program: help, one sentence for what a person can mend, interrupts, closed pipes."""

import os
import re
import signal
import subprocess
import sys
import time
from pathlib import Path

import numpy as np
import pytest
from numba import njit
from numba.extending import overload

import explorer
from explorer import Ledger, Release
from explorer.cli import main
from explorer.commands import COMMANDS, command
from explorer.commands.paying import WAITS, Payment, saved_first

ROOT = Path(__file__).resolve().parents[2]
MODULE = [sys.executable, "-m", "explorer"]


def program(*arguments, **settings):
    """Run Python in a process of its own."""
    return subprocess.run(
        [sys.executable, *arguments], cwd=ROOT, capture_output=True, text=True, check=False,
        timeout=120, env={**os.environ, **settings},
    )  # fmt: skip


def test_help_lists_every_command_and_loads_no_view_library():
    code = (
        "import sys; sys.argv[1:] = ['--help']; from explorer.cli import main\n"
        "try: main()\n"
        "finally: print(sorted({'panel', 'bokeh', 'holoviews', 'datashader', 'tqdm', 'opendp'}"
        " & set(sys.modules)))"
    )
    done = program("-c", code)
    assert done.returncode == 0, done.stderr
    assert done.stdout.splitlines()[-1] == "[]"
    for name in COMMANDS:
        assert re.search(rf"^ +{name}\s+{command(name).HELP}$", done.stdout, re.MULTILINE), name


@pytest.mark.parametrize("name", COMMANDS)
def test_every_command_has_help(name, capsys):
    with pytest.raises(SystemExit) as end:
        main([name, "--help"])
    assert end.value.code == 0
    assert f"usage: dp-explorer {name}" in capsys.readouterr().out


def test_the_module_is_the_program():
    assert program("-m", "explorer", "--version").stdout.strip() == explorer.__version__


def test_without_a_command_help_is_shown(capsys):
    assert main([]) == 0
    assert "commands:" in capsys.readouterr().out


def test_a_setting_that_cannot_be_is_a_sentence():
    done = program("-m", "explorer", "cities", EXPLORER_MAX_EPSILON="abc")
    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr == (
        "dp-explorer: EXPLORER_MAX_EPSILON is 'abc': set it to a number of 0.1 or more, or leave "
        "it.\n"
    )


def booked_release(output, side):
    """A release that has been booked and whose noise is being drawn, cell by cell."""
    process = subprocess.Popen(
        [*MODULE, "release", "--city", "madeup", "--mechanism", "identity", "--epsilon", "1",
         "--shape", str(side), "-o", str(output)],
        cwd=ROOT, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
    )  # fmt: skip
    ledger = Ledger()
    patience = time.monotonic() + 300
    while not (ledger.path.exists() and ledger.rows()) and time.monotonic() < patience:
        assert process.poll() is None, process.communicate()
        time.sleep(0.01)
    return process, ledger


@pytest.mark.slow
@pytest.mark.skipif(os.name != "posix", reason="signals and pipes of POSIX")
def test_a_release_that_is_paid_for_is_saved_before_an_interrupt(tmp_path):
    output = tmp_path / "map.parquet"
    process, ledger = booked_release(output, 512)
    process.send_signal(signal.SIGINT)
    out, err = process.communicate(timeout=300)
    assert process.returncode == 130, err
    assert "Traceback" not in err
    assert [line for line in err.splitlines() if line][-2:] == [WAITS, "dp-explorer: interrupted."]
    assert f"Saved as {output}" in out
    assert len(ledger.rows()) == 1
    assert Release.load(output).n_leaves == 512 * 512


@pytest.mark.slow
@pytest.mark.skipif(os.name != "posix", reason="signals and pipes of POSIX")
def test_a_second_interrupt_ends_in_code_130_and_leaves_no_half_file(tmp_path):
    # The noise of four million cells is half a minute of work.
    process, ledger = booked_release(tmp_path / "map.parquet", 2048)
    process.send_signal(signal.SIGINT)
    assert process.stderr is not None
    said = ""
    while WAITS not in said:
        line = process.stderr.readline()
        assert line, said
        said += line
    process.send_signal(signal.SIGINT)
    out, err = process.communicate(timeout=300)
    assert process.returncode == 130, err
    assert out == ""
    assert "Traceback" not in err
    assert err.splitlines()[-2:] == [
        "What the interrupted release would have cost stays booked.",
        "dp-explorer: interrupted.",
    ]
    assert len(ledger.rows()) == 1
    assert [path.name for path in tmp_path.iterdir()] == [ledger.path.name]


@pytest.mark.slow
@pytest.mark.skipif(os.name != "posix", reason="signals and pipes of POSIX")
@pytest.mark.parametrize("functions", [1, 6, 12])
def test_an_interrupt_while_functions_are_compiled_costs_nothing(tmp_path, functions):
    """With nothing compiled yet, Ctrl-C comes when so many functions have been."""
    compiled, output = tmp_path / "compiled", tmp_path / "map.parquet"
    process = subprocess.Popen(
        [*MODULE, "release", "--city", "madeup", "--mechanism", "identity", "--epsilon", "1",
         "--shape", "64", "-o", str(output)],
        cwd=ROOT, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
        env={**os.environ, "NUMBA_CACHE_DIR": str(compiled)},
    )  # fmt: skip
    patience = time.monotonic() + 300
    while len(list(compiled.rglob("*.nbc"))) < functions and time.monotonic() < patience:
        assert process.poll() is None, process.communicate()
        time.sleep(0.005)
    process.send_signal(signal.SIGINT)
    out, err = process.communicate(timeout=300)
    assert process.returncode == 130, err
    assert out == ""
    assert "Traceback" not in err
    # One sentence, and none that says something was paid.
    made_up = "Port Amber is made up: nobody lives there."
    assert [line for line in err.splitlines() if line != made_up] == ["dp-explorer: interrupted."]
    assert not Ledger().path.exists() or not Ledger().rows()
    assert not output.exists()


@njit
def handed_back(array, turns):
    """Some work; numba runs Python to hand back an array that a kernel was given."""
    for i in range(turns):
        array[0] = (array[0] * 31 + i) % 1_000_003
    return array


@pytest.mark.skipif(not hasattr(signal, "setitimer"), reason="timers of POSIX")
def test_an_interrupt_in_a_kernel_that_hands_an_array_back_is_one(monkeypatch, capsys):
    array, turns, took = np.zeros(1, dtype=np.int64), 1_000, 0.0
    handed_back(array, turns)
    while took < 0.3:
        turns, begun = 2 * turns, time.monotonic()
        handed_back(array, turns)
        took = time.monotonic() - begun

    def hands_back(_arguments):
        usual = signal.signal(signal.SIGALRM, signal.getsignal(signal.SIGINT))
        try:
            signal.setitimer(signal.ITIMER_REAL, 0.05)
            handed_back(array, turns)
            time.sleep(60)
        finally:
            signal.setitimer(signal.ITIMER_REAL, 0)
            signal.signal(signal.SIGALRM, usual)

    monkeypatch.setattr(command("cities"), "run", hands_back)
    assert main(["cities"]) == 130
    assert capsys.readouterr().err == "dp-explorer: interrupted.\n"


def interrupts_its_compilation():
    """Python's version of a function whose version for kernels interrupts numba."""
    return 0


@overload(interrupts_its_compilation)
def _typed():
    signal.raise_signal(signal.SIGINT)
    return lambda: 1


@njit
def calls_it():
    return interrupts_its_compilation()


def test_no_command_is_interrupted_in_the_midst_of_a_compilation(monkeypatch, capsys):
    steps = []

    def compiles(_arguments):
        steps.append(calls_it())
        time.sleep(60)
        steps.append("went on")

    monkeypatch.setattr(command("cities"), "run", compiles)
    assert main(["cities"]) == 130
    assert steps == [1]
    assert capsys.readouterr().err == "dp-explorer: interrupted.\n"


@pytest.mark.skipif(os.name != "posix", reason="signals and pipes of POSIX")
def test_a_reader_that_has_seen_enough_is_no_error():
    # The reader is gone before the first line is written.
    code = (
        "import sys, time; time.sleep(0.5)\n"
        "from explorer.cli import main; sys.exit(main(['cities']))"
    )
    process = subprocess.Popen(
        [sys.executable, "-c", code], cwd=ROOT, stdout=subprocess.PIPE, stderr=subprocess.PIPE
    )
    assert process.stdout is not None
    assert process.stderr is not None
    process.stdout.close()
    err = process.stderr.read().decode()
    assert process.wait(60) == 0, err
    assert err == ""


# A second Ctrl-C gives a booked release up, whenever it comes.


def paid_and_drawn(interrupts=0):
    """What was reached before the command was interrupted."""
    reached, payment = [], Payment()

    def drawn():
        with saved_first(payment):
            payment.book("a" * 64, 5, "htf")
            for _ in range(interrupts):
                signal.raise_signal(signal.SIGINT)
            reached.append("drawn and saved")

    with pytest.raises(KeyboardInterrupt):
        drawn()
    assert payment.booked
    assert len(payment.rows()) == 1
    return reached


@pytest.mark.parametrize("while_writing", [1, 2])
def test_an_interrupt_that_comes_while_the_ledger_writes(monkeypatch, while_writing):
    write = Ledger.book

    def interrupted(self, *args):
        number = write(self, *args)
        for _ in range(while_writing):
            signal.raise_signal(signal.SIGINT)
        return number

    monkeypatch.setattr(Ledger, "book", interrupted)
    assert paid_and_drawn() == (["drawn and saved"] if while_writing == 1 else [])


def test_a_second_interrupt_while_the_first_is_answered(monkeypatch):
    said = []

    def hasty(_number, text):
        said.append(text)
        if len(said) == 1:
            signal.raise_signal(signal.SIGINT)
        return len(text)

    monkeypatch.setattr("explorer.commands.paying.os.write", hasty)
    assert paid_and_drawn(1) == []
    assert len(said) == 1
