"""The made-up trips of the paper on origin-destination matrices: one cluster, or Zipf's law."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from explorer.errors import InputError
from explorer.trips.matrix import TripMatrix

Rng = int | np.random.Generator

#: Cells along every axis by their number: about as many cells as trips, a million (section 6.2).
SIDES = {2: 1000, 3: 100, 4: 32, 5: 16, 6: 10}
DRAWS = 10**6
_NAMED = 20220329  # the day of the paper's conference: what names seed


def gaussian(axes: int = 4, share: float = 0.2, draws: int = DRAWS, rng: Rng = 0) -> TripMatrix:
    """Trips about one centre: x_i ~ N(c_i, (share m)^2), c_i uniform on 1..m, rounded to cells.

    Section 6.1 of the paper on origin-destination matrices (2022). Draws outside the m cells of
    an axis are dropped, as the paper does not say what becomes of them; nor does it give its
    spreads, which are shares of the side here.

    Parameters
    ----------
    axes : int, 2 to 6
        With sides of 1000, 100, 32, 16 and 10 cells. Of an odd number the last place has one row.
    share : float, above 0
        Standard deviation as a share of the side; smaller is more skewed.
    draws : int, 1 or more
    rng : int or Generator

    Raises
    ------
    InputError
        For parameters out of range.

    Examples
    --------
    >>> gaussian(3, draws=100).shape
    (100, 100, 1, 100)
    """
    side = _side(axes, draws)
    if not 0 < share < np.inf:
        raise InputError(f"The share is {share!r}; give a standard deviation above 0 in sides.")
    source = np.random.default_rng(rng)
    centre = source.integers(1, side + 1, axes)
    cells = np.rint(source.normal(centre, share * side, (draws, axes)))
    return _matrix(cells, side)


def zipf(axes: int = 4, exponent: float = 1.5, draws: int = DRAWS, rng: Rng = 0) -> TripMatrix:
    """Trips whose axes follow Zipf's law: P(x_i = x) = x^-a / zeta(a), x = 1, 2, ..

    Section 6.1 of the paper on origin-destination matrices (2022), with axes drawn independently.
    Draws beyond the last cell are dropped. Parameters and errors are as of `gaussian`, but for

    exponent : float, above 1
        a; larger is more skewed.
    """
    side = _side(axes, draws)
    if not 1 < exponent < np.inf:
        raise InputError(f"The exponent is {exponent!r}; a Zipf distribution takes one above 1.")
    return _matrix(np.random.default_rng(rng).zipf(exponent, (draws, axes)), side)


def named(name: str, draws: int = DRAWS, rng: Rng | None = None) -> TripMatrix:
    """Made-up trips by a name such as "gauss:4:0.2" or "zipf:4:1.5".

    Parameters
    ----------
    name : str
        Kind, axes (2 to 6), and the share of `gaussian` or the exponent of `zipf`.
    draws : int, 1 or more
    rng : int or Generator, optional
        By default each name has one set of its own, the same every time.

    Raises
    ------
    InputError
        For another name.

    Examples
    --------
    >>> named("zipf:6:2", draws=100).shape
    (10, 10, 10, 10, 10, 10)
    """
    kind, _, rest = name.strip().partition(":")
    axes, _, number = rest.partition(":")
    make = {"gauss": gaussian, "zipf": zipf}.get(kind)
    try:
        if make is None:
            raise ValueError(kind)
        d, value = int(axes), float(number)
        seed = [_NAMED, d, int(1000 * value), int(make is zipf)]
    except (ValueError, OverflowError):
        raise InputError(
            f"{name!r} is no set of made-up trips; give one such as gauss:4:0.2 (axes, spread as a "
            "share of the side) or zipf:4:1.5 (axes, exponent)."
        ) from None
    if value <= 0:
        return make(d, value, draws, 0)  # refuses it
    return make(d, value, draws, np.random.default_rng(seed) if rng is None else rng)


def _side(axes: int, draws: int) -> int:
    if axes not in SIDES:
        raise InputError(f"Made-up trips have 2 to 6 axes, not {axes!r}.")
    if draws < 1:
        raise InputError(f"The number of draws is {draws!r}; give a whole number of 1 or more.")
    return SIDES[axes]


def _matrix(drawn: NDArray[np.float64] | NDArray[np.int64], side: int) -> TripMatrix:
    """The draws inside 1..side on every axis, counted; an odd last axis gets a row of its own."""
    axes = drawn.shape[1]
    cells = drawn[np.all((drawn >= 1) & (drawn <= side), axis=1)].astype(np.int64) - 1
    shapes = [(side, side)] * (axes // 2)
    if axes % 2:
        cells = np.insert(cells, axes - 1, 0, axis=1)
        shapes.append((1, side))
    return TripMatrix.from_coordinates(cells, shapes)
