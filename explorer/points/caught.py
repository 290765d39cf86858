"""Whether a declared extent catches the points that were meant."""

from __future__ import annotations

import warnings

#: Below this part of the points an extent is more often a slip than meant.
FEW = 0.01
_ENOUGH = 100
FEW_INSIDE = (
    "Less than 1 % of the points lie inside this extent: is longitude first, and is it the right "
    "place?"
)


class ExtentWarning(UserWarning):
    """A map that holds next to none of the points. Told to the curator: it depends on the points,
    and no release or file of one says it.
    """


def few_inside(inside: int, points: int, bound: int | None = None) -> str | None:
    """A sentence, without any count, if an extent catches next to nothing; else None.

    Parameters
    ----------
    inside : how many records count on the extent
    points : how many there are, or what they weigh; of fewer than 100 nothing is said
    bound : contribution bound; what it leaves out was not outside, so that only an extent
        without any record is spoken of

    >>> few_inside(2, 1000), few_inside(20, 1000), few_inside(2, 1000, bound=1)
    ('Less than 1 % of the points lie inside this extent: is longitude first, and is it the right \
place?', None, None)
    """
    part = 0.0 if inside == 0 else FEW if bound is not None else inside / max(points, 1)
    if points < _ENOUGH or part >= FEW:
        return None
    return FEW_INSIDE


def warn_few(sentence: str | None) -> None:
    """Tell the curator, as a warning that names the line which called `Grid.count`."""
    if sentence is not None:
        warnings.warn(sentence, ExtentWarning, stacklevel=4)
