"""Choosing an area without a mouse: a menu, one level up, closer to it."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from explorer.app.country.data import CountryData
from explorer.app.country.screen import CountryScreen
from explorer.app.kit import ui

#: A menu of more is no menu: beyond it, it has the chosen area's neighbours alone.
_MOST = 700


class AreaPicker:
    """The menu of areas and two buttons.

    Parameters
    ----------
    choose : called with a node
    closer : called to show the chosen area larger
    refused : shows a sentence
    """

    def __init__(
        self,
        choose: Callable[[int], None],
        closer: Callable[[], None],
        refused: Callable[[str], None],
    ) -> None:
        self._choose = choose
        self._about: tuple[Any, ...] = ()
        self._parent = -1
        # Widths as styles: Panel adds fixed ones up, and a phone's page would be that wide.
        self.menu = ui.Select(
            label="Area", options={}, size="small", margin=0, styles={"flex": "0 1 290px"}
        )
        ui.bind(self.menu, self._picked, refused)
        self.up = self._button("One level up", self._upwards)
        self.closer = self._button("Zoom to it", closer)
        self.view = ui.wrapping(self.menu, self.up, self.closer, gap="6px 10px")
        self.view.styles = {**self.view.styles, "flex": "1 1 460px"}

    def show(self, screen: CountryScreen) -> None:
        """Offer the areas on the map and those that the chosen one is in."""
        data, node = screen.data, screen.node
        about = data, screen.level, node
        if about != self._about:
            self._about = about
            options = areas_of(data, screen.level, node)
            self.menu.param.update(options=options, value=node)
        self._parent = int(data.areas.parent[node])
        self.up.disabled = self._parent < 0

    def _picked(self, node: Any) -> None:
        if isinstance(node, int) and self._about and node != self._about[2]:
            self._choose(node)

    def _upwards(self) -> None:
        if self._parent >= 0:
            self._choose(self._parent)

    @staticmethod
    def _button(label: str, do: Callable[[], None]) -> Any:
        return ui.Button(
            label=label, variant="outlined", size="small", margin=0, on_click=lambda _event: do()
        )


def areas_of(data: CountryData, level: int, node: int) -> dict[str, int]:
    """Names and nodes for a menu: the path of the chosen area, then the areas of a level."""
    nodes = data.on_level(level).tolist()
    if len(nodes) > _MOST:
        nodes = data.areas.children(int(data.areas.parent[node])).tolist()
    result: dict[str, int] = {}
    for area in [*data.path(node), *sorted(nodes, key=lambda n: data.names[n].lower())]:
        if area not in result.values():
            result[_named(data, area, result)] = area
    return result


def _named(data: CountryData, node: int, menu: dict[str, int]) -> str:
    name = data.names[node]
    above = data.path(node)[1:-1]
    if above and data.names[above[-1]] != name:
        name = f"{name} ({data.names[above[-1]]})"
    while name in menu:
        name += "\u2009"
    return name
