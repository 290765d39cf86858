"""Glyphs of a figure: without spare ones, and added where there is something to draw."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from bokeh.models import AllIndices, CDSView, ColumnDataSource, GlyphRenderer
from bokeh.models.glyph import Glyph
from bokeh.models.selections import UnionRenderers
from bokeh.plotting import figure


def draw(
    fig: figure,
    *renderers: GlyphRenderer,
    above: GlyphRenderer | None = None,
) -> None:
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
