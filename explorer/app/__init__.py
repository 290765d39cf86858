"""The app: pages, state, server. `Explore` is the first page, `serve` opens it in a browser."""

import panel as pn

from explorer.app import delivery
from explorer.app.pages.classroom import ClassResult
from explorer.app.pages.compare import Compare
from explorer.app.pages.explore import Explore
from explorer.app.pages.learn import Learn
from explorer.app.server import serve

# Before the first session: see there.
delivery.install()
delivery.lock_handlers()
# In a notebook Panel would ask the net for its scripts; the server never does.
pn.config.inline = True

__all__ = ["ClassResult", "Compare", "Explore", "Learn", "serve"]
