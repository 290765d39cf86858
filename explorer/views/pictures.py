"""From plain data to the bytes that the two maps show: one call for one screen."""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal

import numpy as np
from numpy.typing import NDArray

from explorer.views.partition import Leaves
from explorer.views.raster import leaf_means, mean_per_cell
from explorer.views.scale import ColourScale, Kind, top_value_of_leaves
from explorer.views.viewport import Viewport

if TYPE_CHECKING:
    from explorer.grid.grid import Grid
    from explorer.releases.release import Release
    from explorer.views.truth import Truth

RightView = Literal["private", "difference"]
#: What a private map can be coloured by.
By = Literal["density", "depth", "size", "noise", "error"]
#: What each says of a leaf, on the bar below the map, and how it is scaled.
BY: dict[str, tuple[str, Kind]] = {
    "depth": ("Cuts between the whole map and each leaf", "linear"),
    "size": ("Cells of each leaf", "log"),
    "noise": ("Noise of each leaf's count, standard deviation", "log"),
    "error": ("Error of each leaf's count in % of its truth", "log"),
}


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


def of_leaves(
    release: Release, leaves: Leaves, by: str, true: NDArray[np.float64] | None = None
) -> NDArray[np.float64]:
    """What the map is coloured by, (leaves,).

    Parameters
    ----------
    by : a key of `BY`
    true : (leaves,) true counts, which "error" alone needs: errors are exact numbers, in percent
        of the truth, or of one record where there is none
    """
    if by == "depth":
        return release.tree.depth[release.tree.leaves].astype(float)
    if by == "size":
        return leaves.cells.astype(float)
    if by == "noise":
        return release.sd
    assert true is not None
    wrong: NDArray[np.float64] = 100 * np.abs(leaves.counts - true) / np.maximum(true, 1.0)
    return wrong


def leaf_map(
    values: NDArray[np.float64], leaves: Leaves, view: Viewport, grid: Grid
) -> NDArray[np.float32]:
    """A value of each leaf under each pixel, (height, width) float32; where several lie, a mean."""
    cells = view.cells(grid)
    result: NDArray[np.float32]
    result = leaf_means(leaves.lower, leaves.upper, values, *cells, view.height, view.width)
    return result


def leaf_scale(values: NDArray[np.float64], by: str) -> ColourScale:
    """The scale of what a map is coloured by; errors are of the exact data."""
    kind = BY[by][1]
    top = top_value_of_leaves(values, np.ones(len(values), dtype=np.int64), kind)
    return ColourScale(kind, top, "data" if by == "error" else "release")


def colour(
    private: NDArray[np.float32], truth: Truth, scale: ColourScale, right: RightView
) -> NDArray[np.uint8]:
    """Bytes of the right-hand map: the private density, or private minus true."""
    if right == "difference":
        return scale.encode_difference(private - truth.cells)
    return scale.encode(private)
