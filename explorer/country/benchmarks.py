"""Benchmarks 1 and 2 of section 7.6 of htf-2022: a country divided by a rule, not by its areas."""

from __future__ import annotations

import itertools

import numpy as np
import shapely
from numpy.typing import NDArray

from explorer.country.mechanism import Country
from explorer.errors import InputError
from explorer.grid.areas.areas import Areas
from explorer.grid.areas.lattice import Lattice
from explorer.grid.areas.windows import Windows
from explorer.grid.grid import Grid
from explorer.points.area_counts import AreaCounts
from explorer.releases.country import CountryRelease

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]
Box = tuple[int, int, int, int]

#: Fan-out and height of the benchmarks by their number; as erratum 15 says, levels 9 and 5.
SHAPES = {1: (2, 9), 2: (4, 5)}


def benchmark(counts: AreaCounts, number: int) -> AreaCounts:
    """The same records in the rectangles of a benchmark, halved or quartered so many times.

    Rectangles without land are left out, which is public; maps inside the others are
    clipped to the land of all areas, as maps inside areas are.

    Parameters
    ----------
    counts : AreaCounts
    number : 1 (two parts a node, height 9) or 2 (four parts, height 5)

    Raises
    ------
    InputError
        For another number, or a lattice of fewer cells a side than parts.
    """
    if number not in SHAPES:
        raise InputError(f"There are benchmarks 1 and 2, and none is called {number!r}.")
    fan_out, height = SHAPES[number]
    grid, land = counts.windows.grid, national_land(counts.windows)
    boxes: list[tuple[tuple[str, ...], Box]] = [((), (0, 0, *grid.shape))]
    for level in range(height):
        boxes = [
            ((*path, str(part)), box)
            for path, whole in boxes
            for part, box in enumerate(_parts(whole, fan_out, level))
            if land[box[0] : box[2], box[1] : box[3]].any()
        ]
    named = [(tuple(f"{i}{n}" for i, n in enumerate(path)), box) for path, box in boxes]
    windows = _windows(named, grid, land, height)
    owner = np.full(grid.shape, -1, dtype=np.int64)
    for area, (_, (r0, c0, r1, c1)) in enumerate(named):
        owner[r0:r1, c0:c1] = area
    cell, records = counts.by_cell
    here = owner.ravel()[cell]
    # Cells of records are land wherever shares say so; a record on none is lost with its leaf.
    covered = here >= 0
    return AreaCounts(
        windows,
        here[covered],
        cell[covered],
        records[covered],
        counts.contribution_bound,
        counts.unit,
    )


def benchmark_plan(epsilon: float, records: float, lowest: int, inside: str = "htf") -> Country:
    """How the paper releases a benchmark: Eq. 38 and a threshold of N / lowest areas.

    Shares of the lowest level come out as .2290 (fan-out 2, height 9) and .3947 (4, 5) of epsilon.

    Parameters
    ----------
    records : N, taken as public by the paper
    lowest : number of areas that it is compared with, such as 380 districts
    """
    return Country(
        epsilon=epsilon,
        inside=inside,
        budgets="Eq. 38",
        own_share=0.0,
        threshold=records / lowest,
        consistency="drawn",
    )


def by_cells(release: CountryRelease, windows: Windows) -> Floats:
    """Private counts of other areas, (m,), each by the share that it has of a cell's land."""
    density, land = release.density(), national_land(windows)
    result = np.zeros(len(windows.areas))
    for area in range(len(result)):
        window = windows.of([area])
        k, (rows, cols) = window.scale, window.shape
        part = np.repeat(np.repeat(window.parts[0], k, axis=0), k, axis=1)
        where = (
            slice(window.row * k, (window.row + rows) * k),
            slice(window.col * k, (window.col + cols) * k),
        )
        here, cell_land = density[where], land[where]
        part = part[: here.shape[0], : here.shape[1]]
        share = np.divide(part, cell_land, np.zeros_like(cell_land), where=cell_land > 0)
        result[area] = (here * np.minimum(share, 1.0)).sum()
    return result


def national_land(windows: Windows) -> Floats:
    """Share of every cell of the lattice that is in any area, (rows, cols)."""
    land = np.zeros(windows.grid.shape)
    for area in range(len(windows.areas)):
        window = windows.of([area])
        k, (rows, cols) = window.scale, window.shape
        part = np.repeat(np.repeat(window.parts[0], k, axis=0), k, axis=1)
        here = land[
            window.row * k : (window.row + rows) * k, window.col * k : (window.col + cols) * k
        ]
        here += part[: here.shape[0], : here.shape[1]]
    return np.minimum(land, 1.0)


def _parts(box: Box, fan_out: int, level: int) -> list[Box]:
    """Two halves, rows and columns in turn, or four quarters."""
    r0, c0, r1, c1 = box
    rows = [r0, (r0 + r1) // 2, r1] if fan_out == 4 or level % 2 == 0 else [r0, r1]
    cols = [c0, (c0 + c1) // 2, c1] if fan_out == 4 or level % 2 == 1 else [c0, c1]
    parts = [
        (a, c, b, d)
        for (a, b), (c, d) in itertools.product(itertools.pairwise(rows), itertools.pairwise(cols))
    ]
    if any(b <= a or d <= c for a, c, b, d in parts):
        raise InputError("The lattice has fewer cells a side than the benchmark has parts.")
    return parts


def _windows(
    named: list[tuple[tuple[str, ...], Box]], grid: Grid, land: Floats, height: int
) -> Windows:
    """Rectangles as areas; their maps see the land alone."""
    paths: list[tuple[str, ...]] = [()]
    parent, level = [-1], [0]
    place: dict[tuple[str, ...], int] = {(): 0}
    for depth in range(1, height + 1):
        for path, _ in named:
            here = path[:depth]
            if here not in place:
                place[here] = len(paths)
                paths.append(here)
                parent.append(place[here[:-1]])
                level.append(depth)
    ends = np.array([box for _, box in named])
    corners = grid.from_cells(ends.reshape(-1, 2, 2).astype(np.float64))
    assert grid.crs is not None  # a lattice always has one
    areas = Areas(
        tuple(f"level {depth}" for depth in range(1, height + 1)),
        np.array(parent),
        np.array(level),
        tuple(paths),
        np.array([place[path] for path, _ in named]),
        shapely.box(*corners.T),
        grid.crs,
    )
    sizes = np.column_stack([ends[:, :2], ends[:, 2:] - ends[:, :2]])
    starts = np.concatenate([[0], np.cumsum(sizes[:, 2] * sizes[:, 3])])
    flat = np.concatenate([land[r0:r1, c0:c1].ravel() for r0, c0, r1, c1 in ends])
    scale = np.ones(len(named), dtype=np.int64)
    return Windows(areas, Lattice(grid, sizes, scale, starts, flat))
