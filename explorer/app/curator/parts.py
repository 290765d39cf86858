"""What the parts of one curator's page share."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

from explorer.app.boxes.rectangles import Rectangles
from explorer.app.curator.start import Opening
from explorer.app.kit.browser import Remembered, Tab
from explorer.app.kit.message import MessageArea
from explorer.app.kit.navigation import Link
from explorer.errors import InputError


@dataclass(eq=False)
class PageParts:
    """One visitor's page, handed to each of its parts when that is made.

    Parameters
    ----------
    state : the visitor's choices, at least a `PlaceState`
    message : where sentences go
    opening : what the page begins with
    catalogue : title of each city to its key
    rectangles : the visitor's boxes
    links : the server's pages
    phone : whether the page is on a phone
    data : what is on screen, of the page's own kind: a `CityData` of maps; None until it was read
    maps : the maps on screen, once there are some
    truth : whether exact counts may be sent to the browser: not while they are hidden from those
        whom the page is presented to
    own_population : whose records the visitor's own data are; None where no one has named them
    own_drawn : whether a release of them was confirmed, so that their name stays
    unread_users : columns that seem to say whose they are, where no one has said what is protected
    reading : whether another city than that on screen has been chosen and is being read
    remembered : what the browser remembers of drawers and themes
    tab : what the pages in the visitor's tab have in common
    """

    state: Any
    message: MessageArea
    opening: Opening
    catalogue: dict[str, str]
    rectangles: Rectangles
    links: Sequence[Link] = ()
    phone: bool = False
    data: Any = None
    maps: Any = None
    truth: bool = True
    reading: bool = False
    own_population: str | None = None
    own_drawn: bool = False
    unread_users: list[str] = field(default_factory=list)
    remembered: Remembered = field(default_factory=Remembered)
    tab: Tab = field(default_factory=Tab)

    def refuse(self, sentence: str) -> None:
        self.message.refuse(sentence)

    def title_of(self, key: str) -> str:
        """What a city of the catalogue is called; one that it does not have by its key."""
        return next((title for title, city in self.catalogue.items() if city == key), key)

    def known(self) -> Any:
        """The city on screen.

        Raises
        ------
        InputError
            Before there is one.
        """
        if self.data is None:
            raise InputError("The city is still being read: wait a moment.")
        return self.data

    def shown_maps(self) -> Any:
        """The maps on screen, for parts that outlive a city."""
        return self.maps
