"""The lattice is as exact as it says, and there is none where it would not be."""

from __future__ import annotations

import numpy as np

from explorer.grid.grid import Grid
from explorer.grid.projection import LONLAT, transformer
from explorer.points.cropping import crop, crop_box, lattice_over
from tests.helpers import around


def test_the_lattice_is_as_exact_as_it_says() -> None:
    grid = Grid.around(-122.42, 37.77, 20e3, shape=2)
    assert grid.crs is not None
    points = around(grid, 20_000)
    box = crop_box(grid.bounds, grid.crs, LONLAT)
    lattice = lattice_over(box, transformer(LONLAT, grid.crs))
    assert lattice.size, "a city is small enough for the lattice"
    x, y, index = np.empty(len(points)), np.empty(len(points)), np.empty(len(points), np.int64)
    n = crop(points.x, points.y, *box, lattice, x, y, index)
    true_x, true_y = grid.from_lonlat(points.x[index[:n]], points.y[index[:n]])
    assert n > 10_000
    assert np.abs(true_x - x[:n]).max() < 1e-7
    assert np.abs(true_y - y[:n]).max() < 1e-7


def test_large_extents_and_poles_have_no_lattice() -> None:
    for lat, size in ((0.0, 3000e3), (89.9, 50e3), (90.0, 50e3)):
        grid = Grid.around(0.0, lat, size, shape=2)
        assert grid.crs is not None
        box = crop_box(grid.bounds, grid.crs, LONLAT)
        assert not lattice_over(box, transformer(LONLAT, grid.crs)).size
