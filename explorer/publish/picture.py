"""The map as a picture, of released numbers alone: its colour scale too."""

from __future__ import annotations

from textwrap import shorten, wrap
from typing import Any

import numpy as np
import shapely
from numpy.typing import NDArray

from explorer.publish.published import Boxes, Published
from explorer.views import palette
from explorer.views.partition import Leaves
from explorer.views.pictures import private_map
from explorer.views.scale import ColourScale, short_number, top_value_of_leaves
from explorer.views.sheet import MapPicture, Sheet, sheet
from explorer.views.viewport import Viewport

#: Width of the picture of the map, in pixels of the layout.
_PIXELS = 1120
#: Signs of a line of the caption and of the title above the map, which are as wide as the map.
_LINE, _TITLE = 80, 56
_MOST_LINES = 4
_KIND = "Private release"


def caption(published: Published) -> list[str]:
    """Lines below the map: what it is of, and what its colours may be off by."""
    release, about = published.release, published.about
    unit = "record" if release.unit == "point" else "user"
    noise = float(np.median(release.sd))
    whose = f"{about.title}. {about.curator}, {published.booking.date}"
    return [
        *wrap(whose, _LINE, max_lines=_MOST_LINES, placeholder=" …"),
        f"{_KIND} by {release.mechanism}, epsilon {release.epsilon:g} per {unit}",
        f"Noise of an area's count typically {noise:,.1f} (standard deviation)",
    ]


def drawn(published: Published) -> Sheet:
    """The map with legend, scale, the person's own boxes and the caption, laid out."""
    release, grid = published.release, published.release.grid
    leaves = Leaves.of(release)
    scale = ColourScale("log", top_value_of_leaves(leaves.density, leaves.cells, "log"), "release")
    view = Viewport.whole(grid, _PIXELS)
    edges, rings, tags = _boxes(published)
    cell = f"{grid.cell_width:,.3g} x {grid.cell_height:,.3g} m cell"
    picture = MapPicture(
        shorten(published.about.title, _TITLE, placeholder=" …"),
        below=_KIND,
        levels=scale.encode(private_map(release, leaves, view)),
        colours=palette.PALETTES["cividis"],
        view=view,
        leaves=leaves.boxes,
        boxes=edges,
        tags=tags,
        bar=(f"Private records per {cell}", scale.ticks()),
        unit=grid.unit,
        rings=rings,
    )
    return sheet([picture], caption(published))


def _boxes(
    published: Published,
) -> tuple[NDArray[np.float64], list[list[Any]], list[tuple[str, str]]]:
    """Edges (n, 4), rings of those that represent a polygon, and a tag for each."""
    boxes: Boxes | None = published.boxes
    if boxes is None or len(boxes.names) == 0:
        return np.zeros((0, 4)), [], []
    values = published.release.answer(boxes.asked).value
    tags = [
        (f"{name} {short_number(value)}", palette.PRIVATE)
        for name, value in zip(boxes.names, values.tolist(), strict=True)
    ]
    rings = [
        [] if shape is None else [shapely.get_coordinates(r) for r in shapely.get_rings(shape)]
        for shape in boxes.asked.shapes
    ]
    return boxes.asked.boxes, rings, tags
