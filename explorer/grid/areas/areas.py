"""Public areas inside each other, such as countries, regions and districts, with boundaries."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import cached_property, partial
from pathlib import Path
from typing import Any, Protocol, TypeVar

import numpy as np
import pyproj
import shapely
from numpy.typing import ArrayLike, NDArray

from explorer.errors import InputError
from explorer.grid import values
from explorer.grid.areas.index import NONE, AreaIndex
from explorer.grid.areas.lattice import Lattice, lattice_over
from explorer.grid.areas.reading import AreaTree, check_overlaps, measured, read_table, tree_of
from explorer.grid.countable import check_unit, countable
from explorer.grid.grid import Grid, Progress
from explorer.grid.kept import kept
from explorer.grid.plane import NearestEdge, on_plane, plane_of
from explorer.grid.projection import CHUNK, LONLAT, as_crs, transform

#: Metres of tolerance, at most.
MOST_TOLERANCE = 100_000.0
# Parts and holes of less are not drawn: m2, and the part of a middling area.
_SMALL, _SMALL_PART = 1e6, 0.01


def clean_coverage(shapes: NDArray[Any]) -> dict[str, NDArray[Any]]:
    """Polygons without overlaps and with the same corners on shared borders, written as below.

    Overlaps go to the first area, as in `Areas.assign`. One that would lose all stays as it is.
    """
    clean = shapely.coverage_clean(shapes, merge_strategy="min_index")
    lost = shapely.is_empty(clean)
    clean[lost] = shapes[lost]
    return _written(clean)


def outlines_of(
    clean: NDArray[Any], shapes: NDArray[Any], parent: Ints, lowest: Ints, tolerance: float
) -> dict[str, NDArray[Any]]:
    """Outlines of every node of a tree, borders of all levels the same lines.

    Each area alone simplified would overlap
    its neighbours (Great Britain at 1 km: 803 pairs, 1,185 km2; here none).

    Parameters
    ----------
    clean : (m,) polygons on a plane in metres, see `clean_coverage`
    shapes : (m,) as they were
    parent : (n,) of the nodes, parents first
    lowest : (m,) node of each polygon
    tolerance : metres; square root of the areas of triangles that may go (Visvalingam-Whyatt)

    Returns
    -------
    "written", "starts" : WKB of node v at starts[v] to starts[v + 1] of bytes, see `read_outlines`
    """
    if tolerance > 0:
        clean = shapely.coverage_simplify(clean, tolerance)
    usual = _SMALL_PART * float(np.median(shapely.area(shapes)))
    clean = without_small(clean, max((2 * tolerance) ** 2, min(_SMALL, usual)))
    outlines = np.full(len(parent), None)
    outlines[lowest] = clean
    below: list[list[int]] = [[] for _ in parent]
    for area, node in enumerate(lowest.tolist()):
        while node >= 0:
            below[node].append(area)
            node = int(parent[node])
    for node, members in enumerate(below):
        if outlines[node] is None:
            outlines[node] = shapely.coverage_union_all(clean[members])
    return _written(outlines)


def _written(shapes: NDArray[Any]) -> dict[str, NDArray[Any]]:
    written = shapely.to_wkb(shapes)
    starts = np.concatenate([[0], np.cumsum([len(wkb) for wkb in written])])
    return {"written": np.frombuffer(b"".join(written), np.uint8), "starts": starts}


def read_outlines(written: NDArray[np.uint8], starts: Ints) -> NDArray[Any]:
    """Polygons that `outlines_of` wrote, (n,)."""
    content = written.tobytes()
    spans = zip(starts[:-1].tolist(), starts[1:].tolist(), strict=True)
    polygons: NDArray[Any] = shapely.from_wkb([content[begin:end] for begin, end in spans])
    return polygons


def without_small(shapes: NDArray[Any], least: float) -> NDArray[Any]:
    """Polygons without parts and holes of less than so many m2; each keeps its largest part.

    A hole that contains another polygon stays: filled, it would hide that polygon.
    """
    parts, owner = shapely.get_parts(shapes, return_index=True)
    size = shapely.area(parts)
    largest = np.zeros(len(shapes))
    np.maximum.at(largest, owner, size)
    keep = (size >= least) | (size == largest[owner])
    parts, owner = parts[keep], owner[keep]
    rings, part = shapely.get_rings(parts, return_index=True)
    is_hole = np.diff(part, prepend=-1) == 0
    small = np.flatnonzero(is_hole)
    holes = shapely.polygons(rings[small]) if len(small) else np.empty(0, object)
    small_ones = shapely.area(holes) < least
    small, holes = small[small_ones], holes[small_ones]
    tree = shapely.STRtree(shapely.point_on_surface(parts))
    occupied = np.zeros(len(holes), dtype=np.bool_)
    occupied[tree.query(holes, predicate="contains")[0]] = True
    keep_ring = np.ones(len(rings), dtype=np.bool_)
    keep_ring[small[~occupied]] = False
    flat = _polygons(rings[keep_ring], part[keep_ring])
    whole: NDArray[Any] = shapely.multipolygons(flat, indices=owner)
    return whole


def _polygons(rings: Sequence[Any], part: Ints) -> NDArray[Any]:
    """Polygons of rings, (k,), the outer one of each first."""
    outer = np.diff(part, prepend=-1) != 0
    shells, holes = np.asarray(rings)[outer], np.asarray(rings)[~outer]
    built = shapely.polygons(shells)
    if len(holes):
        number = np.cumsum(outer) - 1
        with_holes, first = np.unique(number[~outer], return_index=True)
        for which, ring_holes in zip(with_holes, np.split(holes, first[1:]), strict=True):
            built[which] = shapely.Polygon(shells[which], ring_holes)
    polygons: NDArray[Any] = built
    return polygons


Floats = NDArray[np.float64]
Ints = NDArray[np.int64]
Bools = NDArray[np.bool_]
Counted_co = TypeVar("Counted_co", covariant=True)


class CountableByArea(Protocol[Counted_co]):
    """What areas can count: records that put themselves into them."""

    def count_in(
        self, areas: Areas, cell: float, contribution_bound: int | None, progress: Progress | None
    ) -> Counted_co:
        """Return the counts by area and cell."""


#: Metres beyond which no area is near.
MAX_NEAREST = 100_000.0
_STAYS = frozenset({"_clean", "_flat", "_lattices"})


@dataclass(frozen=True, eq=False, repr=False)
class Areas:
    """A tree of declared areas: which place is in which district, region and country.

    All of it is public. Parents are the unions of their children; the root is the whole.

    Parameters
    ----------
    levels : tuple of str
        Names of the columns, coarsest first; the root has none.
    parent : (n,) int, -1 to n - 1
        Node that each node is in, -1 for the root, which is node 0; level by level.
    level : (n,) int
        0 for the root to len(levels).
    paths : tuple of n tuples of str
        Names from below the root; () for the root.
    lowest : (m,) int, 1 to n - 1
        Node of each area of the file, in file order.
    geometry : (m,) array of shapely polygons or multipolygons
        In `crs`, valid, in file order.
    crs : CRS
        Of the boundaries.
    nearest : float, 0 or more, or None
        Metres within which a place outside all areas belongs to the nearest one.
    notes : tuple of str
        Sentences on what reading changed.

    Examples
    --------
    >>> import geopandas
    >>> from shapely import box
    >>> from explorer import Areas
    >>> frame = geopandas.GeoDataFrame(
    ...     {"region": ["A", "A", "B"], "district": ["West", "Middle", "East"]},
    ...     geometry=[box(x, 0, x + 1000, 2000) for x in (0, 1000, 2000)],
    ...     crs="EPSG:32633",
    ... )
    >>> areas = Areas.read(frame, levels=("region", "district"))
    >>> len(areas), areas.children(0).tolist(), len(areas.outlines())
    (3, [1, 2], 6)
    >>> areas.assign([500, 2500, 9000], [1000, 1000, 1000], crs="EPSG:32633").tolist()
    [0, 2, -1]
    >>> areas.lattice(250).grid.cell_width
    250.0
    >>> counts = areas.count({"x": [500, 2500], "y": [1000, 1000]}, cell=250, crs="EPSG:32633")
    >>> counts.unit
    'point'
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
        source: str | Path | bytes | Any,
        levels: Sequence[str],
        nearest: float | None = None,
        crs: Any = None,
    ) -> Areas:
        """Read areas from a file or a frame, one row each.

        Parameters
        ----------
        source : path, content as bytes, or GeoDataFrame
            GeoPackage, GeoJSON, GeoParquet, Shapefile, FlatGeobuf, FileGDB, KML or SpatiaLite of
            polygons with a CRS, also zipped; a layer of several is behind the path, as in
            "city.gpkg::wards".
        levels : sequence of str
            Names of columns, coarsest first, such as ("country", "region", "district").
        nearest : float, 0 or more, optional
            Metres: a place in no area belongs to the nearest one within this distance, the first of
            several in the file: a public rule, which changes whom areas hold but no privacy.
        crs : int, str or CRS, optional
            Of the boundaries, where they have none or one that their corners contradict.

        Returns
        -------
        Areas

        Raises
        ------
        InputError
            For a file that is none or has no such columns; an area without a name, twice the same
            path, or a path that others continue; no CRS; something else than polygons; areas that
            overlap by more than 1 km2 and .1 % of the smaller one, or by a tenth of it; a distance
            that is none. What can be repaired is, see `notes`.
        """
        if nearest is not None and values.as_number(nearest, 0, MAX_NEAREST) is None:
            raise InputError(
                f"The distance to the nearest area is {values.shown(nearest)}: give metres, 0 to "
                f"{MAX_NEAREST:g}, or none."
            )
        table = read_table(source, levels, crs)
        tree: AreaTree = tree_of(table.paths, table.levels)
        for array in (tree.parent, tree.level, tree.lowest, table.geometry):
            array.setflags(write=False)
        areas = cls(
            table.levels,
            tree.parent,
            tree.level,
            tree.paths,
            tree.lowest,
            table.geometry,
            table.crs,
            nearest or None,
            table.notes,
        )
        facts = areas.measures
        overlap_notes = check_overlaps(facts["sizes"], facts["pairs"], facts["shared"], table.paths)
        # Not a copy: what has been computed on the way here is needed again.
        object.__setattr__(areas, "notes", (*table.notes, *overlap_notes))
        return areas

    @cached_property
    def key(self) -> str:
        """SHA-256 of names, boundaries, CRS and rules."""
        digest = hashlib.sha256(repr((self.levels, self.paths, self.nearest)).encode())
        digest.update(self.lowest.astype("<i8").tobytes())
        digest.update(self.boundary_key.encode())
        return digest.hexdigest()

    @cached_property
    def boundary_key(self) -> str:
        """SHA-256 of the boundaries and their CRS: what index, lattice and outlines come from."""
        digest = hashlib.sha256(self.crs.to_wkt().encode())
        for written in shapely.to_wkb(self.geometry, byte_order=1):
            digest.update(written)
        return digest.hexdigest()

    @property
    def sizes(self) -> Floats:
        """Size of each area of the file, (m,) km2, on an equal-area plane."""
        sizes: Floats = self.measures["sizes"]
        return sizes

    @cached_property
    def measures(self) -> dict[str, NDArray[Any]]:
        """Sizes of the areas and by how much which of them overlap, see `measured`."""
        return kept(
            "overlaps2",
            self.boundary_key,
            ("sizes", "pairs", "shared"),
            lambda: measured(self.geometry, self._flat, self.crs, self.plane),
            worth=self._worth,
        )

    def __len__(self) -> int:
        """Number of areas of the file."""
        return len(self.lowest)

    def __repr__(self) -> str:
        return f"Areas({len(self):,} areas in {len(self.levels)} levels: {', '.join(self.levels)})"

    def __getstate__(self) -> dict[str, Any]:
        # Sent to other processes for what it assigns: what only draws stays here.
        return {name: value for name, value in vars(self).items() if name not in _STAYS}

    def children(self, node: int) -> Ints:
        """Nodes that lie directly in one, in the order of the file.

        Parameters
        ----------
        node : int, 0 to n - 1

        Returns
        -------
        (k,) int64
        """
        return np.flatnonzero(self.parent == node)

    @cached_property
    def same_as(self) -> Ints:
        """The highest node of the same people, (n,): that of its parent for an only child."""
        highest = np.arange(len(self.parent))
        number = np.bincount(self.parent[1:], minlength=len(self.parent))
        for node in range(1, len(highest)):
            # Parents come first, so that theirs is known.
            if number[self.parent[node]] == 1:
                highest[node] = highest[self.parent[node]]
        return highest

    @cached_property
    def measured(self) -> Bools:
        """Whether a node is counted itself, (n,): an only child holds whom its parent holds."""
        counted: Bools = self.same_as == np.arange(len(self.parent))
        return counted

    def assign(self, x: ArrayLike, y: ArrayLike, crs: Any = LONLAT) -> NDArray[np.int32]:
        """The area of each place: the first in file order whose closed polygon covers it.

        Parameters
        ----------
        x, y : (len,) array
            Coordinates in `crs`, longitude first.
        crs : CRS, optional
            That of the places, by default longitude and latitude.

        Returns
        -------
        (len,) int32
            Number of the area in file order; -1 for a place in none, and for NaN and inf.

        Raises
        ------
        InputError
            For rows of different lengths or a CRS that is none.
        """
        x, y = np.atleast_1d(np.asarray(x, float)), np.atleast_1d(np.asarray(y, float))
        if x.shape != y.shape or x.ndim != 1:
            raise InputError("Places are two rows of numbers of the same length: x, then y.")
        area_numbers = np.empty(len(x), dtype=np.int32)
        for start in range(0, len(x), CHUNK):
            part = slice(start, start + CHUNK)
            area_numbers[part] = self._assigned(x[part], y[part], as_crs(crs))
        return area_numbers

    def _assigned(self, x: Floats, y: Floats, crs: pyproj.CRS) -> NDArray[np.int32]:
        if not crs.equals(self.crs, ignore_axis_order=True):
            x, y = transform(crs, self.crs, x, y)
        area_numbers = self.index.find(x, y, self.crs.is_geographic)
        if self.nearest:
            lost = np.flatnonzero((area_numbers == NONE) & np.isfinite(x) & np.isfinite(y))
            area_numbers[lost] = self._edges.find(x[lost], y[lost], self.nearest)
        return area_numbers

    @cached_property
    def index(self) -> AreaIndex:
        """The index of the boundaries; built in a second for a country, and kept in a file."""
        return AreaIndex.of(self.geometry, self.boundary_key)

    @cached_property
    def _edges(self) -> NearestEdge:
        return NearestEdge.of(self._flat, self.crs, self.plane)

    def lattice(self, cell: float = 500.0, grid: Grid | None = None) -> Lattice:
        """A grid that holds all areas, each area's window on it, and its share of each cell.

        Parameters
        ----------
        cell : float, 1 to 100,000
            Metres, the side of the square cells, on the equal-area plane of these areas. Where an
            area is more than 512 of them wide, its window has cells of twice the side, or four
            times.
        grid : Grid, optional
            Another grid to take as it is, such as one in the projected CRS of the country.

        Returns
        -------
        Lattice

        Raises
        ------
        InputError
            For cells that are too small for a grid over all areas, and for a grid that does not
            hold them all: records of an area beyond it would vanish.
        """
        key = cell, None if grid is None else repr(grid.to_dict())
        if key not in self._lattices:
            names = [self.paths[node] for node in self.lowest]
            self._lattices[key] = lattice_over(
                self._flat_on, self.plane, names, cell, grid, self.nearest or 0.0, self._worth,
                self.boundary_key,
            )  # fmt: skip
        return self._lattices[key]

    def outlines(self, tolerance: float = 1_000.0) -> NDArray[Any]:
        """Outlines of all nodes for drawing, in metres of `plane`; borders of all levels agree.

        Parameters
        ----------
        tolerance : float, 0 to 100,000
            Metres, about the length of what is left out; parts and holes below (2 tolerance)^2 go
            too, but an area's largest part never.

        Returns
        -------
        (n,) polygons and multipolygons, without overlaps on any level
            Not for counting: `assign` asks the boundaries as they are.

        Raises
        ------
        InputError
            For a tolerance out of range.
        """
        number = values.as_number(tolerance, 0, MOST_TOLERANCE)
        if number is None:
            raise InputError(
                f"The tolerance is {values.shown(tolerance)}: give metres, 0 to {MOST_TOLERANCE:g}."
            )
        arrays = kept(
            f"outlines1-{number:g}",
            self.key,
            ("written", "starts"),
            lambda: outlines_of(self._clean, self._flat, self.parent, self.lowest, number),
            worth=self._worth,
        )
        return read_outlines(**arrays)

    @cached_property
    def _clean(self) -> NDArray[Any]:
        names = ("written", "starts")
        build = partial(clean_coverage, self._flat)
        return read_outlines(**kept("clean1", self.boundary_key, names, build, self._worth))

    @cached_property
    def _worth(self) -> int:
        """Corners of all boundaries: how much work whatever comes from them is."""
        return int(shapely.get_num_coordinates(self.geometry).sum())

    @cached_property
    def _flat(self) -> NDArray[Any]:
        return on_plane(self.geometry, self.crs, self.plane)

    def _flat_on(self, crs: pyproj.CRS) -> NDArray[Any]:
        return self._flat if crs == self.plane else on_plane(self.geometry, self.crs, crs)

    @cached_property
    def _lattices(self) -> dict[Any, Lattice]:
        return {}

    @cached_property
    def plane(self) -> pyproj.CRS:
        """The projected CRS that lattice, outlines and distances are in, metres."""
        return plane_of(self.geometry, self.crs)

    def count(
        self,
        points: CountableByArea[Counted_co] | Any,
        cell: float = 500.0,
        contribution_bound: int | None = None,
        progress: Progress | None = None,
        *,
        per: str | None = None,
        **columns: Any,
    ) -> Counted_co:
        """Count points by area and cell of a national lattice.

        A point in no area is counted nowhere, and how many there were is not kept.

        Parameters
        ----------
        points : Points, PointFiles, path, address, frame or arrays
            In any CRS. Parquet (a file, a folder, a pattern, an address of fsspec, a list of
            them), CSV and TSV are counted while they are read and never held; whichever way
            the same points come, the counts are the same to the last bit.
        cell : float, 1 to 100,000
            Metres, the side of the lattice's cells.
        contribution_bound : int, optional
            At most this many records of each user *in the whole country*, over all areas and
            files, chosen as for `Grid.count`. Needs users.
        progress : callable, optional
            Called with the fraction done, 0 to 1.
        per : "record" or "user", optional
            Whom to protect. Records with users need a bound, or "record" to insist on single ones.
        **columns
            lon, lat, crs, user, weight of what has to be read, as of `read_points`; guessed
            otherwise.

        Returns
        -------
        AreaCounts
            What points make of themselves in these areas: areas know no point. Their `notes` say
            which columns were guessed and how many rows were left out.

        Raises
        ------
        InputError
            For what cannot be read, records with users without a bound or ``per="record"``, a bound
            without users, and cells that no lattice has.
        """
        read: CountableByArea[Counted_co] = countable(points, "count_in", columns)
        check_unit(read, contribution_bound, per)
        return read.count_in(self, cell, contribution_bound, progress)
