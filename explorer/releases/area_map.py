"""A private map inside an area, clipped to it: what it says of the whole, and of parts.

A leaf's count is on the area's share of its cells alone; a leaf without any is dropped.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from explorer.grid.areas.windows import Window
from explorer.grid.sums import box_sums, rectangle_sums, summed
from explorer.releases import haar
from explorer.releases.forms import Family
from explorer.releases.interpolation import interpolate
from explorer.releases.non_negative import project
from explorer.releases.tree import Tree

Floats = NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class AreaMap:
    """A map over the window of an area.

    Attributes
    ----------
    window : Window
    tree : Tree of the window's cells
    inside : "uniform" or "interpolated", how a leaf's count is on its land
    haar_variance : of every coefficient, for Privlet
    """

    window: Window
    tree: Tree
    inside: str = "uniform"
    haar_variance: float | None = None

    @cached_property
    def land(self) -> Floats:
        """Share of each cell that is of the area, (rows, cols); all of it where there is none."""
        land = self.window.land
        return land if land.any() else np.ones_like(land)

    @cached_property
    def leaf_land(self) -> Floats:
        """Land of every leaf, in cells, (leaves,)."""
        leaves = self.tree.leaves
        # Sums of many cells leave a trace of rounding where there is no land at all.
        land = box_sums(summed(self.land), self.tree.lower[leaves], self.tree.upper[leaves])
        land[land < 1e-6] = 0.0
        return land

    @cached_property
    def values(self) -> Floats:
        """Count of every leaf as the map has it, 0 without land, (leaves,)."""
        return np.where(self.leaf_land > 0, self.tree.value[self.tree.leaves], 0.0)

    @property
    def total(self) -> float:
        """What the map says of the whole area."""
        return float(self.values.sum())

    @cached_property
    def variance(self) -> float:
        """Variance of the noise in `total`; an estimate where the map is not linear."""
        if self.haar_variance is not None:
            whole = np.array([[[0, 0], self.window.shape]], dtype=np.float64)
            return float(self.haar_variance * haar.noise(whole, self.window.shape)[0])
        return float(self._family.variance(self._spread(self._whole))[0])

    def moments(self, weights: Floats) -> tuple[Floats, Floats]:
        """Variance of m weighted sums of leaves, and covariance with `total`, (m,) each.

        Parameters
        ----------
        weights : (m, leaves)
        """
        if self.haar_variance is not None:
            # Taken as even over the window: what a part has in common is in proportion.
            part = weights.mean(axis=1)
            return part * self.variance, part * self.variance
        variance = self._family.variance(self._spread(weights))
        both = self._family.variance(self._spread(weights + self._whole))
        return variance, (both - variance - self.variance) / 2

    def weights(self, boxes: Floats) -> Floats:
        """Which part of each leaf's land is in m boxes (m, 2, 2) of cells, (m, leaves)."""
        leaves, sums = self.tree.leaves, summed(self.land)
        lower, upper = self.tree.lower[leaves], self.tree.upper[leaves]
        parts = np.zeros((len(boxes), len(leaves)))
        for entry, box in zip(parts, boxes, strict=True):
            low, high = np.maximum(lower, box[0]), np.minimum(upper, box[1])
            meets = np.flatnonzero((low < high).all(axis=1) & (self.leaf_land > 0))
            if len(meets):
                cut = np.stack([low[meets], high[meets]], axis=1)
                entry[meets] = rectangle_sums(sums, cut) / self.leaf_land[meets]
        return np.clip(parts, 0.0, 1.0)

    def leaf_sums(self, cells: Floats) -> Floats:
        """Part of each leaf's land that is in a piece, from its land in every cell, (leaves,)."""
        owner = self.tree.owners(self.window.shape)
        inside = np.bincount(owner.ravel(), cells.ravel(), len(self.tree.leaves))
        parts = np.divide(inside, self.leaf_land, np.zeros_like(inside), where=self.leaf_land > 0)
        return np.clip(parts, 0.0, 1.0)

    def density(self, count: float) -> Floats:
        """Private count of every cell, (rows, cols), once the whole area has a given count.

        A map without negative counts is scaled to it. In one that has some the leaves are moved in
        proportion to their variances, to counts of 0 or more unless the whole is negative.
        """
        if count == 0:
            return np.zeros(self.window.shape)
        values = self._moved(count)
        owner = self.tree.owners(self.window.shape)
        per_land = np.divide(
            values, self.leaf_land, np.zeros_like(values), where=self.leaf_land > 0
        )
        even = np.ascontiguousarray(per_land[owner])
        if self.inside != "interpolated":
            return even * self.land
        cells = interpolate(even, owner) * self.land
        sums = np.bincount(owner.ravel(), cells.ravel(), len(values))
        factor = np.divide(values, sums, np.zeros_like(values), where=np.abs(sums) > 1e-12)
        lost = (np.abs(sums) <= 1e-12) & (values != 0)
        return np.where(lost[owner], even * self.land, cells * factor[owner])

    def _moved(self, count: float) -> Floats:
        values, has_land = self.values, self.leaf_land > 0
        if values.min() >= 0 and count > 0:
            if values.sum() > 0:
                return values * (count / values.sum())
            return self.leaf_land * (count / self.leaf_land.sum())
        variances = np.where(has_land, self.tree.sd[self.tree.leaves] ** 2, 0.0)
        moved = np.zeros(len(values))
        if count > 0:
            here = np.flatnonzero(has_land)
            projected = np.empty(len(here))
            project(values[here], variances[here], count, projected)
            moved[here] = projected
            return moved
        return values + (count - values.sum()) * variances / variances.sum()

    @cached_property
    def _family(self) -> Family:
        return Family(self.tree.parent, self.tree.precision)

    @property
    def _whole(self) -> Floats:
        return (self.leaf_land > 0).astype(np.float64)

    def _spread(self, weights: Floats) -> Floats:
        """Weights of leaves (m, leaves) or (leaves,) as those of nodes, (m, n)."""
        rows = np.atleast_2d(weights)
        nodes = np.zeros((len(rows), len(self.tree)))
        nodes[:, self.tree.leaves] = rows
        return nodes
