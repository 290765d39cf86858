"""A domain of any number of axes that is nowhere on Earth."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

Floats = NDArray[np.float64]


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
