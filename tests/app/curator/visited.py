"""What a page of scenarios is asked in tests: its address, and what it tells the browser."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

import panel as pn
import pytest

from explorer.scenario import Scenario


def addressing(monkeypatch: pytest.MonkeyPatch) -> Callable[[Scenario | str], None]:
    """What gives the session an address with ``?s=...``."""

    def put(what: Scenario | str) -> None:
        text = what.to_link() if isinstance(what, Scenario) else what
        sent = property(lambda _self: {"s": [text.encode("utf8")]})
        monkeypatch.setattr(type(pn.state), "session_args", sent)

    return put


def browser(page: Any) -> list[Any]:
    """The two hidden fields through which page and browser speak: orders, answers."""
    return list(page.scenarios.hidden.select(pn.widgets.TextInput))


def order_of(page: Any) -> dict[str, Any]:
    """What the browser was last told to do."""
    return dict(json.loads(browser(page)[0].value or "{}"))
