"""The app: pages, state, server. `Explore` is the first page, `serve` opens it in a browser."""

from importlib import import_module
from typing import TYPE_CHECKING, Any

import panel as pn

from explorer.app.work import panel_patches

if TYPE_CHECKING:
    from explorer.app.classroom.page import ClassResult
    from explorer.app.compare.page import Compare
    from explorer.app.explore.page import Explore
    from explorer.app.learn.page import Learn
    from explorer.app.server import serve

# Before the first session: see there.
panel_patches.install()
panel_patches.lock_handlers()
# In a notebook Panel would ask the net for its scripts; the server never does.
pn.config.inline = True

__all__ = ["ClassResult", "Compare", "Explore", "Learn", "serve"]

# Pages are loaded when they are first used: one needs none of the others.
_HOMES = {
    "ClassResult": "classroom.page",
    "Compare": "compare.page",
    "Explore": "explore.page",
    "Learn": "learn.page",
    "serve": "server",
}


def __getattr__(name: str) -> Any:
    if name not in _HOMES:
        raise AttributeError(f"module 'explorer.app' has no attribute {name!r}")
    found = getattr(import_module(f"explorer.app.{_HOMES[name]}"), name)
    globals()[name] = found
    return found


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
