"""A private map inside an area, clipped to it: what it says of the whole, and of parts.

A leaf's count is on the area's share of its cells alone; a leaf without any is dropped.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from os import PathLike
from pathlib import Path
from typing import Any

import numpy as np
import shapely
from numpy.typing import NDArray

from explorer.grid.areas.areas import Areas
from explorer.grid.areas.windows import Window, Windows
from explorer.grid.degrees import refuse_degrees
from explorer.grid.extent import as_rectangles
from explorer.grid.pieces import Shapes, pieces
from explorer.grid.polygon_files import SUFFIXES
from explorer.grid.sums import box_sums, rectangle_sums, summed
from explorer.releases import haar
from explorer.releases.forms import Family
from explorer.releases.inference import project
from explorer.releases.interpolation import interpolate
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
        """Variance of m sums of leaves (m, leaves), and covariance with `total`, (m,)."""
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


# Questions about a country: which areas are in them, and which part of the maps of others.


Bools = NDArray[np.bool_]
SAME = 1e-9
"""What may miss of an area, as a part of it, for it to be wholly in a question: rounding of
borders that are projected or dissolved."""


@dataclass(frozen=True, eq=False)
class Asked:
    """m questions: rectangles, polygons or sets of areas.

    Attributes
    ----------
    boxes : (m, 4) in metres of the lattice, or None
    shapes : (m,) polygons in the CRS of the lattice, or None
    members : (m, areas) which areas of the file each is the union of, or None
    rows : the frame that polygons came in, or None
    """

    boxes: Floats | None = None
    shapes: NDArray[Any] | None = None
    members: Bools | None = None
    rows: Any = None

    @classmethod
    def of_members(cls, members: Sequence[Sequence[int]], areas: int) -> Asked:
        """Unions of areas by their numbers in the file."""
        chosen = np.zeros((len(members), areas), dtype=bool)
        for row, member in zip(chosen, members, strict=True):
            row[list(member)] = True
        return cls(members=chosen)

    def near(self, shapes: NDArray[Any], members: NDArray[np.int64]) -> NDArray[np.int64]:
        """Which questions may have to do with some areas, given their polygons and numbers."""
        if self.members is not None:
            return np.flatnonzero(self.members[:, members].any(axis=1))
        assert self._tree is not None
        return np.unique(self._tree.query(shapes, predicate="intersects")[1])

    @cached_property
    def _tree(self) -> shapely.STRtree | None:
        return None if self.shapes is None else shapely.STRtree(self.shapes)

    def __len__(self) -> int:
        for part in (self.boxes, self.shapes, self.members):
            if part is not None:
                return len(part)
        return 0


def asked_of(where: Any, windows: Windows, crs: Any = None) -> Asked:
    """Questions as people write them, see `CountryRelease.answer` and its errors."""
    import geopandas

    if isinstance(where, Asked):
        return where
    if isinstance(where, Areas):
        if where.key == windows.areas.key:
            return Asked.of_members([[area] for area in range(len(where))], len(where))
        where = geopandas.GeoSeries(where.geometry, crs=where.crs)
    if _is_file(where):
        where = Shapes.of(where, crs)
    if isinstance(where, str) or _is_path(where):
        where = [where]
    listed = list(where) if isinstance(where, list | tuple | set | np.ndarray) else []
    if listed and all(isinstance(entry, str) or _is_path(entry) for entry in listed):
        return Asked.of_members([_union(windows, [path]) for path in listed], len(windows.areas))
    if listed and all(isinstance(paths, list) and _are_paths(paths) for paths in listed):
        return Asked.of_members([_union(windows, paths) for paths in listed], len(windows.areas))
    shapes = Shapes.of(where, crs)
    if shapes is not None:
        return Asked(shapes=shapes.on(windows.grid), rows=shapes.rows)
    boxes = as_rectangles(where)
    refuse_degrees(windows.grid, boxes)
    return Asked(boxes=boxes)


def fractions(
    windows: Windows, window: Window, area_map: AreaMap | None, cells: Floats, questions: Asked
) -> tuple[Bools, Floats, Floats]:
    """What of an area that was counted as one is in m questions.

    `cells` (rows, cols) are private counts of the cells of the window. Returns (m,) whether the
    area
    is wholly inside; (m,) the private count of the part that is; and (m, leaves) which part of the
    land
    of each leaf of the map is, (m, 1) without a map.
    """
    land = window.land if window.land.any() else np.ones(window.shape)
    whole = np.zeros(len(questions), dtype=bool)
    part = np.zeros(len(questions))
    weights = np.zeros((len(questions), 1 if area_map is None else len(area_map.tree.leaves)))
    if questions.boxes is not None:
        boxes = _in_cells(windows, window, questions.boxes)
        x0, y0, x1, y1 = shapely.total_bounds(windows.shapes[window.members])
        ends = questions.boxes
        whole |= (ends[:, 0] <= x0) & (ends[:, 1] <= y0) & (ends[:, 2] >= x1) & (ends[:, 3] >= y1)
        low, high = boxes[:, 0], boxes[:, 1]
        meets = ~whole & (high > 0).all(axis=1) & (low < window.shape).all(axis=1)
        inside = np.flatnonzero(meets)
        if len(inside):
            part[inside] = rectangle_sums(summed(cells), boxes[inside])
            weights[inside] = (
                rectangle_sums(summed(land), boxes[inside])[:, np.newaxis] / land.sum()
                if area_map is None
                else area_map.weights(boxes[inside])
            )
        return whole, part, weights
    for m in questions.near(windows.shapes[window.members], window.members):
        covered = _covered(windows, window, land, questions, m)
        if covered is None:
            whole[m] = True
        elif covered.any():
            share = np.divide(covered, land, np.zeros_like(land), where=land > 0)
            part[m] = float((cells * np.minimum(share, 1.0)).sum())
            weights[m] = (
                covered.sum() / land.sum() if area_map is None else area_map.leaf_sums(covered)
            )
    return whole, part, weights


def _covered(
    windows: Windows, window: Window, land: Floats, questions: Asked, m: int
) -> Floats | None:
    """Land in every cell that is in a question, (rows, cols); None for all of it."""
    covered = np.zeros(window.shape)
    if questions.members is not None:
        chosen = questions.members[m][window.members]
        if chosen.all():
            return None
        if chosen.any():
            covered[:] = np.minimum(window.parts[chosen].sum(axis=0, dtype=np.float64), land)
        return covered
    assert questions.shapes is not None
    question, all_in, there = questions.shapes[m], True, windows.grid_of(window)
    for number, area in enumerate(window.members):
        shape = windows.shapes[area]
        if shape is question or shapely.equals_exact(shape, question):
            covered += window.parts[number]
            continue
        piece = shapely.intersection(question, shape)
        if piece.area >= (1 - SAME) * shape.area:
            covered += window.parts[number]
            continue
        all_in = False
        if piece.area > SAME * shape.area:
            at, inside = pieces(there, _polygons(piece))
            covered[at[:, 0], at[:, 1]] += inside
    return None if all_in else np.minimum(covered, land)


def _in_cells(windows: Windows, window: Window, boxes: Floats) -> Floats:
    """Rectangles in metres as (m, 2, 2) in cells of a window."""
    x0, y0, *_ = windows.grid.bounds
    width = windows.grid.cell_width * window.scale
    height = windows.grid.cell_height * window.scale
    ends = boxes.reshape(-1, 2, 2)[:, :, ::-1]
    cells = (ends - [y0, x0]) / [height, width] - [window.row, window.col]
    return np.ascontiguousarray(cells)


def _polygons(shape: Any) -> Any:
    """The polygons among what an intersection left, without lines and points."""
    parts = shapely.get_parts(shape)
    if shapely.get_dimensions(shape) == 2 and shape.geom_type != "GeometryCollection":
        return shape
    return shapely.union_all(parts[shapely.get_dimensions(parts) == 2])


def _is_path(value: Any) -> bool:
    return isinstance(value, tuple) and len(value) > 0 and all(isinstance(v, str) for v in value)


def _are_paths(values: Any) -> bool:
    return len(values) > 0 and all(isinstance(value, str) or _is_path(value) for value in values)


def _union(windows: Windows, paths: Sequence[Any]) -> list[int]:
    """The lowest areas in any of some named ones."""
    result: list[int] = []
    for path in paths:
        result += windows.members(int(windows.people.of[windows.find(path)])).tolist()
    return result


def _is_file(where: Any) -> bool:
    """Whether this is the path of a file, and no name of an area."""
    if isinstance(where, str):
        return Path(where).suffix.lower() in SUFFIXES
    return isinstance(where, PathLike)
