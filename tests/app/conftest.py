"""What the tests of the app share."""

from __future__ import annotations

import pytest

from explorer.app.pages import PAGES
from explorer.app.work.compiling import COMPILED


@pytest.fixture(scope="session", autouse=True)
def compiled_here() -> None:
    """Tests compile in their own process and wait for no other."""
    COMPILED.update(page.key for page in PAGES)
