"""Commands run in a folder and book into a ledger of the test, whatever the environment says."""

import signal

import pytest

from explorer.cli import main
from tests.commands.refusals import typed


@pytest.fixture(autouse=True)
def own_ledger(tmp_path, monkeypatch):
    monkeypatch.setenv("EXPLORER_LEDGER", str(tmp_path / "ledger.sqlite3"))
    monkeypatch.delenv("EXPLORER_EPSILON_CAP", raising=False)


@pytest.fixture(autouse=True)
def pythons_own_interrupts():
    """Ctrl-C as in a fresh process: a server that ran in this one before leaves its own handler."""
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    yield
    signal.signal(signal.SIGINT, signal.SIG_DFL if before is None else before)


@pytest.fixture
def run(capsys):
    """A function that runs a command line, which ends well, and returns what it has printed."""

    def run(line, **stand_ins):
        capsys.readouterr()
        code = main(typed(line, **stand_ins))
        printed = capsys.readouterr()
        assert code == 0, printed.err
        return printed

    return run
