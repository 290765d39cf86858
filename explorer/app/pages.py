"""The pages of the app, one line each: a page is a folder that fills in a frame.

A new page is a folder with a module ``page.py``, in it a subclass of `AppPage` (with exact data: of
`CuratorPage`), and its line in `PAGES`. Pages are loaded when they are needed: no page needs
another, and a server loads a page when it is first opened. What is shown to others is not here: see
`explorer.audience`.
"""

from __future__ import annotations

import os
import sys
from dataclasses import dataclass
from importlib import import_module
from typing import TYPE_CHECKING, Any, cast

from explorer.app.kit.navigation import Link
from explorer.compiled_code import PACKAGE, note_prepared

if TYPE_CHECKING:
    from explorer.app.kit.page import AppPage


@dataclass(frozen=True)
class Page(Link):
    """A page of the registry: what a server says of it before it is opened.

    Parameters
    ----------
    heading : its title in full, `AppPage.TITLE` of its class
    make : "module:Class"
    """

    heading: str
    make: str

    @property
    def name(self) -> str:
        """The name of its class, which is that of `explorer.app`."""
        return self.make.partition(":")[2]

    def load(self) -> type[AppPage]:
        """Its class."""
        module, _, name = self.make.partition(":")
        return cast("type[AppPage]", getattr(import_module(module), name))

    def prepare(self, **begin: Any) -> None:
        """Compile what it computes with, and note that it is compiled."""
        self.load().warm(**begin)
        note_prepared(PACKAGE, self.key)


PAGES: tuple[Page, ...] = (
    Page(
        "explore", "Explore", "explore", "Private map explorer", "explorer.app.explore.page:Explore"
    ),
    Page("trips", "Trips", "trips", "Private trips explorer", "explorer.app.trips.page:Trips"),
    Page(
        "country",
        "Country",
        "country",
        "Private country explorer",
        "explorer.app.country.page:Country",
    ),
    Page(
        "federated",
        "Federated",
        "federated",
        "Federated map explorer",
        "explorer.app.federated.page:Federated",
    ),
    Page(
        "compare", "Compare", "compare", "Compare mechanisms", "explorer.app.compare.page:Compare"
    ),
    Page("publish", "Publish", "publish", "Publish a release", "explorer.app.publish.page:Publish"),
    Page("learn", "Learn", "learn", "Learn with experiments", "explorer.app.learn.page:Learn"),
    Page("classroom", "Class", "class", "Class result", "explorer.app.classroom.page:ClassResult"),
)


if __name__ == "__main__":
    # A process of its own, see `explorer.app.work.compiling`.
    if hasattr(os, "nice"):
        os.nice(19)
    from explorer.cities.catalogue import cities

    for page in PAGES:
        if page.key in sys.argv[1:]:
            page.prepare(city=next(iter(cities())))
