"""The maps on which claims are checked.

The papers' own data is not to be had (htf-2022) or not here (grids-2013). Used instead are, in
full: San Francisco's taxis thinned to the 3.5 million records of htf-2022, New York's car rides,
both on 1024 x 1024 cells; the check-ins of grids-2013 thinned to its million, on 256 x 256; and
the Gaussian clusters of htf-2022, made here. Where a file is missing the made-up city takes its
place. Quick: the same on 256 x 256 cells, clusters and records in proportion.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, replace
from functools import cache

import numpy as np
from numpy.typing import NDArray

from explorer.cities.catalogue import cities
from explorer.evaluate.workloads import Workload, workloads
from explorer.grid.sums import rectangle_sums
from explorer.points.matrix import FrequencyMatrix

RECORDS = 3_500_000  # of Los Angeles in htf-2022, section 7.1
CHECKINS = 1_000_000  # grids-2013, section V-A
SIGMAS = (20, 50, 100)  # htf-2022, section 7.1, in cells of 1024
CLUSTERS = 2  # two for each sigma make its six synthetic sets
SIDE, QUICK_SIDE = 1024, 256

MAIN, SECOND, CHECK_INS, MADE_UP = "san-francisco", "new-york", "check-ins", "madeup"
GAUSSIANS = tuple(f"gauss {sigma} {n + 1}" for sigma in SIGMAS for n in range(CLUSTERS))


@dataclass(frozen=True, eq=False)
class DataSet:
    """A map with its workloads.

    Attributes
    ----------
    key : name in the claims' computations
    name, title : for people, without and with its size
    matrix : FrequencyMatrix
    workloads : tuple of Workload
    """

    key: str
    name: str
    title: str
    matrix: FrequencyMatrix
    workloads: tuple[Workload, ...]


class PaperMaps:
    """The maps by their keys, each made when it is first asked for.

    Keys: those of cities, and of `GAUSSIANS`; "new-york 0.5" for a part of the records; "new-york
    in 256" for blocks of cells added up to 256 x 256, asked about as the fine map is.

    Parameters
    ----------
    quick : whether to use coarse maps
    """

    def __init__(self, quick: bool = False) -> None:
        self.quick = quick
        self.side = QUICK_SIDE if quick else SIDE
        self.of = cache(self._make)

    @property
    def main(self) -> str:
        """The map that represents the Los Angeles of htf-2022."""
        return MAIN if self._has(MAIN) else MADE_UP

    @property
    def cities(self) -> tuple[str, ...]:
        """The main map and another city, if it is here."""
        return (self.main, SECOND) if self._has(SECOND) else (self.main,)

    @property
    def all(self) -> tuple[str, ...]:
        """The cities and the check-ins, if they are here."""
        return (*self.cities, CHECK_INS) if self._has(CHECK_INS) else self.cities

    @staticmethod
    def _has(key: str) -> bool:
        city = cities().get(key)
        return city is not None and city.file is not None

    def _make(self, key: str) -> DataSet:
        blocks = re.fullmatch(r"(.+) in (\d+)", key)
        if blocks:
            return _blocks(self.of(blocks[1]), int(blocks[2]))
        if key.startswith("gauss"):
            return self._gaussian(key)
        part = re.fullmatch(r"(.+) ([\d.]+)", key)
        if part:
            whole = self.of(part[1])
            counts = thinned(whole.matrix.counts, round(whole.matrix.total * float(part[2])), 7)
            title = f"{whole.name}, {float(part[2]):.0%} of them"
            return self._set(key, title, FrequencyMatrix.from_array(counts))
        return self._city(key)

    def _city(self, key: str) -> DataSet:
        city = cities()[key]
        # The matrix of check-ins has the coarse shape already.
        matrix = city.load(None if city.is_matrix else self.side)[1]
        limit = CHECKINS if key == CHECK_INS else self._records()
        counts = thinned(matrix.counts, limit, 5)
        return self._set(key, city.title, FrequencyMatrix.from_array(counts))

    def _gaussian(self, key: str) -> DataSet:
        _, sigma, number = key.split()
        rng = np.random.default_rng([2022, int(sigma), int(number)])
        counts = gaussian(self.side, int(sigma) * self.side / SIDE, self._records(), rng)
        title = f"Gaussian cluster {number}, sigma {sigma}"
        return self._set(key, title, FrequencyMatrix.from_array(counts), ("random",))

    @staticmethod
    def _set(
        key: str, title: str, matrix: FrequencyMatrix, names: tuple[str, ...] = ("htf", "ag")
    ) -> DataSet:
        rows, cols = matrix.shape
        about = f"{title}: {matrix.total:,} records on {rows} x {cols} cells"
        return DataSet(key, title, about, matrix, tuple(workloads(names, matrix.shape)))

    def _records(self) -> int:
        return RECORDS * self.side**2 // SIDE**2


def thinned(counts: NDArray[np.int64], records: int, seed: int) -> NDArray[np.int64]:
    """That many records, drawn without putting back; all of them when there are no more.

    Parameters
    ----------
    counts : (rows, cols)
    records : how many to keep
    seed : of the draw
    """
    if counts.sum() <= records:
        return counts
    rng = np.random.default_rng([1848, seed])
    sample = rng.multivariate_hypergeometric(counts.ravel(), records, method="marginals")
    return sample.reshape(counts.shape)


def gaussian(side: int, sigma: float, records: int, rng: np.random.Generator) -> NDArray[np.int64]:
    """A cluster as in htf-2022, section 7.1: uniform centre, normal rows and columns.

    Records outside the map are not counted.

    Parameters
    ----------
    side : cells along each side
    sigma : standard deviation, in cells
    records : how many are drawn

    Returns
    -------
    (side, side) int64
    """
    place = rng.normal(rng.uniform(0, side, 2), sigma, (records, 2))
    cells = np.floor(place).astype(np.int64)
    inside = cells[np.all((cells >= 0) & (cells < side), axis=1)]
    flat = np.bincount(inside[:, 0] * side + inside[:, 1], minlength=side * side)
    return flat.reshape(side, side).astype(np.int64)


def _blocks(fine: DataSet, side: int) -> DataSet:
    """Blocks of cells added up; boxes and true answers stay those of the fine map."""
    rows, cols = fine.matrix.shape
    if rows % side or cols % side:
        raise ValueError(f"{rows} x {cols} cells do not go into {side} x {side} blocks")
    blocks = fine.matrix.counts.reshape(side, rows // side, side, cols // side).sum(axis=(1, 3))
    scale = np.array([side / rows, side / cols])
    coarse = tuple(
        replace(
            workload,
            boxes=workload.boxes * scale,
            truth=rectangle_sums(fine.matrix.sums, workload.boxes.astype(np.float64)),
        )
        for workload in fine.workloads
    )
    title = f"{fine.name}, in {side} x {side} blocks"
    matrix = FrequencyMatrix.from_array(blocks)
    return DataSet(f"{fine.key} in {side}", title, title, matrix, coarse)
