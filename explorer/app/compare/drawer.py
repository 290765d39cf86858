"""The left drawer of Compare: city, two mechanisms with their settings, epsilon, noise, view."""

from __future__ import annotations

from collections.abc import Callable

from explorer.app.curator.drawer import Drawer, heading, wide_button
from explorer.app.curator.parts import PageParts


class CompareDrawer(Drawer):
    """All controls of the drawer.

    Parameters
    ----------
    parts : of the page
    changed : called after a change of a mechanism's setting
    """

    def __init__(self, parts: PageParts, changed: Callable[[], None]) -> None:
        super().__init__(parts, "compare", changed, letters=("A", "B"))
        self._changed = changed
        sides = [(each.menu, each.about, each.settings.view) for each in self.mechanisms]
        choose, switch = self.tied.choose, self.tied.switch
        self.fill(
            *("About", self.city, "City", self.side, self.bound),
            *(heading("Mechanisms"), "Mechanisms", *sides[0], *sides[1]),
            wide_button("Swap A and B", self._swap),
            heading("Privacy and random noise"),
            *(self.epsilon.view, "Epsilon", switch("frozen"), switch("apart")),
            *(self.new_draw(), "Random noise"),
            heading("View"),
            *(choose("right"), "Maps show", choose("third"), "Third map"),
            *(choose("scale"), choose("palette")),
            switch("partition"),
        )

    def _swap(self) -> None:
        self.state.swap()
        self.rebuild()
        self._changed()
