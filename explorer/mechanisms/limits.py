"""What epsilon may be: declared once, for mechanisms, lessons and all who take one from outside."""

from __future__ import annotations

import math
import os
from typing import Any

import numpy as np
import param

from explorer.errors import InputError
from explorer.releases.units import to_epsilon

MIN_EPSILON = 1e-6


def largest_epsilon(setting: str) -> float:
    """The largest epsilon allowed, from the text of a setting.

    Raises
    ------
    InputError
        For what is no number of 0.1 or more.
    """
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
"""Epsilon above this is refused: e^10 = 22,000 promises nobody anything. A setting, see README."""

EPSILON_RANGE = f"{MIN_EPSILON:f} to {MAX_EPSILON:g}"
"""What epsilon may be, in words for a sentence."""


def check_settings() -> None:
    """Refuse to work under settings of the environment that cannot be.

    Raises
    ------
    InputError
        If EXPLORER_MAX_EPSILON is no number of 0.1 or more.
    """
    if _SETTING_FAULT is not None:
        raise InputError(str(_SETTING_FAULT))


MOST_PARTS = 2**24
"""Parts of a domain that a mechanism publishes whatever lies in them."""

MOST_RELEASED = 2**22
"""As many in a release of trips: its noise takes a hundred times as long as that of a preview."""


def require_parts(title: str, parts: int, dimensions: int, preview: bool, spent: int = 0) -> None:
    """Refuse a mechanism that would publish too many parts, most of them empty.

    Parameters
    ----------
    parts : their number, a Python integer of any size
    dimensions : of the domain; of a map a release may have as many parts as a preview
    preview : whether up to `MOST_PARTS` are possible, else `MOST_RELEASED`
    spent : what has been drawn to find out, in units of 10^-12 epsilon; it cannot be given back

    Raises
    ------
    InputError
        Above that.
    """
    most, kind = MOST_PARTS, "" if dimensions <= 2 else " in a preview"
    if dimensions > 2 and not preview:
        most, kind = MOST_RELEASED, " in a release"
    if parts > most:
        cost = (
            f"; the noisy count that decided this has cost epsilon {to_epsilon(spent):.6g}, which "
            "stays spent"
        )
        raise InputError(
            f"{title} would publish {parts:,} numbers here, nearly all of them noise, and at most "
            f"{most:,} are possible{kind}: choose a coarser grid, or a mechanism that looks where "
            f"records are{cost if spent else ''}."
        )


class Epsilon(param.Number):
    """A privacy budget, `MIN_EPSILON` to `MAX_EPSILON`."""

    allowed = EPSILON_RANGE

    def __init__(self, default: float = 0.1, **about: Any) -> None:
        about = {"bounds": (MIN_EPSILON, MAX_EPSILON), "label": "Epsilon", **about}
        super().__init__(default=default, **about)

    def reason(self, value: Any) -> str:
        """Why a number is refused, where that is not plain from the bounds."""
        number = isinstance(value, int | float | np.number) and not isinstance(value, bool)
        too_large = number and MAX_EPSILON < value < math.inf
        return f" (a budget above {MAX_EPSILON:g} protects nobody)" if too_large else ""
