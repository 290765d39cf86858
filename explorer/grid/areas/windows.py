"""Windows of areas on a national lattice: where a map inside an area is, and what is land there.

Everything follows from public boundaries.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from explorer.errors import InputError
from explorer.grid.areas.people import People
from explorer.grid.grid import Grid
from explorer.grid.plane import on_plane

if TYPE_CHECKING:
    from explorer.grid.areas.areas import Areas
    from explorer.grid.areas.lattice import Lattice

Ints = NDArray[np.int64]
Floats = NDArray[np.float64]

MOST_CELLS = 2**20
"""Cells of a window of several areas: above it, cells are taken twice as long."""


@dataclass(frozen=True, eq=False)
class Window:
    """A rectangle of cells over some areas.

    Attributes
    ----------
    row, col : of its first cell, in cells of `scale` times those of the lattice
    scale : a power of two
    members : (k,) the areas, in the order of the file
    parts : (k, rows, cols) share of each cell that is of each area, 0 to 1
    """

    row: int
    col: int
    scale: int
    members: Ints
    parts: NDArray[np.float32]

    @property
    def shape(self) -> tuple[int, int]:
        """Rows and columns."""
        return self.parts.shape[1], self.parts.shape[2]

    @cached_property
    def land(self) -> Floats:
        """Share of each cell that is of any of the areas, (rows, cols), 0 to 1."""
        return np.minimum(self.parts.sum(axis=0, dtype=np.float64), 1.0)


@dataclass(frozen=True, eq=False)
class Windows:
    """Areas, their people and their windows on one lattice.

    Attributes
    ----------
    areas : Areas
    lattice : the national lattice
    """

    areas: Areas
    lattice: Lattice

    @property
    def grid(self) -> Grid:
        """The national lattice as a grid."""
        return self.lattice.grid

    @cached_property
    def people(self) -> People:
        """The tree as it is counted."""
        return People.of_areas(self.areas.parent, self.areas.level)

    @cached_property
    def row(self) -> Ints:
        """The areas of the file in the order of the row, (m,)."""
        file = np.full(len(self.people), -1)
        file[self.people.of[self.areas.lowest]] = np.arange(len(self.areas))
        return file[self.people.row]

    def members(self, node: int) -> Ints:
        """The lowest areas in a node of `people`, by their number in the file, (k,)."""
        first, behind = self.people.ranges
        return np.sort(self.row[first[node] : behind[node]])

    def find(self, path: Sequence[str] | str) -> int:
        """The node of an area by its path, also as `areas` writes it, or a name that only one has.

        Raises
        ------
        InputError
            For a path that is none of the areas, or a name of several.
        """
        paths = self.areas.paths
        if isinstance(path, str):
            nodes = [i for i, names in enumerate(paths) if names and names[-1] == path]
            # An only child that is called like its parent is the same area.
            people = {int(self.people.of[i]) for i in nodes}
            if len(people) > 1:
                raise InputError(f"There are {len(nodes)} areas called {path!r}: give a path.")
            # Names may hold a stroke: a name goes before a written path.
            nodes = nodes or [
                i for i, names in enumerate(paths) if names and "/".join(names) == path
            ]
        else:
            nodes = [i for i, names in enumerate(paths) if names == tuple(path)]
        if not nodes:
            raise InputError(f"There is no area {shown_path(path)}: see the paths of areas().")
        return nodes[-1]

    def of(self, members: Sequence[int] | Ints) -> Window:
        """The window of some areas: of one as the lattice has it, else the one over all of them."""
        chosen = np.asarray(members, dtype=np.int64)
        windows = [self._own(int(area)) for area in chosen]
        if len(windows) == 1:
            return windows[0]
        scale = max(window.scale for window in windows)
        while True:
            coarse = [_coarser(window, scale) for window in windows]
            row, col = min(window.row for window in coarse), min(window.col for window in coarse)
            rows = max(window.row + window.shape[0] for window in coarse) - row
            cols = max(window.col + window.shape[1] for window in coarse) - col
            if rows * cols * len(windows) <= 64 * MOST_CELLS and rows * cols <= MOST_CELLS:
                break
            scale *= 2
        parts = np.zeros((len(windows), rows, cols), dtype=np.float32)
        for window, part in zip(coarse, parts, strict=True):
            r, c = window.row - row, window.col - col
            part[r : r + window.shape[0], c : c + window.shape[1]] = window.parts[0]
        return Window(row, col, scale, chosen, parts)

    def grid_of(self, window: Window) -> Grid:
        """The window as a grid with a place on the Earth."""
        x0, y0, *_ = self.grid.bounds
        width = self.grid.cell_width * window.scale
        height = self.grid.cell_height * window.scale
        west, south = x0 + window.col * width, y0 + window.row * height
        rows, cols = window.shape
        bounds = (west, south, west + cols * width, south + rows * height)
        return Grid(bounds, window.shape, self.grid.crs)

    @cached_property
    def shapes(self) -> NDArray[np.object_]:
        """The areas in the CRS of the lattice, valid, (m,)."""
        where = self.grid.crs
        assert where is not None  # a lattice always has one
        return on_plane(self.areas.geometry, self.areas.crs, where)

    def _own(self, area: int) -> Window:
        lattice = self.lattice
        row, col, rows, cols = (int(number) for number in lattice.windows[area])
        shares = np.asarray(lattice.shares(area), dtype=np.float32)
        scale = int(lattice.scale[area])
        return Window(row, col, scale, np.array([area]), shares.reshape(1, rows, cols))


def shown_path(path: Sequence[str] | str) -> str:
    """A path as a sentence repeats it."""
    return repr(path if isinstance(path, str) else "/".join(map(str, path)))[:80]


def _coarser(window: Window, scale: int) -> Window:
    """The window of one area in larger cells, which hold whole ones of the smaller."""
    times = scale // window.scale
    if times == 1:
        return window
    row, col = window.row // times, window.col // times
    above, left = window.row - row * times, window.col - col * times
    rows, cols = -(-(above + window.shape[0]) // times), -(-(left + window.shape[1]) // times)
    padded = np.zeros((rows * times, cols * times))
    padded[above : above + window.shape[0], left : left + window.shape[1]] = window.parts[0]
    blocks = padded.reshape(rows, times, cols, times).mean(axis=(1, 3))
    return Window(row, col, scale, window.members, blocks[np.newaxis].astype(np.float32))
