"""What the tests of the app share."""

from __future__ import annotations

import inspect
from functools import partial

import pytest

from explorer.app.pages import PAGES
from explorer.app.work.compiling import COMPILED


@pytest.fixture(scope="session", autouse=True)
def compiled_here() -> None:
    """Tests compile in their own process and wait for no other."""
    COMPILED.update(page.key for page in PAGES)


@pytest.hookimpl(tryfirst=True)
def pytest_pyfunc_call(pyfuncitem: pytest.Function) -> bool | None:
    """A test that is a coroutine runs in the loop of the server that it has as ``running``."""
    if not inspect.iscoroutinefunction(pyfuncitem.obj):
        return None
    given = {
        name: pyfuncitem.funcargs[name] for name in inspect.signature(pyfuncitem.obj).parameters
    }
    given["running"].do(partial(pyfuncitem.obj, **given))
    return True
