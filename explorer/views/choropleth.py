"""Areas in colours over a map: one source, one glyph, built once.

Geometry is replaced for another level or finer outlines, else colours alone.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import shapely
from bokeh.models import (
    ColumnDataSource,
    HoverTool,
    Image,
    LinearColorMapper,
    MultiPolygons,
)
from bokeh.plotting import figure
from numpy.typing import NDArray

from explorer.views import palette
from explorer.views.figures import tooltip
from explorer.views.gestures import on_tap

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]
Rings = list[list[NDArray[np.float32]]]

_PRIVATE = "<b>@name</b><br>private @private{0,0} ± @half{0,0}"
_HOVER, _WITH_TRUTH = tooltip(_PRIVATE), tooltip(f"{_PRIVATE}<br>true @true{{0,0}}")
_GEOMETRY: dict[str, Any] = {"xs": [], "ys": []}
_NUMBERS: dict[str, Any] = {
    name: [] for name in ("value", "name", "private", "half", "true", "node")
}


@dataclass(frozen=True, eq=False)
class Shapes:
    """Outlines of areas as a browser takes them.

    Attributes
    ----------
    polygons : (n,) shapely polygons on one plane
    xs, ys : (n,) for each area its parts, for each part its rings, the outer one first
    bounds : (n, 4) x0, y0, x1, y1
    """

    polygons: NDArray[Any]
    xs: list[Rings]
    ys: list[Rings]
    bounds: Floats

    @classmethod
    def of(cls, polygons: NDArray[Any]) -> Shapes:
        """The outlines of (n,) polygons and multipolygons."""
        xs: list[Rings] = [[] for _ in polygons]
        ys: list[Rings] = [[] for _ in polygons]
        parts, owner = shapely.get_parts(polygons, return_index=True)
        rings, part = shapely.get_rings(parts, return_index=True)
        places, ring = shapely.get_coordinates(rings, return_index=True)
        # Single precision is 6 cm at 1,000 km, and half of what is sent.
        x, y = np.ascontiguousarray(places.T.astype(np.float32))
        starts = np.searchsorted(ring, np.arange(1, len(rings)))
        before = -1
        for ring_slice, px, py in zip(part, np.split(x, starts), np.split(y, starts), strict=True):
            area = int(owner[ring_slice])
            if ring_slice != before:
                xs[area].append([])
                ys[area].append([])
                before = ring_slice
            xs[area][-1].append(px)
            ys[area][-1].append(py)
        return cls(polygons, xs, ys, shapely.bounds(polygons))

    def with_finer(self, finer: Shapes, where: Ints) -> Shapes:
        """These with the outlines of some areas from others."""
        polygons, bounds = self.polygons.copy(), self.bounds.copy()
        xs, ys = list(self.xs), list(self.ys)
        for node in where.tolist():
            polygons[node], bounds[node] = finer.polygons[node], finer.bounds[node]
            xs[node], ys[node] = finer.xs[node], finer.ys[node]
        return Shapes(polygons, xs, ys, bounds)

    def near(self, view: tuple[float, float, float, float]) -> Ints:
        """The areas whose bounds meet x0, y0, x1, y1."""
        x0, y0, x1, y1 = view
        b = self.bounds
        return np.flatnonzero((b[:, 0] < x1) & (b[:, 2] > x0) & (b[:, 1] < y1) & (b[:, 3] > y0))


@dataclass(frozen=True, eq=False)
class Outlined:
    """Which areas are on the map, and their outlines.

    Attributes
    ----------
    shapes : of all areas
    nodes : (k,) those that are shown
    finer : those of them whose outlines are finer than the others'
    """

    shapes: Shapes
    nodes: Ints
    finer: Ints = field(default_factory=lambda: np.zeros(0, dtype=np.int64))

    def at(self, x: float, y: float) -> int | None:
        """The area at a place, None for none."""
        tree = shapely.STRtree(self.shapes.polygons[self.nodes])
        hits = tree.query(shapely.Point(x, y), predicate="intersects")
        return int(self.nodes[hits.min()]) if len(hits) else None

    def columns(self) -> dict[str, Any]:
        """The columns of the glyph's geometry."""
        nodes = self.nodes.tolist()
        return {name: [getattr(self.shapes, name)[n] for n in nodes] for name in ("xs", "ys")}


@dataclass(frozen=True, eq=False)
class AreaNumbers:
    """What is shown of k areas, (k,) each.

    Attributes
    ----------
    value : bytes 0 to 255 of the colours
    names : safe to show
    private, half, true : counts, half of the 95 % interval, exact counts
    """

    value: NDArray[np.uint8]
    names: Sequence[str]
    private: Floats
    half: Floats
    true: Floats | Ints

    def columns(self) -> dict[str, Any]:
        """The columns of the glyph next to its geometry."""
        return {
            # Bokeh maps whole numbers of any width to colours, but only floats without surprises.
            "value": self.value.astype(np.float32),
            "name": list(self.names),
            "private": self.private.astype(np.float32),
            "half": self.half.astype(np.float32),
            "true": self.true.astype(np.float32),
        }


class Border:
    """The outline of one area on a figure, readable on every colour; below boxes."""

    def __init__(self, fig: figure) -> None:
        self.source = ColumnDataSource({"xs": [], "ys": []})
        self._shown: tuple[Any, int] | None = None
        for colour, width in ((palette.RIM, 5), (palette.NODE, 2.5)):
            fig.multi_polygons(
                xs="xs",
                ys="ys",
                source=self.source,
                fill_color=None,
                line_color=colour,
                line_width=width,
            )
        _put_below(fig, 2)

    def show(self, shapes: Shapes, number: int) -> None:
        """Outline the area of that number."""
        if self._shown is None or self._shown[0] is not shapes or self._shown[1] != number:
            self._shown = shapes, number
            self.source.data = {"xs": [shapes.xs[number]], "ys": [shapes.ys[number]]}


class Choropleth:
    """Areas in colours on a figure that is there, below whatever else is drawn on it.

    Parameters
    ----------
    fig : the map
    tapped : called with x, y of each click, as the browser sent it
    """

    def __init__(self, fig: figure, tapped: Callable[[Any, Any], None]) -> None:
        self.source = ColumnDataSource({**_GEOMETRY, **_NUMBERS})
        self.mapper = LinearColorMapper(palette=palette.PALETTES["cividis"], low=0, high=256)
        areas = fig.multi_polygons(
            xs="xs",
            ys="ys",
            source=self.source,
            fill_color={"field": "value", "transform": self.mapper},
            line_color=palette.LINE,
            line_alpha=0.28,
            line_width=0.7,
            hover_line_color=palette.HOVER,
            hover_line_alpha=1.0,
            hover_fill_color={"field": "value", "transform": self.mapper},
        )
        _put_below(fig, 1)
        self.chosen = Border(fig)
        self.hover = HoverTool(renderers=[areas], tooltips=_WITH_TRUTH)
        fig.add_tools(self.hover)
        on_tap(fig, tapped)
        self._outlined: Outlined | None = None
        self._numbers: AreaNumbers | None = None
        self._truth = True

    def show(self, outlined: Outlined, numbers: AreaNumbers) -> None:
        """Show areas; their geometry is sent only where it is another."""
        self._numbers, columns = numbers, numbers.columns()
        if not self._truth:
            columns["true"] = np.full(len(numbers.true), np.nan, np.float32)
        if outlined is not self._outlined:
            self._outlined = outlined
            self.source.data = {**outlined.columns(), **columns, "node": outlined.nodes}
            return
        for name, column in columns.items():
            same = np.issubdtype(np.asarray(column).dtype, np.floating)
            if not np.array_equal(self.source.data[name], column, equal_nan=same):
                self.source.data[name] = column

    def show_truth(self, visible: bool, coloured: bool = True) -> None:
        """Say exact counts at the pointer, too, or private ones alone.

        What was sent of exact counts is taken back; areas have no colours where they are not
        ``coloured``.
        """
        self._truth = visible
        self.hover.tooltips = _WITH_TRUTH if visible else _HOVER
        if self._numbers is not None and self._outlined is not None:
            self.show(self._outlined, self._numbers)
        if not coloured:
            self.source.data["value"] = np.zeros(len(self.source.data["value"]), np.float32)

    def recolour(self, colours: Sequence[str]) -> None:
        """Other colours for the same bytes."""
        self.mapper.palette = list(colours)


def _put_below(fig: figure, number: int) -> None:
    """Draw the last renderers of a figure above its pictures and areas, and below all others."""
    others, last = fig.renderers[:-number], fig.renderers[-number:]
    ground = [other for other in others if isinstance(other.glyph, Image | MultiPolygons)]
    above = [
        renderer for renderer in others if not isinstance(renderer.glyph, Image | MultiPolygons)
    ]
    fig.renderers = [*ground, *last, *above]
