"""What a release over several places shows on the map of one: how many, and where it was cut."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from explorer.errors import InputError
from explorer.grid.sums import box_sums, rectangle_sums
from explorer.releases.nodes import Ints
from explorer.releases.release import Release
from explorer.releases.tree import Tree

Floats = NDArray[np.float64]


def place_counts(release: Release, place: int, within: Floats | None = None) -> Floats:
    """Private count per cell of one place, (rows, cols), of records with other places in a box.

    Parameters
    ----------
    release : over k places, 2 k axes
    place : 0 to k - 1; InputError for others
    within : (2, 2 k) lower and upper in cells, fractions allowed; anywhere without it
        What it says of this place itself does not count.

    The sum over a box is the answer to it with those of the others, but for last bits: leaves are
    added up by the differences along their edges.
    """
    tree, axes = release.tree, _own(release, place)
    leaves = tree.leaves
    lower, upper, counts = tree.lower[leaves], tree.upper[leaves], tree.value[leaves]
    if within is not None:
        counts = counts * _share_of_others(release, place, lower, upper, within)
        there = counts != 0
        lower, upper, counts = lower[there], upper[there], counts[there]
    low, high = lower[:, axes], upper[:, axes]
    rows, cols = release.domain.shape[axes]
    maps = release.maps_inside
    if maps is None:
        return _painted(low, high, counts / np.prod(high - low, axis=1), rows, cols)
    place_map = maps.places[place]
    density = counts / box_sums(place_map.table, low, high)
    return _painted(low, high, density, rows, cols) * place_map.chances


def _own(release: Release, place: int) -> slice:
    axes = len(release.domain.shape)
    if axes % 2 or place not in range(axes // 2):
        raise InputError(f"The place is {place!r}: give a number, 0 to {axes // 2 - 1}.")
    return slice(2 * place, 2 * place + 2)


def _share_of_others(
    release: Release, place: int, lower: Ints, upper: Ints, within: Floats
) -> Floats:
    """The part of every leaf's count whose other places are in ``within``, (leaves,)."""
    share, maps = np.ones(len(lower)), release.maps_inside
    for other in range(lower.shape[1] // 2):
        if other == place:
            continue
        axes = slice(2 * other, 2 * other + 2)
        low, high = lower[:, axes], upper[:, axes]
        first = np.clip(within[0, axes], low, high)
        last = np.maximum(np.clip(within[1, axes], low, high), first)
        if maps is None:
            part = np.prod((last - first) / (high - low), axis=1)
        else:
            table = maps.places[other].table
            inside = rectangle_sums(table, np.stack([first, last], axis=1))
            part = np.maximum(inside, 0.0) / box_sums(table, low, high)
        # Leaves that are wholly inside are so exactly.
        share *= np.where(np.all((first == low) & (last == high), axis=1), 1.0, part)
    return share


def _painted(low: Ints, high: Ints, density: Floats, rows: int, cols: int) -> Floats:
    """Boxes that may overlap, each of an even density, added up per cell."""
    wide = cols + 1
    steps = np.zeros((rows + 1) * wide)
    for row, col, sign in ((low, low, 1), (low, high, -1), (high, low, -1), (high, high, 1)):
        at = row[:, 0] * wide + col[:, 1]
        steps += np.bincount(at, sign * density, len(steps))
    image: Floats = steps.reshape(rows + 1, wide).cumsum(axis=0).cumsum(axis=1)[:rows, :cols]
    return image


@dataclass(frozen=True, eq=False)
class Branch:
    """The parts that the cuts on the way to one combination of cells made, on the maps of places.

    Leaves of several places overlap on a map; those of one branch do not.

    Attributes
    ----------
    boxes : k arrays (m, 2, 2) int64, lower and upper in the cells of each place
    cut : k arrays (m,) int64: made by the first cut of this place (0), by its second (1), ..
    path : (depth + 1,) int64, the nodes of the branch from the whole domain to the leaf
    count : private count of the leaf
    """

    boxes: tuple[Ints, ...]
    cut: tuple[Ints, ...]
    path: Ints
    count: float

    @property
    def leaf(self) -> int:
        """The node that the branch ends at."""
        return int(self.path[-1])

    @property
    def depth(self) -> int:
        """How many cuts lead there."""
        return len(self.path) - 1


def branch(tree: Tree, cell: Ints, limit: int | None = None) -> Branch:
    """The branch of a tree of 2 k axes that ends at the leaf around a cell (2 k,): row, column, ..

    It stops after `limit` levels. InputError for a cell outside the domain.
    """
    k = tree.lower.shape[1] // 2
    if np.any(cell < tree.lower[0]) or np.any(cell >= tree.upper[0]):
        raise InputError("This place lies outside the map: choose one inside.")
    node, path = 0, [0]
    boxes: list[list[Ints]] = [[] for _ in range(k)]
    cut: list[list[Ints]] = [[] for _ in range(k)]
    while tree.fan_out[node] > 0 and (limit is None or len(path) <= limit):
        first, number = int(tree.first_child[node]), int(tree.fan_out[node])
        low, high = tree.lower[first : first + number], tree.upper[first : first + number]
        for place in range(k):
            axes = slice(2 * place, 2 * place + 2)
            shadows = _shadows(low[:, axes], high[:, axes])
            if len(shadows) > 1:
                boxes[place].append(shadows)
                cut[place].append(np.full(len(shadows), len(cut[place])))
        inside = np.all((low <= cell) & (cell < high), axis=1)
        node = first + int(np.argmax(inside))
        path.append(node)
    return Branch(
        tuple(np.concatenate([np.zeros((0, 2, 2), np.int64), *box]) for box in boxes),
        tuple(np.concatenate([np.zeros(0, np.int64), *numbers]) for numbers in cut),
        np.array(path, dtype=np.int64),
        float(tree.value[node]),
    )


def _shadows(low: Ints, high: Ints) -> Ints:
    """Each different box (2, 2) once: those with one lower corner are the same among siblings."""
    wide = int(high[:, 1].max()) + 1
    _, first = np.unique(low[:, 0] * wide + low[:, 1], return_index=True)
    return np.stack([low[first], high[first]], axis=1)
