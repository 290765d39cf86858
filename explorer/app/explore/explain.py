"""A closer look below the maps: one panel at a time, and none until somebody asks."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, Generic, Protocol, TypeVar

import panel as pn

from explorer.app.curator.screen import Screen
from explorer.app.kit import ui
from explorer.app.kit.html import html_pane
from explorer.app.kit.theme import CSS, SPOKEN_LABEL

NOTHING = "Nothing"
#: What the strip calls the panels.
TITLES = {
    NOTHING: "Off",
    "Leaf": "One area",
    "Replay": "How it was built",
    "Runs": "Other possible results",
}


class CloserPanel(Protocol):
    """What a panel of the strip must offer; everything is called with the document's lock held."""

    view: Any

    def show(self, screen: Screen) -> None:
        """Look at ``screen``: called when the panel is opened, and after each new picture."""

    def selected(self) -> None:
        """The boxes, or the rows selected in their table, have changed."""

    def hide(self) -> None:
        """Another panel is opened, or none: take everything off the maps again and stop work."""


class Closer:
    """The strip "Explain this map" and the panel that is open.

    A panel that is not open costs nothing: no computation, and nothing sent.

    Parameters
    ----------
    panels : key to panel, in the order of the strip
    words : key to the line of words above a panel
    refused : called with one sentence about a choice that does not exist
    opened : called with whether a panel is open, when that changes
    """

    def __init__(
        self,
        panels: Mapping[str, CloserPanel],
        words: Mapping[str, str],
        refused: Callable[[str], None],
        opened: Callable[[bool], None] = lambda _open: None,
    ) -> None:
        self._opened = opened
        self._panels, self._words = dict(panels), words
        self._screen: Screen | None = None
        self.open: CloserPanel | None = None
        self.choice = ui.RadioButtonGroup(
            label="Explain this map",
            options={TITLES.get(key, key): key for key in (NOTHING, *panels)},
            value=NOTHING,
            size="small",
            margin=0,
            stylesheets=[SPOKEN_LABEL],
        )
        ui.bind(self.choice, self._choose, refused)
        self._holder = pn.Column(sizing_mode="stretch_width", margin=0)
        self.view = pn.Column(
            pn.Row(
                pn.pane.HTML("<h2>Explain this map</h2>", stylesheets=[CSS], margin=(2, 12, 0, 0)),
                self.choice,
            ),
            self._holder,
            sizing_mode="stretch_width",
            margin=(4, 0, 6, 0),
        )

    def show(self, screen: Screen) -> None:
        """A new picture is on the maps."""
        self._screen = screen
        if self.open is not None:
            self.open.show(screen)

    def selected(self) -> None:
        """The boxes or the selected rows have changed."""
        if self.open is not None:
            self.open.selected()

    def close(self) -> None:
        """Shut whatever is open, such as for another city."""
        self.choice.value = NOTHING

    def _choose(self, label: str) -> None:
        before = self.open
        if before is not None:
            before.hide()
        self.open = self._panels.get(label)
        if (before is None) != (self.open is None):
            self._opened(self.open is not None)
        if self.open is None:
            self._holder.objects = []
            return
        self._holder.objects = [html_pane(f"<p>{self._words[label]}</p>"), self.open.view]
        if self._screen is not None:
            self.open.show(self._screen)


Panel = TypeVar("Panel", bound=CloserPanel)


class Later(Generic[Panel]):
    """Stands in for the panel that ``make`` builds.

    Attributes
    ----------
    panel : the panel, None before it has been opened
    """

    def __init__(self, make: Callable[[], Panel]) -> None:
        self._make = make
        self.panel: Panel | None = None
        self.view = pn.Column(sizing_mode="stretch_width", margin=0)

    def show(self, screen: Screen) -> None:
        """Build the panel if this is the first time, and let it look at ``screen``."""
        if self.panel is None:
            self.panel = self._make()
            self.view.objects = [self.panel.view]
        self.panel.show(screen)

    def selected(self) -> None:
        """The boxes, or the rows selected in their table, have changed."""
        if self.panel is not None:
            self.panel.selected()

    def hide(self) -> None:
        """Another panel is opened, or none."""
        if self.panel is not None:
            self.panel.hide()
