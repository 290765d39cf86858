"""Published folders, as an audience is shown them."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from tests.audience.running import two_folders


@pytest.fixture(scope="module")
def whole(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Two of them, which no test may change."""
    return two_folders(tmp_path_factory.mktemp("releases"))


@pytest.fixture
def root(whole: Path, tmp_path: Path) -> Path:
    """A copy of them, which a test may change."""
    shutil.copytree(whole, tmp_path / "shown")
    return tmp_path / "shown"
