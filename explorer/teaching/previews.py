"""Many previews of one mechanism, with progress and a flag to stop. They book nothing."""

from __future__ import annotations

from collections.abc import Callable, Iterable

import numpy as np
from numpy.typing import ArrayLike, NDArray

from explorer.evaluate.runs import Flag
from explorer.mechanisms import Mechanism, mechanism
from explorer.points.matrix import FrequencyMatrix
from explorer.releases.release import Release

Progress = Callable[[float], None]
_GOLDEN = 0.6180339887498949


class Cancelled(Exception):
    """The rest of a computation is not wanted any more."""


def turn(number: int, many: int) -> int:
    """Which of ``many`` examples (1 or more) comes at a turn of "another"; the middle one at 0.

    Steps of the golden section visit them evenly, however many turns there are.

    >>> [turn(number, 9) for number in range(5)]
    [4, 1, 6, 3, 8]
    """
    return int(many * ((0.5 + number * _GOLDEN) % 1.0))


def taught(key: str, epsilon: float) -> Mechanism:
    """A mechanism with the settings in which a lesson shows it."""
    kind = mechanism(key)
    return kind(epsilon=epsilon, **kind.lesson_settings)


def each_preview(
    mechanism: Mechanism,
    matrix: FrequencyMatrix,
    seeds: Iterable[int],
    read: Callable[[Release], ArrayLike],
    *,
    cancel: Flag | None = None,
    progress: Progress | None = None,
) -> NDArray[np.float64]:
    """What ``read`` finds in one preview for each seed, (seeds, ...).

    Raises
    ------
    Cancelled
        As soon as the flag is set.
    """
    numbers = [int(seed) for seed in seeds]
    results = []
    for i, seed in enumerate(numbers):
        if cancel is not None and cancel.is_set():
            raise Cancelled
        results.append(np.asarray(read(mechanism.release(matrix, rng=seed)), dtype=np.float64))
        if progress is not None:
            progress((i + 1) / len(numbers))
    return np.array(results)


def answers(
    mechanism: Mechanism,
    matrix: FrequencyMatrix,
    rectangles: ArrayLike,
    seeds: Iterable[int],
    *,
    cancel: Flag | None = None,
    progress: Progress | None = None,
) -> NDArray[np.float64]:
    """Answers to n rectangles (grid units) in one preview for each seed, (seeds, n)."""
    return each_preview(
        mechanism,
        matrix,
        seeds,
        lambda release: release.answer(rectangles).value,
        cancel=cancel,
        progress=progress,
    )
