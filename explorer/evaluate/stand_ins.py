"""What may take the place of the true records: records drawn from a release alone."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Protocol

import numpy as np
from numba import njit
from numpy.typing import ArrayLike, NDArray

from explorer.errors import InputError
from explorer.grid.domain import Domain
from explorer.grid.grid import Grid
from explorer.grid.pieces import Shapes, flat_pieces
from explorer.grid.places import TripDomain
from explorer.grid.range_queries import RangeQueries
from explorer.grid.sums import rectangle_sums, summed
from explorer.points.matrix import FrequencyMatrix
from explorer.privacy.accounts import mix
from explorer.privacy.counts import Counts
from explorer.releases.answers import Answers
from explorer.releases.asking import one_grid
from explorer.releases.place_maps import table_of
from explorer.releases.release import Release
from explorer.releases.tree import Tree
from explorer.trips.matrix import TripMatrix

Floats = NDArray[np.float64]
_GOLDEN = np.uint64(0x9E3779B97F4A7C15)


class Answering(Protocol):
    """A release, or what answers boxes as one."""

    def answer(self, rectangles: ArrayLike | RangeQueries) -> Answers:
        """Counts of boxes as people write them, or polygons among them."""


class StandIn(Protocol):
    """A release taken for the truth."""

    @property
    def truth(self) -> Answering:
        """The release without negative counts, before it was rounded to whole records."""

    def counts(self, rng: np.random.Generator) -> Counts:
        """Whole records like those of the release, under its unit of privacy."""


def stand_in(release: Release) -> StandIn:
    """The stand-in of a release.

    Raises
    ------
    InputError
        For a release over anything else than a grid or trips.
    """
    if isinstance(release.domain, Grid | TripDomain):
        return MapStandIn(release) if len(release.domain.shape) == 2 else TripStandIn(release)
    raise InputError(
        f"Records of a release of kind {release.kind!r} cannot be simulated: take one of a map or "
        "of trips."
    )


@dataclass(frozen=True)
class _Density:
    """A density that answers boxes, and polygons where it is that of a map."""

    domain: Domain
    sums: Floats
    cells: Floats

    def answer(self, rectangles: ArrayLike | RangeQueries | Shapes) -> Answers:
        if isinstance(rectangles, RangeQueries):
            value = rectangles.each(lambda part: (self.answer(part).value,))[0]
            return Answers(value, np.zeros(len(value)))
        if isinstance(rectangles, Shapes):
            grid = one_grid(self.domain)
            parts = [flat_pieces(grid, shape) for shape in rectangles.on(grid)]
            value = np.array([share @ self.cells.ravel()[cells] for cells, share in parts])
            return Answers(value, np.zeros(len(value)))
        value = rectangle_sums(self.sums, self.domain.to_cells(rectangles))
        return Answers(value, np.zeros(len(value)))


class MapStandIn:
    """Of a map, or of trips of one place: its density, rounded leaf by leaf, always the same."""

    def __init__(self, release: Release) -> None:
        self._release = release
        self._smooth = non_negative(release.density())

    @cached_property
    def truth(self) -> Answering:
        """The density without negative cells."""
        return _Density(self._release.domain, summed(self._smooth), self._smooth)

    @cached_property
    def _matrix(self) -> Counts:
        release = self._release
        leaves = release.tree.owners(release.grid.shape)
        whole = whole_counts(self._smooth, leaves)
        whose = release.contribution_bound, release.unit
        if isinstance(release.domain, Grid):
            return FrequencyMatrix(whole, release.domain, *whose)
        return TripMatrix(np.argwhere(whole), whole[whole > 0], release.domain, *whose)

    def counts(self, rng: np.random.Generator) -> Counts:
        """The rounded density, whatever ``rng``."""
        return self._matrix


class TripStandIn:
    """Of trips: leaves get whole numbers of trips, and trips cells by the chances inside leaves.

    Rounding is systematic and begins anywhere (`whole_counts`): a leaf has its released count in
    the mean and is off by less than one. A trip's place is drawn by the place's map, or evenly
    where there is none, which is what the release says of it.
    """

    def __init__(self, release: Release) -> None:
        self._release = release
        self._tree = held(release.tree)

    @cached_property
    def truth(self) -> Answering:
        """The release without negative counts."""
        return replace(self._release, tree=self._tree)

    def counts(self, rng: np.random.Generator) -> TripMatrix:
        """Trips drawn anew."""
        release, tree = self._release, self._tree
        leaves = tree.leaves
        number = whole_counts(tree.value[leaves][np.newaxis], None, float(rng.random()))[0]
        chosen = np.repeat(leaves, number)
        cells = np.empty((len(chosen), len(release.domain.shape)), dtype=np.int64)
        for place, shape in enumerate(_pairs(release.domain.shape)):
            table = table_of(release.maps_inside, place, shape)
            key = np.uint64(rng.integers(2**63))
            _draw(tree.lower, tree.upper, chosen, 2 * place, table, key, cells)
        ones = np.ones(len(cells), dtype=np.int64)
        bound, unit = release.contribution_bound, release.unit
        return TripMatrix(cells, ones, release.domain, bound, unit)


def held(tree: Tree) -> Tree:
    """A tree without negative counts: leaves as `non_negative`, the nodes above their sums."""
    leaves = tree.leaves
    value = np.zeros(len(tree))
    value[leaves] = non_negative(tree.value[leaves][np.newaxis])[0]
    if np.array_equal(value[leaves], tree.value[leaves]):
        return tree
    _add_up(tree.parent, value)
    return replace(tree, value=value)


def non_negative(density: ArrayLike) -> Floats:
    """A density without negative cells: those become 0, the others shrink to the same total.

    Parameters
    ----------
    density : (rows, cols) counts per cell, any sign

    Returns
    -------
    (rows, cols); all 0 for a total of 0 or less
    """
    cells = np.array(density, dtype=np.float64)
    if cells.ndim != 2 or not np.isfinite(cells).all():
        raise InputError("The density is not a table of finite numbers: give counts per cell.")
    total = max(float(cells.sum()), 0.0)
    clipped: Floats = np.maximum(cells, 0.0)
    mass = float(clipped.sum())
    return clipped * (total / mass) if mass > 0 else clipped


def whole_counts(
    density: ArrayLike, leaf: ArrayLike | None = None, shift: float = 0.5
) -> NDArray[np.int64]:
    """A density as whole counts that add up to its rounded total, by systematic rounding.

    With C the running sum over the cells, leaf by leaf, a cell gets the whole numbers that C
    passes in it, shifted by one half. Hence every leaf, and every row of leaves that follow each
    other in the order, is off by less than one record.

    Parameters
    ----------
    density : (rows, cols) counts per cell, 0 or more
    leaf : (rows, cols) whole numbers, optional
        Which leaf a cell belongs to; without it the whole map is one.
    shift : 0 to 1
        Drawn evenly, it gives every cell its density in the mean.

    Returns
    -------
    (rows, cols) int64

    Examples
    --------
    >>> whole_counts([[0.4, 0.4, 0.4], [0.4, 0.4, 0.0]])
    array([[0, 1, 0],
           [1, 0, 0]])
    """
    cells = np.asarray(density, dtype=np.float64)
    groups = np.zeros(cells.shape, dtype=np.int64) if leaf is None else np.asarray(leaf)
    order = np.argsort(groups, axis=None, kind="stable")
    total = round(float(cells.sum()))
    passed = np.minimum(np.floor(np.cumsum(cells.ravel()[order]) + shift), total)
    passed[-1] = total  # the sum of many parts may miss the total by its last bits
    counts = np.empty(cells.size, dtype=np.int64)
    counts[order] = np.diff(passed, prepend=0)
    return counts.reshape(cells.shape)


def _pairs(shape: Sequence[int]) -> list[tuple[int, int]]:
    return list(zip(shape[::2], shape[1::2], strict=True))


@njit(cache=True, nogil=True)
def _add_up(parent, value):  # type: ignore[no-untyped-def]
    for i in range(len(parent) - 1, 0, -1):
        value[parent[i]] += value[i]


@njit(cache=True, nogil=True)
def _uniform(key):  # type: ignore[no-untyped-def]
    return float(mix(key) >> np.uint64(11)) * 2.0**-53


@njit(cache=True, nogil=True)
def _draw(lower, upper, chosen, axis, table, key, cells):  # type: ignore[no-untyped-def]
    """A cell of one place in each chosen node, by its chances: the row first, then the column.

    A sum that is passed is looked for by halving; no chance is 0, so there is one.
    """
    for k in range(len(chosen)):
        i = chosen[k]
        r0, c0, r1, c1 = lower[i, axis], lower[i, axis + 1], upper[i, axis], upper[i, axis + 1]
        key += _GOLDEN
        above = table[r0, c1] - table[r0, c0]
        sought = above + _uniform(key) * (table[r1, c1] - table[r1, c0] - above)
        low, high = r0, r1 - 1
        while low < high:
            middle = (low + high) // 2
            if table[middle + 1, c1] - table[middle + 1, c0] > sought:
                high = middle
            else:
                low = middle + 1
        row = low
        key += _GOLDEN
        left = table[row + 1, c0] - table[row, c0]
        sought = left + _uniform(key) * (table[row + 1, c1] - table[row, c1] - left)
        low, high = c0, c1 - 1
        while low < high:
            middle = (low + high) // 2
            if table[row + 1, middle + 1] - table[row, middle + 1] > sought:
                high = middle
            else:
                low = middle + 1
        cells[k, axis], cells[k, axis + 1] = row, low
