"""Rows that can be used, batch by batch, by the rules of `read_points`."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from explorer.points.cleaning import FINE, judge, none_left, refuse_columns
from explorer.points.identity import identities
from explorer.points.partitions.adding import NOBODY, RESPELLED
from explorer.points.partitions.files import Wanted

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]
Bools = NDArray[np.bool_]


def usable(
    x: Floats, y: Floats, wanted: Wanted, known: Bools | None, judged: Ints
) -> tuple[Floats, Floats, slice | Bools]:
    """Places of the rows that can be used, and which rows those are.

    Parameters
    ----------
    x, y : (n,)
    wanted : says whether they are degrees, and whether 0 0 is a place
    known : (n,), whether it is known whose each row is; None where no one asks
    judged : (10,), gets the rows by reason and those without a user
    """
    reasons, rows = judge(x, y, wanted.degrees, wanted.keep_zero)
    judged[:NOBODY] += rows
    if known is None and rows[FINE] == x.size:
        # So it is in most files: then nothing is looked at again, or copied.
        return x, y, slice(None)
    fine = reasons == FINE
    if known is not None:
        judged[NOBODY] += int(np.sum(fine & ~known))
        fine &= known
    keep: slice | Bools = slice(None) if fine.all() else fine
    return x[keep], y[keep], keep


def owners(
    batch: pa.RecordBatch | Mapping[str, pa.Array], wanted: Wanted, judged: Ints
) -> tuple[Ints | None, Bools | None]:
    """Whose each row is, (n, 2), and which rows say so, (n,); None where no one asks.

    ``judged`` gets the rows whose id is spelled otherwise.
    """
    if wanted.user is None:
        return None, None
    identity, known, respelled = identities(batch[wanted.user])
    judged[RESPELLED] += np.count_nonzero(respelled)
    return identity, known


def turned(x: Floats, degrees: bool) -> Floats:
    """Longitudes from 0 to 360 as those from -180 to 180; the same array where there are none."""
    if degrees and x.max(initial=0.0) > 180.0:
        return np.where(x > 180.0, x - 360.0, x)
    return x


def refuse(wanted: Wanted, judged: Ints) -> None:
    """Raise `InputError` where `read_points` would, once all rows are judged."""
    rows = judged[:NOBODY]
    refuse_columns(rows, *(() if wanted.geometry else wanted.place))
    if rows.any() and rows[FINE] == judged[NOBODY]:
        raise none_left(rows)
