"""Maps for the claims of heatmaps-2022: cities that are here, and smooth maps made from one.

San Francisco and New York where their files are found, Port Amber always; smooth maps are made from
the last of them, which is what the paper's images of luminosity are like: blurred, square root, cut
off.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from explorer.cities.catalogue import cities
from explorer.federated.people import People
from explorer.grid.grid import Grid
from explorer.points.matrix import FrequencyMatrix
from explorer.releases.quarters import KeyTree, interleave

Floats = NDArray[np.float64]

#: In the order in which they are shown; those that are there, and the made-up one when quick.
CITIES = {"new-york": "New York", "madeup": "Port Amber", "san-francisco": "San Francisco"}
BLURS = (2.0, 6.0)
"""Cells by which smooth maps are blurred."""


@dataclass(frozen=True, eq=False)
class Map:
    """A map with its people.

    Attributes
    ----------
    title : for people
    smooth : whether it is like the paper's images
    people : one for each record
    truth : (rows, cols), adds up to 1
    """

    title: str
    smooth: bool
    people: People
    truth: Floats

    @classmethod
    def of(cls, title: str, counts: NDArray[np.int64], smooth: bool = False) -> Map:
        """The map of a matrix of counts."""
        people = People.of_matrix(FrequencyMatrix(counts, Grid.cells(counts.shape)))
        return cls(title, smooth, people, counts / counts.sum())

    def coarse(self, cells: int) -> Map:
        """The same people on cells as large as `cells` x `cells` of these."""
        rows, cols = (side // cells for side in self.truth.shape)
        whole = np.rint(self.truth * len(self.people)).astype(np.int64)
        blocks = whole.reshape(rows, cells, cols, cells).sum(axis=(1, 3))
        return Map.of(f"{self.title}, {rows} x {cols} cells", blocks, self.smooth)


def found(quick: bool) -> Iterator[Map]:
    """The maps at hand, cities first."""
    side = 256 if quick else 1024
    here = cities()
    keys = [key for key in CITIES if key == "madeup" or (key in here and here[key].file)]
    if quick:
        keys = ["madeup"]
    matrix: NDArray[np.int64] | None = None
    for key in keys:
        counts = here[key].load((side, side))[1].counts
        yield Map.of(f"{CITIES[key]}, {counts.sum():,} records", counts)
        matrix = counts
    assert matrix is not None
    for blur in BLURS:
        title = f"the last of them, blurred by {blur:g} cells"
        yield Map.of(title, smoothed(matrix, blur), True)


def smoothed(counts: NDArray[np.int64], cells: float = 6.0) -> NDArray[np.int64]:
    """Counts blurred by a Gaussian of some cells, their square root scaled to 255, cut off."""
    from scipy.ndimage import gaussian_filter

    root = np.sqrt(gaussian_filter(counts.astype(np.float64), cells))
    scale = 255 / max(float(np.quantile(root, 0.999)), 1e-9)
    return np.rint(np.minimum(root * min(scale, 4.0), 255)).astype(np.int64)


def visitors(city: Map, quick: bool, places: int) -> tuple[People, Floats]:
    """Made-up users of a city with a home and other places; the mean of their visits.

    `places` is S; 0 keeps the most visited place of each.
    """
    random = np.random.default_rng(5)
    number = 10_000 if quick else 50_000
    n_places = random.integers(1, 9, number)
    offsets = np.concatenate([[0], np.cumsum(n_places)])
    cells = random.choice(city.people.cells, offsets[-1])
    visits = 1 + random.geometric(0.3, offsets[-1])
    visits[offsets[:-1]] += random.geometric(0.1, number)
    total = np.add.reduceat(visits, offsets[:-1])
    weight = visits / np.repeat(total, n_places)
    grid, depth = city.people.grid, city.people.depth
    truth = KeyTree.even(depth, depth).spread(np.bincount(cells, weight, 4**depth) / number)
    rows, cols = np.indices(grid.shape)
    truth = truth[interleave(cols, rows)]
    if places == 0:
        best = np.array([a + int(np.argmax(visits[a:b])) for a, b in pairwise(offsets)])
        return People(cells[best], grid), truth
    return People(cells, grid, offsets=offsets, visits=visits, places=places), truth
