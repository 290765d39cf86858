"""Numbers from outside, checked, and numbers to read."""

from __future__ import annotations

import math
from typing import Any

from explorer.errors import InputError


def finite(value: Any, what: str) -> float:
    """``value`` as a finite float.

    Whole numbers of hundreds of digits are numbers to Python and to JSON, but no float holds them.

    Raises
    ------
    InputError
        Naming ``what`` it should have been, such as "An edge".
    """
    try:
        number = float(value)
    except (TypeError, ValueError, OverflowError) as error:
        raise InputError(f"{what} is not a number that can be used: type another one.") from error
    if not math.isfinite(number):
        raise InputError(f"{what} is not a finite number: type another one.")
    return number


def percent(value: float) -> str:
    """A percentage with as many digits as it deserves.

    >>> [percent(v) for v in (0.004, 0.3, 12.345, 3400, float("nan"))]
    ['0.004 %', '0.30 %', '12.3 %', '3,400 %', '–']
    """
    if not math.isfinite(value):
        return "–"
    if value == 0 or abs(value) >= 100:
        return f"{value:,.0f} %"
    digits = 1 if abs(value) >= 10 else 2 if abs(value) >= 0.1 else 3
    return f"{value:.{digits}f} %"


def share(part: float) -> str:
    """A part, 0 to 1, in whole percents.

    >>> share(0.884), share(float("nan"))
    ('88 %', '–')
    """
    return "–" if math.isnan(part) else f"{100 * part:.0f} %"


def signed(value: float, digits: int = 0) -> str:
    """A number with its sign, thousands with commas.

    >>> signed(-1234.5), signed(0.04, 1), signed(12)
    ('−1,234', '0.0', '+12')
    """
    text = f"{value:+,.{digits}f}"
    return text[1:] if float(f"{value:.{digits}f}") == 0 else text.replace("-", "−")


def many(n: int, noun: str) -> str:
    """So many of something.

    >>> many(1, "redraw"), many(1101, "redraw")
    ('1 redraw', '1,101 redraws')
    """
    return f"{n:,} {noun}{'' if n == 1 else 's'}"


def edge(value: float) -> str:
    """An edge of a box in three digits and no more.

    >>> edge(-0.04), edge(-2.031), edge(16.0)
    ('−0.04', '−2.03', '16')
    """
    return f"{value:.3g}".replace("-", "−")
