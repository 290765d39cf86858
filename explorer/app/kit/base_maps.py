"""Base maps under several maps side by side."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from explorer.grid.base_map import BaseMap
from explorer.views.base_map import BaseLayer


class BaseMaps:
    """The base maps of maps side by side (`Maps`); those that move together share one."""

    def __init__(self, maps: Any) -> None:
        self._maps, self._wide = maps, False
        ranges = maps.all_ranges
        together = [[at for at, other in enumerate(ranges) if other is linked] for linked in ranges]
        self._groups = [group for at, group in enumerate(together) if group[0] == at]
        self.layers = [BaseLayer() for _ in self._groups]

    def put(self, bases: Sequence[BaseMap | None]) -> None:
        """Draw the base map of each place on its maps; none where there is none."""
        views = self._maps.views
        for layer, group in zip(self.layers, self._groups, strict=True):
            place = self._maps.places[group[0]]
            base = bases[place] if place < len(bases) else None
            layer.show(base, [views[at].figure for at in group])
            for at, drawn in zip(group, layer.drawn, strict=False):
                views[at].on_light(drawn.recolour)
        self.refit()

    def switch(self, on: bool) -> None:
        """Let them be seen, or not."""
        for layer in self.layers:
            layer.switch(on)

    def widen(self, wide: bool) -> None:
        """Larger names for a presentation, or the usual ones."""
        self._wide = wide
        for layer in self.layers:
            layer.widen(wide)
        self.refit()

    def refit(self, number: int | None = None) -> None:
        """Show the names that fit what a map, and those that move with it, show now; all for None.

        Where a bar is over a map no name can be read.
        """
        for layer, group in zip(self.layers, self._groups, strict=True):
            if not layer.drawn or (number is not None and number not in group):
                continue
            # Of a map that is hidden nothing is known.
            visible = next((at for at in group if self._maps.is_shown(at)), group[0])
            view = self._maps.viewport(visible if number is None else number)
            covered = self._maps.bars.taken(view.width, self._wide)
            layer.zoom((view.x0, view.y0, view.x1, view.y1), float(view.pixels_per_x), covered)
