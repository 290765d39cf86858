"""The app: pages, state, server. `Explore` is the first page, `serve` opens it in a browser."""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from explorer.app.classroom.page import ClassResult
    from explorer.app.compare.page import Compare
    from explorer.app.country.page import Country
    from explorer.app.explore.page import Explore
    from explorer.app.federated.page import Federated
    from explorer.app.learn.page import Learn
    from explorer.app.publish.page import Publish
    from explorer.app.server import serve
    from explorer.app.trips.page import Trips

__all__ = [
    "ClassResult",
    "Compare",
    "Country",
    "Explore",
    "Federated",
    "Learn",
    "Publish",
    "Trips",
    "serve",
]


def __getattr__(name: str) -> Any:
    """A page's class or `serve`, loaded when it is first used: no page needs the others."""
    from explorer.app.pages import PAGES

    homes = {page.name: page.make.partition(":")[0] for page in PAGES}
    home = {**homes, "serve": "explorer.app.server"}.get(name)
    if home is None:
        raise AttributeError(f"module 'explorer.app' has no attribute {name!r}")
    result = getattr(import_module(home), name)
    globals()[name] = result
    return result


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
