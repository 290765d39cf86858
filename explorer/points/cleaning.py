"""Rows whose place cannot be right: counted by reason, named, and left out.

Each row is judged by itself, so leaving rows out is part of what a record is and costs no
privacy. The counts are exact: they are for the curator's screen and never go into a release.
"""

from __future__ import annotations

import numpy as np
from numba import njit
from numpy.typing import NDArray

from explorer.errors import InputError

FINE, MISSING, INFINITE, ZERO, BEYOND, SWAPPED, NO_LATITUDE, ORIGIN = range(8)
#: How many reasons there are.
REASONS = 8

# Above this share of impossible places the columns are taken to be something else than degrees.
_MOSTLY = 0.5

_REASONS = {
    MISSING: "without a coordinate (null or not a number)",
    INFINITE: "with an infinite coordinate",
    ZERO: "at longitude 0, latitude 0, which stands for a missing place,",
    BEYOND: "beyond the range of longitude or latitude",
    SWAPPED: "with a latitude beyond 90, perhaps swapped with the longitude,",
    NO_LATITUDE: "with a latitude beyond 90",
    ORIGIN: "at easting 0, northing 0, which stands for a missing place,",
}


def judge(
    x: NDArray[np.float64], y: NDArray[np.float64], degrees: bool, keep_zero: bool = False
) -> tuple[NDArray[np.uint8], NDArray[np.int64]]:
    """Return for each row a reason code (n,) and for each reason its number of rows (8,).

    With ``degrees``, x is a longitude (-180 to 360) and y a latitude (-90 to 90); without, any
    finite number is fine. What exceeds a longitude is BEYOND: in neither order it could be degrees.
    0 0 means a missing place in both, unless ``keep_zero`` says that it is one. Reasons are
    not to be written to.
    """
    rows = np.zeros(REASONS, np.int64)
    rows[FINE] = _fine(x, y, degrees, keep_zero)
    if rows[FINE] == x.size:
        # So it is in most files, and found out in a quarter of the time that reasons take.
        return np.broadcast_to(np.uint8(FINE), x.size), rows
    reasons = np.empty(x.size, np.uint8)
    rows[FINE] = 0
    _judge(x, y, degrees, keep_zero, reasons, rows)
    return reasons, rows


def refuse_columns(
    rows: NDArray[np.int64], lon: str = "", lat: str = "", *, of_trips: bool = False
) -> None:
    """Raise `InputError` if most rows have no possible longitude and latitude.

    ``rows`` is what `judge` counted; ``lon`` and ``lat`` are the names of the columns, if the
    places are no geometry, which are chosen in another way ``of_trips``.
    """
    values = f"values in {lon!r} and {lat!r}" if lon else "coordinates"
    wrong = rows[BEYOND] + rows[SWAPPED] + rows[NO_LATITUDE]
    placed = rows[FINE] + wrong
    turned = f"places=[({lat!r}, {lon!r}), ...]" if of_trips else f"lon={lat!r}, lat={lon!r}"
    others = "places=[(lon, lat), ...]" if of_trips else "lon=... and lat=..."
    if rows[SWAPPED] > _MOSTLY * placed > 0:
        if not lon:
            raise InputError("Latitudes seem to stand first here; save the points longitude first.")
        raise InputError(
            f"The latitudes in {lat!r} are beyond 90 while the longitudes in {lon!r} are not, so "
            f"the two look swapped; give {turned}."
        )
    if rows[BEYOND] > _MOSTLY * placed:
        raise InputError(
            f"The {values} are not degrees; say what they are with crs=..., such as "
            "crs='EPSG:27700'."
        )
    if wrong > _MOSTLY * placed:
        raise InputError(
            f"Most {values} are no longitude and latitude (up to 360 and 90); mend them, or give "
            f"{others} to name other columns."
        )


def none_left(rows: NDArray[np.int64]) -> InputError:
    """The error for a table of which no row is left; without their number, which is exact.

    ``rows`` is what `judge` counted.
    """
    why = [reason for code, reason in _REASONS.items() if rows[code]]
    # Rows that have a place are left out for one reason alone.
    last = "without a user" if rows[FINE] or not why else why[-1]
    return InputError(f"None of the rows can be used. Some rows {last} were left out.")


def sentences(rows: NDArray[np.int64]) -> list[str]:
    """Return one sentence for each reason for which rows were left out."""
    return [left_out(int(rows[code]), why) for code, why in _REASONS.items() if rows[code]]


def left_out(rows: int, why: str) -> str:
    """Return the sentence that says how many rows were left out and why."""
    return f"1 row {why} was left out." if rows == 1 else f"{rows:,} rows {why} were left out."


@njit(cache=True, nogil=True)
def _fine(x, y, degrees, keep_zero):  # type: ignore[no-untyped-def]
    """How many rows are fine; sums of truths, so that many are looked at in one step."""
    n = 0
    if degrees:
        for i in range(x.size):
            a, b = x[i], y[i]
            within = (a >= -180.0) & (a <= 360.0) & (b >= -90.0) & (b <= 90.0)
            n += within & (keep_zero | (a != 0.0) | (b != 0.0))
    else:
        for i in range(x.size):
            far = abs(x[i]) + abs(y[i])
            n += (far < np.inf) & (keep_zero | (far > 0.0))
    return n


@njit(cache=True, nogil=True)
def _judge(x, y, degrees, keep_zero, reasons, rows):  # type: ignore[no-untyped-def]
    for i in range(x.size):
        a, b = x[i], y[i]
        reason = FINE
        if np.isnan(a) or np.isnan(b):
            reason = MISSING
        elif np.isinf(a) or np.isinf(b):
            reason = INFINITE
        elif a == 0.0 and b == 0.0 and not keep_zero:
            reason = ZERO if degrees else ORIGIN
        elif degrees:
            if -180.0 <= a <= 360.0 and -90.0 <= b <= 90.0:
                reason = FINE
            elif -90.0 <= a <= 90.0 and -180.0 <= b <= 360.0:
                reason = SWAPPED
            elif -180.0 <= a <= 360.0 and -180.0 <= b <= 360.0:
                reason = NO_LATITUDE
            else:
                reason = BEYOND
        reasons[i] = reason
        rows[reason] += 1
