"""Labels next to an axis, moved so that none covers another."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray


def spread(places: Sequence[float], gap: float) -> NDArray[np.float64]:
    """Move ``places`` (n,) in 0..1 until neighbours are at least ``gap`` from each other, in order.

    Neighbours that touch share one block that is centred on the mean of their wishes; a block
    that would leave 0..1 is pushed inside. Too many for the space are spaced evenly.

    >>> spread([0.5, 0.5, 0.9], 0.1).round(2).tolist()
    [0.45, 0.55, 0.9]
    """
    clipped = np.clip(np.asarray(places, dtype=np.float64), 0.0, 1.0)
    if len(clipped) * gap >= 1.0:
        gap = 1.0 / max(len(clipped), 1)
    order = np.argsort(clipped, kind="stable")
    blocks: list[list[float]] = []  # wishes of neighbours that touch
    for wish in clipped[order]:
        blocks.append([float(wish)])
        while len(blocks) > 1 and _start(blocks[-1], gap) < _end(blocks[-2], gap) - 1e-12:
            last = blocks.pop()
            blocks[-1] += last
    result = np.empty(len(clipped))
    starts = [_start(block, gap) + gap * (i + 0.5) for block in blocks for i in range(len(block))]
    result[order] = starts
    return result


def _start(block: list[float], gap: float) -> float:
    length = gap * len(block)
    return min(max(sum(block) / len(block) - length / 2, 0.0), 1.0 - length)


def _end(block: list[float], gap: float) -> float:
    return _start(block, gap) + gap * len(block)
