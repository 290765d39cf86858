"""The pages of the app, one line each: a page is a folder that fills in a frame.

A new page is a folder with a module ``page.py`` and a line in `PAGES`. A page with maps of a
release is a `PageSpec` and a `MapPage` that names it, another one a subclass of `AppPage` (with
exact data: of `CuratorPage`). Pages are loaded when they are needed: no page needs another, and a
server loads a page when it is first opened. What is shown to others is not here: see
`explorer.audience`.
"""

from __future__ import annotations

import gc
import os
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from importlib import import_module
from pathlib import Path
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
    drawer, maps : whether a drawer, and how many maps are sketched before its content is there
    screen : "module:function" that computes its first screen and loads no page; "" where none does
    """

    heading: str
    make: str
    drawer: bool = False
    maps: int = 0
    screen: str = ""

    @property
    def name(self) -> str:
        """The name of its class, which is that of `explorer.app`."""
        return self.make.partition(":")[2]

    def load(self) -> type[AppPage]:
        """Its class."""
        return cast("type[AppPage]", _named(self.make))

    def empty(self, links: Sequence[Link] = (), plain: bool = False) -> Any:
        """The page without its content; its class is not loaded.

        Where the page begins ``plain``, with the made-up city and no other choices, a kept picture
        of its first screen stands there until the live one does.
        """
        import panel as pn

        from explorer.app.kit.page import empty_page

        page = empty_page(self.key, self.heading, self.drawer, self.maps, links)
        if plain and self.screen and pn.state.session_args.keys() <= {"theme"}:
            page.first_screen = _kept_screen(self.key)
        return page

    def prepare(self, **begin: Any) -> None:
        """Compile what it computes with, and note that it is compiled."""
        self.load().warm(**begin)
        note_prepared(PACKAGE, self.key)

    def compute(self, **begin: Any) -> None:
        """Compute what it shows first, which compiles what it needs; no page is built if it can."""
        (_named(self.screen) if self.screen else self.load().warm)(**begin)


@cache
def _kept_screen(key: str) -> str:
    return (Path(__file__).parent / key / "first_screen.html").read_text("utf8")


def _named(path: str) -> Any:
    module, _, name = path.partition(":")
    return getattr(import_module(module), name)


#: A drawer, and two maps.
_MAPS = True, 2
_SCREEN = "explorer.app.explore.first_screen:first_screen"
PAGES: tuple[Page, ...] = tuple(
    Page(key, title, address, heading, f"explorer.app.{key}.page:{name}", *sketch)
    for key, title, address, heading, name, *sketch in (
        ("explore", "Explore", "explore", "Private map explorer", "Explore", *_MAPS, _SCREEN),
        ("trips", "Trips", "trips", "Private trips explorer", "Trips", *_MAPS),
        ("country", "Country", "country", "Private country explorer", "Country", *_MAPS),
        ("federated", "Federated", "federated", "Federated map explorer", "Federated", *_MAPS),
        ("compare", "Compare", "compare", "Compare mechanisms", "Compare", *_MAPS),
        ("publish", "Publish", "publish", "Publish a release", "Publish"),
        ("learn", "Learn", "learn", "Learn with experiments", "Learn", True),
        ("classroom", "Class", "class", "Class result", "ClassResult"),
    )
)


if __name__ == "__main__":
    # A process of its own, see `explorer.app.work.compiling`.
    if hasattr(os, "nice"):
        os.nice(19)
    # It ends soon: a search for garbage among what a compiler makes takes a tenth of its time.
    gc.disable()
    from explorer.cities.catalogue import cities

    for page in PAGES:
        if page.key in sys.argv[1:]:
            page.compute(city=next(iter(cities())))
            note_prepared(PACKAGE, page.key)
