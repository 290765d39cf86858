"""Polygons of queries on a map: outlines with a dark rim, and the corners of what is selected."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import shapely
from bokeh.models import (
    ColumnDataSource,
    GlyphRenderer,
    MultiPolygons,
    PolyAnnotation,
    Scatter,
)
from bokeh.plotting import figure
from numpy.typing import NDArray

from explorer.views import palette
from explorer.views.layers import LateLayer, rendered
from explorer.views.tags import TagPlaces

#: Outlines of more corners are drawn with fewer: they leave their own by this part of the map.
_MANY, _COARSE = 400, 1 / 4000
#: Of more polygons each has its tag inside, if it is so wide and high, in pixels.
_SEVERAL, _ROOMY = 5, np.array([90.0, 40.0])
#: Pixels of the line and of its rim, of a selected polygon and of another.
LINE, CHOSEN_LINE, RIM, CHOSEN_RIM = 2, 4, 5, 8


class QueryPolygons:
    """Sources of the outlines and of the corners that can be dragged, one pair for all maps.

    Corners are those of the selected polygon, or of the selected box.

    Parameters
    ----------
    side : of the maps in grid units; outlines of many corners are simplified by a part of it
    level : of the glyphs, as Bokeh calls it
    """

    def __init__(self, side: float = 0.0, level: str = "glyph") -> None:
        self._tolerance = side * _COARSE
        self._middles: dict[int, tuple[Any, tuple[float, float]]] = {}
        self._drawn: dict[int, tuple[Any, tuple[list[Any], list[Any]]]] = {}
        self.outlines = ColumnDataSource({"xs": [], "ys": [], "width": [], "rim": []})
        self.corners = ColumnDataSource({"x": [], "y": []})
        # What was last sent: a browser can write anything into the sources.
        self._sent: tuple[int, list[list[float]]] = (0, [])
        self._level, self._layer = level, LateLayer(self._renderers)

    def draw_on(self, fig: figure, above: GlyphRenderer) -> None:
        """Draw outlines and corners on ``fig``, directly above a renderer."""
        self._layer.draw_on(fig, above)

    def _renderers(self) -> list[GlyphRenderer]:
        # A dark rim below the line makes it are highlighted on light ground too.
        lines = [
            MultiPolygons(
                xs="xs",
                ys="ys",
                fill_color=None,
                line_color=colour,
                line_width=width,
                line_join="round",
            )
            for colour, width in ((palette.RIM, "rim"), (palette.BOX, "width"))
        ]
        corner = Scatter(
            x="x",
            y="y",
            marker="square",
            size=10,
            fill_color="white",
            line_color=palette.RIM,
            line_width=1.5,
        )
        outlines = [rendered(self.outlines, line, level=self._level) for line in lines]
        return [*outlines, rendered(self.corners, corner, level=self._level)]

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
        self._middles = {key: of for key, of in self._middles.items() if key in self._drawn}
        drawn = [self._drawn[id(shapes[row])][1] for row in rows]
        before, marked = self._sent
        self._sent = len(rows), corners.tolist()
        if rows or len(corners):
            self._layer.need()
        if rows or before:
            self.outlines.data = {
                "xs": [x for x, _ in drawn],
                "ys": [y for _, y in drawn],
                "width": [CHOSEN_LINE if row in chosen else LINE for row in rows],
                "rim": [CHOSEN_RIM if row in chosen else RIM for row in rows],
            }
        if self._sent[1] != marked:
            self.corners.data = {"x": corners[:, 0].tolist(), "y": corners[:, 1].tolist()}

    def tags(
        self,
        places: TagPlaces,
        shapes: Sequence[Any],
        boxes: NDArray[np.float64],
        scale: float,
        turns: float,
    ) -> TagPlaces:
        """The tags of polygons: at their highest place, or inside where many lie side by side.

        Parameters
        ----------
        places : where those of n boxes (n, 4) belong
        shapes : n polygons, None for a box
        scale : pixels of a grid unit
        turns : right of it a tag ends at its place
        """
        many = sum(shape is not None for shape in shapes) > _SEVERAL
        sides = (boxes[:, 2:] - boxes[:, :2]) * scale
        top, inside = places.x.copy(), np.zeros((2, len(shapes)))
        turned, middle = places.turned.copy(), np.zeros(len(shapes), dtype=bool)
        for row, shape in enumerate(shapes):
            if shape is None:
                continue
            top[row] = _highest(shape)
            turned[row] = top[row] > turns
            if many and (sides[row] >= _ROOMY).all():
                middle[row] = True
                inside[:, row] = self._inside(shape)
        x, y = np.where(middle, inside[0], top), np.where(middle, inside[1], places.y)
        return TagPlaces(x, y, turned & ~middle, middle, places.first)

    def _inside(self, shape: Any) -> tuple[float, float]:
        middle = self._middles.get(id(shape))
        if middle is None or middle[0] is not shape:
            place = shape.centroid
            place = place if shape.contains(place) else shape.point_on_surface()
            middle = self._middles[id(shape)] = shape, (place.x, place.y)
        return middle[1]

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


def _highest(shape: Any) -> float:
    """Where along x the highest corner of a polygon is."""
    corners = shapely.get_coordinates(shape)
    return float(corners[np.argmax(corners[:, 1]), 0])
