"""The workspace of a visitor: what goes along when the bar's links lead to another page."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from explorer.app.curator.start import OWN, Opening, present
from explorer.app.kit.browser import Tab
from explorer.errors import InputError
from explorer.scenario import SHARING, Scenario, given_back

#: Said on the page that follows one with own data.
STAYED = (
    "Your own data stay in the session in which they were loaded, on that page alone: load the "
    "file here to see them here."
)


class Workspace:
    """Has the tab keep the last screen of this page, and what it shares with others.

    Nothing exact goes along and no content of a file: names, settings, and boxes on a city of the
    catalogue.

    Parameters
    ----------
    page : its key
    opening : what the page began with
    tab : of the visitor's browser
    """

    def __init__(self, page: str, opening: Opening, tab: Tab) -> None:
        self._page, self._tab, self._city = page, tab, ""
        self._shared = opening.shared
        self._shown = opening.scenario if opening.shared is not None else None

    def keep(self, state: Any, rectangles: Any, own_city: str) -> None:
        """Keep the present screen.

        Parameters
        ----------
        state, rectangles : its choices and boxes
        own_city : a city of the catalogue, for own data where none was shown before
        """
        is_own, shares = state.city == OWN, self._page in SHARING
        if is_own and not shares:
            return
        before = own_city if self._shared is None else self._shared.city
        entries: dict[str, str] = {}
        try:
            now = present(self._page, state, rectangles, instead=before if is_own else "")
            if not is_own:
                entries[self._page] = now.to_link()
            if shares:
                shared = given_back(self._shared, self._shown, now, place=not is_own)
                entries |= {"shared": shared.to_link(), "left": "yes" if is_own else ""}
        except InputError:
            # More boxes than an address can hold, say: the last that it could hold stay.
            return
        self._tab.keep(**entries)

    def place(self, city: str, side: int) -> None:
        """A city is shown on a page without scenarios; from the second on it goes along."""
        first, self._city = self._city, city
        if city in (first or city, OWN):
            return
        before = self._shared or Scenario(side=side)
        elsewhere = replace(before, city=city, boxes=None, contribution_bound=0)
        self._tab.keep(shared=elsewhere.to_link())
