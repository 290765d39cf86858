"""What is public about a space of d dimensions: its cells, its axes, its unit.

`Grid` is the case of two dimensions. A release knows its domain and nothing else of the data.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np
from numpy.typing import ArrayLike, NDArray

Floats = NDArray[np.float64]


class Domain(Protocol):
    """A declared space of cells.

    Boxes inside the code are (n, 2, d): lower and upper edges in cells, half open, axes in the
    order of ``shape``. People and files write boxes in a form of their own, in the domain's unit
    (a grid: x0, y0, x1, y1); only ``to_cells`` and ``from_cells`` know that form.
    """

    @property
    def kind(self) -> str:
        """What sort of domain this is, such as "grid": the tag in files."""

    @property
    def shape(self) -> tuple[int, ...]:
        """Cells along every axis, (d,)."""

    @property
    def axis_names(self) -> tuple[str, ...]:
        """What each axis is called on a screen, (d,)."""

    @property
    def unit(self) -> str:
        """What edges are measured in, such as "m" or "cells"."""

    def to_cells(self, boxes: Any) -> Floats:
        """Boxes as people write them, as (n, 2, d) in cells.

        Raises
        ------
        InputError
            For boxes of another form, not finite, or inside out.
        """

    def from_cells(self, cells: ArrayLike) -> Floats:
        """Boxes (n, 2, d) in cells as people write them."""

    def to_dict(self) -> dict[str, Any]:
        """Everything about the domain as plain values, for files and keys."""


@dataclass(frozen=True)
class Axes:
    """A domain of any number of axes, measured in cells; boxes are (n, 2, d) for everybody."""

    shape: tuple[int, ...]
    kind = "axes"
    unit = "cells"

    @property
    def axis_names(self) -> tuple[str, ...]:
        """Numbers, from 1."""
        return tuple(f"axis {number + 1}" for number in range(len(self.shape)))

    def to_cells(self, boxes: ArrayLike) -> Floats:
        """The boxes as they are."""
        return np.asarray(boxes, dtype=np.float64)

    def from_cells(self, cells: ArrayLike) -> Floats:
        """The boxes as they are."""
        return np.asarray(cells, dtype=np.float64)

    def to_dict(self) -> dict[str, Any]:
        """The shape."""
        return {"kind": self.kind, "shape": list(self.shape)}
