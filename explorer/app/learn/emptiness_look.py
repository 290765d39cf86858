"""What the lesson on empty cells looks at: cells, one trip, boxes about it, noise next to it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from explorer.app.curator.data import CityData
from explorer.app.learn.travels import counts_of, journeys_of, notes_of
from explorer.teaching.emptiness import (
    Growing,
    Occupancy,
    Slice,
    box_about,
    growing,
    slice_of,
    some_trip,
)


@dataclass(frozen=True, eq=False)
class Looked:
    """What the settings lead to."""

    data: CityData
    settings: Any
    notes: str
    places: int
    occupancy: Occupancy
    cell: tuple[int, ...]
    boxes: Growing
    slice: Slice
    noisy: NDArray[np.int64]
    lower: NDArray[np.int64]
    upper: NDArray[np.int64]
    side: int


def look(data: CityData, settings: Any, trip: int, seed: int) -> Looked:
    """Count the cells, choose a trip, grow boxes about it, put noise on its slice."""
    matrix = counts_of(data.city[0], settings.places, settings.cells)
    cell = some_trip(matrix, trip)
    part, side = slice_of(matrix, cell), min(settings.wide, settings.cells)
    lower, upper = box_about(matrix, cell, side)
    return Looked(
        data,
        settings,
        notes_of(journeys_of(data.city[0]), settings.places),
        len(cell) // 2,
        Occupancy.of(matrix),
        cell,
        growing(matrix, cell),
        part,
        part.noisy(settings.epsilon, seed),
        lower,
        upper,
        side,
    )
