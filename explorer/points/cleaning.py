"""Rows that cannot be used: counted by reason, named, and left out; by one rule for all readers.

Each row is judged by itself, so leaving rows out is part of what a record is and costs no
privacy. The counts are exact: they are for the curator's screen and never go into a release.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numba import njit
from numpy.typing import NDArray

from explorer.errors import InputError

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]
Bools = NDArray[np.bool_]

FINE, MISSING, INFINITE, ZERO, BEYOND, SWAPPED, NO_LATITUDE, ORIGIN = range(8)
#: How many reasons there are.
REASONS = 8
#: Counted next to the reasons: rows without a user, those whose id is spelled otherwise, those with
#: a longitude above 180, and records that might count, wherever they are.
NOBODY, RESPELLED, TURNED, RECORDS, JUDGED = range(REASONS, REASONS + 5)

# Above this share of impossible places the columns are taken to be something else than degrees.
_MOSTLY = 0.5
# More records than this in a cell would pass what the matrix can add up.
_MAX_TOTAL = 1e11

_REASONS = {
    MISSING: "without a coordinate (null or not a number)",
    INFINITE: "with an infinite coordinate",
    ZERO: "at longitude 0, latitude 0, which stands for a missing place,",
    BEYOND: "beyond the range of longitude or latitude",
    SWAPPED: "with a latitude beyond 90, perhaps swapped with the longitude,",
    NO_LATITUDE: "with a latitude beyond 90",
    ORIGIN: "at easting 0, northing 0, which stands for a missing place,",
}
#: For the curator, where ids were joined, see `identity`.
JOINED = (
    "Users whose ids differ only in how they are written (as a number or a text, with blanks, or "
    "with zeros after the point) were taken as one."
)


def judge(
    x: Floats, y: Floats, degrees: bool, keep_zero: bool = False
) -> tuple[NDArray[np.uint8], Ints]:
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


def refuse_columns(rows: Ints, lon: str = "", lat: str = "", *, of_trips: bool = False) -> None:
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


def usable(
    places: Sequence[tuple[Floats, Floats]],
    degrees: bool,
    keep_zero: bool,
    has_owner: Bools | None,
    judged: Ints,
) -> tuple[list[tuple[Floats, Floats]], slice | Bools, list[Ints]]:
    """Places of the rows that can be used, which rows those are, and what `judge` counted of each.

    Parameters
    ----------
    places : x and y (n,) of every place of a row; a row is left out for the first that is no place
    degrees, keep_zero : as of `judge`
    has_owner : (n,), whether it is known whose each row is; None without a user column
    judged : (12,), to which the rows are added by reason, from `FINE` to `TURNED`
    """
    (reasons, rows), *others = (judge(x, y, degrees, keep_zero) for x, y in places)
    every = [rows, *(other for _, other in others)]
    if has_owner is None and all(other[FINE] == reasons.size for other in every):
        # So it is in most files: then nothing is looked at again, or copied.
        judged[FINE] += reasons.size
        keep: slice | Bools = slice(None)
    else:
        for other, _ in others:
            reasons = np.where(reasons == FINE, other, reasons)
        judged[:REASONS] += np.bincount(reasons, minlength=REASONS) if others else rows
        fine = reasons == FINE
        if has_owner is not None:
            judged[NOBODY] += np.count_nonzero(fine & ~has_owner)
            fine &= has_owner
        keep = slice(None) if fine.all() else fine
    cleaned = [(x[keep], y[keep]) for x, y in places]
    if degrees and max(x.max(initial=0.0) for x, _ in cleaned) > 180.0:
        judged[TURNED] += 1
        cleaned = [(np.where(x > 180.0, x - 360.0, x), y) for x, y in cleaned]
    return cleaned, keep, every


def refuse_unused(judged: Ints) -> None:
    """Raise `InputError` for a table of which no row is left; without their number, which is exact.

    ``judged`` is what `usable` counted of all rows.
    """
    rows = judged[:REASONS]
    if rows.any() and rows[FINE] == judged[NOBODY]:
        why = [reason for code, reason in _REASONS.items() if rows[code]]
        # Rows that have a place are left out for one reason alone.
        last = "without a user" if rows[FINE] or not why else why[-1]
        raise InputError(f"None of the rows can be used. Some rows {last} were left out.")


def sentences(judged: Ints) -> list[str]:
    """How many rows were left out and why, with exact numbers, and how others were read."""
    reasons = _REASONS | {NOBODY: "without a user"}
    lines = [_left_out(int(judged[code]), why) for code, why in reasons.items() if judged[code]]
    if judged[RESPELLED]:
        lines.insert(len(lines) - bool(judged[NOBODY]), JOINED)
    if judged[TURNED]:
        lines.append("Longitudes above 180 were read as degrees from 0 to 360.")
    return lines


def _left_out(rows: int, why: str) -> str:
    return f"1 row {why} was left out." if rows == 1 else f"{rows:,} rows {why} were left out."


def whole_weights(weight: Floats) -> Ints:
    """Weights (n,) as whole numbers; what all of them add up to is for `refuse_weight`.

    Raises
    ------
    InputError
        For negative numbers, fractions and gaps.
    """
    with np.errstate(invalid="ignore"):
        whole = np.isfinite(weight) & (weight >= 0) & (weight == np.floor(weight))
    if not whole.all():
        raise InputError(
            "The weights hold negative numbers, fractions or gaps; give how many records each row "
            "stands for as a whole number of 0 or more."
        )
    refuse_weight(weight.max(initial=0.0))
    return weight.astype(np.int64)


def refuse_weight(total: float) -> None:
    """Raise `InputError` for weights that add up to more than a matrix can."""
    if total > _MAX_TOTAL:
        raise InputError("The weights add up to more than 100 billion; give a smaller data set.")


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
