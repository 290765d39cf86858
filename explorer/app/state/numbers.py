"""Numbers from outside: what is not a finite one becomes a sentence."""

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


def shown(value: Any) -> str:
    """The first 40 signs of a value for a sentence; Python writes no number of 5000 digits."""
    try:
        return repr(str(value)[:40])
    except ValueError:
        return "such a long number"
