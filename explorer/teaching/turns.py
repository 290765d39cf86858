"""One thing after another, for a button that says "another": evenly, and the same each time."""

from __future__ import annotations

_GOLDEN = 0.6180339887498949


def turn(number: int, many: int) -> int:
    """Which of ``many`` things (1 or more) comes at a turn; the middle one at turn 0.

    Steps of the golden section visit them evenly, however many turns there are.

    >>> [turn(number, 9) for number in range(5)]
    [4, 1, 6, 3, 8]
    """
    return int(many * ((0.5 + number * _GOLDEN) % 1.0))
