"""Private answers to the boxes of one screen, and the columns of a table that show them."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal

import numpy as np
from numpy.typing import NDArray

from explorer.app.boxes.chips import count
from explorer.grid.range_queries import Queries
from explorer.releases.answers import Answers

if TYPE_CHECKING:
    from explorer.releases.release import Release

Floats = NDArray[np.float64]


@dataclass(frozen=True, kw_only=True)
class PrivateAnswers:
    """Answers of a release to n rectangles; arrays are (n,).

    Parameters
    ----------
    private : private counts
    sd : standard deviation of their noise part
    touched : how many leaves a box holds or cuts, of ``leaves`` in all
    exact : whether ``sd`` is a closed form
    half_width : half the width of a simulated 95 % interval, where ``sd`` is no closed form; None
        until it has been simulated
    scale : what counts were multiplied by: 100 / total where answers are shares in percent
    """

    private: Floats
    sd: Floats
    touched: NDArray[np.int64]
    leaves: int = 0
    exact: bool = True
    half_width: Floats | None = None
    scale: float = 1.0

    def __len__(self) -> int:
        return len(self.private)

    @property
    def interval(self) -> tuple[Floats, Floats]:
        """Ends of the 95 % interval of the noise around the private answers, approximate."""
        if self.half_width is None:
            return Answers(self.private, self.sd).interval()
        return self.private - self.half_width, self.private + self.half_width


def private_answers(release: Release, boxes: Queries) -> PrivateAnswers:
    """Ask ``release`` about ``boxes`` (n, 4) in grid units, or polygons among them."""
    answers = release.answer(boxes)
    return PrivateAnswers(
        private=answers.value,
        sd=answers.sd,
        touched=release.touched(boxes),
        leaves=release.n_leaves,
        exact=answers.sd_exact,
    )


@dataclass(frozen=True)
class Column:
    """A column of answers, which cannot be edited.

    Parameters
    ----------
    name : its title
    values : the answers' values for it, one a row
    width : pixels, at least
    kind, decimals, sign, about : see `TableColumn`
    exact : whether it says something of exact counts
    """

    name: str
    values: Callable[[Any], Any]
    width: int
    kind: Literal["number", "text", "markup"] = "number"
    decimals: int = 0
    sign: bool = False
    about: str = ""
    exact: bool = False


def _ranges(answers: PrivateAnswers) -> list[str]:
    """Intervals without a closed form begin with ≈ until they have been simulated."""
    about = "" if answers.exact or answers.half_width is not None else "≈ "
    return [
        f"{about}{count(low)} to {count(high)}" for low, high in zip(*answers.interval, strict=True)
    ]


PRIVATE = Column("private", lambda answers: answers.private.round(), 78)
RANGE = Column("range of the noise (95 %)", _ranges, 164, "text")
LEAVES = Column(
    "leaves",
    lambda answers: [f"{touched:,} of {_total(answers.leaves)}" for touched in answers.touched],
    116,
    "text",
)
#: What a release alone says of a box.
COLUMNS = (PRIVATE, RANGE, LEAVES)


def _total(leaves: int) -> str:
    """A number of leaves; the strip above the maps has all digits of a long one.

    >>> [_total(n) for n in (7_414, 101_761, 1_048_576)]
    ['7,414', '102 k', '1.05 M']
    """
    if leaves >= 1_000_000:
        return f"{leaves / 1e6:.2f} M"
    return f"{leaves / 1e3:.0f} k" if leaves >= 100_000 else f"{leaves:,}"
