"""A few trips between two towns, and a page of them."""

from __future__ import annotations

from typing import Any

import numpy as np

from explorer import Grid, TripDomain
from explorer.app import Trips
from explorer.trips.matrix import TripMatrix

SIDE = 16


def trips(places: int = 2, people: int = 4000, **unit: Any) -> TripMatrix:
    """Trips of a few places that are mostly in one of two towns, on 16 x 16 cells of 500 m."""
    rng = np.random.default_rng(8)
    towns = np.array([[0.2, 0.3], [0.7, 0.6]]) * SIDE
    stops = towns[rng.integers(0, 2, (people, places))]
    stops += rng.normal(0, SIDE / 16, stops.shape)
    stops[: people // 10] = rng.uniform(0, SIDE, stops[: people // 10].shape)
    cells = np.clip(stops, 0, SIDE - 1).astype(int).reshape(people, -1)
    grid = Grid.around(2.35, 48.85, 8000, shape=SIDE)
    return TripMatrix(cells, np.ones(people, int), TripDomain([grid] * places), **unit)


def page(places: int = 2, matrix: TripMatrix | None = None, **choices: Any) -> Trips:
    """The page of them, with two rows: one of a box on each map, one with a gap.

    By DAF-Entropy, whose error bars need no simulation.
    """
    page = Trips(matrix or trips(places), **{"mechanism": "daf-entropy", "epsilon": 1.0, **choices})
    first = [(-3000.0, -3000.0, 1000.0, 500.0)] * places
    page.rectangles.replace([first, [first[0], *[[np.nan] * 4] * (places - 1)]], ["Q1", "Q2"])
    page.rectangles.select([0])
    page.boxes_changed()
    return page


def pictures(page: Trips) -> list[np.ndarray]:
    """What is on the maps."""
    return [view.image.data["image"][0] for view in page.maps.views]


def same(some: list[np.ndarray], others: list[np.ndarray]) -> bool:
    """Whether all pictures are equal, one by one."""
    return all(np.array_equal(a, b) for a, b in zip(some, others, strict=True))
