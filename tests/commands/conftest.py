"""Commands book into a ledger of the test, whatever the environment says."""

import signal

import pytest


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
