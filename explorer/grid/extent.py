"""What a person types to declare an extent and its cells, checked."""

from __future__ import annotations

import re
from typing import Any

import numpy as np

from explorer.errors import InputError

MAX_CELLS = 2**22
_LENGTH = re.compile(r"([0-9.,]+(?:e[+-]?[0-9]+)?)\s*(km|m)", re.IGNORECASE)

Bounds = tuple[float, float, float, float]


def as_shape(shape: Any) -> tuple[int, int]:
    """Return (rows, columns) of a number (a square) or a pair; refuse shapes out of range."""
    pair = (shape, shape) if np.ndim(shape) == 0 else tuple(shape)
    whole = [isinstance(n, int | np.integer) and not isinstance(n, bool) for n in pair]
    if len(pair) != 2 or not all(whole) or min(pair) < 1:
        raise InputError(
            f"A grid of shape {shape!r} cannot be made; give rows and columns as whole numbers "
            "of 1 or more."
        )
    rows, cols = int(pair[0]), int(pair[1])
    if rows * cols > MAX_CELLS:
        raise InputError(
            f"A grid of {rows:,} x {cols:,} has {rows * cols:,} cells, more than the "
            f"{MAX_CELLS:,} that this program allows; give fewer rows and columns."
        )
    return rows, cols


def as_bounds(bounds: Any) -> Bounds:
    """Return (x0, y0, x1, y1) as floats; refuse bounds that enclose no area."""
    try:
        x0, y0, x1, y1 = (float(v) for v in bounds)
    except (TypeError, ValueError) as error:
        raise InputError("Bounds are four numbers: west, south, east, north.") from error
    if not np.all(np.isfinite([x0, y0, x1, y1])) or x0 >= x1 or y0 >= y1:
        raise InputError(
            f"The bounds {x0:g}, {y0:g}, {x1:g}, {y1:g} enclose no area; give west, south, east, "
            "north with west below east and south below north."
        )
    return x0, y0, x1, y1


def as_number(value: Any, what: str) -> float:
    """Return a float (also inf or nan); ``what`` begins the sentence that refuses the rest."""
    try:
        return float(value)
    except (TypeError, ValueError) as error:
        raise InputError(f"{what} is {value!r}; give a number.") from error


def as_metres(value: Any, what: str) -> float:
    """A length in metres: a number, or as people type it.

    >>> [as_metres(text, "The width") for text in (250, "20km", "1.5 km", "500m")]
    [250.0, 20000.0, 1500.0, 500.0]
    """
    if not isinstance(value, str):
        return as_number(value, what)
    match = _LENGTH.fullmatch(value.strip())
    try:
        if match is None:
            raise ValueError(value)
        number = float(match[1])
    except ValueError:
        raise InputError(
            f"{what} is {value!r}, which is not a length; give one such as 20km or 500m."
        ) from None
    return number * (1000.0 if match[2].lower() == "km" else 1.0)


def as_rectangles(rectangles: Any, ordered: bool = True) -> np.ndarray:
    """Return (n, 4) float64 of n rectangles x0, y0, x1, y1, or of a single one.

    Parameters
    ----------
    rectangles : (n, 4) or (4,)
    ordered : bool
        Whether x0 above x1 or y0 above y1 is refused.

    Raises
    ------
    InputError
        For rectangles that are not (n, 4), not finite, or inside out.
    """
    try:
        array = np.asarray(rectangles, float)
    except (TypeError, ValueError) as error:
        raise InputError("Rectangles are numbers: x0, y0, x1, y1 in each row.") from error
    if array.size == 0:
        return np.zeros((0, 4))
    if array.ndim == 1:
        array = array[None]
    if array.ndim != 2 or array.shape[1] != 4:
        raise InputError(
            f"Rectangles have shape {array.shape}; give x0, y0, x1, y1 in each row, (n, 4)."
        )
    if not np.isfinite(array).all():
        raise InputError("A rectangle has a coordinate that is not a finite number; mend it.")
    if ordered and np.any(array[:, :2] > array[:, 2:]):
        raise InputError("A rectangle is inside out; give west before east and south before north.")
    return array
