"""The plan of the Amber Isles, a nation that does not exist: coasts, districts, towns.

It is in the open Atlantic around 45 degrees north and 35 west, where there is no land. Everything
follows from the numbers in this file; no one's boundaries and no one's data went into it.
"""

from __future__ import annotations

from functools import lru_cache
from typing import NamedTuple

import numpy as np
import shapely
from numpy.typing import NDArray

from explorer.grid.projection import LONLAT, equal_area_crs, transform

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]

LON, LAT = -35.0, 45.0
#: The public extent, km: west to east and south to north.
WIDTH, HEIGHT = 640.0, 880.0
#: Levels of its boundaries, coarsest first.
LEVELS = ("country", "region", "district")

# Middle x, y in km, half axes, districts, regions, name: two lands share the large island.
_ISLANDS = (
    (20.0, 30.0, 215.0, 330.0, 150, 9, "Amber"),
    (-215.0, -260.0, 70.0, 95.0, 14, 1, "Opal"),
    (250.0, 330.0, 32.0, 45.0, 1, 1, "Jet"),
)
# The first island's districts north of this line, km, are another country's.
_BORDER = 120.0
_FIRST = ("Al", "Ber", "Cor", "Dun", "El", "Fen", "Gar", "Hol", "In", "Ker", "Lan", "Mor", "Nor")
_LAST = ("bury", "by", "dale", "field", "ford", "ham", "haven", "mouth", "stow", "thorpe", "wick")
_TOWN_SEED = 1907


class Plan(NamedTuple):
    """Districts and towns; km east and north of the middle.

    Attributes
    ----------
    names : country, region and district of each of m districts
    shapes : (m,) polygons in degrees, neighbours with the same corners along their border
    towns : (t, 2) degrees; the first m are one in each district
    share : (t,) of the people, by the rank-size rule: the town of rank r has 1 / r of the largest
    radius : (t,) km
    land : (c, 2) south-western corners, in degrees, of small pieces of land
    piece : width and height of such a piece, degrees
    """

    names: list[tuple[str, str, str]]
    shapes: NDArray[np.object_]
    towns: Floats
    share: Floats
    radius: Floats
    land: Floats
    piece: tuple[float, float]


@lru_cache(maxsize=1)
def plan() -> Plan:
    """The nation; always the same one."""
    rng = np.random.default_rng(_TOWN_SEED)
    called = _names(rng)
    names: list[tuple[str, str, str]] = []
    shapes, towns, radii = [], [], []
    for number, (x, y, a, b, districts, regions, title) in enumerate(_ISLANDS):
        coast = _coast(x, y, a, b, number)
        seeds = _inside(coast, districts, rng)
        cells = _districts(coast, seeds)
        # Regions are the districts whose middles are nearest to a capital: unions of whole ones.
        near = np.hypot(*(seeds[:, None] - seeds[None, :regions]).transpose(2, 0, 1)).argmin(axis=1)
        capitals = [next(called) for _ in range(regions)]
        for i in range(districts):
            north = number == 0 and seeds[near[i], 1] > _BORDER
            country = f"North {title}" if north else title
            names.append((country, capitals[near[i]], next(called)))
        shapes.append(cells)
        towns.append(seeds)
        radii.append(np.full(districts, np.sqrt(shapely.area(cells))))
    middles = np.concatenate(towns)
    more = np.concatenate([_inside(_coast(*_ISLANDS[0][:4], 0), 250, rng)])
    places = np.concatenate([middles, more])
    share = _ranked(len(places), rng)
    radius = 1.2 + 28.0 * np.sqrt(share)
    land, piece = _land(np.concatenate(shapes))
    return Plan(
        names,
        _to_degrees(np.concatenate(shapes)),
        _degrees(places),
        share,
        radius,
        land,
        piece,
    )


def _names(rng: np.random.Generator):  # type: ignore[no-untyped-def]
    """Names of places, no two alike."""
    pairs = [f"{first}{last}" for first in _FIRST for last in _LAST]
    order = rng.permutation(len(pairs))
    for side in ("", "Great ", "New "):
        for at in order:
            yield side + pairs[at]


def _coast(x: float, y: float, a: float, b: float, number: int) -> shapely.Polygon:
    """The outline of an island, km: an ellipse with capes and bays of ever smaller size."""
    angle = np.linspace(0.0, 2 * np.pi, 1200, endpoint=False)
    r = 1.0 + 0.16 * np.sin(3 * angle + number) + 0.09 * np.cos(5 * angle + 2.0 * number + 0.4)
    r += 0.05 * np.sin(11 * angle + 1.1) + 0.02 * np.cos(29 * angle + number)
    r += 0.008 * np.sin(83 * angle)
    return shapely.Polygon(np.column_stack([x + a * r * np.cos(angle), y + b * r * np.sin(angle)]))


def _inside(coast: shapely.Polygon, n: int, rng: np.random.Generator) -> Floats:
    """Some places well inside an island, as far from each other as the best of ten, (n, 2)."""
    inner = coast.buffer(-6.0)
    west, south, east, north = inner.bounds
    chosen: list[Floats] = []
    while len(chosen) < n:
        tried = rng.random((60, 2)) * (east - west, north - south) + (west, south)
        tried = tried[shapely.contains_xy(inner, tried[:, 0], tried[:, 1])][:10]
        if not len(tried):
            continue
        if not chosen:
            chosen.append(tried[0])
            continue
        away = np.hypot(*(tried[:, None] - np.array(chosen)[None]).transpose(2, 0, 1)).min(axis=1)
        chosen.append(tried[away.argmax()])
    return np.array(chosen)


def _districts(coast: shapely.Polygon, seeds: Floats) -> NDArray[np.object_]:
    """What is nearest to each seed, cut at the coast, with borders that wind."""
    if len(seeds) == 1:
        return np.array([_wound(coast)], dtype=object)
    voronoi = shapely.get_parts(
        shapely.voronoi_polygons(shapely.MultiPoint(seeds), extend_to=coast.envelope)
    )
    owner = shapely.STRtree(voronoi).query(shapely.points(seeds), predicate="within")
    cells = np.empty(len(seeds), dtype=object)
    cells[owner[0]] = voronoi[owner[1]]
    # Corners every 2 km before the cut: both sides of a border get the same ones.
    cut = shapely.intersection(shapely.segmentize(cells, 2.0), coast)
    return np.array([_wound(polygon) for polygon in cut], dtype=object)


def _wound(shape: shapely.Geometry) -> shapely.Geometry:
    """Moved by waves that depend on the place alone, so that neighbours stay neighbours."""

    def waves(at: Floats) -> Floats:
        x, y = at.T
        return np.column_stack(
            [
                x + 2.6 * np.sin(y / 7.3) + 0.9 * np.sin(y / 2.1 + x / 9.0),
                y + 2.6 * np.sin(x / 6.1 + 1.0) + 0.9 * np.sin(x / 2.3 - y / 8.0),
            ]
        )

    return shapely.transform(shape, waves)


def _ranked(n: int, rng: np.random.Generator) -> Floats:
    """Shares of n towns: the town of rank r is 1 / r of the largest; ranks fall anywhere."""
    share = 1.0 / np.arange(1, n + 1)
    result = np.empty(n)
    result[rng.permutation(n)] = share / share.sum()
    return result


def _land(shapes: NDArray[np.object_]) -> tuple[Floats, tuple[float, float]]:
    """South-western corners of pieces of land of 4 x 4 km or so, degrees, and their size."""
    whole = shapely.union_all(shapely.buffer(shapes, 0.05))
    shapely.prepare(whole)
    x, y = (
        axis.ravel()
        for axis in np.meshgrid(
            np.arange(-WIDTH / 2, WIDTH / 2, 4.0), np.arange(-HEIGHT / 2, HEIGHT / 2, 4.0)
        )
    )
    there = shapely.contains_xy(whole, x + 2.0, y + 2.0)
    return _degrees(np.column_stack([x[there], y[there]])), (0.05, 0.036)


def _degrees(km: Floats) -> Floats:
    lon, lat = transform(equal_area_crs(LON, LAT), LONLAT, km[:, 0] * 1000, km[:, 1] * 1000)
    # Nine digits are a tenth of a millimetre, and the same on every machine.
    degrees: Floats = np.column_stack([lon, lat]).round(9)
    return degrees


def _to_degrees(shapes: NDArray[np.object_]) -> NDArray[np.object_]:
    moved: NDArray[np.object_] = shapely.transform(shapes, _degrees)
    return moved
