"""A made-up city of a million points: for trying everything without anybody's data.

Port Amber is in the open Atlantic, at 40 degrees north and 30 west, where there is no land. Its
plan is fixed: the numbers and shapes below, drawn by hand in kilometres east and north of the
centre on a square of 24 km, and what is in `madeup.npz`. A seed only decides where its people are.
It has what makes real cities hard for a private map: empty sea and country next to a dense centre,
sub-centres, corridors along roads, streets, parks, an airport and villages.
"""

from __future__ import annotations

from functools import lru_cache
from pathlib import Path
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from explorer.grid.grid import Grid
from explorer.points.points import Points

LON, LAT, SIZE = -30.0, 40.0, 20_000.0
NAME = "Port Amber"
SEED = 1848

# Half the side of the square, km. The public grid of 20 km is inside it.
HALF = 12.0

# Middle x, y, half axes, angle (degrees), and 1 for an ellipse or 0 for a rectangle.
PARKS = (
    (1.45, 1.75, 0.85, 0.33, 32.0, 0),
    (-1.75, 2.75, 0.55, 0.40, 20.0, 1),
    (3.35, -1.85, 0.75, 0.50, -30.0, 1),
    (0.35, -3.75, 0.45, 0.70, 10.0, 1),
    (4.95, 3.20, 1.10, 0.60, 50.0, 1),
    (-0.95, 5.65, 0.80, 0.55, 0.0, 1),
    (0.62, -2.05, 0.26, 0.20, 32.0, 0),
    (0.10, 2.10, 0.22, 0.16, 32.0, 0),
    (3.05, 3.15, 0.30, 0.25, 12.0, 0),
    (7.10, -0.85, 0.85, 0.60, 80.0, 1),
)

# Runways and the fields around them: no one there, though the terminal next to them is crowded.
AIRFIELD = (6.35, -6.15, 1.55, 0.42, 24.0, 0)
TERMINAL = (6.05, -5.48)
# Centres of life: x, y, radius km, share of the city.
CENTRES = (
    (0.0, 0.0, 0.62, 1.00),
    (0.85, 0.35, 0.40, 0.50),
    (-0.55, 1.00, 0.35, 0.30),
    (0.10, -1.95, 0.35, 0.22),
    (4.05, 1.50, 0.42, 0.26),
    (0.60, 5.35, 0.45, 0.20),
    (3.20, -2.90, 0.40, 0.20),
    (-3.00, 3.75, 0.42, 0.19),
    (5.20, 6.05, 0.40, 0.12),
    (-0.40, -5.00, 0.45, 0.14),
    (8.55, 2.05, 0.40, 0.08),
    (6.40, -1.90, 0.32, 0.08),
)
# Villages in the country: x, y, radius km, share.
VILLAGES = (
    (9.4, 7.2, 0.26, 0.016),
    (7.4, 7.9, 0.24, 0.018),
    (-5.0, 8.6, 0.28, 0.024),
    (0.7, -8.7, 0.30, 0.022),
    (9.0, -8.4, 0.24, 0.016),
    (9.6, -4.6, 0.22, 0.014),
    (4.2, -8.9, 0.20, 0.010),
    (3.4, 9.2, 0.22, 0.012),
    (9.3, 4.6, 0.18, 0.008),
    (-2.2, 9.5, 0.18, 0.008),
    (-3.35, -2.15, 0.20, 0.010),
)

# Cells of the raster that says where people live; 24 km / 512 = 47 m.
_RASTER = 512
_CELL = 2 * HALF / _RASTER
#: The plan as arrays: a last bit of exp on another machine would move a person.
PLAN = Path(__file__).with_suffix(".npz")
# Shares of the points: along main roads, in crowds (stations, terminals), the rest in streets.
_ON_ROADS, _IN_CROWDS = 0.17, 0.045

Floats = NDArray[np.float64]
Mask = NDArray[np.bool_]


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
    dry = ~in_sea(road_x, road_y)  # a road crosses the river on a bridge
    crowd_x, crowd_y = _crowds(in_crowds, rng)
    x, y = _streets(n - on_roads - in_crowds, rng)
    free = _allowed(x, y)
    return (
        np.concatenate([road_x[dry], crowd_x, x[free]]),
        np.concatenate([road_y[dry], crowd_y, y[free]]),
    )


def in_water(x: Floats, y: Floats) -> Mask:
    """Return where the sea or the river is."""
    return in_sea(x, y) | in_river(x, y)


def in_sea(x: Floats, y: Floats) -> Mask:
    """Return where the sea is: west of a curving coast with a bay, but for one island."""
    island = ((x + 3.45) / 0.62) ** 2 + ((y + 2.2) / 0.42) ** 2 < 1 + 0.12 * np.sin(5 * x + 7 * y)
    return (x < coast(y)) & ~island


def coast(y: Floats) -> Floats:
    """Return the easting of the coast at a northing."""
    bay = 3.7 * np.exp(-(((y + 0.9) / 2.1) ** 2))
    cape = -2.1 * np.exp(-(((y - 3.1) / 1.2) ** 2)) - 1.2 * np.exp(-(((y + 5.2) / 1.0) ** 2))
    # Inlets of ever smaller size.
    coves = 0.22 * np.sin(2.3 * y + 0.4) + 0.10 * np.sin(6.1 * y + 1.0) + 0.04 * np.sin(15.0 * y)
    # Docks: two straight basins cut into the shore next to the centre.
    docks = 0.38 * ((np.abs(y - 0.05) < 0.07) | (np.abs(y - 0.42) < 0.06))
    return -5.0 - 0.20 * y + 0.9 * np.sin(y / 3.1 + 0.6) + bay + cape + coves + docks


def river(x: Floats) -> Floats:
    """Return the northing of the river at an easting; it comes from the north-east."""
    bends = 0.50 * np.sin(1.05 * x - 0.9) + 0.24 * np.sin(2.2 * x + 0.6)
    upstream = np.clip((x + 1.6) / 2.5, 0, 1)
    return -1.35 + 0.36 * (x + 1.6) + 0.027 * (x + 1.6) ** 2 + bends * upstream


def in_river(x: Floats, y: Floats) -> Mask:
    """Return where the river is: 90 m wide in the country, 300 m at its mouth."""
    half = 0.06 + 0.13 * np.exp(-np.clip(x + 1.6, 0, None) / 1.6)
    slope = (river(x + 0.01) - river(x - 0.01)) / 0.02
    return (np.abs(y - river(x)) < half * np.sqrt(1 + slope**2)) & (x > -2.8)


def in_park(x: Floats, y: Floats) -> Mask:
    """Return where parks and the airfield are."""
    inside = np.zeros(x.shape, bool)
    for cx, cy, a, b, angle, ellipse in (*PARKS, AIRFIELD):
        turn = np.deg2rad(angle)
        dx, dy = x - cx, y - cy
        u = np.abs(dx * np.cos(turn) + dy * np.sin(turn)) / a
        v = np.abs(dy * np.cos(turn) - dx * np.sin(turn)) / b
        ragged = 1.0 + 0.22 * np.sin(4.1 * x + 2.7 * y + 9.0 * cx) * np.sin(5.3 * y - 1.9 * x)
        inside |= (u * u + v * v < ragged) if ellipse else (u < 1) & (v < 1)
    return inside


def _allowed(x: Floats, y: Floats) -> Mask:
    """Return where people may be: not in water, not in a park."""
    col, row = (np.clip(((v + HALF) / _CELL).astype(int), 0, _RASTER - 1) for v in (x, y))
    # The exact shapes are looked at only near them.
    near = np.flatnonzero(raster().near_blocked[row * _RASTER + col])
    allowed = np.ones(x.size, bool)
    allowed[near] = ~(in_water(x[near], y[near]) | in_park(x[near], y[near]))
    return allowed


class Raster(NamedTuple):
    """Cells of the whole plan, row by row from the south-west.

    ``sums`` are running sums of how many people live in a cell, ``district`` is the district of a
    cell, ``near_blocked`` says that water or a park is within two cells. ``streets`` has for each
    district the direction in radians and the width and depth of a block in km, ``roads`` are
    corners of the main roads in km, (k, 2), one every 20 m.
    """

    sums: Floats
    district: NDArray[np.uint8]
    near_blocked: Mask
    streets: Floats
    roads: Floats


@lru_cache(maxsize=1)
def raster() -> Raster:
    """The raster of the plan."""
    with np.load(PLAN) as archive:
        sums = np.cumsum(archive["people"], dtype=np.float64)
        return Raster(sums, *(archive[name] for name in Raster._fields[1:]))


def _streets(n: int, rng: np.random.Generator) -> tuple[Floats, Floats]:
    """Return people at home and in the streets: four in five on the lines of a street grid."""
    sums, district, _, streets, _ = raster()
    cell = np.searchsorted(sums, np.sort(rng.integers(0, int(sums[-1]), n)), side="right")
    row, col = np.divmod(cell, _RASTER)
    x = (col + rng.random(n)) * _CELL - HALF
    y = (row + rng.random(n)) * _CELL - HALF
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
    corners = raster().roads
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
    places = np.array([(*TERMINAL, 0.075, 1.3), *CENTRES])
    places[1:, 2] = 0.035
    sums = np.cumsum(np.rint(1e6 * places[:, 3]))
    at = np.searchsorted(sums, rng.integers(0, int(sums[-1]), n), side="right")
    x, y, radius, _ = places[at].T
    return x + _blur(n, 1.0, rng) * radius, y + _blur(n, 1.0, rng) * radius


def _blur(n: int, spread: float, rng: np.random.Generator) -> Floats:
    """Return ``n`` bell-shaped offsets from plain uniform draws, which numpy never changes."""
    return (rng.random(n) + rng.random(n) + rng.random(n) - 1.5) * (2.0 * spread)
