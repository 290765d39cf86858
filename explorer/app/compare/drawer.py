"""The left drawer of Compare: city, two mechanisms with their settings, epsilon, noise, view."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from explorer.app.curator.drawer import Drawer, wide_button
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
        choose, switch = self.tied.choose, self.tied.switch
        sides = [(mechanism.menu, mechanism.about) for mechanism in self.mechanisms]

        def view_controls() -> list[Any]:
            colours = choose("scale"), choose("palette"), switch("partition")
            return [choose("third"), "Third map", *colours, self.base_map()]

        looks = self.section("view", "View", view_controls)
        self.say(looks, "View", ("scale", "palette", "partition"))
        grid = self.section("grid", "Grid", lambda: [self.side, self.bound])
        self.say(grid, "Grid", ("side",))
        settings = [
            self.remember(f"settings{letter}", mechanism.settings.section)
            for letter, mechanism in zip("ab", self.mechanisms, strict=True)
        ]
        self.fill(
            [
                *("About", self.city, "City", *sides[0], *sides[1], "Mechanisms"),
                wide_button("Swap A and B", self._swap),
                *(self.epsilon.view, "Epsilon"),
                *(self.new_draw(), switch("apart"), "Random noise"),
                *(choose("right"), "Maps show"),
            ],
            [*settings, looks, grid],
        )

    def _swap(self) -> None:
        self.state.swap()
        self.rebuild()
        self._changed()
