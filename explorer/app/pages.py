"""The pages of the app, one line each: a page is a folder that fills in a frame.

A new page is a folder with a module ``page.py``, in it a subclass of `AppPage` (with exact data: of
`CuratorPage`), and its line in `PAGES`. Pages are loaded when they are needed, so that a process
that serves an audience never loads those that hold exact numbers.
"""

from __future__ import annotations

from dataclasses import dataclass
from importlib import import_module
from typing import Literal, cast

from explorer.app.kit.navigation import Link
from explorer.app.kit.page import AppPage

Role = Literal["curator", "audience"]


@dataclass(frozen=True)
class Page(Link):
    """A page of the registry.

    Parameters
    ----------
    make : "module:Class"
    role : "curator" (it shows exact counts) or "audience" (it loads nothing that may)
    """

    make: str
    role: Role = "curator"

    @property
    def name(self) -> str:
        """The name of its class, which is that of `explorer.app`."""
        return self.make.partition(":")[2]

    def load(self) -> type[AppPage]:
        """Its class."""
        module, _, name = self.make.partition(":")
        return cast(type[AppPage], getattr(import_module(module), name))


PAGES = (
    Page("explore", "Explore", "explore", "explorer.app.explore.page:Explore"),
    Page("trips", "Trips", "trips", "explorer.app.trips.page:Trips"),
    Page("country", "Country", "country", "explorer.app.country.page:Country"),
    Page("federated", "Federated", "federated", "explorer.app.federated.page:Federated"),
    Page("compare", "Compare", "compare", "explorer.app.compare.page:Compare"),
    Page("publish", "Publish", "publish", "explorer.app.publish.page:Publish"),
    Page("learn", "Learn", "learn", "explorer.app.learn.page:Learn"),
    Page("classroom", "Class", "class", "explorer.app.classroom.page:ClassResult"),
)


def pages(role: Role) -> tuple[Page, ...]:
    """The pages of a role, in the order of the bar."""
    return tuple(page for page in PAGES if page.role == role)
