"""Maps of the places of trips: where inside a leaf of several places its count is.

A leaf of trips says how many; the places' own private maps say where. Inside a leaf the count of a
cell is taken to be in proportion to A_1 A_2 .. A_k, the chances of the k places there: the gravity
model of transport science with one constant a leaf. With a place's released map m over its cells,

    A = (1 - FLOOR) m / sum m + FLOOR / cells,   even where sum m <= 0.

Everything here is a function of released numbers.
"""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np
from numba import njit
from numpy.typing import NDArray

from explorer.grid.sums import box_sums, rectangle_sums, summed
from explorer.releases.interpolation import interpolate
from explorer.releases.nodes import Ints, paint

Floats = NDArray[np.float64]

FLOOR = 1e-4
"""Share of a place's chances that is spread evenly, so that none is 0."""


MOST_RECORDS = 1e18
"""Beyond all data and its noise; sums of maps stay finite."""


@dataclass(frozen=True, eq=False)
class PlaceMap:
    """A private map of one place: m leaves of a partition with their counts.

    `lower`, `upper` are (m, 2) int64, half open, in cells, and tile the place of ``shape``;
    `counts`
    (m,) are 0 or more. ValueError for anything else.
    """

    shape: tuple[int, int]
    lower: Ints
    upper: Ints
    counts: Floats

    def __post_init__(self) -> None:
        lower, upper, counts = self.lower, self.upper, self.counts
        fits = lower.shape == upper.shape == (len(counts), 2) and counts.shape == (len(counts),)
        if not fits or lower.dtype != np.int64 or upper.dtype != np.int64:
            raise ValueError("a map's leaves have no such shape")
        if np.any(lower < 0) or np.any(upper > self.shape) or np.any(upper <= lower):
            raise ValueError("a leaf of a map leaves its place")
        # As many cells as there are, and none left out: then none is there twice.
        if np.prod(upper - lower, axis=1).sum() != self.shape[0] * self.shape[1]:
            raise ValueError("the leaves of a map do not tile its place")
        if np.any(self._owners < 0):
            raise ValueError("the leaves of a map do not tile its place")
        if counts.dtype != np.float64 or not np.isfinite(counts).all() or np.any(counts < 0):
            raise ValueError("a count of a map is negative or no number")
        if counts.max(initial=0.0) > MOST_RECORDS:
            raise ValueError("a leaf of a map holds more records than there are")

    @property
    def _owners(self) -> NDArray[np.int32]:
        image = np.full(self.shape, -1, dtype=np.int32)
        paint(self.lower, self.upper, np.arange(len(self.counts), dtype=np.int32), image)
        return image

    @cached_property
    def density(self) -> Floats:
        """Private count per cell, (rows, cols), interpolated inside leaves."""
        image = np.empty(self.shape)
        paint(self.lower, self.upper, self.counts / np.prod(self.upper - self.lower, axis=1), image)
        return interpolate(image, self._owners)

    @cached_property
    def chances(self) -> Floats:
        """A of every cell, (rows, cols): above 0, adding up to 1."""
        # Interpolation may leave a hair's breadth below 0.
        density = np.maximum(self.density, 0.0)
        total, cells = density.sum(), density.size
        if total <= 0:
            return np.full(self.shape, 1.0 / cells)
        return (1.0 - FLOOR) * density / total + FLOOR / cells

    @cached_property
    def table(self) -> Floats:
        """Summed-area table of `chances`, (rows + 1, cols + 1)."""
        return summed(self.chances)

    @cached_property
    def count_table(self) -> Floats:
        """Summed-area table of `density`, (rows + 1, cols + 1)."""
        return summed(self.density)


class Chances(NamedTuple):
    """Chances of k places as numba reads them.

    Attributes
    ----------
    flat : the tables of all places behind each other
    start : (k,) where each begins in `flat`
    shapes : (k, 2) of the tables
    whole : (n, k) chances of n boxes at each place
    """

    flat: Floats
    start: Ints
    shapes: Ints
    whole: Floats


@dataclass(frozen=True, eq=False)
class PlaceMaps:
    """The maps of all k places, in the order of the axes: place p has axes 2 p and 2 p + 1."""

    places: tuple[PlaceMap, ...]

    def masses(self, lower: Ints, upper: Ints) -> Floats:
        """A_1 A_2 .. A_k of n boxes of whole cells, `lower`, `upper` (n, 2k), (n,)."""
        product: Floats = self.over(lower, upper).whole.prod(axis=1)
        return product

    def answer(self, number: int, boxes: Floats) -> Floats:
        """What the map of one place says itself of n boxes (n, 2, 2) in its cells, (n,)."""
        return rectangle_sums(self.places[number].count_table, boxes)

    def over(self, lower: Ints, upper: Ints) -> Chances:
        """The chances as answers need them, for boxes of whole cells (n, 2k)."""
        tables = [place.table for place in self.places]
        start = np.cumsum([0, *(table.size for table in tables)])[:-1].astype(np.int64)
        shapes = np.array([table.shape for table in tables], dtype=np.int64)
        whole = np.empty((len(lower), len(tables)))
        for number, table in enumerate(tables):
            axes = slice(2 * number, 2 * number + 2)
            whole[:, number] = box_sums(table, lower[:, axes], upper[:, axes])
        return Chances(np.concatenate([table.ravel() for table in tables]), start, shapes, whole)

    @cached_property
    def key(self) -> str:
        """SHA-256 of all maps."""
        digest = hashlib.sha256()
        for place in self.places:
            digest.update(repr(place.shape).encode())
            for values in (place.lower, place.upper, place.counts):
                digest.update(values.astype(values.dtype.newbyteorder("<")).tobytes())
        return digest.hexdigest()

    def arrays(self) -> dict[str, Any]:
        """Everything as named arrays, for a file."""
        return {
            f"{name} {number}": getattr(place, name)
            for number, place in enumerate(self.places)
            for name in ("lower", "upper", "counts")
        }

    @classmethod
    def from_arrays(cls, saved: Any, shape: Sequence[int]) -> PlaceMaps:
        """The maps that `arrays` named; KeyError or ValueError for others."""
        pairs = zip(shape[::2], shape[1::2], strict=True)
        return cls(
            tuple(
                PlaceMap(
                    (int(rows), int(cols)),
                    saved[f"lower {number}"],
                    saved[f"upper {number}"],
                    saved[f"counts {number}"],
                )
                for number, (rows, cols) in enumerate(pairs)
            )
        )


def table_of(maps: PlaceMaps | None, place: int, shape: Sequence[int]) -> Floats:
    """Summed-area table of a place's chances, (rows + 1, cols + 1): of its map, or even ones."""
    return summed(np.ones(shape)) if maps is None else maps.places[place].table


@njit(cache=True, nogil=True)
def _corner(flat, start, rows, cols, row, col):  # type: ignore[no-untyped-def]
    """Sum of the chances above and left of a point inside a place; `cols` of its table."""
    i, j = min(int(row), rows - 2), min(int(col), cols - 2)
    up, along = row - i, col - j
    at = start + i * cols + j
    # Corners of leaves are whole numbers, and most corners that are asked for.
    low = flat[at] if along == 0.0 else flat[at] * (1.0 - along) + flat[at + 1] * along
    if up == 0.0:
        return low
    at += cols
    high = flat[at] if along == 0.0 else flat[at] * (1.0 - along) + flat[at + 1] * along
    return low * (1.0 - up) + high * up


@njit(cache=True, nogil=True)
def mass(flat, start, rows, cols, r0, c0, r1, c1):  # type: ignore[no-untyped-def]
    """Chance of a rectangle of one place, fractions of cells by area; see `Chances`."""
    return (
        _corner(flat, start, rows, cols, r1, c1)
        - _corner(flat, start, rows, cols, r0, c1)
        - _corner(flat, start, rows, cols, r1, c0)
        + _corner(flat, start, rows, cols, r0, c0)
    )


@njit(cache=True, nogil=True)
def parts_by_maps(boxes, m, lower, upper, leaves, chances):  # type: ignore[no-untyped-def]
    """The parts of the chances of leaves inside box m, which touches them; see `Chances`."""
    flat, start, shapes, whole = chances
    parts = np.ones(len(leaves))
    for place in range(len(start)):
        row, col = 2 * place, 2 * place + 1
        begin, rows, cols = start[place], shapes[place, 0], shapes[place, 1]
        top, bottom = boxes[m, 0, row], boxes[m, 1, row]
        left, right = boxes[m, 0, col], boxes[m, 1, col]
        for k in range(len(leaves)):
            i = leaves[k]
            r0, r1 = float(lower[i, row]), float(upper[i, row])
            c0, c1 = float(lower[i, col]), float(upper[i, col])
            if top <= r0 and bottom >= r1 and left <= c0 and right >= c1:
                continue
            r0, r1, c0, c1 = max(top, r0), min(bottom, r1), max(left, c0), min(right, c1)
            inside = mass(flat, begin, rows, cols, r0, c0, r1, c1)
            # Differences of sums: for a thin slice of a cell they may miss 0 by a last bit.
            parts[k] *= max(inside, 0.0) / whole[i, place]
    return parts
