"""What figures share: empty charts and maps, tooltips, legends, and layers that are drawn late."""

from __future__ import annotations

import html
from collections.abc import Callable, Iterable, Sequence
from typing import Any, Literal

import numpy as np
from bokeh.models import (
    AllIndices,
    CDSView,
    ColumnDataSource,
    CustomJSTickFormatter,
    GlyphRenderer,
    Range1d,
    Span,
)
from bokeh.models.glyph import Glyph
from bokeh.models.selections import UnionRenderers
from bokeh.plotting import figure
from numpy.typing import NDArray

from explorer.views import palette
from explorer.views.series import BLUE, ORANGE, PLUM

#: Of lessons: the data as they are, the same with one person changed, and the truth.
FIRST, SECOND, TRUTH = BLUE, ORANGE, PLUM
#: Sides of a quad by the columns of its source.
EDGES: dict[str, Any] = {"left": "x0", "bottom": "y0", "right": "x1", "top": "y1"}
#: Styles of the window a page is in: Bokeh hangs tooltips on it, white in every theme.
TOOLTIP_CSS = """
body > .bk-Tooltip { --tooltip-color: var(--panel-surface-color, #ffffff);
  --tooltip-text: var(--panel-on-surface-color, #12171e);
  --tooltip-border: var(--panel-border-color, #b9c3cd); }
"""
_SHORT_NUMBERS = """
const size = Math.abs(tick), sign = tick < 0 ? "−" : ""
if (size >= 1e6) return sign + String(Number((size / 1e6).toPrecision(4))) + "M"
// One kind for a whole axis: its largest tick says which.
const most = Math.max(...ticks.map(Math.abs))
if (most >= 1e5 && size >= 1e3) return sign + String(Number((size / 1e3).toPrecision(4))) + "k"
return sign + Number(size.toPrecision(7)).toLocaleString("en-US", {maximumFractionDigits: 6})
"""
_POWERS = """
const power = Math.log10(Math.abs(tick))
if (Math.abs(power - Math.round(power)) > 1e-9 || Math.abs(power) < 5) {
  return Number(tick.toPrecision(7)).toLocaleString("en-US", {maximumFractionDigits: 6})
}
return "10" + String(Math.round(power)).replace(/./g, c => "⁰¹²³⁴⁵⁶⁷⁸⁹"[c] ?? "⁻")
"""


def chart(
    height: int,
    *,
    log: Literal["", "x", "y", "xy"] = "",
    label: str = "Chart without data",
    **about: Any,
) -> figure:
    """A figure without tools or data, as wide as its place and ``height`` pixels high.

    ``log`` names the logarithmic axes, whose ticks are written as `powers_of_ten`; ``label`` is
    what a screen reader says; ``about`` goes to Bokeh's figure.
    """
    for axis in log:
        about[f"{axis}_axis_type"] = "log"
    fig = figure(
        tools="",
        toolbar_location=None,
        sizing_mode="stretch_width",
        height=height,
        min_border=4,
        outline_line_color=None,
        output_backend="canvas",
        html_attributes={"role": "img", "aria-label": label},
        **about,
    )
    fig.grid.grid_line_alpha = 0.4
    for axis in log:
        getattr(fig, f"{axis}axis").formatter = powers_of_ten()
    return fig


def ground(x: Range1d, y: Range1d, label: str, *, side: int, tools: Any = ()) -> figure:
    """The dark ground that every map is on: a figure without axes, grid, toolbar or border.

    Parameters
    ----------
    x, y : what it shows
    label : what the picture is, for a screen reader
    side : pixels of either side before it is laid out
    tools : as Bokeh takes them
    """
    return figure(
        x_range=x,
        y_range=y,
        tools=list(tools),
        x_axis_type=None,
        y_axis_type=None,
        title=None,
        toolbar_location=None,
        width=side,
        height=side,
        sizing_mode="scale_width",
        min_border=0,
        outline_line_color=None,
        background_fill_color=palette.GROUND,
        border_fill_color=palette.GROUND,
        # Bokeh's themes make it see-through, and a light page would shine through the picture.
        background_fill_alpha=1.0,
        # WebGL and canvas paint alike here; canvas needs no driver on a projector's machine.
        output_backend="canvas",
        html_attributes={"role": "img", "aria-label": label},
    )


def describe(fig: figure, spoken: str) -> None:
    """Say in words what a figure shows, for a screen reader."""
    attributes = {"role": "img", "aria-label": spoken}
    if fig.html_attributes != attributes:
        fig.html_attributes = attributes


def limit(
    fig: figure,
    dimension: Literal["width", "height"],
    colour: str = TRUTH,
    location: float | None = None,
) -> Span:
    """A dashed line across a figure, along its width or its height, that a sum is held against."""
    line = Span(
        dimension=dimension,
        location=location,
        line_color=colour,
        line_width=2,
        line_dash="dashed",
    )
    fig.add_layout(line)
    return line


def short_numbers() -> CustomJSTickFormatter:
    """Ticks as people write them: 12,345, 1.2M."""
    return CustomJSTickFormatter(code=_SHORT_NUMBERS)


def powers_of_ten() -> CustomJSTickFormatter:
    """Ticks of an axis over many decades: 10,000, then 10⁵."""
    return CustomJSTickFormatter(code=_POWERS)


def empty(*names: str) -> ColumnDataSource:
    """A source of these columns, "x" and "y" unless named, without rows."""
    return ColumnDataSource({name: [] for name in names or ("x", "y")})


def edge_columns(boxes: NDArray[Any], dtype: Any = np.float32) -> dict[str, NDArray[Any]]:
    """Columns of the edges of boxes, (k, 4) x0, y0, x1, y1, for a quad with `EDGES`."""
    edges = np.asarray(boxes).reshape(-1, 4).astype(dtype)
    # Copies: a source that holds views of one array never notices a change in it.
    return {name: edges[:, i].copy() for i, name in enumerate(EDGES.values())}


def tooltip(text: str) -> str:
    """A tooltip of a `HoverTool`: HTML of our own with names of columns, such as ``@count``."""
    return f'<div style="font: 13px/18px Inter, system-ui, sans-serif">{text}</div>'


def legend(entries: Iterable[tuple[str, str, str]]) -> str:
    """What the colours of a chart represent, as HTML next to it.

    ``entries`` are (colour, "line", "dash", "dot", "diamond", "area" or "stripes", text).
    """
    shapes = {
        "line": '<line x1="1" y1="6" x2="27" y2="6" stroke="{c}" stroke-width="3"/>',
        "dash": '<line x1="1" y1="6" x2="27" y2="6" stroke="{c}" stroke-width="2.5" '
        'stroke-dasharray="6,4"/>',
        "dot": '<circle cx="14" cy="6" r="4" fill="{c}"/>',
        "diamond": '<path d="M14 0L19 6L14 12L9 6Z" fill="{c}"/>',
        "area": '<rect x="2" y="1" width="24" height="10" fill="{c}" fill-opacity="0.35"/>',
        "stripes": '<path d="M2 11L12 1M8 11L18 1M14 11L24 1M20 11L26 5M2 5L6 1" stroke="{c}" '
        'stroke-width="2"/>',
    }
    items = "".join(
        f'<li><svg width="28" height="12" viewBox="0 0 28 12" aria-hidden="true">'
        f"{shapes[kind].replace('{c}', colour)}</svg>{html.escape(text)}</li>"
        for colour, kind, text in entries
    )
    return f'<ul class="legend">{items}</ul>'


def draw(fig: figure, *renderers: GlyphRenderer, above: GlyphRenderer | None = None) -> None:
    """Draw renderers over what ``fig`` shows already, or directly above one of its renderers."""
    present = list(fig.renderers)
    at = len(present) if above is None else present.index(above) + 1
    # Assigned once: Bokeh looks through the whole page for new models each time.
    fig.renderers = [*present[:at], *renderers, *present[at:]]


def rendered(source: ColumnDataSource, glyph: Glyph, **look: Any) -> GlyphRenderer:
    """A renderer; Bokeh's plotting functions make glyphs for selected and muted points as well."""
    return GlyphRenderer(data_source=source, glyph=glyph, **look)


class LateLayer:
    """Renderers that are added to their figures once there is something to draw.

    A browser is sent nothing of them before.

    Parameters
    ----------
    make : called once, returns the renderers of one figure; glyphs and views may be shared
    """

    def __init__(self, make: Callable[[], Sequence[GlyphRenderer]]) -> None:
        self._make = make
        self._waiting: list[tuple[figure, GlyphRenderer | None]] = []

    def draw_on(self, fig: figure, above: GlyphRenderer | None = None) -> None:
        """Draw the layer on ``fig`` as soon as it is needed, directly above a renderer."""
        self._waiting.append((fig, above))

    def need(self) -> None:
        """There is something to draw."""
        waiting, self._waiting = self._waiting, []
        for fig, above in waiting:
            draw(fig, *self._make(), above=above)


def share_models(figures: Sequence[figure]) -> None:
    """Let the sources of figures share what has no state; a view is that of all rows."""
    every, policy = AllIndices(), UnionRenderers()
    views: dict[ColumnDataSource, CDSView] = {}
    for renderer in (glyph_renderer for fig in figures for glyph_renderer in fig.renderers):
        source = renderer.data_source
        if source not in views:
            views[source] = CDSView(filter=every)
            source.selection_policy = policy
        renderer.view = views[source]
