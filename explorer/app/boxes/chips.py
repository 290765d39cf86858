"""Answers as they are at the boxes on a map: short texts, in the colour of what they are."""

from __future__ import annotations

import math
from collections.abc import Sequence

from explorer.app.kit.map_parts import Tag
from explorer.views import palette

#: Characters of a name, and the largest error that is written out.
_LONGEST, _MOST = 14, 999


def named(names: Sequence[str], colour: str = palette.PRIVATE) -> list[Tag]:
    """Tags of boxes without an answer."""
    return [(_short(name), colour) for name in names]


def together(
    names: Sequence[str], labels: Sequence[str], tags: Sequence[Sequence[Tag]]
) -> list[list[Tag]]:
    r"""Tags for maps that share a place: the same on each, so that no edge joins two numbers.

    Parameters
    ----------
    names : of the n boxes
    labels : what each map shows
    tags : of each map in turn, a tag for each box

    Returns
    -------
    list of lists of (text, colour)
        The answer of each map on a line of its own, in the colour of the last map's tag.

    Examples
    --------
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
