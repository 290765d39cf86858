"""Answers to the boxes of a screen: columns of a table, and tags at the boxes on a map."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal

import numpy as np
from numpy.typing import NDArray

from explorer.app.kit.map_parts import Tag
from explorer.grid.range_queries import Queries
from explorer.releases.answers import Answers
from explorer.views import palette

if TYPE_CHECKING:
    from explorer.releases.release import Release

#: Characters of a name, and the largest error that is written out.
_LONGEST, _MOST = 14, 999


def named(names: Sequence[str], colour: str = palette.PRIVATE) -> list[Tag]:
    """Tags of boxes without an answer."""
    return [(_short(name), colour) for name in names]


def together(
    names: Sequence[str], labels: Sequence[str], tags: Sequence[Sequence[Tag]]
) -> list[list[Tag]]:
    r"""Tags for maps that share a place: the same on each, so that no edge joins two numbers.

    The answer of each map is on a line of its own behind its label, in the colour of the last
    map's tag.

    >>> together(["Q1"], ["true", "private"], [[("Q1  100", "green")], [("Q1  90", "blue")]])[0]
    [('Q1  true 100\nprivate 90', 'blue')]
    """
    joined = []
    for number, name in enumerate(names):
        of = [tag[number] for tag in tags]
        answers = [text.removeprefix(_short(name)).strip() for text, _ in of]
        lines = [f"{label} {a}" for label, a in zip(labels, answers, strict=True) if a]
        text = "\n".join(lines)
        joined.append(("  ".join(filter(None, (_short(name), text))), of[-1][1]))
    return [joined for _ in tags]


def said(name: str, value: float, change: float = math.nan) -> str:
    """A box with its count, and with the percentage by which it is off.

    >>> said("Q3", 33_155.2), said("Q3", 33_182.0, 0.0806), said("Q1", -0.6, -1e9)
    ('Q3  33,155', 'Q3  33,182  +0.1 %', 'Q1  −1  below −999 %')
    """
    return "  ".join(part for part in (_short(name), count(value), percent(change)) if part)


def count(value: float, sign: bool = False) -> str:
    """A count in whole records; with a sign where it is a difference.

    >>> count(-1234.4), count(12, sign=True), count(0.2, sign=True), count(math.nan)
    ('−1,234', '+12', '0', '–')
    """
    if not math.isfinite(value):
        return "–"
    whole = round(value)
    text = f"{abs(whole):,}"
    if whole < 0:
        return f"−{text}"
    return f"+{text}" if sign and whole > 0 else text


def percent(change: float) -> str:
    """A relative error in percent, "" where there is none to speak of.

    >>> [percent(each) for each in (0.04, -3.25, 41.6, 1e12, math.nan)]
    ['±0.0 %', '−3.2 %', '+42 %', 'above +999 %', '']
    """
    if not math.isfinite(change):
        return ""
    if abs(change) > _MOST:
        return f"above +{_MOST} %" if change > 0 else f"below −{_MOST} %"
    text = f"{abs(change):.1f}" if abs(change) < 9.95 else f"{abs(change):.0f}"
    sign = "±" if float(text) == 0 else "+" if change > 0 else "−"
    return f"{sign}{text} %"


def _short(name: str) -> str:
    return name if len(name) <= _LONGEST else f"{name[: _LONGEST - 1]}…"


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
    half_width : of a simulated 95 % interval; None until it is known, or for a closed form
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
    """A column of answers, which cannot be edited; looks as of a `TableColumn`.

    ``values`` are the answers' for it, one a row; ``exact`` says that they tell of exact counts.
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
