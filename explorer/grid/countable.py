"""What a grid or areas can count: records, or what records can be read from.

Grids and areas are public and know no point, so they cannot read any. The package's root lends them
a reader; a process that counts nothing never loads it.
"""

from __future__ import annotations

import ast
import re
import warnings
from collections.abc import Callable, Iterable, Mapping
from typing import Any

from explorer.errors import InputError

Reader = Callable[[Any, Mapping[str, Any]], Any]

_lent: list[Reader] = []


def lend(reader: Reader) -> None:
    """Let this make records of files, frames and arrays, given them and the names of columns."""
    _lent[:] = [reader]


#: What may be protected: single records, or all of a user's.
UNITS = ("record", "user")


_UNREAD = "The column {0!r} was not read: name it with user={0!r} to protect users."
_UNREAD_PATTERN = re.compile(
    r"The column (.+) was not read: name it with user=\1 to protect users\.", re.DOTALL
)


class UnitWarning(UserWarning):
    """Records are protected one by one although a column seems to say whose they are."""


def unread_users_note(column: str) -> str:
    """The note of a reader about a column of users that was not named."""
    return _UNREAD.format(column)


def unread_users(notes: Iterable[str]) -> list[str]:
    """The columns that `unread_users_note` was written about, among all notes of a reader.

    >>> unread_users(["2 rows were left out.", unread_users_note("user_id")])
    ['user_id']
    """
    matches = map(_UNREAD_PATTERN.fullmatch, notes)
    return [str(ast.literal_eval(match[1])) for match in matches if match]


def check_unit(records: Any, contribution_bound: int | None, per: str | None) -> None:
    """Refuse to count records of known users as if each were someone else's, unless it is said.

    A column that seems to say whose records they are, and was not named, is a `UnitWarning`.

    Parameters
    ----------
    records : with or without ``has_users`` and ``notes``
    contribution_bound : of every user, or None
    per : "record" insists on single records, "user" on users, None follows the bound

    Raises
    ------
    InputError
        For records with users and neither a bound nor ``per="record"``, and for a unit that is
        none or does not fit the bound.
    """
    if per is not None and per not in UNITS:
        raise InputError(f"per is {per!r}: protect each 'record' or each 'user'.")
    if per == "record" and contribution_bound is not None:
        raise InputError(
            "A contribution bound protects users: leave it out, or leave out per='record'."
        )
    if contribution_bound is not None or per == "record":
        return
    if per == "user" or getattr(records, "has_users", False):
        raise InputError(
            "These records have users, so say whom to protect: contribution_bound=10 for each user "
            "with at most 10 records, or per='record' for each record by itself."
        )
    for column in unread_users(getattr(records, "notes", ())):
        warnings.warn(
            f"The column {column!r} seems to say whose records these are, and each record is "
            f"protected by itself: name it with user={column!r} and give contribution_bound=10 to "
            "protect users, or say per='record'.",
            UnitWarning,
            stacklevel=3,
        )


def countable(points: Any, method: str, columns: Mapping[str, Any]) -> Any:
    """Records that have a method: these, or those that are read from what was given.

    Parameters
    ----------
    points : records, or a path, address, frame or arrays
    method : such as "count_on"
    columns : lon, lat, crs, user, weight; for what has to be read only

    Raises
    ------
    InputError
        For columns next to records that were read before, and for what cannot be read.
    """
    if hasattr(points, method):
        if columns:
            raise InputError(
                f"These points are read already; leave out {', '.join(columns)}, or name them "
                "where the points are read."
            )
        return points
    if not _lent:
        raise InputError("Read the points first: read_points(...), or scan_points(...).")
    return _lent[0](points, columns)
