"""Where people live in the made-up city: the raster that `explorer.cities.madeup` keeps in a file.

.venv/bin/python -m tests.cities.raster      writes it anew, after a change of `madeup_plan`
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray
from scipy.ndimage import binary_dilation, distance_transform_edt, zoom
from scipy.spatial import cKDTree

from explorer.cities import madeup_plan as plan
from explorer.cities.madeup import _CELL, _KEPT, _RASTER

Floats = NDArray[np.float64]


def made() -> dict[str, NDArray]:
    """The raster of the plan, cell by cell from the south-west, as it is kept."""
    ticks = (np.arange(_RASTER) + 0.5) * _CELL - plan.HALF
    x, y = (axis.ravel() for axis in np.meshgrid(ticks, ticks))
    # The plan has a generator of its own, so that a seed changes the people and not the town.
    town_rng = np.random.default_rng(7)
    far = np.hypot(x, 0.92 * y)
    patches = _patches(town_rng, 9) + 0.7 * _patches(town_rng, 24) + 0.45 * _patches(town_rng, 60)
    roads = np.ones((_RASTER, _RASTER), bool)
    for curve in plan.roads():
        col, row = np.clip(((curve.T + plan.HALF) / _CELL).astype(int), 0, _RASTER - 1)
        roads[row, col] = False
    from_road = distance_transform_edt(roads).ravel() * _CELL
    town = (
        2.2 * np.exp(-((far / 1.3) ** 2))
        + np.exp(-((far / 3.9) ** 2))
        + 0.10 * np.exp(-((far / 6.3) ** 4))
    )
    density = town * np.clip(0.75 + 0.55 * patches, 0.03, None)
    # Suburbs hang on the roads and come in patches, with fields between them.
    near_road = np.exp(-from_road / 0.33) * np.exp(-((far / 7.2) ** 3))
    density += 0.34 * near_road * np.clip(0.55 + 0.75 * patches, 0.0, None)
    estates = np.clip(patches - 0.55, 0, 0.5) * np.exp(-((far / 7.6) ** 6))
    density += 0.30 * estates
    density += 0.0012 * np.exp(-from_road / 1.2)
    for cx, cy, radius, share in plan.CENTRES:
        away = np.hypot(x - cx, y - cy)
        density += 2.6 * share * (np.exp(-((away / radius) ** 2)) + 0.5 * np.exp(-away / radius))
    for cx, cy, radius, share in plan.VILLAGES:
        away = np.hypot(x - cx, y - cy)
        density += 24.0 * share * np.exp(-((away / radius) ** 2))
    blocked = plan.in_water(x, y) | plan.in_park(x, y)
    density[blocked] = 0.0
    near = binary_dilation(blocked.reshape(_RASTER, _RASTER), iterations=2).ravel()
    seeds, streets = _districts(town_rng)
    return {
        # Whole numbers, so that their sums are exact.
        "people": np.rint(density * 1e6).astype(np.uint32),
        "district": cKDTree(seeds).query(np.column_stack([x, y]))[1].astype(np.uint8),
        "near_blocked": near,
        "streets": streets,
    }


def _patches(town_rng: np.random.Generator, cells: int) -> Floats:
    """Return smooth noise between about -1 and 1 over the raster, ``cells`` bumps wide."""
    noise = zoom(
        town_rng.random((cells, cells)) * 2 - 1,
        _RASTER / cells,
        order=3,
        grid_mode=True,
        mode="reflect",
    )
    return np.asarray(noise[:_RASTER, :_RASTER]).ravel()


def _districts(town_rng: np.random.Generator) -> tuple[Floats, Floats]:
    """Return the middles of districts (m, 2) and their streets (m, 3)."""
    radius = 11.5 * town_rng.random(110) ** 0.75
    turn = town_rng.random(110) * 2 * np.pi
    middles = np.column_stack([radius * np.cos(turn), radius * np.sin(turn)])
    # The old town follows the shore; the further out, the more each district goes its own way.
    direction = (
        np.deg2rad(32.0) + (town_rng.random(110) - 0.5) * np.clip(radius / 3.0, 0.1, 1.0) * 1.5
    )
    width = 0.075 + 0.006 * radius + 0.03 * town_rng.random(110)
    depth = width * (1.3 + 1.2 * town_rng.random(110))
    return middles, np.column_stack([direction, width, depth])


if __name__ == "__main__":
    np.savez_compressed(_KEPT, **made())
