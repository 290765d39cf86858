"""Sources of noise that show what a plan does, and a map to run it on."""

from __future__ import annotations

import itertools

import numpy as np
from numpy.typing import NDArray

from explorer.points.matrix import FrequencyMatrix
from explorer.privacy.noise import Ints, Keys, PreviewNoise


class NoNoise(PreviewNoise):
    """Answers exactly: what a plan does when chance is taken out."""

    def __init__(self) -> None:
        super().__init__(0)

    def laplace(self, values: Ints, sensitivity: int, units: Ints, keys: Keys, stage: str) -> Ints:
        """The values as they are."""
        return values.copy()

    def lowest(
        self, costs: Ints, offsets: Ints, sensitivity: int, units: Ints, keys: Keys, stage: str
    ) -> Ints:
        """The true minimum of each group."""
        groups = itertools.pairwise(offsets)
        return np.array([int(np.argmin(costs[a:b])) for a, b in groups], dtype=np.int64)


class BlindNoise(PreviewNoise):
    """Answers that do not depend on the data: what a plan publishes of it comes from elsewhere.

    Every count is ``around`` and noise, every other measurement is one of equal values.
    """

    def __init__(self, seed: int, around: int = 2000) -> None:
        super().__init__(seed)
        self.around = around

    def laplace(self, values: Ints, sensitivity: int, units: Ints, keys: Keys, stage: str) -> Ints:
        """See `NoiseSource.laplace`."""
        fixed = np.full_like(values, self.around)
        return super().laplace(fixed, sensitivity, units, keys, stage)

    def lowest(
        self, costs: Ints, offsets: Ints, sensitivity: int, units: Ints, keys: Keys, stage: str
    ) -> Ints:
        """See `NoiseSource.lowest`."""
        return super().lowest(np.zeros_like(costs), offsets, sensitivity, units, keys, stage)

    def above(
        self, values: Ints, threshold: int, sensitivity: int, units: Ints, keys: Keys, stage: str
    ) -> NDArray[np.bool_]:
        """See `NoiseSource.above`: an even toss."""
        fixed = np.full_like(values, threshold)
        return super().above(fixed, threshold, sensitivity, units, keys, stage)


def towns(
    shape: tuple[int, int] = (64, 64), people: int = 20_000, seed: int = 0
) -> FrequencyMatrix:
    """A made-up map: two towns on an empty plain.

    Parameters
    ----------
    shape : rows and columns
    people : records in both towns together; few of them lie beyond the edges and are left out
    seed : of the places
    """
    return FrequencyMatrix.from_array(crowds(shape, people, seed))


def crowds(shape: tuple[int, ...], people: int, seed: int = 0) -> Ints:
    """The counts of `towns` in any number of dimensions; see there."""
    rng = np.random.default_rng(seed)
    counts = np.zeros(shape, dtype=np.int64)
    for centre, spread, part in (((0.3, 0.4), 0.05, 0.7), ((0.7, 0.6), 0.12, 0.3)):
        where = np.resize(centre, len(shape))
        place = rng.normal(where, spread, (int(people * part), len(shape))) * shape
        inside = np.all((place >= 0) & (place < shape), axis=1)
        np.add.at(counts, tuple(place[inside].astype(int).T), 1)
    return counts
