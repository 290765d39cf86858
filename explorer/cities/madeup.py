"""A made-up city of a million points: for trying everything without anybody's data.

Port Amber is in the open Atlantic, at 40 degrees north and 30 west, where there is no land. Its
plan is fixed (`madeup_plan`); a seed only decides where its people are. It has what makes real
cities hard for a private map: empty sea and country next to a dense centre, sub-centres, corridors
along roads, streets, parks, an airport and villages.
"""

from __future__ import annotations

from functools import lru_cache
from pathlib import Path
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from explorer.cities import madeup_plan as plan
from explorer.grid.grid import Grid
from explorer.points.points import Points

LON, LAT, SIZE = -30.0, 40.0, 20_000.0
NAME = "Port Amber"
SEED = 1848

# Cells of the raster that says where people live; 24 km / 512 = 47 m.
_RASTER = 512
_CELL = 2 * plan.HALF / _RASTER
_KEPT = Path(__file__).with_suffix(".npz")
# Shares of the points: along main roads, in crowds (stations, terminals), the rest in streets.
_ON_ROADS, _IN_CROWDS = 0.17, 0.045

Floats = NDArray[np.float64]


def grid(shape: int | tuple[int, int] = (1024, 1024)) -> Grid:
    """Return the city's public grid of 20 x 20 km."""
    return Grid.around(LON, LAT, SIZE, shape=shape, name=NAME)


def points(n: int = 1_000_000, seed: int = SEED) -> Points:
    """Return ``n`` points of Port Amber, the same ones for the same seed, in under 2 s.

    A few lie beyond the 20 km of the public grid, as in any real file.
    """
    rng = np.random.default_rng(seed)
    x, y = np.empty(0), np.empty(0)
    while x.size < n:
        more = _people(int((n - x.size) * 1.3) + 1000, rng)
        x, y = np.append(x, more[0]), np.append(y, more[1])
    # Kinds of places come one after the other; a file has them mixed.
    order = rng.permutation(x.size)[:n]
    lon, lat = grid(1).to_lonlat(x[order] * 1000, y[order] * 1000)
    return Points(lon, lat, name=NAME, notes=(f"{NAME} is made up: nobody lives there.",))


def _people(n: int, rng: np.random.Generator) -> tuple[Floats, Floats]:
    """Return at most ``n`` places in km: those in water or in a park are left out."""
    on_roads, in_crowds = int(n * _ON_ROADS), int(n * _IN_CROWDS)
    road_x, road_y = _along_roads(on_roads, rng)
    dry = ~plan.in_sea(road_x, road_y)  # a road crosses the river on a bridge
    crowd_x, crowd_y = _crowds(in_crowds, rng)
    x, y = _streets(n - on_roads - in_crowds, rng)
    free = _allowed(x, y)
    return (
        np.concatenate([road_x[dry], crowd_x, x[free]]),
        np.concatenate([road_y[dry], crowd_y, y[free]]),
    )


def _allowed(x: Floats, y: Floats) -> NDArray[np.bool_]:
    """Return where people may be: not in water, not in a park."""
    col, row = (np.clip(((v + plan.HALF) / _CELL).astype(int), 0, _RASTER - 1) for v in (x, y))
    # The exact shapes are looked at only near them.
    near = np.flatnonzero(_raster().near_blocked[row * _RASTER + col])
    allowed = np.ones(x.size, bool)
    allowed[near] = ~(plan.in_water(x[near], y[near]) | plan.in_park(x[near], y[near]))
    return allowed


class _Raster(NamedTuple):
    """Cells of the whole plan, row by row from the south-west.

    ``sums`` are running sums of how many people live in a cell, ``district`` is the district of a
    cell, ``near_blocked`` says that water or a park is within two cells. ``streets`` has for each
    district the direction in radians and the width and depth of a block in km.
    """

    sums: Floats
    district: NDArray[np.uint8]
    near_blocked: NDArray[np.bool_]
    streets: Floats


@lru_cache(maxsize=1)
def _raster() -> _Raster:
    # Kept, as `tests/cities/raster.py` makes it: that takes longer than all the people, and a last
    # bit of exp on another machine would move a person.
    with np.load(_KEPT) as archive:
        sums = np.cumsum(archive["people"], dtype=np.float64)
        return _Raster(sums, archive["district"], archive["near_blocked"], archive["streets"])


def _streets(n: int, rng: np.random.Generator) -> tuple[Floats, Floats]:
    """Return people at home and in the streets: four in five on the lines of a street grid."""
    sums, district, _, streets = _raster()
    cell = np.searchsorted(sums, np.sort(rng.integers(0, int(sums[-1]), n)), side="right")
    row, col = np.divmod(cell, _RASTER)
    x = (col + rng.random(n)) * _CELL - plan.HALF
    y = (row + rng.random(n)) * _CELL - plan.HALF
    direction, width, depth = streets[district[cell]].T
    cos, sin = np.cos(direction), np.sin(direction)
    u, v = x * cos + y * sin, y * cos - x * sin
    # Streets bend a little, together over the whole town; every fourth is an avenue.
    bend = 0.05 * np.sin(1.3 * v)
    luck = rng.random(n)
    blur = _blur(n, 0.006, rng)
    stride = np.where(luck < 0.6, 1.0, 4.0)
    along = (luck < 0.30) | ((luck >= 0.60) & (luck < 0.70))
    across = (luck < 0.80) & ~along
    width, depth = width * stride, depth * stride
    u = np.where(along, np.rint((u - bend) / width) * width + bend + blur, u)
    v = np.where(across, np.rint(v / depth) * depth + blur, v)
    return u * cos - v * sin, u * sin + v * cos


def _along_roads(n: int, rng: np.random.Generator) -> tuple[Floats, Floats]:
    """Return people on main roads: many near the centre, fewer and fewer outwards."""
    curves = plan.roads()
    corners = np.vstack(curves)
    away = np.hypot(corners[:, 0], corners[:, 1])
    sums = np.cumsum(np.rint(1e6 * (np.exp(-away / 2.6) + 0.035)))
    at = np.searchsorted(sums, rng.integers(0, int(sums[-1]), n), side="right")
    spread = 0.010 + 0.001 * away[at]
    return (
        corners[at, 0] + _blur(n, 1.0, rng) * spread + 0.02 * (rng.random(n) - 0.5),
        corners[at, 1] + _blur(n, 1.0, rng) * spread + 0.02 * (rng.random(n) - 0.5),
    )


def _crowds(n: int, rng: np.random.Generator) -> tuple[Floats, Floats]:
    """Return people where many wait: the airport's terminal and a station in each centre."""
    places = np.array([(*plan.TERMINAL, 0.075, 1.3), *plan.CENTRES])
    places[1:, 2] = 0.035
    sums = np.cumsum(np.rint(1e6 * places[:, 3]))
    at = np.searchsorted(sums, rng.integers(0, int(sums[-1]), n), side="right")
    x, y, radius, _ = places[at].T
    return x + _blur(n, 1.0, rng) * radius, y + _blur(n, 1.0, rng) * radius


def _blur(n: int, spread: float, rng: np.random.Generator) -> Floats:
    """Return ``n`` bell-shaped offsets from plain uniform draws, which numpy never changes."""
    return (rng.random(n) + rng.random(n) + rng.random(n) - 1.5) * (2.0 * spread)
