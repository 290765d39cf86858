"""A threshold map, what subtracting gives away of it, and a private map asked the same."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from explorer.app.curator.data import CityData
from explorer.errors import InputError
from explorer.mechanisms import Identity
from explorer.points.matrix import FrequencyMatrix
from explorer.teaching import thresholds
from explorer.teaching.places import cell_of
from explorer.teaching.thresholds import Days, Difference


@dataclass(frozen=True, eq=False)
class Foiled:
    """A threshold map and what subtracting gave away.

    Boxes are in cells of the coarse map; ``row_edges`` and ``col_edges`` lead back to the grid.
    """

    data: CityData
    settings: Any
    counts: NDArray[np.int64]
    row_edges: NDArray[np.int64]
    col_edges: NDArray[np.int64]
    shown: NDArray[np.float64]
    cell: tuple[int, int]
    hidden: int
    given_away: int
    difference: Difference | None
    days: Days | None
    no_days: str
    private: tuple[float, float, float]

    def box(self, cells: NDArray[np.int64]) -> NDArray[np.float64]:
        """A box of coarse cells, (2, 2) lower and upper, in the grid's unit, (4,)."""
        fine = np.stack([self.row_edges[cells[:, 0]], self.col_edges[cells[:, 1]]], axis=1)
        return self.data.grid.from_cells(fine[None])[0]

    def of_cell(self, cell: tuple[int, int]) -> NDArray[np.float64]:
        """One coarse cell in the grid's unit, (4,)."""
        return self.box(np.add([cell, cell], [[0], [1]]))


def foil(data: CityData, settings: Any) -> Foiled:
    """Publish the threshold map, attack it, and ask a private map the same."""
    counts, row_edges, col_edges = thresholds.coarse(data.matrix.counts, settings.cells)
    row, col = cell_of(settings.place, data.grid)
    cell = (
        int(np.searchsorted(row_edges, row, "right")) - 1,
        int(np.searchsorted(col_edges, col, "right")) - 1,
    )
    ask = thresholds.service(counts, settings.k)
    published = thresholds.published(ask, counts.shape)
    gone = np.isnan(published)
    away = np.isfinite(thresholds.differences(ask, counts.shape))
    difference = thresholds.difference(ask, counts.shape, cell)
    days, no_days = None, ""
    try:
        days = thresholds.two_days(counts, settings.k, cell)
    except InputError as error:
        no_days = str(error)
    return Foiled(
        data,
        settings,
        counts,
        row_edges,
        col_edges,
        published,
        cell,
        int(gone.sum()),
        int((gone & away).sum()),
        difference,
        days,
        no_days,
        _private(counts, settings.epsilon, cell, difference),
    )


def _private(
    counts: NDArray[np.int64], epsilon: float, cell: tuple[int, int], difference: Difference | None
) -> tuple[float, float, float]:
    """Answers of a private map to the larger and the smaller box, and the noise of one cell."""
    release = Identity(epsilon=epsilon).release(FrequencyMatrix.from_array(counts), rng=1)
    cell_box = np.add([cell, cell], [[0], [1]])
    larger, smaller = (
        (cell_box, cell_box) if difference is None else (difference.larger, difference.smaller)
    )
    answers = release.answer(release.grid.from_cells([larger, smaller, cell_box]))
    return float(answers.value[0]), float(answers.value[1]), float(answers.sd[2])
