"""The dark ground that every map is on, in the light theme as in the dark one."""

from __future__ import annotations

from typing import Any

from bokeh.models import Range1d
from bokeh.plotting import figure

from explorer.views import palette


def ground(x: Range1d, y: Range1d, label: str, *, side: int, tools: Any = ()) -> figure:
    """A figure without axes, grid, toolbar or border, as wide as its place.

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
