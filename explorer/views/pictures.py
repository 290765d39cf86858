"""From plain data to the bytes that the two maps show: one call for one screen."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

import numpy as np
from numpy.typing import NDArray

from explorer.views.heat import PointHeat
from explorer.views.partition import Leaves
from explorer.views.raster import leaf_means, mean_per_cell
from explorer.views.scale import ColourScale
from explorer.views.viewport import Viewport

if TYPE_CHECKING:
    from explorer.grid import Grid
    from explorer.release import Release

RightView = Literal["private", "difference"]


@dataclass(frozen=True)
class Truth:
    """The true map of one viewport before colours: ``shown`` and its gridded counts ``cells``.

    Both (height, width) float32, points per cell. They differ when the points themselves are
    shown: a difference is always taken against the gridded counts, which the mechanism saw.
    """

    view: Viewport
    shown: NDArray[np.float32]
    cells: NDArray[np.float32]


def true_map(
    counts: NDArray[np.int64], grid: Grid, view: Viewport, heat: PointHeat | None = None
) -> Truth:
    """Resample exact ``counts`` (rows, cols) to ``view``; with ``heat`` show the points instead."""
    cells = mean_per_cell(counts, *view.cells(grid), view.height, view.width)
    if heat is None:
        return Truth(view, cells, cells)
    return Truth(view, heat.render(view, grid.cell_width * grid.cell_height), cells)


def private_map(release: Release, leaves: Leaves, view: Viewport) -> NDArray[np.float32]:
    """The released density under each pixel, (height, width) float32, points per cell.

    Leaves of even density are painted directly; a density that the mechanism rebuilt inside them
    is resampled from the cells.
    """
    cells = view.cells(release.grid)
    size = view.height, view.width
    picture: NDArray[np.float32]
    if release.inside == "uniform":
        picture = leaf_means(leaves.lower, leaves.upper, leaves.density, *cells, *size)
    else:
        picture = mean_per_cell(release.density(), *cells, *size)
    return picture


def colour(
    private: NDArray[np.float32], truth: Truth, scale: ColourScale, right: RightView
) -> NDArray[np.uint8]:
    """Bytes of the right-hand map: the private density, or private minus true."""
    if right == "difference":
        return scale.encode_difference(private - truth.cells)
    return scale.encode(private)
