"""Numbers of one screen: errors against the truth, the strip of figures, the summary sentence."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from numba import njit
from numpy.typing import NDArray

from explorer.app.curator.answers import BoxAnswers, median_error
from explorer.app.kit.numbers import percent

if TYPE_CHECKING:
    from explorer.points.matrix import FrequencyMatrix
    from explorer.releases.release import Release
    from explorer.views.partition import Leaves

Floats = NDArray[np.float64]


def map_error(matrix: FrequencyMatrix, release: Release, leaves: Leaves) -> float:
    """Sum over all cells of |private - true|, divided by the number of points (L1 / N).

    0 is perfect, 1 means as much error as there are points. Nothing in the data gives NaN.
    """
    if matrix.total == 0:
        return float("nan")
    if release.is_uniform:
        wrong = _absolute_error(matrix.counts, leaves.lower, leaves.upper, leaves.density)
    else:
        wrong = _difference(matrix.counts, release.density())
    return float(wrong) / matrix.total


@njit(cache=True, nogil=True)
def _difference(counts, density):  # type: ignore[no-untyped-def]
    total = 0.0
    for r in range(counts.shape[0]):
        for c in range(counts.shape[1]):
            total += abs(counts[r, c] - density[r, c])
    return total


@njit(cache=True, nogil=True)
def _absolute_error(counts, lower, upper, density):  # type: ignore[no-untyped-def]
    total = 0.0
    for leaf in range(density.size):
        value = density[leaf]
        for r in range(lower[leaf, 0], upper[leaf, 0]):
            for c in range(lower[leaf, 1], upper[leaf, 1]):
                total += abs(counts[r, c] - value)
    return total


def key_figures(
    release: Release, answers: BoxAnswers, error: float, seconds: float
) -> list[tuple[str, str]]:
    """Label and value of the strip below the maps."""
    return [
        ("Leaves", f"{release.n_leaves:,}"),
        ("Epsilon", f"{release.epsilon:.4g}"),
        ("Median box error", percent(median_error(answers))),
        ("Cell errors (L1/N)", "–" if np.isnan(error) else f"{error:.2f}"),
        ("Computed in", f"{seconds * 1000:.0f} ms" if seconds < 1 else f"{seconds:.1f} s"),
    ]


def summary(
    title: str, place: str, release: Release, answers: BoxAnswers | None, counted: str = ""
) -> str:
    """What the maps and the table show, in numbers.

    ``counted`` is the sentence about the records that a contribution bound keeps. Without
    ``answers`` nothing is said of exact counts.
    """
    return " ".join(filter(None, (_summary(title, place, release, answers), counted)))


def _summary(title: str, place: str, release: Release, answers: BoxAnswers | None) -> str:
    rows, cols = release.grid.shape
    kind = "a preview by" if release.preview else "a release by"
    unit = "record" if release.unit == "point" else "person"
    cells = "cell" if rows * cols == 1 else "cells"
    counts = "count of" if release.n_leaves == 1 else "counts that add up to"
    text = (
        f"{place}: {kind} {title} with epsilon {release.epsilon:.4g} per {unit} replaces "
        f"{rows:,} × {cols:,} {cells} by {release.n_leaves:,} private {counts} "
        f"{release.total:,.0f}"
    )
    if answers is None:
        return f"{text}."
    n = len(answers.true)
    if n == 0:
        return f"{text}; no box has been drawn."
    worst = int(np.argmax(np.abs(answers.difference)))
    text += (
        f"; {'the box is' if n == 1 else f'the {n} boxes are'} off by "
        f"{percent(median_error(answers))} in the median, at most by "
        f"{abs(answers.shown_difference()[worst]):,.0f} "
        f"(private {answers.private[worst]:,.0f}, true {answers.true[worst]:,.0f})."
    )
    return text
