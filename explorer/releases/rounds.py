"""What rounds of a distributed release gave: trees that were asked about, and released sums."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, fields
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from explorer.releases.quarters import KeyTree
from explorer.releases.units import to_epsilon

if TYPE_CHECKING:
    import pandas as pd

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]

_NONE = np.zeros(0, dtype=np.int64)


@dataclass(frozen=True, eq=False, kw_only=True)
class Row:
    """The figures of one round, all of them public.

    Attributes
    ----------
    cells : v, numbers that a person sends
    people, answered : who was asked, and whose vectors are in the sums
    units : what each person asked paid, in 10^-12 epsilon
    noise : standard deviation of the noise in each sum
    shards, refused : how many there were, and how many had too few survivors
    bits : of a number that a person sends
    bytes_up, bytes_down : what a person sends and receives
    overflow : sums of shards that did not fit their bits, which no server would know; None where
        no one counted them. It follows from noisy sums and costs nothing
    """

    cells: int
    people: int
    answered: int
    units: int
    noise: float
    shards: int = 1
    refused: int = 0
    bits: int = 0
    bytes_up: float = 0.0
    bytes_down: float = 0.0
    overflow: int | None = None

    @property
    def epsilon(self) -> float:
        """What each person asked paid."""
        return to_epsilon(self.units)

    @property
    def decisions(self) -> tuple[int, int]:
        """How many cells were divided and given up after it."""
        return 0, 0


@dataclass(frozen=True, eq=False, kw_only=True)
class Heard(Row):
    """A round over the open nodes of a tree, with its sums.

    Attributes
    ----------
    tree : KeyTree
    sums : (v,) persons, over all shards that were not refused; whole unless vectors add up to S
    split, collapsed : keys that were divided and given up after this round
    """

    tree: KeyTree
    sums: Floats
    split: Ints = field(default_factory=lambda: _NONE)
    collapsed: Ints = field(default_factory=lambda: _NONE)

    @property
    def decisions(self) -> tuple[int, int]:
        """How many cells were divided and given up after it."""
        return len(self.split), len(self.collapsed)

    def scaled(self, population: float, estimate: Floats | None = None) -> tuple[Floats, Floats]:
        """Counts of everybody, y N / m, and their variances, (v,) each; N is the population.

        (sd^2 + max(x, sd, 1)) (N / m)^2: the noise, and what asking m of N people adds, a Poisson
        count of x on average. x = m / N of the `estimate`; without one x = y, with which a sum that
        came out small would be trusted more for it.
        """
        factor = population / max(self.answered, 1)
        mean = self.sums if estimate is None else estimate / factor
        variance = self.noise**2 + np.maximum(mean, max(self.noise, 1.0))
        return self.sums * factor, variance * factor**2


_FIGURES = [field.name for field in fields(Row) if field.name != "overflow"]
_UNCOUNTED = -1
_COLUMNS = (
    "cells", "people", "epsilon", "bits", "bytes", "split", "collapsed", "noise",
    "answered", "shards", "refused", "bytes down", "overflow",
)  # fmt: skip


def frame(rows: Sequence[Row]) -> pd.DataFrame:
    """One line a round, numbered from 1.

    Columns: cells, people, epsilon, bits, bytes (a person sends), split, collapsed, noise
    (standard deviation in each sum), answered, shards, refused, bytes down (a person receives),
    overflow (sums that did not fit their bits; none given where no one counted).
    """
    import pandas as pd

    lines = [
        (r.cells, r.people, r.epsilon, r.bits, r.bytes_up, *r.decisions, r.noise,
         r.answered, r.shards, r.refused, r.bytes_down, r.overflow)
        for r in rows
    ]  # fmt: skip
    index = pd.RangeIndex(1, len(lines) + 1, name="round")
    table = pd.DataFrame(lines, columns=list(_COLUMNS), index=index)
    return table.astype({"overflow": "Int64"})


def to_arrays(rows: Sequence[Row]) -> dict[str, NDArray[np.generic]]:
    """Rounds as arrays for a file: what `from_arrays` reads."""
    arrays: dict[str, NDArray[np.generic]] = {
        name: np.array([getattr(row, name) for row in rows]) for name in _FIGURES
    }
    counted = [_UNCOUNTED if row.overflow is None else row.overflow for row in rows]
    arrays["overflow"] = np.array(counted, dtype=np.int64)
    for number, row in enumerate(rows):
        if isinstance(row, Heard):
            arrays[f"keys {number}"] = row.tree.keys
            arrays[f"sums {number}"] = row.sums
            arrays[f"split {number}"] = row.split
            arrays[f"collapsed {number}"] = row.collapsed
    return arrays


def from_arrays(arrays: dict[str, NDArray[np.generic]], depth: int) -> tuple[Row, ...]:
    """The rounds that `to_arrays` wrote, with trees of this depth; raises where they cannot be."""
    rows: list[Row] = []
    for number in range(len(arrays["cells"])):
        figures = {name: arrays[name][number].item() for name in _FIGURES}
        if not np.isfinite(list(figures.values())).all() or min(figures.values()) < 0:
            raise ValueError("a figure of a round is impossible")
        figures["overflow"] = _counted(arrays, number)
        if f"keys {number}" not in arrays:
            rows.append(Row(**figures))
            continue
        keys, split, collapsed = (
            _whole(arrays[f"{name} {number}"]) for name in ("keys", "split", "collapsed")
        )
        tree = KeyTree.of(depth, keys)
        sums = np.asarray(arrays[f"sums {number}"], dtype=np.float64)
        if sums.shape != (tree.v,) or figures["cells"] != tree.v or not np.isfinite(sums).all():
            raise ValueError("the sums of a round are not of its tree")
        about = Heard(**figures, tree=tree, sums=sums, split=split, collapsed=collapsed)
        rows.append(about)
    return tuple(rows)


def _counted(arrays: dict[str, NDArray[np.generic]], number: int) -> int | None:
    # Files of 1.0 say nothing of it.
    overflow = _whole(arrays["overflow"])[number] if "overflow" in arrays else _UNCOUNTED
    if overflow < _UNCOUNTED:
        raise ValueError("nothing overflows less than never")
    return None if overflow == _UNCOUNTED else int(overflow)


def _whole(array: NDArray[np.generic]) -> Ints:
    if array.dtype != np.int64 or array.ndim != 1:
        raise ValueError("keys are whole numbers")
    return array.astype(np.int64)
