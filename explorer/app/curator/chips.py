"""True and private answers as tags of the boxes on the maps: exact numbers."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from explorer.app.boxes.chips import count, named, said
from explorer.app.curator.answers import BoxAnswers
from explorer.app.kit.map_parts import Tag
from explorer.views import palette


def chips(shows: str, names: Sequence[str], answers: BoxAnswers, exact: bool = True) -> list[Tag]:
    """Tags of n boxes for a map of one kind.

    Parameters
    ----------
    shows : "true", "private" or "difference"
    names : n texts
    answers : to them
    exact : whether the truth is on the screen; without it there are private counts alone

    Returns
    -------
    list of (text, colour)
        The box that is furthest off, in percent, is highlighted where there are several.
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
        texts = [
            f"{said(name, np.nan).partition('  ')[0]}  {count(value, sign=True)}"
            for name, value in zip(names, answers.shown_difference(decimals), strict=True)
        ]
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
