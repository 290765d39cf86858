"""Workloads: the fixed sets of questions on which mechanisms are compared.

    random            rectangles with uniform centre, height and width (htf-2022, section 7.1)
    sq2, sq6, sq10    squares of 2, 6 and 10 % of the area, uniform inside the map (ditto)
    q1 ... q6         boxes of the map's own form, sides doubling up to half of it (grids-2013, V-A)
    cells             every cell once: what the map itself is off by
    total             the whole map

"htf" stands for the first four, "ag" for q1 to q6. A name and a seed give the same boxes every
time, whatever else is asked for.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterable
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from explorer.errors import InputError
from explorer.grid.grid import Grid

RANDOM_QUERIES = 2000  # htf-2022, for rectangles and squares alike
AG_QUERIES = 200  # grids-2013, for each size
SEED = 20130408

SQUARES = {"sq2": 0.02, "sq6": 0.06, "sq10": 0.10}
AG_SIZES = tuple(f"q{i}" for i in range(1, 7))
GROUPS = {"htf": ("random", *SQUARES), "ag": AG_SIZES}
NAMES = ("random", *SQUARES, *AG_SIZES, "cells", "total")


@dataclass(frozen=True, eq=False)
class Workload:
    """A named set of n boxes.

    Attributes
    ----------
    name : str
    boxes : (n, 2, d) lower and upper
        In cells, half open; whole numbers in the papers' workloads, fractions allowed.
    truth : (n,) true answers, optional
        For when they do not come from the matrix that is released, such as a coarser one.
    """

    name: str
    boxes: NDArray[Any]
    truth: NDArray[np.float64] | None = field(default=None, repr=False)

    def __post_init__(self) -> None:
        if self.boxes.ndim != 3 or self.boxes.shape[1] != 2 or len(self.boxes) == 0:
            raise InputError(
                f"The workload {self.name!r} has boxes of shape {self.boxes.shape}: give at least "
                "one box of cells, (n, 2, 2): lower and upper edge, row before column."
            )

    @classmethod
    def of(cls, name: str, rectangles: ArrayLike, grid: Grid) -> Workload:
        """A workload of one's own rectangles (n, 4) x0, y0, x1, y1 in the grid's unit."""
        return cls(name, grid.to_cells(rectangles))

    def __len__(self) -> int:
        return len(self.boxes)

    @cached_property
    def key(self) -> str:
        """SHA-256 of name and boxes: tells whether a run has answered these questions."""
        digest = hashlib.sha256(self.name.encode())
        # Columns first, as ever: a store keeps what has been done under this key.
        columns_first = self.boxes[:, :, ::-1]
        digest.update(np.ascontiguousarray(columns_first, dtype="<f8").tobytes())
        if self.truth is not None:
            digest.update(np.ascontiguousarray(self.truth, dtype="<f8").tobytes())
        return digest.hexdigest()


def workload(name: str, shape: tuple[int, int], n: int | None = None, seed: int = SEED) -> Workload:
    """One workload by name.

    Parameters
    ----------
    name : one of `NAMES`
    shape : (rows, columns) of the grid
    n : number of boxes, by default the paper's; "cells" and "total" have their own
    seed : of the boxes

    Raises
    ------
    InputError
        For another name.
    """
    if name not in NAMES:
        known = ", ".join((*GROUPS, *NAMES))
        raise InputError(f"There is no workload {name!r}: choose some of {known}.")
    rng = np.random.default_rng([seed, NAMES.index(name)])
    rows, cols = shape
    if name == "random":
        return Workload(name, random_rectangles(shape, n or RANDOM_QUERIES, rng))
    if name in SQUARES:
        side = max(1, round(np.sqrt(SQUARES[name] * rows * cols)))
        # On a long, narrow map the square would stick out: it is cut to the map's width.
        extent = min(side, rows), min(side, cols)
        return Workload(name, _placed(shape, extent, n or RANDOM_QUERIES, rng))
    if name in AG_SIZES:
        part = 2.0 ** (AG_SIZES.index(name) - len(AG_SIZES))
        extent = max(1, round(rows * part)), max(1, round(cols * part))
        return Workload(name, _placed(shape, extent, n or AG_QUERIES, rng))
    if name == "cells":
        row, col = (axis.ravel() for axis in np.indices(shape))
        cells = np.stack([row, col], axis=1)
        return Workload(name, np.stack([cells, cells + 1], axis=1))
    return Workload(name, np.array([[[0, 0], [rows, cols]]], dtype=np.int64))


def workloads(
    wanted: str | Iterable[str], shape: tuple[int, int], n: int | None = None, seed: int = SEED
) -> list[Workload]:
    """Workloads by their names and those of groups, each once, in the order asked for."""
    asked = [wanted] if isinstance(wanted, str) else wanted
    expanded = [name for each in asked for name in GROUPS.get(each, (each,))]
    return [workload(name, shape, n, seed) for name in dict.fromkeys(expanded)]


def _placed(
    shape: tuple[int, int], extent: tuple[int, int], n: int, rng: np.random.Generator
) -> NDArray[np.int64]:
    """Boxes (n, 2, 2) of `extent` (rows, columns), each place inside the map equally likely."""
    row = rng.integers(0, shape[0] - extent[0] + 1, n)
    col = rng.integers(0, shape[1] - extent[1] + 1, n)
    lower = np.stack([row, col], axis=1)
    return np.stack([lower, lower + extent], axis=1)


def random_rectangles(
    shape: tuple[int, int], n: int, rng: np.random.Generator
) -> NDArray[np.int64]:
    """The HTF workload: centre cell uniform, height and width uniform, clipped to the grid.

    Returns
    -------
    (n, 2, 2) int64 lower and upper, half open, in cells, row first
    """
    boxes = np.empty((n, 2, len(shape)), dtype=np.int64)
    for axis, cells in enumerate(shape):
        centre = rng.integers(0, cells, n)
        extent = rng.integers(1, cells + 1, n)
        start = centre - extent // 2
        boxes[:, 0, axis] = np.clip(start, 0, cells)
        boxes[:, 1, axis] = np.clip(start + extent, 0, cells)
    return boxes
