"""True beside private answers to the boxes of one screen: exact numbers."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from explorer.app.boxes.answers import PrivateAnswers
from explorer.app.boxes.table import LEAVES, PRIVATE, RANGE, WHOLE, Column
from explorer.app.kit.number_columns import number_format
from explorer.grid.pieces import Shapes
from explorer.grid.range_queries import Queries, RangeQueries
from explorer.inspection.errors import spread_in_polygons
from explorer.points.truth import exact
from explorer.queries.files import no_formula
from explorer.releases.overlap import spread_exactly
from explorer.views.error_bar import error_bar

if TYPE_CHECKING:
    import pandas as pd

    from explorer.points.matrix import FrequencyMatrix
    from explorer.releases.release import Release

Floats = NDArray[np.float64]


@dataclass(frozen=True, kw_only=True)
class BoxAnswers(PrivateAnswers):
    """True and private answers to n rectangles, all (n,).

    ``spread`` is what the same partition would answer with exact counts: it separates the two
    causes of an error. None where that takes longer (see `causes`).
    """

    true: Floats
    spread: Floats | None = None

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

    def shown_difference(self, decimals: int = 0) -> Floats:
        """The difference of both answers as they are written, so that a reader's sum comes out."""
        found: Floats = np.round(self.private, decimals) - np.round(self.true, decimals)
        return np.round(found, decimals)

    def shown_causes(self) -> tuple[Floats, Floats]:
        """Parts that noise and uneven spread made, which add up to the difference as written."""
        noise = np.round(self.noise)
        return noise, self.shown_difference() - noise

    def to_frame(self, names: Sequence[str]) -> pd.DataFrame:
        """A table of all of it, a row each, indexed by the names of the rectangles."""
        import pandas as pd

        low, high = self.interval
        return pd.DataFrame(
            {
                "true": self.true,
                "private": self.private,
                "noise_sd": self.sd,
                "low": low,
                "high": high,
                "error": self.difference,
                "from_noise": self.noise,
                "from_spread": self.uniformity,
            },
            index=pd.Index(list(names), name="box"),
        )

    @property
    def _spread(self) -> Floats:
        return np.full(len(self.true), np.nan) if self.spread is None else self.spread

    @property
    def relative(self) -> Floats:
        """Difference in percent of the truth; NaN where that is less than half a record.

        A box of parts of cells may hold 1e-13 of one, and no percentage of that says anything.
        """
        with np.errstate(divide="ignore", invalid="ignore"):
            some = np.abs(self.true) >= 0.5 * self.scale
            share: Floats = np.where(some, 100 * self.difference / self.true, np.nan)
        return share


def answer_boxes(release: Release, matrix: FrequencyMatrix, boxes: Queries) -> BoxAnswers:
    """Ask both sides about ``boxes`` (n, 4) in grid units, or polygons among them."""
    answers = release.answer(boxes)
    if isinstance(boxes, RangeQueries):
        spread, touched = boxes.each(lambda part: _spread_of(release, matrix, part))
    else:
        spread, touched = _spread_of(release, matrix, boxes)
    return BoxAnswers(
        true=exact(matrix, boxes),
        private=answers.value,
        sd=answers.sd,
        touched=touched,
        leaves=release.n_leaves,
        # An interpolated map spreads counts by their neighbours': that takes as long as the map.
        spread=spread if release.is_uniform else None,
        exact=answers.sd_exact,
    )


def _spread_of(
    release: Release, matrix: FrequencyMatrix, asked: Any
) -> tuple[Floats, NDArray[np.int64]]:
    """What the partition would answer with exact counts, and how many leaves are touched."""
    if isinstance(asked, Shapes):
        return spread_in_polygons(matrix, release, asked)
    cells = release.grid.to_cells(asked)
    spread, inside, cut = spread_exactly(release.tree, matrix.sums, cells)
    return spread, inside + cut


def answers_csv(answers: pd.DataFrame) -> str:
    """A table of answers, indexed by the names of boxes, as CSV; the truth says EXACT.

    Names that a spreadsheet would run as a formula get an apostrophe.
    """
    frame = answers.reset_index().rename(columns={"true": "EXACT"})
    frame["box"] = [no_formula(each) for each in frame["box"]]
    return frame.to_csv(index=False)


def median_error(answers: BoxAnswers) -> float:
    """Median of the boxes' absolute relative errors in percent; NaN without any."""
    known = np.abs(answers.relative[np.isfinite(answers.relative)])
    return float(np.median(known)) if known.size else float("nan")


ERROR = partial(number_format, 2, sign=True)
TRUE = Column("true", lambda answers: answers.true.round(), WHOLE, 78, exact=True)
#: What the table of Explore says of each box, its edges apart.
COLUMNS = (
    TRUE,
    PRIVATE,
    Column(
        "difference",
        lambda answers: answers.shown_difference(),
        partial(number_format, sign=True),
        80,
        exact=True,
    ),
    Column(
        "noise / uneven areas",
        lambda answers: [error_bar(*parts) for parts in zip(*answers.shown_causes(), strict=True)],
        partial(dict, type="html"),
        140,
        "Where the difference is from. Blue: noise. Orange: people are spread unevenly in areas "
        "that the box cuts.",
        exact=True,
    ),
    Column("error %", lambda answers: answers.relative.round(3), ERROR, 56, exact=True),
    RANGE,
    LEAVES,
)
