"""Commands book into a ledger of the test, whatever the environment says."""

from __future__ import annotations

from pathlib import Path

import pytest


@pytest.fixture(autouse=True)
def own_ledger(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("EXPLORER_LEDGER", str(tmp_path / "ledger.sqlite3"))
    monkeypatch.delenv("EXPLORER_EPSILON_CAP", raising=False)
