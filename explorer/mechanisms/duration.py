"""How long a release will take that draws a million numbers, said before it is booked."""

from __future__ import annotations

import math
from functools import lru_cache
from typing import Any

import numpy as np
from numpy.typing import NDArray

from explorer.points.matrix import FrequencyMatrix
from explorer.privacy.noise import Ints, Keys

#: Leaves above which a release says how long it will take.
MANY = 1_000_000
#: What OpenDP draws in a second on a usual machine.
DRAWS_A_SECOND = 100_000


def duration(mechanism: Any, counts: Any, leaves: int | None = None) -> str:
    """One sentence about how long a release will take, "" where it is short or no one can know.

    Parameters
    ----------
    mechanism : Mechanism
    counts : that are to be released, of any kind; only the shape of their domain is looked at
    leaves : how many a preview has, where someone who may see it asks: it is no public number.
        Without it only partitions speak that no data has a say in
    """
    draws = leaves
    # Areas have no cells of their own, and their mechanisms no shape.
    domain = getattr(counts, "domain", None)
    if domain is not None and getattr(mechanism, "shape_is_public", False):
        leaves, draws = _public_size(mechanism, domain.shape)
    if leaves is None or draws is None or leaves <= MANY:
        return ""
    seconds = draws / DRAWS_A_SECOND
    return f"{mechanism.title} draws {draws:,} numbers here, which takes about {seconds:.0f} s."


def title_of_bar(mechanism: Any, counts: Any, progress: Any, preview: bool) -> str:
    """What is next to the bar of a draw: how long it takes, where it draws a million numbers."""
    text = duration(mechanism, counts) if progress is True and not preview else ""
    return text or str(mechanism.title)


class _Counting:
    """A source of no noise at all that counts what is asked of it."""

    preview = True

    def __init__(self) -> None:
        self.draws = 0

    def laplace(self, values: Ints, _sensitivity: int, units: Ints, _keys: Keys, _at: str) -> Ints:
        self.draws += len(units)
        return values.copy()

    def lowest(
        self, _costs: Ints, _offsets: Ints, _most: int, units: Ints, _keys: Keys, _at: str
    ) -> Ints:
        self.draws += len(units)
        return np.zeros(len(units), dtype=np.int64)

    def above(
        self, values: Ints, _threshold: int, _most: int, units: Ints, _keys: Keys, _at: str
    ) -> NDArray[np.bool_]:
        self.draws += len(units)
        return np.zeros(len(values), dtype=np.bool_)


def _public_size(mechanism: Any, shape: tuple[int, ...]) -> tuple[int, int]:
    """Leaves and draws of a partition that no data has a say in."""
    cells = math.prod(shape)
    # Fewer cells have fewer leaves; maps alone are quickly made.
    return (cells, cells) if cells <= MANY or len(shape) != 2 else _of_nobody(mechanism, shape)


@lru_cache(maxsize=16)
def _of_nobody(mechanism: Any, shape: tuple[int, ...]) -> tuple[int, int]:
    source = _Counting()
    release = mechanism.release(FrequencyMatrix.from_array(np.zeros(shape, dtype=np.int64)), source)
    return release.n_leaves, source.draws
