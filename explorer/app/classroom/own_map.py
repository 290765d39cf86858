"""A participant's own private map, from their own preview alone."""

from __future__ import annotations

from typing import Any

import numpy as np
import panel as pn
from numpy.typing import NDArray

from explorer.app.kit.html import put
from explorer.app.kit.prose import column, pane
from explorer.app.kit.words import words
from explorer.grid.grid import Grid
from explorer.releases.release import Release
from explorer.views import palette
from explorer.views.raster import mean_per_cell
from explorer.views.scale import ColourScale, top_value
from explorer.views.teaching.place_map import PlaceMap
from explorer.views.viewport import Viewport

PIXELS = 280


def picture(release: Release) -> NDArray[np.uint8]:
    """A private map in bytes, (height, width) with row 0 south; its colours are its own, too."""
    grid = release.grid
    view = Viewport.whole(grid, PIXELS)
    size = view.height, view.width
    means = mean_per_cell(release.density().astype(np.float32), *view.cells(grid), *size)
    means = np.maximum(means, 0)
    return ColourScale("log", top_value(means, "log"), "data").encode(means)


class OwnMap:
    """The map of one's last answer with the question's box; nothing exact reaches it."""

    def __init__(self) -> None:
        self.map: PlaceMap | None = None
        self._grid: Grid | None = None
        self._place, self._caption = column(), pane(margin=(2, 0, 4, 0))
        self.view = pn.Column(
            self._place,
            self._caption,
            sizing_mode="stretch_width",
            styles={"flex": "1 1 240px", "max-width": f"{PIXELS}px"},
            visible=False,
            margin=(4, 20, 8, 0),
        )

    def show(self, grid: Grid, drawn: NDArray[np.uint8], box: Any, city: str) -> None:
        """Show the map of an answer and where its box is."""
        if self.map is None or grid is not self._grid:
            self._grid = grid
            self.map = PlaceMap(grid.bounds, "Your private map", drag=False)
            aspect = grid.width / grid.height
            self._place.objects = [
                pn.pane.Bokeh(
                    self.map.figure, sizing_mode="scale_width", aspect_ratio=aspect, margin=0
                )
            ]
        spoken = f"Your private map of {city}; your answer stands beside it"
        self.map.show(drawn, spoken, palette.PALETTES["cividis"])
        self.map.mark([([float(edge) for edge in box], palette.BOX, False)])
        put(self._caption, f'<p class="quiet">{words("classroom")["Own map"]}</p>')
        self.view.visible = True

    def clear(self) -> None:
        """Another question: there is no map yet."""
        self.view.visible = False
