"""True next to private answers to the boxes of one screen: exact numbers."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from explorer.app.boxes.answers import (
    LEAVES,
    PRIVATE,
    RANGE,
    Column,
    PrivateAnswers,
    count,
    named,
    said,
)
from explorer.app.kit.map_parts import Tag
from explorer.grid.pieces import Shapes
from explorer.grid.range_queries import Queries, RangeQueries
from explorer.inspection.errors import spread_in_polygons
from explorer.points.truth import exact, of_all_records
from explorer.queries.files import no_formula
from explorer.releases.overlap import spread_exactly
from explorer.views import palette
from explorer.views.markup import error_bar

if TYPE_CHECKING:
    import pandas as pd

    from explorer.points.matrix import FrequencyMatrix
    from explorer.releases.release import Release

Floats = NDArray[np.float64]


@dataclass(frozen=True, kw_only=True)
class BoxAnswers(PrivateAnswers):
    """True and private answers to n rectangles, all (n,).

    ``spread`` is what the same partition would answer with exact counts: it separates noise from
    uneven spread. None where that takes longer (see `causes`). ``counted`` are the records that a
    contribution bound keeps, of all that ``true`` says; None where no bound is in force.
    """

    true: Floats
    spread: Floats | None = None
    counted: Floats | None = None

    @property
    def difference(self) -> Floats:
        return self.private - self.true

    @property
    def noise(self) -> Floats:
        """The part of the difference that noise made; NaN where `spread` is not known."""
        return self.private - self._spread

    @property
    def uniformity(self) -> Floats:
        """The part that uneven spread inside leaves made; NaN where `spread` is not known."""
        return self._spread - (self.true if self.counted is None else self.counted)

    @property
    def clipping(self) -> Floats | None:
        """The part that records made that are not counted; None where no bound is in force."""
        return None if self.counted is None else self.counted - self.true

    def shown_difference(self, decimals: int = 0) -> Floats:
        """The difference of both answers as they are written, so that a reader's sum comes out."""
        difference: Floats = np.round(self.private, decimals) - np.round(self.true, decimals)
        return np.round(difference, decimals)

    def shown_causes(self, decimals: int = 0) -> tuple[Floats, ...]:
        """Noise, uneven spread and, under a bound, clipping: they add up to the difference."""
        noise = np.round(self.noise, decimals)
        clipping = [] if self.clipping is None else [np.round(self.clipping, decimals)]
        return noise, self.shown_difference(decimals) - sum([noise, *clipping]), *clipping

    def to_frame(self, names: Sequence[str]) -> pd.DataFrame:
        """A table of all of it, a row each, indexed by the names of the rectangles."""
        import pandas as pd

        low, high = self.interval
        bounded = self.counted is not None
        return pd.DataFrame(
            {
                "true": self.true,
                **({"counted": self.counted} if bounded else {}),
                "private": self.private,
                "noise_sd": self.sd,
                "low": low,
                "high": high,
                "error": self.difference,
                "from_noise": self.noise,
                "from_spread": self.uniformity,
                **({"from_clipping": self.clipping} if bounded else {}),
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
        counted=counted_in(matrix, boxes),
        private=answers.value,
        sd=answers.sd,
        touched=touched,
        leaves=release.n_leaves,
        # An interpolated map spreads counts by their neighbours': that takes as long as the map.
        spread=spread if release.is_uniform else None,
        exact=answers.sd_exact,
    )


def counted_in(counts: Any, boxes: Any) -> Floats | None:
    """Records in boxes that a contribution bound keeps; None where no bound is in force."""
    return exact(counts, boxes, counted=True) if of_all_records(counts) is not counts else None


def _spread_of(
    release: Release, matrix: FrequencyMatrix, queries: Any
) -> tuple[Floats, NDArray[np.int64]]:
    """What the partition would answer with exact counts, and how many leaves are touched."""
    if isinstance(queries, Shapes):
        return spread_in_polygons(matrix, release, queries)
    cells = release.grid.to_cells(queries)
    spread, inside, cut = spread_exactly(release.tree, matrix.sums, cells)
    return spread, inside + cut


#: What the columns of exact counts are called in files.
EXACT_NAMES = {"true": "EXACT", "counted": "EXACT counted"}


def answers_csv(answers: pd.DataFrame) -> str:
    """A table of answers, indexed by the names of boxes, as CSV; the truth says EXACT.

    Names that a spreadsheet would run as a formula get an apostrophe.
    """
    frame = answers.reset_index().rename(columns=EXACT_NAMES)
    frame["box"] = [no_formula(name) for name in frame["box"]]
    return frame.to_csv(index=False)


def median_error(answers: BoxAnswers) -> float:
    """Median of the boxes' absolute relative errors in percent; NaN without any."""
    errors = np.abs(answers.relative[np.isfinite(answers.relative)])
    return float(np.median(errors)) if errors.size else float("nan")


TRUE = Column("true", lambda answers: answers.true.round(), 78, exact=True)
ERROR = Column(
    "error %", lambda answers: answers.relative.round(3), 56, decimals=2, sign=True, exact=True
)


def bars(answers: BoxAnswers) -> list[str]:
    """The causes of each error; shares are in percent."""
    decimals = 0 if answers.scale == 1 else 2
    parts = zip(*answers.shown_causes(decimals), strict=True)
    return [error_bar(*part, decimals=decimals) for part in parts]


CAUSES = Column(
    "noise / uneven areas",
    bars,
    140,
    "markup",
    about="Causes of the difference. Blue: noise. Orange, striped: records lie unevenly in areas "
    "that the box cuts.",
    exact=True,
)
#: The same under a contribution bound.
_CLIPPED = replace(
    CAUSES,
    name="noise / uneven areas / not counted",
    width=196,
    about=f"{CAUSES.about} Purple, hollow: records that the bound on each person leaves out.",
)


def _counted(answers: Any) -> Floats:
    """The records that are counted; those of two mechanisms are the same."""
    counted: Floats = (answers[0] if isinstance(answers, tuple) else answers).counted.round()
    return counted


#: Next to the true ones, where causes of errors are not distinguished.
_COUNTED = Column(
    "counted",
    _counted,
    74,
    about="True records that are counted: the bound on each person leaves out the others.",
    exact=True,
)


def under_bound(columns: Sequence[Column]) -> tuple[Column, ...]:
    """Columns of answers that say what a contribution bound leaves out."""
    if any(column.values is bars for column in columns):
        wider = _CLIPPED.width - CAUSES.width
        return tuple(
            replace(_CLIPPED, width=column.width + wider) if column.values is bars else column
            for column in columns
        )
    return columns[0], _COUNTED, *columns[1:]


#: Columns of the table of Explore for each box, without its edges.
COLUMNS = (
    TRUE,
    PRIVATE,
    Column("difference", lambda answers: answers.shown_difference(), 80, sign=True, exact=True),
    CAUSES,
    ERROR,
    RANGE,
    LEAVES,
)


def chips(shows: str, names: Sequence[str], answers: BoxAnswers, exact: bool = True) -> list[Tag]:
    """Tags of n boxes for a map that shows the "true", "private" or "difference" counts.

    The box that is furthest off, in percent, is highlighted where there are several. Without
    ``exact`` the truth is not on the screen, and there are private counts alone.
    """
    if not exact:
        if shows != "private":
            return named(names)
        return [(said(*row), palette.PRIVATE) for row in zip(names, answers.private, strict=True)]
    if shows == "true":
        texts = [said(name, value) for name, value in zip(names, answers.true, strict=True)]
        return [(text, palette.TRUTH) for text in texts]
    if shows == "difference":
        # Shares are in percent.
        decimals = 0 if answers.scale == 1 else 2
        tags = zip(named(names), answers.shown_difference(decimals), strict=True)
        texts = [f"{name}  {count(value, sign=True)}" for (name, _), value in tags]
    else:
        rows = zip(names, answers.private, answers.relative, strict=True)
        texts = [said(name, value, change) for name, value, change in rows]
    far = worst(answers)
    return [
        (text, palette.WORST if row == far else palette.PRIVATE) for row, text in enumerate(texts)
    ]


def worst(answers: BoxAnswers) -> int | None:
    """The row that is furthest off in percent; None where there are not several to compare."""
    size = np.abs(answers.relative)
    if np.isfinite(size).sum() < 2:
        return None
    return int(np.nanargmax(size))
