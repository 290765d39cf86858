"""How many records rows represent: whole numbers, or one sentence."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from explorer.errors import InputError

# More records than this in a cell would pass what the matrix can add up.
_MAX_TOTAL = 1e11


def whole_weights(weight: NDArray[np.float64]) -> NDArray[np.int64]:
    """Return weights (n,) as whole numbers; raise `InputError` where one is none."""
    found = whole_numbers(weight)
    refuse_weight(weight.sum())
    return found


def whole_numbers(weight: NDArray[np.float64]) -> NDArray[np.int64]:
    """As `whole_weights`, for some of them: what all add up to is for `refuse_weight`."""
    with np.errstate(invalid="ignore"):
        whole = np.isfinite(weight) & (weight >= 0) & (weight == np.floor(weight))
    if not whole.all():
        raise InputError(
            "The weights hold negative numbers, fractions or gaps; give how many records each row "
            "stands for as a whole number of 0 or more."
        )
    if weight.max(initial=0.0) > _MAX_TOTAL:
        refuse_weight(weight.max())
    return weight.astype(np.int64)


def refuse_weight(total: float) -> None:
    """Raise `InputError` for weights that add up to more than a matrix can."""
    if total > _MAX_TOTAL:
        raise InputError("The weights add up to more than 100 billion; give a smaller data set.")
