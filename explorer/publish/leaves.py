"""The leaves of a release as every format has them: one number, one count, one place each."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
import shapely
from numpy.typing import NDArray

from explorer.errors import InputError
from explorer.grid.grid import Grid
from explorer.grid.plane import in_one_world
from explorer.releases.release import Release
from explorer.releases.tree import Tree
from explorer.releases.units import laplace_variance

Floats = NDArray[np.float64]

#: How far a draw's known variance may be from the one that inference used.
_ALIKE = 1e-9


@dataclass(frozen=True, eq=False)
class Leaves:
    """m leaves, in the order of the release.

    Attributes
    ----------
    leaf : (m,) the number of a leaf, the same in all formats
    columns : (m,) of numbers each: count, noise_sd, non_negative and, where there is one, the
        unbiased estimate with its estimate_sd
    boxes : (m, 4) x0, y0, x1, y1 in metres of the grid's CRS
    """

    leaf: NDArray[np.int64]
    columns: dict[str, Floats]
    boxes: Floats
    grid: Grid

    def __len__(self) -> int:
        return len(self.leaf)

    def parts(self, size: int = 50_000) -> Iterator[Leaves]:
        """So many leaves after the other: a million polygons at once take gigabytes."""
        for begin in range(0, len(self), size):
            some = slice(begin, begin + size)
            columns = {name: column[some] for name, column in self.columns.items()}
            yield Leaves(self.leaf[some], columns, self.boxes[some], self.grid)

    def rings(self) -> Floats:
        """Corners in longitude and latitude, counter-clockwise, (m, 5, 2)."""
        x0, y0, x1, y1 = self.boxes.T
        x, y = np.stack([x0, x1, x1, x0, x0], 1), np.stack([y0, y0, y1, y1, y0], 1)
        lon, lat = self.grid.to_lonlat(x.ravel(), y.ravel())
        return np.stack([lon, lat], axis=1).reshape(len(self), 5, 2)

    def degrees(self) -> NDArray[np.object_]:
        """Polygons in longitude and latitude, (m,); in parts where the antimeridian cuts one."""
        polygons = shapely.polygons(self.rings())
        west, _, east, _ = shapely.bounds(polygons).T
        wide = np.flatnonzero((east - west > 180.0) | (west < -180.0) | (east > 180.0))
        if len(wide):
            whole = np.array([shapely.multipolygons([polygon]) for polygon in polygons[wide]])
            polygons[wide] = in_one_world(whole)[0]
        return np.asarray(polygons, dtype=object)


def leaves_of(release: Release) -> Leaves:
    """The leaves of a map.

    Raises
    ------
    InputError
        For what is no map, or has no place on the Earth.
    """
    grid = release.grid
    if grid.crs is None:
        raise InputError(
            "This map is measured in cells and has no place on the Earth: publish one whose grid "
            "has a CRS."
        )
    counts = release.counts
    columns = {
        "count": counts,
        "noise_sd": release.sd,
        "non_negative": np.maximum(counts, 0.0),
    }
    estimate = unbiased(release)
    if estimate is not None:
        columns |= dict(zip(("estimate", "estimate_sd"), estimate, strict=True))
    numbers = np.arange(release.n_leaves, dtype=np.int64)
    return Leaves(numbers, columns, release.boxes(), grid)


def unbiased(release: Release) -> tuple[Floats, Floats] | None:
    """An unbiased estimate of every leaf, (m,), and its standard deviation, (m,); None without one.

    It is the leaf's own draw from the stage in which leaves alone were counted: no decision about
    the partition looked at it, and its noise is independent of every other leaf's. So estimates
    of leaves add up, and so do the squares of their standard deviations, exactly. Where inference
    is not linear none is offered, see `why_none`.
    """
    tree, leaves = release.tree, release.tree.leaves
    stage = _own_stage(tree)
    # Of sums of weights, which were rescaled, the distribution of whole draws says nothing.
    if not release.linear or release.weighted or stage is None:
        return None
    sensitivities = {row.stage: row.sensitivity for row in release.ledger}
    sensitivity = round(sensitivities[tree.stages[stage]])
    spent = tree.spent[leaves, stage]
    if sensitivity < 1 or spent.min() < 1:
        return None
    variance = np.array(laplace_variance(spent, sensitivity))
    alone = np.count_nonzero(np.isfinite(tree.draws[leaves]), axis=1) == 1
    if not np.allclose(1 / tree.precision[leaves][alone], variance[alone], rtol=_ALIKE):
        return None
    return tree.draws[leaves, stage], np.sqrt(variance)


def why_none(release: Release) -> str:
    """Why a release has no unbiased estimate of its leaves, as a sentence; "" where it has one."""
    if unbiased(release) is not None:
        return ""
    if not release.linear:
        return (
            "Counts were made consistent, and where so chosen non-negative, by steps that are not "
            "linear in the noise: there is no unbiased estimate of a leaf with an exact standard "
            "deviation, and none is offered."
        )
    return (
        "Leaves were not counted one by one with independent noise: there is no estimate of a leaf "
        "whose standard deviation could be added up, and none is offered."
    )


def _own_stage(tree: Tree) -> int | None:
    """The stage in which every leaf, and nothing but leaves, was counted."""
    drawn = np.isfinite(tree.draws)
    inner = tree.fan_out > 0
    for number in range(len(tree.stages)):
        if drawn[tree.leaves, number].all() and not drawn[inner, number].any():
            return number
    return None
