"""The app: pages, state, server. `Explore` is the first page, `serve` opens it in a browser."""

from importlib import import_module
from typing import TYPE_CHECKING, Any

import panel as pn

from explorer.app.kit import notebook_output
from explorer.app.work import (
    early_changes,
    faults,
    leaving,
    limits,
    panel_patches,
    sessions,
    unread,
    whose_page,
)

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

# Before the first session: see there.
panel_patches.install()
early_changes.send_early_changes()
panel_patches.lock_handlers()
whose_page.take_back()
panel_patches.handle_in_turn()
panel_patches.hear_all()
panel_patches.expect_models_sent_back()
notebook_output.write_posters()
sessions.refuse_chosen()
limits.slow_down_floods()
unread.drop_who_never_reads()
leaving.forget_scripts()
faults.write_briefly()
# In a notebook Panel would ask the net for its scripts; the server never does.
pn.config.inline = True

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
    found = getattr(import_module(home), name)
    globals()[name] = found
    return found


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
