"""Polygons of queries on a map: outlines with a dark rim, and the corners of a selected one."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import shapely
from bokeh.models import ColumnDataSource, PolyAnnotation
from bokeh.plotting import figure
from numpy.typing import NDArray

from explorer.views import palette

#: Outlines of more corners are drawn with fewer: they leave their own by this part of the map.
_MANY, _COARSE = 400, 1 / 4000
#: Pixels of the line and of its rim, of a selected polygon and of another.
LINE, CHOSEN_LINE, RIM, CHOSEN_RIM = 2, 4, 5, 8


class QueryPolygons:
    """Sources of the outlines and of the corners that can be dragged, one pair for all maps.

    Parameters
    ----------
    side : of the maps in grid units; outlines of many corners are simplified by a part of it
    """

    def __init__(self, side: float = 0.0) -> None:
        self._tolerance = side * _COARSE
        self._drawn: dict[int, tuple[Any, tuple[list[Any], list[Any]]]] = {}
        self.outlines = ColumnDataSource({"xs": [], "ys": [], "width": [], "rim": []})
        self.corners = ColumnDataSource({"x": [], "y": []})

    def draw_on(self, fig: figure, level: str) -> None:
        """Draw outlines and corners over what ``fig`` shows already."""
        # A dark rim below the line makes it stand out on light ground too.
        for colour, width in ((palette.RIM, "rim"), (palette.BOX, "width")):
            fig.multi_polygons(
                "xs",
                "ys",
                source=self.outlines,
                fill_color=None,
                line_color=colour,
                line_width=width,
                line_join="round",
                level=level,
            )
        fig.scatter(
            "x",
            "y",
            source=self.corners,
            marker="square",
            size=10,
            fill_color="white",
            line_color=palette.RIM,
            line_width=1.5,
            level=level,
        )

    def show(
        self, shapes: Sequence[Any], selected: Sequence[int], corners: NDArray[np.float64]
    ) -> None:
        """Show the polygons among n shapes; ``corners`` (k, 2) are marked."""
        chosen = set(selected)
        rows = [row for row, shape in enumerate(shapes) if shape is not None]
        # What was drawn before is not made again: a drag changes one of many.
        self._drawn = {
            id(shape): self._drawn.get(id(shape)) or (shape, self._columns(shape))
            for shape in (shapes[row] for row in rows)
        }
        drawn = [self._drawn[id(shapes[row])][1] for row in rows]
        if rows or len(self.outlines.data["xs"]):
            self.outlines.data = {
                "xs": [x for x, _ in drawn],
                "ys": [y for _, y in drawn],
                "width": [CHOSEN_LINE if row in chosen else LINE for row in rows],
                "rim": [CHOSEN_RIM if row in chosen else RIM for row in rows],
            }
        if len(corners) or len(self.corners.data["x"]):
            self.corners.data = {"x": corners[:, 0].tolist(), "y": corners[:, 1].tolist()}

    def _columns(self, shape: Any) -> tuple[list[Any], list[Any]]:
        if shapely.get_num_coordinates(shape) > _MANY:
            shape = shapely.simplify(shape, self._tolerance)
        parts = [
            [shapely.get_coordinates(ring).T.tolist() for ring in shapely.get_rings(part)]
            for part in shapely.get_parts(shape)
        ]
        xs, ys = ([[ring[axis] for ring in part] for part in parts] for axis in (0, 1))
        return xs, ys


def polygon_editor() -> PolyAnnotation:
    """A polygon whose corners and sides can be dragged, and all of it by its inside."""
    return PolyAnnotation(
        level="overlay",
        visible=False,
        editable=True,
        fill_alpha=0,
        hover_fill_color=None,
        line_alpha=0,
        # Corners and sides are taken within half of it.
        line_width=16,
    )


def tag_places(shapes: Sequence[Any], boxes: NDArray[np.float64]) -> NDArray[np.float64]:
    """Where the tags of n boxes begin along x: of polygons at their highest place, (n,)."""
    x = boxes[:, 0].copy()
    for row, shape in enumerate(shapes):
        if shape is not None:
            corners = shapely.get_coordinates(shape)
            x[row] = corners[np.argmax(corners[:, 1]), 0]
    return x
