"""Base maps under several maps side by side: each has that of its ground, in fitting inks."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from explorer.grid.base_map import BaseMap
from explorer.views.base_map import BaseLayer, Bounds
from explorer.views.maps import MapView
from explorer.views.viewport import Viewport


class BaseMaps:
    """The base maps of maps side by side; those that move together share one.

    Parameters
    ----------
    views : the maps
    places : of each map; maps of one place have the same ground
    ranges : of each map what it shows, the same object for those that move together
    seen : what the browser shows on a map
    is_shown : whether a map is on the screen
    taken : what is over a map of so many pixels of width, with larger type or not, where no name
        can be read; in pixels from its lower left corner
    """

    def __init__(
        self,
        views: Sequence[MapView],
        places: Sequence[int],
        ranges: Sequence[Any],
        seen: Callable[[int], Viewport],
        is_shown: Callable[[int], bool],
        taken: Callable[[float, bool], Sequence[Bounds]] = lambda _width, _wide: (),
    ) -> None:
        self._views, self._places = views, places
        self._seen, self._is_shown, self._taken = seen, is_shown, taken
        self._wide = False
        together = [[at for at, other in enumerate(ranges) if other is own] for own in ranges]
        self._groups = [group for at, group in enumerate(together) if group[0] == at]
        self.layers = [BaseLayer() for _ in self._groups]

    def put(self, bases: Sequence[BaseMap | None]) -> None:
        """Draw the base map of each place on its maps; none where there is none."""
        for layer, group in zip(self.layers, self._groups, strict=True):
            place = self._places[group[0]]
            base = bases[place] if place < len(bases) else None
            layer.show(base, [self._views[at].figure for at in group])
            for at, drawn in zip(group, layer.drawn, strict=False):
                self._views[at].on_light(drawn.recolour)
            self._fit(layer, self._first(group))

    def switch(self, on: bool) -> None:
        """Let them be seen, or not."""
        for layer in self.layers:
            layer.switch(on)

    def widen(self, wide: bool) -> None:
        """Larger names for a room, or as usual."""
        self._wide = wide
        for layer in self.layers:
            layer.widen(wide)
        self.refit()

    def refit(self) -> None:
        """What is over the maps has changed: show the names that fit now."""
        for layer, group in zip(self.layers, self._groups, strict=True):
            self._fit(layer, self._first(group))

    def zoom(self, number: int) -> None:
        """Show the names that fit what a map, and those that move with it, show now."""
        for layer, group in zip(self.layers, self._groups, strict=True):
            if number in group:
                self._fit(layer, number)

    def _first(self, group: Sequence[int]) -> int:
        """The first of them that is shown: of a map that is hidden nothing is known."""
        return next((at for at in group if self._is_shown(at)), group[0])

    def _fit(self, layer: BaseLayer, number: int) -> None:
        if layer.drawn:
            view = self._seen(number)
            bounds = view.x0, view.y0, view.x1, view.y1
            taken = self._taken(view.width, self._wide)
            layer.zoom(bounds, float(view.pixels_per_x), taken)
