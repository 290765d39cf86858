"""From plain data to the bytes that the two maps show: one call for one screen."""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal

import numpy as np
from numpy.typing import NDArray

from explorer.views.partition import Leaves
from explorer.views.raster import leaf_means, mean_per_cell
from explorer.views.scale import ColourScale
from explorer.views.viewport import Viewport

if TYPE_CHECKING:
    from explorer.releases.release import Release
    from explorer.views.truth import Truth

RightView = Literal["private", "difference"]


def private_map(release: Release, leaves: Leaves, view: Viewport) -> NDArray[np.float32]:
    """The released density under each pixel, (height, width) float32, points per cell.

    Leaves of even density are painted directly; a density that the mechanism rebuilt inside them
    is resampled from the cells.
    """
    cells = view.cells(release.grid)
    size = view.height, view.width
    picture: NDArray[np.float32]
    if release.is_uniform:
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
