"""From trees to questions and from sums to rounds: what plans ask through."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from explorer.errors import InputError
from explorer.federated import calibration, shares
from explorer.federated.asking import Asking, Question, Sums
from explorer.releases.distributed import NOBODY
from explorer.releases.inference import Estimate
from explorer.releases.quarters import KeyTree
from explorer.releases.rounds import Heard, Row
from explorer.releases.units import to_units

Ints = NDArray[np.int64]
Drawn = tuple[Estimate, list[Row]]
"""What an algorithm without a plan of rounds gives: a map, and what was asked for it."""


class Session:
    """One run of a plan: the server's side of an `Asking`.

    Parameters
    ----------
    asking, people : the run, and how many may be asked, in all or in each round
    depth : of the trees, at most that of the people's finest cells
    shape : rows and columns of the grid
    progress : called with the finished part, 0 to 1
    sample : from a question to the sums of a sample of people without noise: for comparisons in a
        preview, see `baselines.sampling`
    """

    def __init__(
        self,
        asking: Asking,
        people: int,
        depth: int,
        shape: tuple[int, int],
        progress: Callable[[float], None] | None = None,
        sample: Callable[[Question], Ints] | None = None,
    ) -> None:
        self.asking, self.people, self.depth, self.shape = asking, people, depth, shape
        self._progress, self._sample = progress, sample

    @property
    def units(self) -> int:
        """What each person may spend in all, in 10^-12 epsilon."""
        return self.asking.units

    @property
    def least_units(self) -> int:
        """Below it exact shares are refused, see `least_units`."""
        return least_units(self.asking.sensitivity)

    @property
    def shard(self) -> int:
        """Largest number of people in a shard."""
        return self.asking.protocol.shard

    @property
    def spread(self) -> float:
        """nu: honest survivors that shares are made for, as a part of a shard."""
        protocol = self.asking.protocol
        size = min(protocol.shard, self.people)
        return calibration.honest(size, protocol.dropped, protocol.corrupt) / size

    def ask(self, tree: KeyTree, people: int, units: int, fresh: bool) -> Heard:
        """Sums over the open nodes of a tree; `fresh`: of people who were never asked before."""
        sums = self.sums(self.question(tree), people, units, fresh)
        scale = float(sums.sensitivity)
        return Heard(
            **figures(sums, tree.v),
            tree=tree,
            sums=sums.values.astype(np.float64) / scale,
        )

    def question(self, tree: KeyTree) -> Question:
        """Which open node of a tree every finest cell is in."""
        starts = tree.runs[0] << 2 * (self.asking.depth - tree.depth)
        return Question(starts, tree.run_index, tree.v, self.asking.depth)

    def look(self, tree: KeyTree) -> Heard:
        """What a sample of people counts without any noise: never for a release."""
        if self._sample is None:
            raise InputError("A sample without noise is not private: draw a preview, with a seed.")
        sums = self._sample(self.question(tree)).astype(np.float64)
        total = int(sums.sum())
        return Heard(
            cells=tree.v, people=self.people, answered=total, units=self.units, noise=0.0,
            tree=tree, sums=sums,
        )  # fmt: skip

    def sums(self, question: Question, people: int, units: int, fresh: bool) -> Sums:
        """What a question of any kind gives."""
        sums = self.asking.ask(question, people, units, fresh)
        if self._progress is not None:
            left = self.asking.left / self.asking.number
            self._progress(1.0 - left if fresh else self.asking.spent / self.units)
        return sums


def least_units(sensitivity: int) -> int:
    """The least price of a round whose shares can be drawn, see `shares.checked`."""
    return to_units(shares.SMALLEST) * sensitivity + 1


def figures(sums: Sums, cells: int) -> dict[str, Any]:
    """The public figures of a round, for a `Row` or `Heard`; noise in persons."""
    return {
        "cells": cells,
        "people": sums.asked,
        "answered": sums.answered,
        "units": sums.units,
        "noise": sums.sd / sums.sensitivity,
        "shards": sums.shards,
        "refused": sums.refused,
        "overflow": sums.overflow,
        "bits": sums.bits,
        "bytes_up": sums.bytes_up,
        "bytes_down": sums.bytes_down,
    }


def check_heard(number: int) -> None:
    """Raise InputError if no one was heard: then there is no map."""
    if not number:
        raise InputError(NOBODY)
