"""A small country, its points, and a page of it."""

from __future__ import annotations

from functools import cache
from typing import Any

import geopandas
import numpy as np
from shapely.geometry import box

from explorer.app import Country
from explorer.grid.areas.areas import Areas
from explorer.points.area_counts import AreaCounts
from explorer.points.points import Points

LEVELS = ("country", "region", "district")
#: Degrees of the side of a district, and its south-western corner.
SIDE, WEST, SOUTH = 0.1, 10.0, 50.0


def frame() -> geopandas.GeoDataFrame:
    """Twelve districts in a rectangle of 4 by 3; the east is a country that is one region."""
    rows: list[dict[str, Any]] = []
    shapes = []
    for column in range(4):
        for row in range(3):
            x, y = WEST + column * SIDE, SOUTH + row * SIDE
            shapes.append(box(x, y, x + SIDE, y + SIDE))
            east = column == 3
            rows.append(
                {
                    "country": "East" if east else "West",
                    "region": "East" if east else ("Hill" if row == 2 else "Vale"),
                    "district": f"D{column}{row}",
                }
            )
    return geopandas.GeoDataFrame(rows, geometry=shapes, crs="EPSG:4326")


def places(n: int = 6_000) -> Points:
    """Points all over it, most of them around one town in D11."""
    rng = np.random.default_rng(8)
    town = rng.normal((WEST + 0.15, SOUTH + 0.15), 0.02, (n // 2, 2))
    rest = rng.uniform((WEST, SOUTH), (WEST + 0.4, SOUTH + 0.3), (n - n // 2, 2))
    lon, lat = np.concatenate([town, rest]).T
    return Points(lon, lat, name="land")


@cache
def counts() -> AreaCounts:
    """The points counted by area and cell."""
    return Areas.read(frame(), LEVELS).count(places(), 1000.0)


def new_page(**choices: Any) -> Country:
    """A page of it."""
    return Country(counts(), **{"epsilon": 1.0, "inside": "ug", **choices})
