"""How far a release has come: a source of noise that tells so after every few draws."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

from explorer.privacy.noise import Ints, Keys, NoiseSource, is_release_grade

#: Draws, and choices of a cut, between two reports: a tenth of a second of OpenDP's work.
_DRAWS, _CHOICES = 10_000, 200


class ReportingNoise:
    """The noise of another source, in parts; what is drawn is the same.

    `tell` gets the finished part: the share of the budget that is `spent` in the mean over all
    cells, growing within a measurement with its draws. It never falls, and is 1 when every path has
    spent all.
    """

    def __init__(
        self, source: NoiseSource, tell: Callable[[float], None], spent: Callable[[], float]
    ) -> None:
        self.preview = not is_release_grade(source)
        self._source, self._tell, self._spent, self._done = source, tell, spent, 0.0

    def laplace(self, values: Ints, sensitivity: int, units: Ints, keys: Keys, stage: str) -> Ints:
        """See `NoiseSource.laplace`."""
        noisy = np.empty(len(values), dtype=np.int64)
        # By price: every part makes a measurement for each price in it.
        order = np.argsort(units, kind="stable")
        before = self._done
        for begin in range(0, len(order), _DRAWS):
            part = order[begin : begin + _DRAWS]
            noisy[part] = self._source.laplace(
                values[part], sensitivity, units[part], keys[part], stage
            )
            self._report(before, (begin + len(part)) / len(order))
        return noisy

    def lowest(
        self, costs: Ints, offsets: Ints, sensitivity: int, units: Ints, keys: Keys, stage: str
    ) -> Ints:
        """See `NoiseSource.lowest`."""
        chosen = np.empty(len(units), dtype=np.int64)
        before = self._done
        for begin in range(0, len(units), _CHOICES):
            end = min(begin + _CHOICES, len(units))
            part_offsets = offsets[begin : end + 1]
            chosen[begin:end] = self._source.lowest(
                costs[part_offsets[0] : part_offsets[-1]],
                part_offsets - part_offsets[0],
                sensitivity,
                units[begin:end],
                keys[begin:end],
                stage,
            )
            self._report(before, end / len(units))
        return chosen

    def above(
        self, values: Ints, threshold: int, sensitivity: int, units: Ints, keys: Keys, stage: str
    ) -> NDArray[np.bool_]:
        """See `NoiseSource.above`."""
        decided = self._source.above(values, threshold, sensitivity, units, keys, stage)
        self._report(self._done, 1.0)
        return decided

    def _report(self, before: float, part: float) -> None:
        now = min(1.0, max(before, self._spent()))
        self._done = before + (now - before) * part
        self._tell(self._done)
