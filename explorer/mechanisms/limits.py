"""What every mechanism is held to: the budget it takes, and how many parts it may publish."""

from __future__ import annotations

from typing import Any

import numpy as np
import param

from explorer.errors import InputError
from explorer.privacy.epsilon_range import EPSILON_RANGE, MAX_EPSILON, MIN_EPSILON, above_largest
from explorer.releases.units import to_epsilon

MOST_PARTS = 2**24
"""Parts of a domain that a mechanism publishes whatever is in them."""

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
    """
    limit, kind = MOST_PARTS, "" if dimensions <= 2 else " in a preview"
    if dimensions > 2 and not preview:
        limit, kind = MOST_RELEASED, " in a release"
    if parts > limit:
        places = "fewer places, " if dimensions > 2 else ""
        cost = (
            f"; the noisy count that decided this has cost epsilon {to_epsilon(spent):.6g}, which "
            "stays spent"
        )
        raise InputError(
            f"{title} would publish {parts:,} numbers here, nearly all of them noise, and at most "
            f"{limit:,} are possible{kind}: choose a coarser grid, {places}or a mechanism that "
            f"looks where records are{cost if spent else ''}."
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
        return above_largest(value) if number else ""
