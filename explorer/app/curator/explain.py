"""Explanations below the maps: one panel at a time, and none until someone asks."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from explorer.app.curator.panel import ExplainPanel, choice
from explorer.app.kit import ui
from explorer.app.kit.html import html_pane
from explorer.app.kit.labels import HIDDEN
from explorer.app.kit.prose import column
from explorer.app.kit.theme import SPOKEN_LABEL

Panel = ExplainPanel[Any]
OFF = "off"
#: A phone has no space for six buttons side by side, nor has a dock next to wide maps.
_WRAPPING = """
.MuiToggleButtonGroup-root { flex-wrap: wrap; }
.MuiToggleButton-root { white-space: nowrap; padding: 3px 10px; width: auto !important;
  flex: 0 1 auto; }
@media (max-width: 600px) { .MuiToggleButton-root { flex: 1 1 34% !important; } }
"""
#: What a visitor reads for each panel.
TITLES = {
    "Leaf": "One area",
    "Leaves": "All areas",
    "Replay": "How it was built",
    "Runs": "Other possible results",
    "Flows": "Flows",
    "Compared": "All mechanisms",
    "Gallery": "All mechanisms",
    "Built": "How it was cut",
    "Ways": "Architectures",
    "Rounds": "Round by round",
    "Server": "What the server saw",
    "Failing": "Dropouts and bytes",
    "Algorithms": "All algorithms",
    "Smooth": "City or smooth map",
}


class Explain:
    """The strip of panels about the map, and the one that is open; with none there are the boxes.

    A panel that is not open costs nothing: no computation, and nothing sent.

    Parameters
    ----------
    panels : key to panel, in the order of the strip; or to what makes it when it is first opened
    words : key to the line of words above a panel
    opened : called with whether a panel is open, when that changes
    """

    def __init__(
        self,
        panels: Mapping[str, Panel | Callable[[], Panel]],
        words: Mapping[str, str],
        refused: Callable[[str], None],
        opened: Callable[[bool], None] = lambda _open: None,
        title: str = "Explain this map",
    ) -> None:
        self._opened = opened
        self._panels, self._words = dict(panels), words
        # Of the page's own kind, as the panels know it.
        self._screen: Any = None
        self.open: Panel | None = None
        self._truth = True
        titles = {TITLES.get(key, key): key for key in panels}
        self.choice = choice(title, {"Boxes": OFF, **titles}, sizing_mode=None)
        # As wide as its words: what is left of the line is for figures.
        self.choice.stylesheets = [SPOKEN_LABEL, _WRAPPING]
        self.choice.styles = {"flex": "0 1 auto", "max-width": "100%"}
        ui.bind(self.choice, self._choose, refused)
        #: The open panel below its line of words.
        self.holder = column()
        #: What the open panel has next to the maps, for a page to put there.
        self.beside = column(visible=False, styles={"flex": "1 1 280px", "min-width": "0"})

    def show(self, screen: Any) -> None:
        """A new picture is on the maps."""
        self._screen = screen
        if self.open is not None:
            self.open.show(screen)

    def selected(self) -> None:
        """The boxes or the selected rows have changed."""
        if self.open is not None:
            self.open.selected()

    def restyle(self) -> None:
        """Other colours have been chosen."""
        if self.open is not None:
            self.open.restyle()

    def show_truth(self, visible: bool) -> None:
        """Show the chosen panel, or in its place that exact counts are hidden: panels have some."""
        self._truth = visible
        self._choose(self.choice.value)

    def close(self) -> None:
        """Shut whatever is open, such as for another city."""
        self.choice.value = OFF

    def _choose(self, key: str) -> None:
        before, self.open = self.open, self._panel(key) if self._truth else None
        if before is not None:
            before.hide()
        if (before is None) != (self.open is None):
            self._opened(self.open is not None)
        beside = None if self.open is None else self.open.beside
        self.beside.objects = [] if beside is None else [beside]
        self.beside.visible = beside is not None
        if self.open is None:
            hidden = key != OFF
            self.holder.objects = [html_pane(f"<p>{HIDDEN}.</p>")] if hidden else []
            return
        self.holder.objects = [html_pane(f"<p>{self._words[key]}</p>"), self.open.view]
        if self._screen is not None:
            self.open.show(self._screen)

    def _panel(self, key: str) -> Panel | None:
        result = self._panels.get(key)
        if callable(result):
            result = self._panels[key] = result()
        return result
