"""One colour scale for both maps: numbers to bytes, and the ticks of the bar that explains them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

import numpy as np
from numpy.typing import NDArray

Kind = Literal["log", "linear"]

# Share of the occupied cells that the scale resolves; a linear scale must saturate earlier
# or one hot cell leaves the whole map black.
_RESOLVED = {"log": 0.999, "linear": 0.98}


@dataclass(frozen=True)
class ColourScale:
    """How a value per cell becomes a byte 0..255.

    log: ``255 log(1 + v) / log(1 + top)``; linear: ``255 v / top``; both clipped.
    The difference uses the same formula on its absolute value, 127 steps to either side of 128.

    Parameters
    ----------
    kind : "log" or "linear"
    top : value (points per cell) that gets the last colour; positive.
    source : "data" or "release": where ``top`` was read from. Read from the data it is an exact
        fact about them and belongs on a curator's screen only.
    """

    kind: Kind = "log"
    top: float = 1.0
    source: Literal["data", "release"] = "data"

    def encode(self, values: NDArray[np.float32]) -> NDArray[np.uint8]:
        """Bytes 0..255 of ``values`` (any shape, points per cell); below zero counts as zero."""
        # A server draws nothing before a page is opened: numba is loaded with the first picture.
        from explorer.views.raster import value_bytes

        return value_bytes(values, self.top, self.kind == "log")

    def encode_difference(self, values: NDArray[np.float32]) -> NDArray[np.uint8]:
        """Bytes of private minus true ``values``: 128 is none, lower is too few."""
        from explorer.views.raster import difference_bytes

        return difference_bytes(values, self.top, self.kind == "log")

    def place(self, value: float) -> float:
        """Where ``value`` is on the scale, 0 (nothing) to 1 (``top``)."""
        if self.kind == "log":
            return float(np.log1p(value) / np.log1p(self.top))
        return value / self.top

    def ticks(self) -> list[tuple[float, str]]:
        """Places (0..1) and labels for a bar, zero first."""
        if self.kind == "linear":
            step = _nice_below(self.top / 3)
            values = list(np.arange(0.0, self.top * 1.0001, step))
        else:
            decades = [10.0**k for k in range(10) if 10.0**k <= self.top]
            # A short scale needs the numbers between, a long one has no space for them.
            if len(decades) < 3:
                decades = [m * d for d in decades for m in (1, 2, 5) if m * d <= self.top]
            values = [0.0, *decades]
        return [(self.place(value), short_number(value)) for value in values]


def top_value(values: NDArray[np.floating] | NDArray[np.integer], kind: Kind) -> float:
    """Read a scale's top from values per cell (any shape): a high quantile of those above zero.

    The result is at least 1, so that a map without anything on it keeps a scale.
    """
    occupied = values[values > 0]
    if occupied.size == 0:
        return 1.0
    return max(1.0, float(np.quantile(occupied, _RESOLVED[kind])))


def top_value_of_leaves(
    density: NDArray[np.floating], cells: NDArray[np.integer], kind: Kind
) -> float:
    """As `top_value` from private numbers alone, rounded up to 1, 2 or 5 times a power of ten.

    ``density`` (m,) points per cell of each leaf, ``cells`` (m,) its size. A leaf counts as often
    as the points it holds, because most cells of a private map lie in wide, nearly empty leaves.
    """
    weight = np.maximum(density * cells, 0.0)
    if not weight.sum() > 0:
        return 1.0
    order = np.argsort(density)
    reached = np.cumsum(weight[order]) / weight.sum()
    at = min(int(np.searchsorted(reached, 0.98 if kind == "log" else 0.8)), len(order) - 1)
    return _nice_above(max(1.0, float(density[order[at]])))


def short_number(value: float) -> str:
    """A number for a tick: ``0``, ``5``, ``200``, ``1k``, ``2.5M``.

    >>> [short_number(v) for v in (0, 0.5, 20, 1500, 2e6)]
    ['0', '0.5', '20', '1.5k', '2M']
    """
    for size, letter in ((1e9, "G"), (1e6, "M"), (1e3, "k")):
        if abs(value) >= size:
            return f"{value / size:.3g}{letter}"
    return f"{value:.3g}"


def _nice_below(value: float) -> float:
    unit = 10.0 ** np.floor(np.log10(value))
    return float(unit * max(m for m in (1, 2, 5) if m * unit <= value * 1.0000001))


def _nice_above(value: float) -> float:
    unit = 10.0 ** np.floor(np.log10(value))
    return float(unit * min(m for m in (1, 2, 5, 10) if m * unit >= value * 0.9999999))
