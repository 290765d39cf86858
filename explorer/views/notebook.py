"""A release as a HoloViews object for notebooks, in the colours of the app."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from explorer.views.palette import GROUND, HOVER, LINE, PALETTES
from explorer.views.scale import short_number, top_value_of_leaves

if TYPE_CHECKING:
    from explorer.releases.release import Release


def to_holoviews(release: Release, *, palette: str = "cividis", width: int = 500) -> Any:
    """Draw the private map with its partition: ``hv.Image * hv.Rectangles``.

    Everything in it comes from the release, its colour scale too, so it may be published
    wherever the release may.

    Parameters
    ----------
    release : Release
    palette : "cividis" or "magma"
    width : pixels; the height follows the grid's proportions.

    Returns
    -------
    holoviews.Overlay with logarithmic colours, hover on the leaves and equal axes.
    """
    import holoviews as hv

    # Scripts come along: without them a notebook would ask the net for them.
    hv.extension("bokeh", logo=False, inline=True)
    grid = release.grid
    x0, y0, x1, y1 = grid.bounds
    cells = np.prod(release.upper - release.lower, axis=1)
    top = top_value_of_leaves(release.counts / cells, cells, "log")
    # Noise can make a count negative; on a logarithmic scale that is shown as nothing.
    levels = np.log1p(np.maximum(release.density(), 0.0))
    image = hv.Image(levels[::-1], bounds=(x0, y0, x1, y1), kdims=["x", "y"], vdims="level")
    boxes = release.boxes()
    table = (*boxes.T, release.counts, release.height)
    leaves = hv.Rectangles(table, kdims=["x0", "y0", "x1", "y1"], vdims=["count", "height"])
    ticks = [0.0] + [10.0**k for k in range(9) if 10.0**k <= top]
    return image.opts(
        cmap=list(PALETTES[palette]),
        clim=(0.0, float(np.log1p(top))),
        colorbar=True,
        clabel="private points per cell",
        colorbar_opts={
            "ticker": _ticker([float(np.log1p(t)) for t in ticks]),
            "major_label_overrides": {float(np.log1p(t)): short_number(t) for t in ticks},
        },
        bgcolor=GROUND,
        frame_width=width,
        frame_height=round(width * grid.height / grid.width),
        xlabel=f"x ({grid.unit})",
        ylabel=f"y ({grid.unit})",
        title=release.summary(),
        fontsize={"title": 9},
    ) * leaves.opts(
        fill_alpha=0,
        line_color=LINE,
        line_alpha=0.25,
        hover_line_color=HOVER,
        hover_line_alpha=1,
        tools=["hover"],
    )


def _ticker(ticks: list[float]) -> Any:
    from bokeh.models import FixedTicker

    return FixedTicker(ticks=ticks)
