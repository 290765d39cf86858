"""Public areas inside each other, such as countries, regions and districts, with boundaries."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import Any, Protocol, TypeVar

import numpy as np
import pyproj
import shapely
from numpy.typing import ArrayLike, NDArray

from explorer.grid.areas.reading import read_table
from explorer.grid.areas.tree import AreaTree, tree_of
from explorer.grid.grid import Progress
from explorer.grid.projection import LONLAT, as_crs, transform

Ints = NDArray[np.int64]
Bools = NDArray[np.bool_]
Counted_co = TypeVar("Counted_co", covariant=True)


class CountableByArea(Protocol[Counted_co]):
    """What areas can count: records that put themselves into them."""

    def count_in(
        self, areas: Areas, cell: float, contribution_bound: int | None, progress: Progress | None
    ) -> Counted_co:
        """Return the counts by area and cell."""


@dataclass(frozen=True, eq=False, repr=False)
class Areas:
    """A tree of declared areas: which place lies in which district, region and country.

    All of it is public. Parents are the unions of their children; the root is the whole.

    Attributes
    ----------
    levels : names of the columns, coarsest first; the root has none
    parent : (n,) node that each node lies in, -1 for the root, which is node 0; level by level
    level : (n,) 0 for the root to len(levels)
    paths : (n,) names from below the root; () for the root
    lowest : (m,) node of each area of the file, in file order
    geometry : (m,) shapely polygons or multipolygons in `crs`, valid, in file order
    crs : of the boundaries
    nearest : metres within which a place outside all areas belongs to the nearest one, or None
    notes : sentences on what reading changed
    """

    levels: tuple[str, ...]
    parent: Ints
    level: Ints
    paths: tuple[tuple[str, ...], ...]
    lowest: Ints
    geometry: NDArray[Any]
    crs: pyproj.CRS
    nearest: float | None = None
    notes: tuple[str, ...] = field(default=())

    @classmethod
    def read(
        cls,
        source: str | Path | Any,
        levels: Sequence[str],
        nearest: float | None = None,
    ) -> Areas:
        """Read areas from a file or a frame, one row each.

        Parameters
        ----------
        source : path or GeoDataFrame
            GeoPackage, GeoJSON, GeoParquet or Shapefile of polygons with a CRS.
        levels : names of columns, coarsest first
            Such as ("country", "region", "district").
        nearest : metres, optional
            A place in no area belongs to the nearest one within this distance.

        Raises
        ------
        InputError
        """
        table = read_table(source, levels)
        tree: AreaTree = tree_of(table.paths, table.levels)
        return cls(
            table.levels,
            tree.parent,
            tree.level,
            tree.paths,
            tree.lowest,
            table.geometry,
            table.crs,
            nearest,
            table.notes,
        )

    @cached_property
    def key(self) -> str:
        """SHA-256 of names, boundaries, CRS and rules."""
        digest = hashlib.sha256(repr((self.levels, self.paths, self.nearest)).encode())
        digest.update(self.lowest.astype("<i8").tobytes())
        digest.update(self.crs.to_wkt().encode())
        for shape in self.geometry:
            digest.update(shapely.to_wkb(shape, byte_order=1))
        return digest.hexdigest()

    def __len__(self) -> int:
        """Number of areas of the file."""
        return len(self.lowest)

    def __repr__(self) -> str:
        return f"Areas({len(self):,} areas in {len(self.levels)} levels: {', '.join(self.levels)})"

    def children(self, node: int) -> Ints:
        """Nodes that lie directly in one, (k,), in the order of the file."""
        return np.flatnonzero(self.parent == node)

    @cached_property
    def same_as(self) -> Ints:
        """The highest node of the same people, (n,): that of its parent for an only child."""
        found = np.arange(len(self.parent))
        number = np.bincount(self.parent[1:], minlength=len(self.parent))
        for node in range(1, len(found)):
            # Parents come first, so that theirs is known.
            if number[self.parent[node]] == 1:
                found[node] = found[self.parent[node]]
        return found

    @cached_property
    def measured(self) -> Bools:
        """Whether a node is counted itself, (n,): an only child holds whom its parent holds."""
        counted: Bools = self.same_as == np.arange(len(self.parent))
        return counted

    def assign(self, x: ArrayLike, y: ArrayLike, crs: Any = LONLAT) -> NDArray[np.int32]:
        """The area of each place: the first in file order whose closed polygon covers it.

        Parameters
        ----------
        x, y : (len,) coordinates in `crs`, longitude first
        crs : that of the places, by default longitude and latitude

        Returns
        -------
        (len,) int32
            Number of the area in file order; -1 for a place in none, and for NaN and inf.
        """
        x, y = np.atleast_1d(np.asarray(x, float)), np.atleast_1d(np.asarray(y, float))
        crs = as_crs(crs)
        if crs != self.crs:
            x, y = transform(crs, self.crs, x, y)
        found = np.full(len(x), len(self), dtype=np.int64)
        finite = np.flatnonzero(np.isfinite(x) & np.isfinite(y))
        tree = shapely.STRtree(shapely.points(x[finite], y[finite]))
        area, place = tree.query(self.geometry, predicate="intersects")
        np.minimum.at(found, finite[place], area)
        return np.where(found < len(self), found, -1).astype(np.int32)

    def count(
        self,
        points: CountableByArea[Counted_co],
        cell: float = 500.0,
        contribution_bound: int | None = None,
        progress: Progress | None = None,
    ) -> Counted_co:
        """Count points by area and cell of a national lattice.

        A point in no area is counted nowhere, and how many there were is not kept.

        Parameters
        ----------
        points : Points
            In any CRS.
        cell : metres, the side of the lattice's cells
        contribution_bound : int, optional
            At most this many records of each user *in the whole country*, the first ones inside
            any area in the order of the file. Needs ``points.user``.
        progress : callable, optional
            Called with the fraction done, 0 to 1.

        Returns
        -------
        AreaCounts
            What `Points` make of themselves in these areas: areas know no point.
        """
        return points.count_in(self, cell, contribution_bound, progress)
