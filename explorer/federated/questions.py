"""What is asked in a round, and what comes back: all of it public."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from explorer.federated.places import Ints, Whole

_DEEPEST_TABLE = 11


@dataclass(frozen=True)
class Question:
    """Which counter every finest cell belongs to: runs of Morton codes.

    Parameters
    ----------
    starts : (r,) first code of each run, rising from 0
    owners : (r,) the counter of each run, 0 to counters - 1; -1 for none
    counters : v, nodes that are counted
    depth : of the finest cells, as of the people
    """

    starts: Ints
    owners: Ints
    counters: int
    depth: int

    def __post_init__(self) -> None:
        starts, owners = self.starts, self.owners
        if len(starts) == 0 or len(starts) != len(owners) or starts[0] != 0:
            raise ValueError("runs begin at code 0 and each has one owner")
        if np.any(np.diff(starts) <= 0) or starts[-1] >= 4**self.depth:
            raise ValueError("runs rise and begin inside the square")
        if self.counters < 1 or owners.min() < -1 or owners.max() >= self.counters:
            raise ValueError("owners are counters of the question, or -1")

    @cached_property
    def _table(self) -> NDArray[np.int32]:
        ends = np.append(self.starts[1:], 4**self.depth)
        return np.repeat(self.owners.astype(np.int32), ends - self.starts)

    def owner(self, cells: Whole) -> Whole:
        """The counter of each cell, (n,); -1 for a place outside (-1) and for cells of none."""
        if self.depth <= _DEEPEST_TABLE:
            counter: Whole = self._table[cells]
        else:
            run = np.searchsorted(self.starts, cells, side="right") - 1
            counter = self.owners[np.maximum(run, 0)]
        return np.where(cells < 0, -1, counter) if np.any(cells < 0) else counter


@dataclass(frozen=True)
class Sums:
    """What a round gives.

    Attributes
    ----------
    values : (v,) sums over the shards that were not refused, in units of 1 / S persons; with yes
        and no (`People.counters` 2) the first half counts yes, the second no
    asked, answered : people; those whose vectors are in the values
    shards, refused : how many, and how many of them gave nothing
    units : the round's price, in units of 10^-12 epsilon
    bits : of a counter
    bytes_up, bytes_down : of one person
    sd : noise of each value, sigma(epsilon) sqrt(shape), in the unit of the values
    shape : sum of m / n_min over the shards in the values
    sensitivity : S
    overflow : sums of shards that did not fit their bits and wrapped round; None where no one
        counted them, in one draw for all shards. A server that sees sums modulo 2^b alone does not
        know it, the simulation does; it follows from noisy sums, so that it may be released
    """

    values: Ints
    asked: int
    answered: int
    shards: int
    refused: int
    units: int
    bits: int
    bytes_up: float
    bytes_down: float
    sd: float
    shape: float
    sensitivity: int = 1
    overflow: int | None = None
