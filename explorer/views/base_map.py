"""A base map on a figure: faint lines, and the names that fit next to each other."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from bokeh.core.properties import value
from bokeh.models import CategoricalColorMapper, CDSView, ColumnDataSource, MultiLine, Text
from bokeh.plotting import figure
from numpy.typing import NDArray

from explorer.grid.base_map import KINDS, BaseMap
from explorer.views import palette
from explorer.views.figures import draw, rendered
from explorer.views.markup import safe_text
from explorer.views.tags import SIDE

Bounds = tuple[float, float, float, float]

# Of `KINDS` in turn, over dark maps and over light ones: weaker than boxes and their tags.
_ON_DARK = ("#7cc4f0", "#86d39a", "#c9cfd6", "#dfe5ec", "#ffffff")
_ON_LIGHT = ("#1d6fa5", "#2f7d46", "#5f6a77", "#4a5563", "#1f2933")
#: Pixels of a letter, of a line of text, and between two names; of a name's text.
_LETTER, _HIGH, _GAP = 6.2, 22, 16
TYPE, WIDE_TYPE = "11px", "15px"
_NO_LINES: dict[str, Any] = {"xs": [], "ys": [], "kind": []}
_NO_NAMES: dict[str, Any] = {"x": [], "y": [], "text": [], "kind": []}


class BaseLayer:
    """The base map of one place, over one figure or several that move together.

    Its glyphs come with the first map that has something to draw: a browser is sent none before.
    """

    def __init__(self) -> None:
        self.lines = ColumnDataSource(dict(_NO_LINES))
        self.names = ColumnDataSource(dict(_NO_NAMES))
        self.drawn: list[_Drawn] = []
        self._base = BaseMap((), ())
        self._shown: tuple[int, ...] = ()
        self.on = True
        self._wide = False

    def show(self, base: BaseMap | None, figures: Sequence[figure]) -> None:
        """Draw it on these figures, in their unit; None takes away what is there."""
        self._base, self._shown = base or BaseMap((), ()), ()
        if not self._base.empty and not self.drawn:
            views = CDSView(), CDSView()
            self.drawn = [_Drawn(fig, self.lines, self.names, views) for fig in figures]
        lines = [np.asarray(line.coords, dtype=np.float64) for line in self._base.lines]
        self.lines.data = {
            "xs": [line[:, 0] for line in lines],
            "ys": [line[:, 1] for line in lines],
            "kind": list(self._base.kinds),
        }
        self.names.data = dict(_NO_NAMES)
        self.switch(self.on)

    def switch(self, on: bool) -> None:
        """Let it be seen, or not."""
        self.on = on
        for layer in self.drawn:
            layer.switch(on)

    def widen(self, wide: bool) -> None:
        """Larger names, for a projector."""
        self._wide = wide
        for layer in self.drawn:
            layer.texts.glyph.text_font_size = WIDE_TYPE if wide else TYPE

    def zoom(self, bounds: Bounds, scale: float, taken: Sequence[Bounds] = ()) -> None:
        """Show the names that fit.

        Parameters
        ----------
        bounds : x0, y0, x1, y1 that the browser shows
        scale : pixels of a unit of it
        taken : of what is over the map, in pixels from its lower left corner
        """
        base = self._base
        if not len(base.names):
            return
        larger = 4 / 3 if self._wide else 1.0
        reserved = [
            (x0 / larger, y0 / larger, x1 / larger, y1 / larger) for x0, y0, x1, y1 in taken
        ]
        fitting = which_fit(base.names, base.places, bounds, scale / larger, reserved)
        if fitting != self._shown:
            self._shown = fitting
            at = np.array(fitting, dtype=np.int64)
            self.names.data = {
                "x": base.places[at, 0],
                "y": base.places[at, 1],
                "text": [safe_text(base.names[i]) for i in fitting],
                "kind": [base.of[i] for i in fitting],
            }


class _Drawn:
    """The glyphs of a base map on one figure."""

    def __init__(
        self,
        fig: figure,
        lines: ColumnDataSource,
        names: ColumnDataSource,
        views: tuple[CDSView, CDSView],
    ) -> None:
        self.inks = CategoricalColorMapper(factors=list(KINDS), palette=list(_ON_DARK))
        ink: Any = {"field": "kind", "transform": self.inks}
        stroke = MultiLine(xs="xs", ys="ys", line_color=ink, line_alpha=0.5, line_width=1.0)
        # Above pictures, below the outlines of leaves.
        self.strokes = rendered(lines, stroke, view=views[0], level="underlay")
        name = Text(
            x="x",
            y="y",
            text="text",
            text_color=ink,
            text_alpha=0.95,
            text_font=value("Inter, system-ui, sans-serif"),
            text_font_size=TYPE,
            text_align="center",
            text_baseline="middle",
            background_fill_color=palette.GROUND,
            background_fill_alpha=0.45,
            border_line_color=None,
            padding=[0, 3],
            border_radius=3,
        )
        self.texts = rendered(names, name, view=views[1])
        draw(fig, self.strokes, self.texts)

    def switch(self, on: bool) -> None:
        self.strokes.visible = self.texts.visible = on

    def recolour(self, light: bool) -> None:
        """Inks for a light map or a dark one."""
        inks = list(_ON_LIGHT if light else _ON_DARK)
        if self.inks.palette != inks:
            self.inks.palette = inks
            self.texts.glyph.background_fill_color = "#ffffff" if light else palette.GROUND


def which_fit(
    names: Sequence[str],
    places: NDArray[np.float64],
    bounds: Bounds,
    scale: float = 0.0,
    taken: Sequence[Bounds] = (),
) -> tuple[int, ...]:
    """The names that can be read next to each other, those that come first before others.

    Parameters
    ----------
    names : of places, the most important first
    places : (m, 2)
    bounds : x0, y0, x1, y1 of what is shown, in their unit
    scale : pixels of a unit; 0 where it is not known
    taken : rectangles that no name touches, in pixels from the lower left corner

    Examples
    --------
    >>> places = np.array([(5.0, 5.0), (5.2, 5.0), (5.0, 9.0)])
    >>> which_fit(["City", "Suburb", "Village"], places, (0, 0, 10, 10), 40)
    (0, 2)
    >>> which_fit(["City", "Suburb", "Village"], places, (0, 0, 10, 10), 40, [(0, 0, 400, 200)])
    (2,)
    """
    x0, y0, x1, y1 = bounds
    scale = scale if scale > 0 else SIDE / max(x1 - x0, 1e-9)
    half = np.array([_LETTER * len(name) / 2 for name in names])
    x, y = ((places - (x0, y0)) * scale).T
    wide, high = (x1 - x0) * scale, (y1 - y0) * scale
    # A name that would be cut off at an edge is no name.
    inside = (x >= half) & (x <= wide - half) & (y >= _HIGH / 2) & (y <= high - _HIGH / 2)
    for left, low, right, top in taken:
        beside = (x + half <= left) | (x - half >= right)
        inside &= beside | (y + _HIGH / 2 <= low) | (y - _HIGH / 2 >= top)
    fitting: list[int] = []
    for i in np.flatnonzero(inside):
        others = np.array(fitting, dtype=np.int64)
        apart = (np.abs(x[others] - x[i]) >= half[others] + half[i] + _GAP) | (
            np.abs(y[others] - y[i]) >= _HIGH
        )
        if apart.all():
            fitting.append(int(i))
    return tuple(fitting)
