"""What epsilon may be: declared once, for mechanisms, lessons and all who take one from outside.

It loads no library, so that the command line can look at the setting before anything else.
"""

from __future__ import annotations

import math
import os

from explorer.errors import InputError

MIN_EPSILON = 1e-6
#: Of a bound over epsilon: at forty times as much, rare draws passed 64 bits in a tree of trips.
MOST_NOISE = 1e13


def largest_epsilon(setting: str) -> float:
    """The largest epsilon allowed, from the text of a setting."""
    try:
        largest = float(setting)
    except ValueError:
        largest = math.nan
    if not (math.isfinite(largest) and largest >= 0.1):
        raise InputError(
            f"EXPLORER_MAX_EPSILON is {setting!r}: set it to a number of 0.1 or more, or leave it."
        )
    return largest


_SETTING_FAULT: InputError | None = None
try:
    MAX_EPSILON = largest_epsilon(os.environ.get("EXPLORER_MAX_EPSILON", "10"))
except InputError as _fault:
    # Raised here, it would be a traceback even of --help: `check_settings` raises it later.
    MAX_EPSILON, _SETTING_FAULT = 10.0, _fault
"""Epsilon above this is refused: e^10 = 22,000 promises no one anything. A setting, see README."""

EPSILON_RANGE = f"{MIN_EPSILON:f} to {MAX_EPSILON:g}"
"""What epsilon may be, in words for a sentence."""


def above_largest(epsilon: float) -> str:
    """Why an epsilon is refused, with the setting that moves the limit; "" for all below it."""
    if not MAX_EPSILON < epsilon < math.inf:
        return ""
    return (
        f" (a budget above {MAX_EPSILON:g} protects nobody; the environment variable "
        "EXPLORER_MAX_EPSILON of the program or server moves this limit)"
    )


def check_settings() -> None:
    """Refuse to work under settings of the environment that cannot be."""
    if _SETTING_FAULT is not None:
        raise InputError(str(_SETTING_FAULT))


def check_noise(bound: int, epsilon: float) -> None:
    """Refuse noise that fits no whole number that is computed with, before anything is booked."""
    if bound > MOST_NOISE * epsilon:
        raise InputError(
            f"Noise for at most {bound:,} records of one user and epsilon {epsilon:g} fits no "
            "whole number, and nothing was drawn; raise epsilon, or lower the bound."
        )
