"""True and private answers to the boxes of one screen."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from explorer.points.truth import exact
from explorer.releases.overlap import spread_exactly

if TYPE_CHECKING:
    from explorer.points.matrix import FrequencyMatrix
    from explorer.releases.release import Release

Floats = NDArray[np.float64]


@dataclass(frozen=True)
class BoxAnswers:
    """True and private answers to n rectangles, all (n,).

    ``sd`` is the standard deviation of the noise part of ``private``; ``touched`` counts leaves,
    of ``leaves`` in all. ``spread`` is what the same partition would answer with exact counts: it
    tells the two causes of an error apart. None where that takes longer (see `causes`).
    ``exact`` says whether ``sd`` is a closed form. Where it is none, ``reach`` is half the width of
    a simulated 95 % interval, None until it has been simulated (see `error_bars`).
    """

    true: Floats
    private: Floats
    sd: Floats
    touched: NDArray[np.int64]
    leaves: int = 0
    spread: Floats | None = None
    exact: bool = True
    reach: Floats | None = None

    @property
    def interval(self) -> tuple[Floats, Floats]:
        """Ends of the 95 % interval of the noise around the private answers, approximate."""
        reach = 1.96 * self.sd if self.reach is None else self.reach
        return self.private - reach, self.private + reach

    @property
    def difference(self) -> Floats:
        """Private minus true."""
        return self.private - self.true

    @property
    def noise(self) -> Floats:
        """The part of the difference that noise made; NaN where `spread` is not known."""
        return self.private - self._spread

    @property
    def uniformity(self) -> Floats:
        """The part that uneven spread inside leaves made; NaN where `spread` is not known."""
        return self._spread - self.true

    @property
    def _spread(self) -> Floats:
        return np.full(len(self.true), np.nan) if self.spread is None else self.spread

    @property
    def relative(self) -> Floats:
        """Difference in percent of the truth; NaN where the truth is 0."""
        with np.errstate(divide="ignore", invalid="ignore"):
            share: Floats = np.where(self.true != 0, 100 * self.difference / self.true, np.nan)
        return share


def answer_boxes(release: Release, matrix: FrequencyMatrix, boxes: Floats) -> BoxAnswers:
    """Ask both sides about ``boxes`` (n, 4) in grid units."""
    answers = release.answer(boxes)
    cells = release.grid.to_cells(boxes)
    spread, inside, cut = spread_exactly(release.tree, matrix.sums, cells)
    # An interpolated map spreads counts by their neighbours': that takes as long as the map itself.
    known = spread if release.inside == "uniform" else None
    true = exact(matrix, boxes)
    return BoxAnswers(
        true, answers.value, answers.sd, inside + cut, release.n_leaves, known, answers.sd_exact
    )


def median_error(answers: BoxAnswers) -> float:
    """Median of the boxes' absolute relative errors in percent; NaN without any."""
    known = np.abs(answers.relative[np.isfinite(answers.relative)])
    return float(np.median(known)) if known.size else float("nan")


def percent(value: float) -> str:
    """A percentage with as many digits as it deserves.

    >>> [percent(v) for v in (0.004, 0.3, 12.345, 3400, float("nan"))]
    ['0.004 %', '0.30 %', '12.3 %', '3,400 %', '–']
    """
    if not np.isfinite(value):
        return "–"
    if value == 0 or abs(value) >= 100:
        return f"{value:,.0f} %"
    digits = 1 if abs(value) >= 10 else 2 if abs(value) >= 0.1 else 3
    return f"{value:.{digits}f} %"
