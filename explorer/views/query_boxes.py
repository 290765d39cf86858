"""Rectangles and polygons of queries on maps: outlines, handles, tags that say what each holds."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import shapely
from bokeh.core.properties import value
from bokeh.models import ColumnDataSource, GlyphRenderer, MultiPolygons, Quad, Scatter, Text
from bokeh.plotting import figure
from numpy.typing import NDArray

from explorer.views import palette
from explorer.views.figures import EDGES, LateLayer, draw, empty, rendered
from explorer.views.tags import SIDE, TAG_TURNS, TagPlaces, expected, highest_tag

#: Boxes and their tags lie over whatever else is drawn: lines across a number hide it.
ABOVE = "annotation"
#: Of a tag on a map.
TAG_TYPE = "12px"
#: Outlines of more corners are drawn with fewer: they leave their own by this part of the map.
_MANY, _COARSE = 400, 1 / 4000
#: Of more polygons each has its tag inside, if it is so wide and high, in pixels.
_SEVERAL, _ROOMY = 5, np.array([90.0, 40.0])
#: Pixels of the line and of its rim, of a selected polygon and of another.
LINE, CHOSEN_LINE, RIM, CHOSEN_RIM = 2, 4, 5, 8
_NO_CORNERS = np.zeros((0, 2))
#: A name, and the number among rows of that name.
_Row = tuple[str, int]
_Tag = tuple[str, str]


class QueryBoxes:
    """Rectangles of queries with their tags, for all maps of a place.

    Outlines are the same on every map. Tags are not, and change more often: each map has a source
    of them alone, so that a browser draws anew what says something new.

    Parameters
    ----------
    bounds : edges of the maps x0, y0, x1, y1, in grid units
    maps : how many maps show them, each with tags of its own
    """

    def __init__(
        self, bounds: tuple[float, float, float, float] | None = None, maps: int = 1
    ) -> None:
        self._highest = self._turns = np.inf
        self._bounds, self._scale, self._places = bounds, 1.0, TagPlaces.nowhere()
        if bounds is not None:
            x0, _, x1, _ = bounds
            self._highest = highest_tag(bounds)
            self._turns, self._scale = x0 + TAG_TURNS * (x1 - x0), SIDE / (x1 - x0)
        self._names: list[str] = []
        # What was last sent; of the outlines, and of each map's tags. The sources themselves are
        # not asked: a browser can write anything into them.
        self._outlines: dict[str, Any] = {}
        self._written: list[dict[str, Any]] = [{} for _ in range(maps)]
        # What was last said of a box of that name on each map, and in which colour.
        self._said: list[dict[_Row, _Tag]] = [{} for _ in range(maps)]
        side = 0.0 if bounds is None else max(bounds[2] - bounds[0], bounds[3] - bounds[1])
        self.polygons = QueryPolygons(side, ABOVE)
        self.source = empty(*EDGES.values(), "width", "rim")
        none = {**self._places.columns([[]], self._scale, bounds), "text": [], "colour": []}
        #: Of each map.
        self.tags = [ColumnDataSource(none) for _ in range(maps)]
        #: Of each map that of the box that is being dragged, which a browser outlines itself.
        self.drafts = [ColumnDataSource(none) for _ in range(maps)]
        self._draft_layers: list[LateLayer] = []
        # A dark rim below the line keeps it legible on light ground too. No fill: it would
        # change the colours that are compared.
        self._outline_glyphs = [
            Quad(**EDGES, fill_color=None, line_color=colour, line_width=width)
            for colour, width in ((palette.RIM, "rim"), (palette.BOX, "width"))
        ]

    def __len__(self) -> int:
        return len(self._names)

    def zoom(self, scale: float) -> None:
        """Maps show a grid unit by so many pixels now: more tags may find a place, or fewer."""
        if scale == self._scale or not scale > 0:
            return
        self._scale = scale
        self._write()

    def show(
        self,
        rectangles: NDArray[np.float64],
        names: Sequence[str],
        selected: Sequence[int] = (),
        held: bool = True,
        shapes: Sequence[Any] = (),
        corners: NDArray[np.float64] = _NO_CORNERS,
    ) -> None:
        """Show (n, 4) ``rectangles`` in grid units; the ``selected`` rows are highlighted.

        Tags keep what was said of boxes of these names until it is said anew. One selected row has
        handles at its corners, if it is ``held``. Rows that represent one of ``shapes`` are drawn
        as polygons; ``corners`` (k, 2) are marked where a polygon is selected.
        """
        # A copy: a source that holds views of the caller's array never notices a change in it.
        boxes = np.array(rectangles, float).reshape(-1, 4)
        chosen = np.isin(np.arange(len(boxes)), list(selected))
        polygons = np.array([shape is not None for shape in shapes] or [False] * len(boxes), bool)
        self._names = [str(name) for name in names[: len(boxes)]]
        self._places = self._belong(boxes, chosen)
        if polygons.any():
            self._places = self.polygons.tags(self._places, shapes, boxes, self._scale, self._turns)
        # One box at a time can be changed: handles on several would promise more.
        alone = held and chosen.sum() == 1 and not polygons[chosen].any()
        if alone and np.isfinite(boxes[chosen]).all():
            x0, y0, x1, y1 = boxes[chosen][0]
            corners = np.array([(x0, y0), (x0, y1), (x1, y0), (x1, y1)])
        self.polygons.show(shapes, selected, corners)
        # A polygon has an outline of its own in place of that of its box.
        boxes[polygons, ::2] = np.nan
        columns = {name: edge.copy() for name, edge in zip(EDGES.values(), boxes.T, strict=True)}
        columns |= {
            "width": np.where(chosen, CHOSEN_LINE, LINE),
            "rim": np.where(chosen, CHOSEN_RIM, RIM),
        }
        if not _same(columns, self._outlines):
            self.source.data = self._outlines = columns
        self._write()

    def say(self, tags: Sequence[Sequence[_Tag]]) -> None:
        """Write text and colour of every box's tag, for each map in turn."""
        rows = _rows(self._names)
        texts = [dict(zip(rows, tag, strict=True)) for _, tag in zip(self._said, tags, strict=True)]
        if texts != self._said:
            self._said = texts
            self._write()

    def forget(self) -> None:
        """Say no answer of any box: names alone are left."""
        self._said = [{} for _ in self._said]
        self._write()

    def say_draft(self, box: tuple[float, float, float, float], tags: Sequence[_Tag]) -> None:
        """Write a tag for each map at the box that is being dragged."""
        places = self._belong(np.array([box], float), np.zeros(1, dtype=bool))
        placed = places.columns([[expected("", None)]], self._scale, self._bounds)
        for source, (text, colour) in zip(self.drafts, tags, strict=False):
            source.data = {**placed, "text": [text], "colour": [colour]}
        for layer in self._draft_layers:
            layer.need()

    def forget_draft(self) -> None:
        """Nothing is left in a browser of what was said of the last box that was dragged."""
        none = {**TagPlaces.nowhere().columns([[]], self._scale, None), "text": [], "colour": []}
        for source in self.drafts:
            source.data = dict(none)

    def draw_on(self, fig: figure, number: int) -> tuple[GlyphRenderer, GlyphRenderer]:
        """Draw them over what ``fig`` shows already, with the tags of the map of that number.

        Returns the renderers of the tags, and of the tag of the box that is being dragged.
        """
        outlines = [rendered(self.source, glyph, level=ABOVE) for glyph in self._outline_glyphs]
        tags, draft = (_tags(source[number]) for source in (self.tags, self.drafts))
        draw(fig, *outlines, tags)
        self.polygons.draw_on(fig, above=outlines[-1])
        layer = LateLayer(lambda: [draft])
        layer.draw_on(fig, above=tags)
        self._draft_layers.append(layer)
        return tags, draft

    def _belong(self, boxes: NDArray[np.float64], chosen: NDArray[np.bool_]) -> TagPlaces:
        """Where the tags of (n, 4) boxes belong."""
        x0, _, x1, y1 = boxes.T
        turned, none = x0 > self._turns, np.zeros(len(boxes), dtype=bool)
        low = np.minimum(y1, self._highest)
        return TagPlaces(np.where(turned, x1, x0), low, turned, none, chosen)

    def _write(self) -> None:
        """Send each map those of its tags that are other ones than before."""
        rows = _rows(self._names)
        texts = [
            [expected(row[0], answers[row][0] if row in answers else None) for row in rows]
            for answers in self._said
        ]
        placed = self._places.columns(texts, self._scale, self._bounds)
        for number, (source, answers) in enumerate(zip(self.tags, self._said, strict=True)):
            tags = [answers.get(row, (row[0], palette.PRIVATE)) for row in rows]
            columns = {
                **placed,
                "text": [text for text, _ in tags],
                "colour": [colour for _, colour in tags],
            }
            if not _same(columns, self._written[number]):
                source.data = self._written[number] = columns


def _rows(names: Sequence[str]) -> list[_Row]:
    """Each name with its number among rows of that name: areas of a file may be called alike."""
    counts: dict[str, int] = {}
    rows = []
    for name in names:
        counts[name] = counts.get(name, -1) + 1
        rows.append((name, counts[name]))
    return rows


def _same(one: Mapping[str, Any], other: Mapping[str, Any]) -> bool:
    """Whether two sets of columns say the same; of a tag that is left out the place is nan."""
    return one.keys() == other.keys() and all(
        np.array_equal(one[name], other[name], equal_nan=isinstance(one[name], np.ndarray))
        for name in one
    )


def _tags(source: ColumnDataSource) -> GlyphRenderer:
    tag = Text(
        x="x",
        y="y",
        text="text",
        text_align="align",
        text_color="white",
        text_font=value("Inter, system-ui, sans-serif"),
        text_font_size=TAG_TYPE,
        text_font_style="bold",
        text_baseline="bottom",
        x_offset="shift",
        y_offset="lift",
        background_fill_color="colour",
        background_fill_alpha=0.92,
        padding=[2, 4],
        border_radius=3,
        border_line_color=None,
    )
    return rendered(source, tag, level=ABOVE)


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
        self.outlines = empty("xs", "ys", "width", "rim")
        self.corners = empty()
        # What was last sent: a browser can write anything into the sources.
        self._sent: tuple[int, list[list[float]]] = (0, [])
        self._level, self._layer = level, LateLayer(self._renderers)

    def draw_on(self, fig: figure, above: GlyphRenderer) -> None:
        """Draw outlines and corners on ``fig``, directly above a renderer."""
        self._layer.draw_on(fig, above)

    def _renderers(self) -> list[GlyphRenderer]:
        # A dark rim below the line keeps it legible on light ground too.
        lines = [
            MultiPolygons(fill_color=None, line_color=colour, line_width=width, line_join="round")
            for colour, width in ((palette.RIM, "rim"), (palette.BOX, "width"))
        ]
        corner = Scatter(
            marker="square", size=10, fill_color="white", line_color=palette.RIM, line_width=1.5
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


def _highest(shape: Any) -> float:
    """Where along x the highest corner of a polygon is."""
    corners = shapely.get_coordinates(shape)
    return float(corners[np.argmax(corners[:, 1]), 0])
