"""The partition over a map: legible leaves as boxes with hover, a crowd of them as an image."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from explorer.views.raster import leaf_edges
from explorer.views.viewport import Viewport

if TYPE_CHECKING:
    from explorer.grid.grid import Grid
    from explorer.releases.release import Release

#: Above this many legible leaves in view they are drawn as one image: measured, a browser paints
#: 8,000 boxes in 26 ms and 129,000 in 274 ms.
MOST_BOXES = 8_000
#: A leaf whose shorter side is below this many pixels has no line: it would only grey the map.
LEGIBLE_PIXELS = 3.0

#: The opacity of a line that lets nothing through, as it is sent.
OPAQUE = 255

EMPTY: dict[str, Any] = {
    name: np.zeros(0, np.float32) for name in ("x0", "y0", "x1", "y1", "alpha", "count", "height")
}


@dataclass(frozen=True, eq=False)
class Leaves:
    """The leaves of a release as plain arrays.

    Parameters
    ----------
    lower, upper : (m, 2) int, row and column in cells, half open.
    boxes : (m, 4) float, x0, y0, x1, y1 in grid units.
    counts : (m,) float, private counts.
    height : (m,) int, levels between a leaf and the bottom of the tree.
    """

    lower: NDArray[Any]
    upper: NDArray[Any]
    boxes: NDArray[np.float64]
    counts: NDArray[np.float64]
    height: NDArray[Any]

    @classmethod
    def of(cls, release: Release) -> Leaves:
        """The leaves of ``release``."""
        return cls(release.lower, release.upper, release.boxes(), release.counts, release.height)

    @cached_property
    def cells(self) -> NDArray[np.int64]:
        """(m,) number of cells of each leaf."""
        sides = self.upper - self.lower
        size: NDArray[np.int64] = sides[:, 0] * sides[:, 1]
        return size

    @cached_property
    def density(self) -> NDArray[np.float64]:
        """(m,) private count per cell."""
        result: NDArray[np.float64] = self.counts / self.cells
        return result

    @cached_property
    def line(self) -> NDArray[np.float64]:
        """(m,) how plain the line of each leaf is: 1 where people are, 0.3 where none are.

        The large leaves of a sea have long lines, and nothing in them is worth the look.
        """
        mean = max(float(self.counts.sum() / max(self.cells.sum(), 1)), 1e-12)
        plain: NDArray[np.float64] = 0.3 + 0.7 * np.clip(self.density / mean, 0.0, 1.0)
        return plain

    def sides(self, view: Viewport) -> NDArray[np.float64]:
        """(m,) shorter side on screen in pixels; 0 for a leaf that is out of view."""
        x0, y0, x1, y1 = self.boxes.T
        side = np.minimum((x1 - x0) * view.pixels_per_x, (y1 - y0) * view.pixels_per_y)
        in_view = (x1 > view.x0) & (x0 < view.x1) & (y1 > view.y0) & (y0 < view.y1)
        return np.where(in_view, side, 0.0)


@dataclass(frozen=True)
class Partition:
    """What to draw: columns for boxes, or (above `MOST_BOXES`) an image of the boundaries.

    All but counts are whole numbers, of as few bytes as hold them: edges in cells, opacities of 0
    to `OPAQUE`, heights.
    """

    boxes: dict[str, Any]
    edges: NDArray[np.uint8] | None
    grid: Grid


def partition(
    leaves: Leaves, view: Viewport, grid: Grid, strength: float | NDArray[np.float64] = 0.5
) -> Partition:
    """Choose and prepare the drawing of ``leaves`` in ``view``.

    A box's line gets the opacity ``strength * clip((s - 3) / 13, 0, 1)`` for a shorter side of s
    pixels, so lines fade in as one zooms in, times `Leaves.line`. Only legible boxes are sent to
    the browser. ``strength`` is one number, or (m,) to let some leaves are highlighted as they are.
    """
    sides = leaves.sides(view)
    chosen = np.flatnonzero(sides >= LEGIBLE_PIXELS)
    if len(chosen) > MOST_BOXES:
        cells = view.cells(grid)
        edges = leaf_edges(leaves.lower, leaves.upper, *cells, view.height, view.width)
        return Partition(EMPTY, edges, grid)
    lower, upper = leaves.lower[chosen], leaves.upper[chosen]
    strengths = (leaves.line * strength if np.ndim(strength) == 0 else np.asarray(strength))[chosen]
    alpha = np.clip((sides[chosen] - LEGIBLE_PIXELS) / 13, 0.0, 1.0) * strengths
    columns = {
        "x0": _small(lower[:, 1]),
        "y0": _small(lower[:, 0]),
        "x1": _small(upper[:, 1]),
        "y1": _small(upper[:, 0]),
        "alpha": np.rint(OPAQUE * np.minimum(alpha, 1.0)).astype(np.uint8),
        "count": leaves.counts[chosen].astype(np.float32),
        "height": _small(leaves.height[chosen]),
    }
    return Partition(columns, None, grid)


def _small(numbers: NDArray[Any]) -> NDArray[Any]:
    """Whole numbers in 16 bits where they fit, else in 32."""
    limit = int(np.abs(numbers).max(initial=0))
    return numbers.astype(np.int16 if limit < 2**15 else np.int32)
