"""Synthetic points from a release: post-processing, which costs nothing and adds nothing."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from explorer.errors import InputError

if TYPE_CHECKING:
    import geopandas

Floats = NDArray[np.float64]

#: Points at a time.
MOST = 10_000_000


class Sampled:
    """Synthetic points of a release; see `Release`."""

    def sample(self, n: int, rng: Any = None) -> geopandas.GeoDataFrame:
        """Synthetic points, spread as the released counts are: post-processing, it costs nothing.

        No one's place is among them: a leaf is drawn in proportion to its count (never one that
        noise made negative), and in it a place, evenly or by the interpolated density.

        Parameters
        ----------
        n : int, 0 to 10,000,000
            How many. The private total says how many records there are about.
        rng : int of 0 or more, numpy Generator or None
            A seed repeats a sample.

        Returns
        -------
        GeoDataFrame
            Points in the grid's CRS with the number of their leaf; ``attrs`` say that they are
            synthetic and of which release.

        Raises
        ------
        InputError
            For another number or rng, a release that is no map, or one without a positive count.

        Examples
        --------
        >>> from explorer import UG
        >>> release = UG(epsilon=1, grid_size=2).release([[9, 0], [8, 1]], rng=7)
        >>> points = release.sample(100, rng=1)
        >>> len(points), points.attrs["synthetic"], points.equals(release.sample(100, rng=1))
        (100, True, True)
        """
        return _sampled(self, n, rng)


def _sampled(release: Any, n: Any, rng: Any) -> geopandas.GeoDataFrame:
    whole = isinstance(n, int | np.integer) and not isinstance(n, bool)
    if not whole or not 0 <= n <= MOST:
        raise InputError(f"A sample has a whole number of points, 0 to {MOST:,}; this is {n!r}.")
    grid = release.grid
    try:
        dice = np.random.default_rng(rng)
    except (TypeError, ValueError) as error:
        raise InputError(
            f"rng is {rng!r}; give a whole number of 0 or more, a Generator, or None."
        ) from error
    if release.is_uniform:
        weights, lower, upper = release.counts, release.lower, release.upper
        leaf = _chosen(weights, n, dice)
        low, high = lower[leaf], upper[leaf]
    else:
        cell = _chosen(release.density().ravel(), n, dice)
        low = np.stack(np.divmod(cell, grid.shape[1]), axis=1)
        high = low + 1
        leaf = release.owners.ravel()[cell].astype(np.int64)
    place = low + dice.random((n, 2)) * (high - low)
    x0, y0 = grid.bounds[:2]
    x, y = x0 + place[:, 1] * grid.cell_width, y0 + place[:, 0] * grid.cell_height
    import geopandas
    import shapely

    frame = geopandas.GeoDataFrame({"leaf": leaf}, geometry=shapely.points(x, y), crs=grid.crs)
    frame.attrs = {
        "synthetic": True,
        "said": "Synthetic points, computed from a differentially private release: no one's places",
        "mechanism": release.mechanism,
        "epsilon": release.epsilon,
        "preview": release.preview,
    }
    return frame


def _chosen(weights: Floats, n: int, dice: np.random.Generator) -> NDArray[np.int64]:
    """Positions drawn in proportion to weights, (n,); what noise made negative is never drawn."""
    positive = np.maximum(weights, 0.0)
    total = positive.sum()
    if n and not total > 0:
        raise InputError("This release has no positive count, so there is nothing to draw from.")
    edges = np.cumsum(positive)
    at = np.searchsorted(edges, dice.random(n) * total, side="right")
    # A last bit of the sum must not reach beyond what can be drawn.
    last = np.flatnonzero(positive)[-1:] if n else np.zeros(0, dtype=np.int64)
    result: NDArray[np.int64] = np.minimum(at, last) if n else at
    return result
